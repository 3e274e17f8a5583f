"""Runs the stand-in. LAUNCHER_IMAGE is the image that runs virtual machines."""

import asyncio
import os

from standin.cluster import connect
from standin.controller import Controller

# Events that come together are handled in one round.
_SETTLE_SECONDS = 0.1
# Restarts that wait, and anything that a watch has missed.
_RESYNC_SECONDS = 5


async def main() -> None:
    async with connect() as cluster:
        controller = Controller(cluster, os.environ["LAUNCHER_IMAGE"])
        changed = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(cluster.watch(changed))
            print("kubevirt stand-in: running", flush=True)
            while True:
                changed.clear()
                await controller.reconcile()
                try:
                    await asyncio.wait_for(changed.wait(), _RESYNC_SECONDS)
                except TimeoutError:
                    continue
                await asyncio.sleep(_SETTLE_SECONDS)


if __name__ == "__main__":
    asyncio.run(main())

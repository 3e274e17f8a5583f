"""Runs the stand-in."""

import asyncio

from standin.api_server import connect
from standin.controller import Controller

# Each round lists a handful of objects; nothing is watched, so nothing can be missed.
_ROUND_SECONDS = 1


async def main() -> None:
    async with connect() as server:
        controller = Controller(server)
        print("cloudnative-pg stand-in: running", flush=True)
        while True:
            await controller.reconcile()
            await asyncio.sleep(_ROUND_SECONDS)


if __name__ == "__main__":
    asyncio.run(main())

"""The level-triggered loop: looks at everything, and does one step for each cluster."""

import datetime
from dataclasses import dataclass

from kubernetes_asyncio.client.exceptions import ApiException

from standin.api_server import ApiServer
from standin.cloud_native_pg import Object, UntranslatableError, is_going, name_of
from standin.progress import Step, hibernation_step, next_step
from standin.status import is_hibernating, next_status, refused
from standin.translation import translate

# Another writer was faster, or the object has gone: the next round sees that.
_PASSING = (404, 409)


@dataclass(frozen=True)
class Controller:
    """Carries out clusters with pods of PostgreSQL."""

    server: ApiServer

    async def reconcile(self) -> None:
        """One step for every cluster. What conflicts is done in the next round."""
        for document in await self.server.clusters():
            if is_going(document):
                continue
            try:
                await self._cluster(document)
            except ApiException as error:
                if error.status not in _PASSING:
                    print(f"{name_of(document)}: {error.status}: {error.body!r}", flush=True)

    async def _cluster(self, document: Object) -> None:
        now = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%dT%H:%M:%SZ}"
        try:
            cluster = translate(document)
        except UntranslatableError as error:
            await self._write(document, refused(document, str(error), now))
            return
        found = await self.server.found(document)
        hibernating = is_hibernating(cluster, document.get("status", {}))
        step = hibernation_step(found) if hibernating else next_step(cluster, found)
        try:
            await self._carry_out(step)
            status = next_status(document, cluster, found, step, now)
        except ApiException as error:
            if error.status in _PASSING:
                raise
            status = refused(document, f"{error.status}: {error.body!r}", now)
        await self._write(document, status)

    async def _carry_out(self, step: Step) -> None:
        for body in step.create:
            await self.server.create(body)
        for claim in step.filled:
            await self.server.mark_filled(claim)
        for job in step.delete_jobs:
            await self.server.delete_job(job)
        for pod in step.delete_pods:
            await self.server.delete_pod(pod)

    async def _write(self, document: Object, status: Object) -> None:
        if status != document.get("status"):
            await self.server.write_status(document | {"status": status})

"""What changes by the operator's own hand alone while a job runs: kept for some seconds."""

import time

from dbbench.api.benchmark import DBBenchmark
from dbbench.evaluate.decision import Decision
from dbbench.evaluate.step import runs_driver
from dbbench.kube.cluster import Cluster, Manifest
from dbbench.kube.kinds import NETWORK_POLICY, PVC, SECRET, SERVICE, STATEFUL_SET, Kind

_MAX_AGE_SECONDS = 10.0
_KINDS = (NETWORK_POLICY, PVC, SECRET, SERVICE, STATEFUL_SET)
_NAMES = frozenset(kind.name for kind in _KINDS)


class Settled:
    """Lists of a benchmark's own objects, of kinds that are made before a load or trial.

    While such a job runs, its pod, the database's pod and the records tell of all that happens.
    Each of these is a reason to look, and most of what a look asks the API server for would be
    what it answered a second ago. What somebody else changes is seen when the lists are old. In all
    other steps, and after any change by the operator, everything is asked for.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._known: dict[str, tuple[float, dict[str, list[Manifest]]]] = {}

    async def list(self, kind: Kind, benchmark: DBBenchmark, labels: str) -> list[Manifest]:
        """The benchmark's objects of one kind, of those that the selector matches."""
        namespace, uid = benchmark.metadata.namespace, benchmark.metadata.uid
        if kind not in _KINDS:
            return await self._cluster.list(kind, namespace, labels=labels)
        now = time.monotonic()
        began, lists = self._known.get(uid, (now, {}))
        if not _is_measuring(benchmark) or now - began >= _MAX_AGE_SECONDS:
            began, lists = now, {}
        self._known[uid] = began, lists
        if kind.name not in lists:
            lists[kind.name] = await self._cluster.list(kind, namespace, labels=labels)
        return lists[kind.name]

    def done(self, benchmark: DBBenchmark, decision: Decision) -> None:
        """What was decided has been done."""
        if not _is_measuring(benchmark) or _touches(decision):
            self._known.pop(benchmark.metadata.uid, None)

    def forget(self) -> None:
        """It is not sure what was done."""
        self._known.clear()


def _is_measuring(benchmark: DBBenchmark) -> bool:
    progress = benchmark.status.progress
    return progress is not None and runs_driver(progress.step)


def _touches(decision: Decision) -> bool:
    made = {manifest["kind"] for manifest in (*decision.create, *decision.apply)}
    gone = {ref.kind for ref in decision.delete}
    return decision.create_credentials or not _NAMES.isdisjoint(made | gone)

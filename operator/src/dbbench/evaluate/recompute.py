"""The results of an exported benchmark, computed again from its raw records. No I/O."""

import json
import math
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from dbbench.evaluate.outcome import assess, results_document
from dbbench.evaluate.schedule import schedule
from dbbench.evaluate.state import State
from dbbench.plan import plan_seed
from dbbench.results.archive import Archive
from dbbench.results.documents import SUMMARY_JSON, results_data
from dbbench.results.summary import Document
from dbbench.targets.context import Images

# Another processor's library of functions may round the last digits otherwise.
_ROUNDING = 1e-9

_NO_IMAGES = Images(driver="", launcher="", guest_kernel="")


def recompute(archive: Archive) -> Document:
    """The summary, by the code that the operator publishes with: the same records, the same text.

    What only the cluster could tell, such as the nodes, is taken from the status.
    """
    state = State(
        benchmark=archive.benchmark,
        now=datetime.fromtimestamp(0, UTC),
        images=_NO_IMAGES,
        kubevirt=False,
        trials=archive.trials,
        loads=archive.loads,
    )
    spec, uid = archive.benchmark.spec, archive.benchmark.metadata.uid
    stand = schedule(state, plan_seed(spec, uid))
    return results_document(state, assess(state, stand, latencies=True))


def as_published(document: Document) -> Document:
    """The summary as a ConfigMap holds it: without what would not fit."""
    fitting: Document = json.loads(results_data(document)[SUMMARY_JSON])
    return fitting


def differences(published: Document, recomputed: Document) -> list[str]:
    """Every field of what was published that is otherwise now, by its path, with both values.

    Fields that only the recomputed document has are those of a newer version.
    """
    return [
        difference
        for name, value in published.items()
        if name != "dbbench"
        for difference in _differences(name, value, recomputed.get(name))
    ]


def _differences(path: str, before: Any, after: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON
    if isinstance(before, dict) and isinstance(after, dict):
        for name, value in before.items():
            yield from _differences(f"{path}.{name}", value, after.get(name))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _differences(f"{path}[{index}]", one, other)
    elif isinstance(before, list) and isinstance(after, list):
        yield f"{path} has {len(before)} entries as published, {len(after)} recomputed"
    elif not _same(before, after):
        yield f"{path} is {before!r} as published, {after!r} recomputed"


def _same(before: object, after: object) -> bool:
    if isinstance(before, float) and isinstance(after, float | int):
        return math.isclose(before, after, rel_tol=_ROUNDING, abs_tol=_ROUNDING)
    return before == after

"""How long the plan of a large benchmark takes. Pure."""

import time

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.plan import block
from dbbench.plan.duration import Assumptions, expected
from scale.load import benchmark


def large(targets: int, cells: int) -> DBBenchmarkSpec:
    """A spec with so many targets and workloads; more than the CRD allows (20 of each) is fine."""
    small = DBBenchmarkSpec.model_validate(benchmark(0, nodes=1, namespaces=1)["spec"])
    target, workload = small.targets[0], small.workloads[0]
    return small.model_copy(
        update={
            "baseline": "t0",
            "targets": [target.model_copy(update={"name": f"t{n}"}) for n in range(targets)],
            "workloads": [workload.model_copy(update={"name": f"w{n}"}) for n in range(cells)],
        }
    )


def planning_seconds(targets: int, cells: int) -> tuple[int, float]:
    """Trials of the first block, and how long it took to plan it and to estimate the whole run."""
    spec = large(targets, cells)
    began = time.perf_counter()
    planned = block(spec, 1, 1)
    expected(spec, Assumptions())
    return len(planned.trials), time.perf_counter() - began

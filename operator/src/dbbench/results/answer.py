"""The answer in one sentence: how much slower, for which workload, and how sure. No I/O."""

from collections.abc import Sequence

from dbbench import stats
from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.status import Verdict
from dbbench.results.analysis import Analysis, MetricComparison
from dbbench.results.figures import interval, level, percent, share
from dbbench.stats import Slowdown

_EACH = 4
"""Cells of a workload that are told one by one. Of more, as a sweep has, the worst and the best."""


def answer(spec: DBBenchmarkSpec, analysis: Analysis) -> str:
    """For every target that could be compared, its slowdown in the cells of every workload."""
    clauses = []
    for target in spec.targets:
        found = [one for one in analysis.primary if one.slowdown.target == target.name]
        if found:
            clauses.append(f"{target.name} is {_listed(_findings(found))}")
    if not clauses:
        return "Nothing has been compared: no block has a valid trial on two targets."
    duet = " at the same time (duet)" if spec.duet else ""
    text = f"Compared with {spec.baseline}{duet}, {'; '.join(clauses)}"
    if analysis.emulated_targets:
        emulated = _listed(sorted(analysis.emulated_targets))
        return (
            f"{text}; but {emulated} ran under software emulation, so these figures say nothing "
            "about hardware virtualization."
        )
    return f"{text}."


def _findings(found: Sequence[MetricComparison]) -> list[str]:
    workloads: dict[str, list[MetricComparison]] = {}
    for one in found:
        workloads.setdefault(one.cell.workload, []).append(one)
    return [part for cells in workloads.values() for part in _of_workload(cells)]


def _of_workload(cells: Sequence[MetricComparison]) -> list[str]:
    if len(cells) <= _EACH:
        return [_finding(one) for one in cells]
    worst = max(cells, key=lambda one: one.slowdown.relative)
    best = min(cells, key=lambda one: one.slowdown.relative)
    others = f"{percent(best.slowdown.relative)} for {best.cell.key}"
    return [f"{_finding(worst)}, the most of its {len(cells)} cells (the least: {others})"]


def _finding(found: MetricComparison) -> str:
    slowdown, where = found.slowdown, found.cell.key
    if slowdown.interval is None:
        return (
            f"{_comparative(slowdown.relative)} for {where} "
            "(one block, therefore without a confidence interval)"
        )
    bounds = f"{level(stats.CONFIDENCE)} interval {interval(slowdown.interval)}"
    if slowdown.verdict is Verdict.EQUIVALENT:
        return f"the same within {stats.MARGIN * 100:g} % for {where} ({bounds})"
    if slowdown.verdict is Verdict.INCONCLUSIVE and _below_floor(slowdown):
        return (
            f"not distinguishable for {where} ({percent(slowdown.relative)}, within the noise "
            f"floor of {share(slowdown.noise_floor or 0)})"
        )
    if slowdown.verdict is Verdict.INCONCLUSIVE:
        return f"not distinguishable for {where} ({percent(slowdown.relative)}, {bounds})"
    return f"{_comparative(slowdown.relative)} for {where} ({bounds})"


def _below_floor(slowdown: Slowdown) -> bool:
    return slowdown.noise_floor is not None and abs(slowdown.relative) <= slowdown.noise_floor


def _comparative(relative: float) -> str:
    if relative < 0:
        return f"faster (slowdown {percent(relative)})"
    return f"{percent(relative).removeprefix('+')} slower"


def _listed(parts: Sequence[str]) -> str:
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"

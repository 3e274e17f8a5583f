"""Variants of a sweep: what each target has at each of them, against the first. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.results.along import Measured, Place, lines, places
from dbbench.stats import Unit


@dataclass(frozen=True)
class VariantComparison:
    """One target along one axis of variants, in the spec's order; the first is the reference.

    `fixed` is where the other axes stand. There is no order of variants, and so no curve.
    """

    workload: str
    target: str
    metric: str
    unit: Unit
    axis: str
    fixed: str
    emulated: bool
    points: tuple[Place, ...]


def variant_comparisons(
    spec: DBBenchmarkSpec,
    measured: Measured,
    targets: Sequence[str],
    primary: Mapping[str, tuple[str, Unit]],
    emulated_targets: frozenset[str],
) -> list[VariantComparison]:
    """Of the primary metrics, wherever a target was measured at the first variant and another."""
    axes = {
        axis.name: [variant.name for variant in axis.values]
        for axis in (spec.sweep.variants or () if spec.sweep else ())
    }
    found = []
    for line in lines(measured, axes):
        metric, unit = primary[line.workload]
        first, *others = (name for name in axes[line.axis] if name in line.cells)
        for target in targets:
            there = places(line, [first, *others], measured, target, metric, unit)
            if len(there) > 1 and there[0].value == first:
                found.append(
                    VariantComparison(
                        workload=line.workload,
                        target=target,
                        metric=metric,
                        unit=unit,
                        axis=line.axis,
                        fixed=line.fixed,
                        emulated=target in emulated_targets,
                        points=tuple(there),
                    )
                )
    return found

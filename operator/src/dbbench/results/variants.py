"""Variants of a sweep: what each target has at each of them, against the first. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.results.along import Line, Measured, Place, Series, series
from dbbench.stats import Unit


@dataclass(frozen=True)
class VariantComparison(Series):
    """One target along one axis of variants, in the spec's order; the first is the reference.

    There is no order of variants, and so no curve.
    """

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

    def as_written(line: Line) -> list[str]:
        return [name for name in axes[line.axis] if name in line.cells]

    found = series(measured, targets, primary, emulated_targets, axes, as_written)
    return [
        VariantComparison(**vars(one), points=tuple(there))
        for one, first, there in found
        if there[0].value == first
    ]

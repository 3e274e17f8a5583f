"""Two benchmarks side by side: what changed from one run to another, target by target. No I/O.

Their trials were not measured together, so they are independent samples (Welch's test in
`stats.compare`), and what else differs between the runs is as likely a cause as the one that was
meant: it is listed.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from dbbench.api.benchmark import DBBenchmark
from dbbench.results.archive import Archive
from dbbench.results.differences import differences, measured_spec
from dbbench.results.samples import primary_samples
from dbbench.stats import ComparisonTable, Sample, compare


@dataclass(frozen=True)
class Between:
    """The second benchmark against the first, and what else is different.

    `differences` are sentences `path: first -> second`. `emulated` names targets of either that ran
    under software emulation.
    """

    table: ComparisonTable
    differences: tuple[str, ...]
    emulated: tuple[str, ...]


def between(
    first: Archive, second: Archive, names: tuple[str, str], *, confidence: float, margin: float
) -> Between:
    """Every target and cell that both have. `names` are what the two are called in the table."""
    one, other = first.benchmark, second.benchmark
    samples = [*_samples(first, one, names[0]), *_samples(second, other, names[1])]
    table = compare(samples, names[0], confidence=confidence, margin=margin)
    return Between(
        table,
        (
            *differences("spec", measured_spec(one), measured_spec(other)),
            *differences("environment", _environment(one), _environment(other)),
        ),
        tuple(
            dict.fromkeys(
                target.name
                for benchmark in (one, other)
                if benchmark.status.environment
                for target in benchmark.status.environment.targets
                if target.emulated
            )
        ),
    )


def _samples(archive: Archive, benchmark: DBBenchmark, name: str) -> Iterator[Sample]:
    for cell, samples in primary_samples(benchmark, archive.trials).items():
        for sample in samples:
            # Trials of different runs are no pairs, whatever their number.
            trial = f"{name}/{sample.trial}"
            where = f"{sample.target}: {cell.key}"
            yield replace(sample, target=name, cell=where, trial=trial, position=None)


def _environment(benchmark: DBBenchmark) -> dict[str, Any]:
    """Without the targets' properties, which say once more and in detail what these fields do."""
    found = benchmark.status.environment
    if found is None:
        return {}
    targets = [target.model_copy(update={"properties": {}}) for target in found.targets]
    return found.model_copy(update={"targets": targets}).document()

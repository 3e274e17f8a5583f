"""Two benchmarks side by side: what changed from one run to another, target by target. No I/O.

Their trials were not measured together, so they are independent samples (Welch's test in
`stats.compare`), and what else differs between the runs is as likely a cause as the one that was
meant: it is listed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dbbench.api.benchmark import DBBenchmark
from dbbench.results.analysis import primary_samples
from dbbench.results.archive import Archive
from dbbench.stats import ComparisonTable, Sample, compare

# They steer a run and change nothing of what is measured.
_STEERING = frozenset({"suspend", "cleanupPolicy", "ttlAfterFinished", "gates", "timeouts"})
# What a run is named by differs always.
_OWN = frozenset({"properties"})


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
            *_differences("spec", _measured(one), _measured(other)),
            *_differences("environment", _environment(one), _environment(other)),
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


def _measured(benchmark: DBBenchmark) -> dict[str, Any]:
    document = benchmark.spec.document()
    return {key: value for key, value in document.items() if key not in _STEERING}


def _environment(benchmark: DBBenchmark) -> dict[str, Any]:
    found = benchmark.status.environment
    return found.document() if found else {}


def _differences(path: str, one: Any, other: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON
    one, other = _by_name(one), _by_name(other)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in dict.fromkeys([*one, *other]):
            if key not in _OWN:
                yield from _differences(f"{path}.{key}", one.get(key), other.get(key))
    elif one != other:
        yield f"{path}: {_shown(one)} -> {_shown(other)}"


def _by_name(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """A list of named things by their names, so that an added one is one difference."""
    named = (
        isinstance(value, list)
        and value
        and all(isinstance(item, Mapping) and "name" in item for item in value)
    )
    if not named:
        return value
    return {item["name"]: {k: v for k, v in item.items() if k != "name"} for item in value}


def _shown(value: object) -> str:
    return "absent" if value is None else str(value)

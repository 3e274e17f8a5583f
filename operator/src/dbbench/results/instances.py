"""Several instances of a target, measured at the same time, as one result. No I/O.

Drivers that run transactions merge what they measured, and the first of them writes it. Times of
queries are not merged there: here the time of all instances is the mean of theirs.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Document = Mapping[str, Any]

# They make up most of a document, and those of all instances are in the result of all.
_WEIGHTY = frozenset({"latency", "series"})
# Metrics of which all instances together have the mean; of any other unit they have the sum.
_AVERAGED = frozenset({"seconds", "ratio"})


def combined(documents: Sequence[Document]) -> dict[str, Any]:
    """The result of all instances, from the results of their drivers in order.

    `target`, what the agents said, is left out: there is one for each instance.
    """
    found = {name: value for name, value in documents[0].items() if name != "target"}
    reasons = [
        f"instance {index}: {reason}"
        for index, document in enumerate(documents)
        for reason in document.get("invalidReasons") or []
    ]
    found |= {
        "valid": all(document.get("valid") is True for document in documents),
        "invalidReasons": reasons,
    }
    if _merged(documents):
        return found
    processes = [process for one in documents for process in _list(one, "workProcesses")]
    return found | {
        **({"workProcesses": processes} if processes else {}),
        "metrics": _metrics(documents),
        "operations": [_operation(parts) for parts in _by_name(documents, "operations")],
    }


def each(documents: Sequence[Document]) -> tuple[dict[str, Any], ...]:
    """A document of each instance, without histograms and series.

    Where the first driver merged the transactions of all, only its throughput is known apart, so
    that of the others no more is kept.
    """
    if not _merged(documents):
        return tuple(
            dict(document) | {"operations": [_light(one) for one in _list(document, "operations")]}
            for document in documents
        )
    shares = {part["index"]: part for part in documents[0]["processes"]}
    return tuple(
        {
            name: value
            for name, value in document.items()
            if name not in ("processes", "arrivals", "limits", "shares")
        }
        | {
            "metrics": [
                {
                    "name": "throughput",
                    "unit": "per_second",
                    "value": shares[index]["throughputPerSecond"],
                }
            ],
            "operations": [],
            "driverUsage": shares[index]["driverUsage"],
        }
        for index, document in enumerate(documents)
    )


def jain_index(values: Sequence[float]) -> float:
    """Fairness of an allocation: (sum x)^2 / (n sum x^2), 1 when all are equal, 1/n at worst.

    Jain, Chiu, Hawe: A Quantitative Measure of Fairness and Discrimination, 1984, section 2.
    ValueError without a value that is greater than 0.
    """
    squares = sum(value * value for value in values)
    if squares <= 0 or min(values) < 0:
        raise ValueError(f"no allocation: {values!r}")
    return sum(values) ** 2 / (len(values) * squares)


def _merged(documents: Sequence[Document]) -> bool:
    return bool(documents[0].get("processes"))


def _metrics(documents: Sequence[Document]) -> list[dict[str, Any]]:
    """Metrics that every instance has."""
    found = []
    for parts in _by_name(documents, "metrics"):
        total = sum(part["value"] for part in parts)
        averaged = parts[0]["unit"] in _AVERAGED
        found.append(dict(parts[0]) | {"value": total / len(parts) if averaged else total})
    return found


def _operation(parts: Sequence[Document]) -> dict[str, Any]:
    """Counts are added; the n-th runtime is the mean of the instances' n-th runtimes."""
    found = _light(parts[0])
    found["counts"] = _sum(part.get("counts") or {} for part in parts)
    found["errors"] = _sum(part.get("errors") or {} for part in parts)
    runtimes = [part.get("runtimesSeconds") or [] for part in parts]
    # A run that one instance lacks has no mean: such a trial is not valid.
    found["runtimesSeconds"] = [sum(run) / len(run) for run in zip(*runtimes, strict=False)]
    firsts = [first for part in parts if (first := part.get("firstRuntimeSeconds")) is not None]
    if len(firsts) == len(parts):
        found["firstRuntimeSeconds"] = sum(firsts) / len(firsts)
    return found


def _by_name(documents: Sequence[Document], field: str) -> list[list[Document]]:
    """Entries of the same name in all documents, in the order of the first one."""
    tables = [{entry["name"]: entry for entry in _list(document, field)} for document in documents]
    return [
        [table[name] for table in tables]
        for name in tables[0]
        if all(name in table for table in tables)
    ]


def _list(document: Document, field: str) -> list[Document]:
    return document.get(field) or []


def _light(operation: Document) -> dict[str, Any]:
    return {name: value for name, value in operation.items() if name not in _WEIGHTY}


def _sum(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(total)

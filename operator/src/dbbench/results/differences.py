"""What differs between two benchmarks: in their specs, and in what they ran on. No I/O."""

from collections.abc import Iterator, Mapping
from typing import Any

from dbbench.api.benchmark import DBBenchmark

# They steer a run and change nothing of what is measured.
_STEERING = frozenset(
    {"suspend", "cleanupPolicy", "ttlAfterFinished", "gates", "timeouts", "confirm"}
)


def measured_spec(benchmark: DBBenchmark) -> dict[str, Any]:
    """The spec, without what only steers a run."""
    document = benchmark.spec.document()
    return {key: value for key, value in document.items() if key not in _STEERING}


def differences(path: str, one: Any, other: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON
    """Sentences `path: one -> other`, for every field of two JSON documents that differs."""
    one, other = _by_name(one), _by_name(other)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in dict.fromkeys([*one, *other]):
            yield from differences(f"{path}.{key}", one.get(key), other.get(key))
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

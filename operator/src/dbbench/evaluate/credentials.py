"""The Secret with the password of a run's databases: made once, never again. No I/O.

What a database keeps was made with the password that was in it, and opens with no other.
"""

from dbbench.evaluate.harvest import kind_of
from dbbench.evaluate.problem import Problem
from dbbench.evaluate.state import Ref, State
from dbbench.targets.names import credentials_name

_DATABASES = ("StatefulSet", "VirtualMachine", "Cluster")


def to_be_made(state: State) -> bool:
    """Whether there is no Secret, and no database that was made with an earlier one."""
    return _missing(state) and not _databases(state)


def problem(state: State) -> Problem | None:
    """That the Secret was deleted; None while a trial runs, which had read it before.

    It is made before the databases, and goes after them.
    """
    if not _missing(state) or not _databases(state) or _measures(state):
        return None
    metadata = state.benchmark.metadata
    return Problem(
        "SecretNotFound",
        f"Secret {credentials_name(state.benchmark)!r} in namespace {metadata.namespace} was "
        "deleted during the run. The databases were made with the password in it, and a new one "
        "opens none of them. Leave it alone, and measure again in a new DBBenchmark.",
    )


def _missing(state: State) -> bool:
    return Ref("Secret", credentials_name(state.benchmark)) not in state.objects


def _databases(state: State) -> bool:
    return any(
        not manifest["metadata"].get("deletionTimestamp")
        for kind in _DATABASES
        for manifest in state.of_kind(kind)
    )


def _measures(state: State) -> bool:
    return any(
        kind_of(pod) == "trial" and pod.get("status", {}).get("phase") == "Running"
        for pod in state.pods
    )

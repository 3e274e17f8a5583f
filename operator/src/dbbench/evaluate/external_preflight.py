"""What the Secret of an external database must have. No I/O."""

from collections.abc import Iterator

from dbbench.evaluate.connection import PLAIN_MODES, needed
from dbbench.evaluate.problem import Problem
from dbbench.evaluate.state import State

_EXAMPLE = "--from-literal=host=HOST --from-literal=user=USER --from-file=password=FILE"


def external_problems(state: State) -> Iterator[Problem]:
    """Secrets that are missing or cannot be used."""
    namespace = state.benchmark.metadata.namespace
    for index, target in enumerate(state.benchmark.spec.targets):
        if target.external is None or state.connections is None:
            continue
        name = target.external.connection.secret_ref.name
        field = f"spec.targets[{index}].external.connection.secretRef"
        found = state.connections.get(name)
        if found is None:
            yield Problem(
                "SecretNotFound",
                f"{field}: Secret {name!r} of target {target.name!r} does not exist in namespace "
                f"{namespace}. Make it with `kubectl create secret generic {name} -n {namespace} "
                f"{_EXAMPLE}`, with port and database where they are needed.",
            )
            continue
        wanted = needed(state.benchmark.spec.database.engine)
        missing = [" or ".join(names) for names in wanted if not found.keys.intersection(names)]
        if missing:
            listed = ", ".join(missing)
            yield Problem(
                "SecretKeyMissing",
                f"{field}: Secret {name!r} of target {target.name!r} has no value for {listed}. "
                f"Add what is missing, for example with `kubectl edit secret {name} "
                f"-n {namespace}`.",
            )
        if not found.port_is_valid:
            yield Problem(
                "SecretValueInvalid",
                f"{field}: port in Secret {name!r} of target {target.name!r} is no number from 1 "
                "to 65535. Correct it, or remove it for the engine's usual port.",
            )
        if found.asks_for_tls:
            yield Problem(
                "TLSNotSupported",
                f"{field}: sslmode in Secret {name!r} of target {target.name!r} asks for TLS, "
                f"which the driver does not speak. Write one of {', '.join(PLAIN_MODES)}, and let "
                "the server accept connections without TLS from the driver's node.",
            )

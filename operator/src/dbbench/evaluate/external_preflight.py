"""What the Secret of an external database must have. No I/O."""

from collections.abc import Iterator

from dbbench.api.database import Engine
from dbbench.evaluate.connection import Tls, needed
from dbbench.evaluate.problem import Problem
from dbbench.evaluate.state import State

_MODES = "disable, require, verify-ca or verify-full"
_TLS = {
    Tls.NO_MODE: (
        "SecretKeyMissing",
        "has ca.crt and no sslmode. Write sslmode verify-full, or disable for no TLS.",
    ),
    Tls.SERVERS_CHOICE: (
        "SecretValueInvalid",
        "has sslmode prefer or allow, with which the server would decide what is measured. Write "
        f"{_MODES}.",
    ),
    Tls.UNKNOWN_MODE: ("SecretValueInvalid", f"has an sslmode that is none of {_MODES}."),
    Tls.NO_ROOT_CERTIFICATES: (
        "SecretKeyMissing",
        "has sslmode verify-ca and no ca.crt, the certificate of your own authority: a public one "
        "certifies anybody. Add ca.crt, or write verify-full.",
    ),
    Tls.NO_PEM: (
        "SecretValueInvalid",
        "has a ca.crt without a certificate in PEM. It must hold those of the authorities whose "
        "servers are trusted, each after -----BEGIN CERTIFICATE-----.",
    ),
}

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
        engine = state.benchmark.spec.database.engine
        wanted = needed(engine)
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
        if found.tls in _TLS:
            reason, text = _TLS[found.tls]
            yield Problem(reason, f"{field}: Secret {name!r} of target {target.name!r} {text}")
        elif found.tls is Tls.ASKED and engine is not Engine.POSTGRESQL:
            yield Problem(
                "TLSNotSupported",
                f"{field}: sslmode in Secret {name!r} of target {target.name!r} asks for TLS, "
                f"which the driver speaks to PostgreSQL alone, and not to {engine}. Write disable, "
                "and let the server accept connections without TLS from the driver's node.",
            )

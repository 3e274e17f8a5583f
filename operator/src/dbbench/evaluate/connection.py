"""What may be known of the Secret of an external database: its values are the driver's alone.

No I/O.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from dbbench.api.database import Engine

# Keys of which one must be there, under either name; the driver reads the same ones.
_NEEDED = (("host",), ("user", "username"), ("password",))
# The other engines have a default; Hyper's databases are files of any name.
_DATABASE = ("database", "dbname")
_NEEDED_BY = {Engine.HYPER: (_DATABASE,)}

_ROOT_CERTIFICATES = "ca.crt"
_PEM = "-----BEGIN CERTIFICATE-----"


class Tls(Enum):
    """What a Secret asks for by sslmode and ca.crt, or why the driver would not do it."""

    NONE = auto()
    ASKED = auto()
    NO_MODE = auto()
    """There are root certificates, and nothing says what they are for."""
    SERVERS_CHOICE = auto()
    """prefer or allow."""
    UNKNOWN_MODE = auto()
    NO_ROOT_CERTIFICATES = auto()
    """verify-ca without a ca.crt: any public authority certifies anybody."""
    NO_PEM = auto()


def needed(engine: Engine) -> tuple[tuple[str, ...], ...]:
    """The keys that a Secret has to have for a database of this engine, by their names."""
    return _NEEDED + _NEEDED_BY.get(engine, ())


@dataclass(frozen=True)
class Connection:
    """What is known of a Secret: which of the driver's keys have a value, and two verdicts."""

    keys: frozenset[str]
    port_is_valid: bool = True
    tls: Tls = Tls.NONE


def connection_of(secret: Mapping[str, Any]) -> Connection:
    """Looks at a Secret as the API server gives it, and keeps none of its values."""
    data = {key: value for key, value in (secret.get("data") or {}).items() if value}
    port = _text(data.get("port"))
    return Connection(
        keys=frozenset(key for names in (*_NEEDED, _DATABASE) for key in names if key in data),
        port_is_valid=port is None or (port.isascii() and port.isdigit() and 0 < int(port) < 65536),
        tls=_tls(_text(data.get("sslmode")), _text(data.get(_ROOT_CERTIFICATES))),
    )


def _tls(mode: str | None, root_certificates: str | None) -> Tls:
    """As workloads/driver/src/engine/tls/mode.rs reads it."""
    match mode:
        case None if root_certificates is None:
            return Tls.NONE
        case None:
            return Tls.NO_MODE
        case "disable":
            return Tls.NONE
        case "prefer" | "allow":
            return Tls.SERVERS_CHOICE
        case "verify-ca" if root_certificates is None:
            return Tls.NO_ROOT_CERTIFICATES
        case "require" | "verify-ca" | "verify-full":
            has_pem = root_certificates is None or _PEM in root_certificates
            return Tls.ASKED if has_pem else Tls.NO_PEM
    return Tls.UNKNOWN_MODE


def _text(value: str | None) -> str | None:
    """A Secret's value as the driver reads it; None where there is none."""
    try:
        text = base64.b64decode(value or "", validate=True).decode("utf-8", "replace")
    except binascii.Error:
        return "?"
    return text.removesuffix("\n").rstrip("\r") or None

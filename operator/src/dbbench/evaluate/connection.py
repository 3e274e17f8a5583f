"""What may be known of the Secret of an external database: its values are the driver's alone.

No I/O.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dbbench.api.database import Engine

# Keys of which one must be there, under either name; the driver reads the same ones.
_NEEDED = (("host",), ("user", "username"), ("password",))
# The other engines have a default; Hyper's databases are files of any name.
_DATABASE = ("database", "dbname")
_NEEDED_BY = {Engine.HYPER: (_DATABASE,)}

# Values of sslmode with which a server is talked to without TLS.
PLAIN_MODES = ("disable", "allow", "prefer")


def needed(engine: Engine) -> tuple[tuple[str, ...], ...]:
    """The keys that a Secret has to have for a database of this engine, by their names."""
    return _NEEDED + _NEEDED_BY.get(engine, ())


@dataclass(frozen=True)
class Connection:
    """What is known of a Secret: which of the driver's keys have a value, and two verdicts."""

    keys: frozenset[str]
    port_is_valid: bool = True
    asks_for_tls: bool = False


def connection_of(secret: Mapping[str, Any]) -> Connection:
    """Looks at a Secret as the API server gives it, and keeps none of its values."""
    data = {key: value for key, value in (secret.get("data") or {}).items() if value}
    port, mode = _text(data.get("port")), _text(data.get("sslmode"))
    return Connection(
        keys=frozenset(key for names in (*_NEEDED, _DATABASE) for key in names if key in data),
        port_is_valid=port is None or (port.isascii() and port.isdigit() and 0 < int(port) < 65536),
        asks_for_tls=mode is not None and mode not in PLAIN_MODES,
    )


def _text(value: str | None) -> str | None:
    """A Secret's value as the driver reads it; None where there is none."""
    try:
        text = base64.b64decode(value or "", validate=True).decode("utf-8", "replace")
    except binascii.Error:
        return "?"
    return text.removesuffix("\n").rstrip("\r") or None

"""The settings of spec.database.config, as a server's configuration file has them. No I/O."""

import re
from collections.abc import Callable

from dbbench.api.database import Database, Engine, is_reserved

_NAME = re.compile(r"[a-z_][a-z0-9_.]*")


def unprintable(value: str) -> bool:
    """Whether a value has control characters."""
    return any(ord(character) < 0x20 or ord(character) == 0x7F for character in value)


def requested(engine: Engine, database: Database, quote: Callable[[str], str]) -> dict[str, str]:
    """The user's settings with their quoted values, sorted by name.

    ValueError names the setting whose name or value cannot be written, or that is dbbench's own.
    """
    found = {}
    for name, value in sorted((database.config or {}).items()):
        if _NAME.fullmatch(name) is None:
            raise ValueError(
                f"spec.database.config: {name!r} is not the name of a setting; names consist "
                "of lower-case letters, digits, '_' and '.'"
            )
        if is_reserved(engine, name):
            raise ValueError(f"spec.database.config: {name} is set by dbbench; remove it")
        try:
            found[name] = quote(value)
        except ValueError as error:
            raise ValueError(f"spec.database.config: {name}: {error}") from error
    return found

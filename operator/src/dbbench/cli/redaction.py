"""Takes secrets out of texts that leave the cluster. No I/O.

What is known to be secret is removed wherever it stands, in the forms that it can take; beside
that, whatever looks like a password, a token or a key.
"""

import base64
import json
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

REMOVED = "[removed]"
# Anything shorter stands in innocent words too; a pattern may still catch it.
_SHORTEST = 4
_PUBLIC_KEYS = frozenset({"username", "user", "host", "port", "dbname", "database", "type"})
_WORDS = r"[A-Za-z0-9_.-]*(?:pass(?:word|wd|phrase)?|secret|token|api[_-]?key|credential)s?"
_PATTERNS = (
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----", re.S),
     REMOVED),
    (re.compile(r"(\w://[^\s/@:\"]*:)[^\s@\"]+(@)"), rf"\g<1>{REMOVED}\g<2>"),
    (re.compile(r"eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"), REMOVED),
    (re.compile(r"(?i)(\bbearer\s+)[\w.~+/=-]{8,}"), rf"\g<1>{REMOVED}"),
    (re.compile(rf"(?i)(\b{_WORDS}\\?[\"']?\s*[=:]\s*\\?[\"']?)[^\s\"',;}}{{\[\]\\]+"),
     rf"\g<1>{REMOVED}"),
    (re.compile(r"(?i)(\bidentified\s+by\s+|\bpassword\s+)'[^']*'"), rf"\g<1>'{REMOVED}'"),
)  # fmt: skip
_SECRET_NAME = re.compile(rf"(?i){_WORDS}$")
# They repeat what is elsewhere in the object, or hold anything that anybody put there.
_DROPPED = ("managedFields", "annotations")


class Redactor:
    """Removes the values of these Secrets, and what looks like one."""

    def __init__(self, secrets: Iterable[dict[str, Any]] = ()) -> None:
        values = {value for secret in secrets for value in secret_values(secret)}
        forms = {form for value in values for form in _forms(value)}
        # The longest first: one may be a part of another.
        self._forms = sorted(forms, key=lambda form: (-len(form), form))

    def text(self, text: str) -> str:
        """The text without them."""
        for form in self._forms:
            text = text.replace(form, REMOVED)
        for pattern, kept in _PATTERNS:
            text = pattern.sub(kept, text)
        return text

    def manifest(self, manifest: dict[str, Any]) -> str:
        """The object as JSON, without annotations, and without values of variables called so."""
        return self.text(json.dumps(_walked(manifest), indent=2, ensure_ascii=False) + "\n")

    def found(self, text: str) -> bool:
        """Whether any known value is in the text."""
        return any(form in text for form in self._forms)


def secret_values(secret: dict[str, Any]) -> list[str]:
    """The values of a Secret that are worth hiding: neither names of users nor a few letters."""
    found = []
    for key, encoded in (secret.get("data") or {}).items():
        value = base64.b64decode(encoded).decode("utf-8", "replace")
        if key.lower() not in _PUBLIC_KEYS and len(value.strip()) >= _SHORTEST:
            found.append(value.strip())
    return found


def _forms(value: str) -> set[str]:
    """As it stands in texts, in JSON, in URLs, and in a Secret."""
    encoded = base64.b64encode(value.encode()).decode()
    escaped = {json.dumps(value, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}
    return {value, *escaped, quote(value, safe=""), encoded, encoded.rstrip("=")}


def _walked(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, list):
        return [_walked(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {key: _walked(item) for key, item in value.items() if key not in _DROPPED}
    if isinstance(kept.get("name"), str) and _SECRET_NAME.match(kept["name"]) and "value" in kept:
        kept["value"] = REMOVED
    return kept

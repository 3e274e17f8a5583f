"""The frame of a page: its head, and what keeps it self-contained. No I/O."""

from dbbench.results.page.markup import Child, Safe, element
from dbbench.results.page.style import STYLE

# Nothing is loaded and nothing is run, whatever a name in the data may hold.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_LONGEST_TITLE = 200


def framed(
    title: str,
    main: Child,
    footer: Child,
    *,
    policy: str = POLICY,
    style: Safe = STYLE,
    script: Safe | None = None,
) -> str:
    """A whole HTML document. A `script` runs when `main` is there, where the policy allows it."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("title", title[:_LONGEST_TITLE]),
        element("style", style),
    )
    last = element("script", script) if script else None
    body = element("body", element("main", main), element("footer", footer), last)
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"

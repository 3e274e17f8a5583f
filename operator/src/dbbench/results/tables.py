"""Tables of Markdown. No I/O."""

from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, left: int) -> list[str]:
    """A table whose first `left` columns are texts, and the others figures."""
    rules = [":--" if column < left else "--:" for column in range(len(header))]
    return [
        f"| {' | '.join(header)} |",
        f"|{'|'.join(rules)}|",
        *(f"| {' | '.join(_escaped(text) for text in row)} |" for row in rows),
    ]


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")

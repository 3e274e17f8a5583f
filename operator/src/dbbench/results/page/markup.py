"""HTML and SVG that is escaped by its type: text that nobody marked safe cannot become markup."""

import html
from collections.abc import Iterable
from typing import Union

_VOID = frozenset({"meta", "br", "hr"})
# SVG shapes have no content; closed in short, they are well-formed XML as well.
_EMPTY = frozenset({"line", "rect", "circle", "path", "polyline"})


class Safe(str):
    """Markup. Made by `element` and `joined` alone."""

    __slots__ = ()


Child = Union[str, None, Iterable["Child"]]  # noqa: UP007 - recursive, by its name


def joined(children: Iterable[Child]) -> Safe:
    """The children one after another; what is not Safe is escaped, None is nothing."""
    return Safe("".join(_text(child) for child in children))


def element(tag: str, *children: Child, **attributes: str | int | float | None) -> Safe:
    """`<tag attributes>children</tag>`.

    An attribute's name is written with dashes for underscores, without a last one (`class_`), and
    keeps its capitals (`viewBox`); one that is None is left out. Numbers have at most two decimals.
    """
    opened = tag + "".join(
        f' {_attribute(name)}="{html.escape(_number(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    if tag in _VOID:
        return Safe(f"<{opened}>")
    if tag in _EMPTY and not children:
        return Safe(f"<{opened}/>")
    return Safe(f"<{opened}>{joined(children)}</{tag}>")


def _text(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Safe):
        return child
    if isinstance(child, str):
        return html.escape(child)
    return joined(child)


def _attribute(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def _number(value: str | float) -> str:
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return str(value)

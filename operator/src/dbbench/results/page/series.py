"""How the targets are told apart in plots: a shape, a dash pattern and a colour each. No I/O."""

from collections.abc import Sequence

from dbbench.results.page.markup import Safe, element

_SHAPES = (
    "M0 -4.5 A4.5 4.5 0 1 1 0 4.5 A4.5 4.5 0 1 1 0 -4.5 Z",
    "M0 -5.5 L5.5 4.5 H-5.5 Z",
    "M-4.2 -4.2 H4.2 V4.2 H-4.2 Z",
    "M0 -6 L5 0 L0 6 L-5 0 Z",
    "M0 5.5 L5.5 -4.5 H-5.5 Z",
    "M-1.6 -5 H1.6 V-1.6 H5 V1.6 H1.6 V5 H-1.6 V1.6 H-5 V-1.6 H-1.6 Z",
)
_DASHES = (None, "7 3", "2 3", "9 3 2 3", "5 5", "1 4")


class Targets:
    """Looks by the targets' order in the spec; from the seventh on they come again."""

    def __init__(self, names: Sequence[str]) -> None:
        self._places = {name: place for place, name in enumerate(names)}

    def colour(self, target: str) -> str:
        """The class that colours lines and marks."""
        return f"s{self._place(target)}"

    def mark(self, target: str) -> Safe:
        """The shape, around 0, 0."""
        return element("path", d=_SHAPES[self._place(target)], class_=self.colour(target))

    def dashes(self, target: str) -> str | None:
        """`stroke-dasharray` of the target's lines."""
        return _DASHES[self._place(target)]

    def legend(self, names: Sequence[str], emulated: Sequence[str]) -> Safe:
        """Each target with its line and mark."""
        return element(
            "p", (self._entry(name, name in emulated) for name in names), class_="legend"
        )

    def _entry(self, name: str, emulated: bool) -> Safe:
        line = element(
            "line",
            x1=-14,
            x2=14,
            y1=0,
            y2=0,
            stroke_dasharray=self.dashes(name),
            class_=f"line {self.colour(name)}",
        )
        drawing = element(
            "svg", line, self.mark(name),
            viewBox="-16 -8 32 16", width=32, height=16, aria_hidden="true",
        )  # fmt: skip
        return element("span", drawing, f" {name}{' (emulated)' if emulated else ''}")

    def _place(self, target: str) -> int:
        return self._places.setdefault(target, len(self._places)) % len(_SHAPES)

"""The vertical axis that plots over time and over a sweep have in common. No I/O."""

from collections.abc import Callable, Iterator, Sequence

from dbbench.results.page.markup import Safe, element

Place = Callable[[float], float]
"""From a value to its distance from the top, in pixels."""


def labels(ticks: Sequence[float], written: Callable[[float], str], y: Place, height: int) -> Safe:
    """The ticks' values, beside a plot of that height in pixels."""
    return element(
        "svg",
        (element("text", written(tick), x=76, y=y(tick) + 4, text_anchor="end") for tick in ticks),
        width=80,
        height=height,
        aria_hidden="true",
        class_="ticks",
    )


def grid(ticks: Sequence[float], y: Place) -> Iterator[Safe]:
    """A line across the plot at each tick."""
    return (
        element("line", x1="0", x2="100%", y1=y(tick), y2=y(tick), class_="grid") for tick in ticks
    )

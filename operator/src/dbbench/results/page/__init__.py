"""Self-contained HTML pages, of one benchmark and of a history: no scripts, no network. No I/O."""

from dbbench.results.page.assembly import to_html
from dbbench.results.page.over_time import history_to_html

__all__ = ["history_to_html", "to_html"]

"""One self-contained HTML page with all results of a benchmark: no scripts, no network. No I/O."""

from dbbench.results.page.assembly import to_html

__all__ = ["to_html"]

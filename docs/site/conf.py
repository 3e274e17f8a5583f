"""The site of docs/: `make docs` builds it, to be read from disk or from any web server.

Pages are plain Markdown, as they are read where the repository is hosted; all that is the site's
own is here. A page without a place in the contents is an error, and so is a link that leads
nowhere.
"""

from pathlib import Path

from sphinx.application import Sphinx

DOCS = Path(__file__).parents[1]

project = "dbbench"
author = "the dbbench authors"
html_title = "dbbench"
extensions = ["myst_parser"]
root_doc = "README"
exclude_patterns = ["site"]
html_theme = "furo"
html_static_path = ["static"]
html_extra_path = ["extra"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False
myst_heading_anchors = 4
smartquotes = False
# There is no lexer for CSV.
suppress_warnings = ["misc.highlighting_failure"]

CONTENTS = {
    "Start": ["quickstart", "concepts"],
    "How to": [
        "targets",
        "engines",
        "guides/dashboard",
        "guides/gitops",
        "report",
        "history",
        "experiments",
    ],
    "Workloads": [
        "workloads",
        *(f"workloads/{name}" for name in ("tpch", "tpcc", "tatp", "sql", "zachmann", "micro")),
        *(f"workloads/{name}" for name in ("measuring", "engines", "mysql", "speed")),
    ],
    "Reference": [
        f"reference/{name}"
        for name in ("api", "conditions", "cli", "cli-options", "results", "metrics")
    ],
    "Background": ["methodology", "architecture"],
    "Operations": ["operations", "security"],
    "Contributing": [
        "contributing",
        *sorted(f"decisions/{path.stem}" for path in (DOCS / "decisions").glob("*.md")),
    ],
}


def contents(_: Sphinx, page: str, source: list[str]) -> None:
    """Give the first page the site's contents, which its Markdown does not show elsewhere."""
    if page == root_doc:
        for title, pages in CONTENTS.items():
            lines = [f":caption: {title}", ":hidden:", *pages]
            source[0] += "\n```{toctree}\n" + "\n".join(lines) + "\n```\n"


def setup(application: Sphinx) -> None:
    application.connect("source-read", contents)

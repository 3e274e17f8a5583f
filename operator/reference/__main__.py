"""Writes the generated pages into a folder: `python -m reference FOLDER`."""

import sys
from pathlib import Path

from reference import api, metrics, options

PAGES = {"api.md": api.page, "cli-options.md": options.page, "metrics.md": metrics.page}


def main() -> None:
    """Each page in the folder that the first argument names."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (folder / name).write_text(page())


if __name__ == "__main__":
    main()

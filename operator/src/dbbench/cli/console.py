"""The terminal, or what stands in its place."""

from rich.console import Console

# In a file or a pipe nothing is cut or wrapped to the 80 columns that nobody looks at.
_WIDTH_OF_A_FILE = 180


def console(*, stderr: bool = False) -> Console:
    """A console as wide as the terminal; wide and without colours elsewhere."""
    found = Console(stderr=stderr, highlight=False)
    if not found.is_terminal:
        found = Console(stderr=stderr, highlight=False, width=_WIDTH_OF_A_FILE, color_system=None)
    return found

"""What the demo says, with colour where somebody looks."""

import sys

from rich.console import Console
from rich.markdown import Markdown


class Terminal:
    """Standard output of the demo."""

    def __init__(self) -> None:
        self._colour = sys.stdout.isatty()

    def step(self, text: str) -> None:
        print(f"\n{self._in('1', f'==> {text}')}", flush=True)

    def done(self, text: str) -> None:
        print(self._in("32", f"<== {text}"), flush=True)

    def say(self, text: str) -> None:
        print(f"    {text}", flush=True)

    def markdown(self, text: str) -> None:
        """Rendered where somebody looks, as it is elsewhere."""
        if self._colour:
            Console().print(Markdown(text))
        else:
            print(text, flush=True)

    def fail(self, text: str) -> None:
        print(self._in("31", f"\ndemo: {text}"), file=sys.stderr, flush=True)

    def _in(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour else text

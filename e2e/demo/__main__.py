"""Entry point: `python -m demo` in e2e/, which `make demo` calls."""

import argparse
import sys
from pathlib import Path

from access.kubectl import CallError

from demo.overlay import overlay
from demo.readme import refresh
from demo.steps import DemoError, Steps, prepare, run
from demo.terminal import Terminal


def main() -> int:
    """Exit code 0 only if the benchmark succeeded."""
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument(
        "--readme",
        type=Path,
        metavar="FILE",
        action="append",
        default=[],
        help="also write the table into this file's block; can be given several times",
    )
    options = parser.parse_args()
    terminal = Terminal()
    steps = Steps(terminal)
    try:
        kubectl = prepare(steps)
        results = run(steps, kubectl, overlay(kubectl))
        for page in options.readme:
            refresh(page, results)
            terminal.say(f"wrote the table into {page}")
    except (DemoError, CallError, TimeoutError) as error:
        terminal.fail(str(error))
        return 1
    finally:
        steps.summary()
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Entry point of `dbbench` and `kubectl dbbench`."""

import sys
from importlib import import_module
from pathlib import PurePath

import click

from dbbench import __version__

_COMMANDS = (
    "compare", "completion", "dashboard", "debug", "export", "history", "init", "list", "logs",
    "plan", "preflight", "report", "reproduce", "run", "watch",
)  # fmt: skip
# Commands whose names are Python's own.
_FUNCTIONS = {"list": "list_benchmarks"}


class _LazyGroup(click.Group):
    """Loads a command when it is asked for: the Kubernetes client alone takes a second to load."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = import_module(f"dbbench.cli.{cmd_name}")
        command = getattr(module, _FUNCTIONS.get(cmd_name, cmd_name))
        return command if isinstance(command, click.Command) else None


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="dbbench", message="%(prog)s %(version)s")
def cli() -> None:
    """Measure what a virtual machine costs a database, on Kubernetes.

    Exit codes: 0 success, 1 the benchmark failed, cannot start or has no results, 2 wrong input or
    no access to the cluster, 3 --timeout passed.
    """


def main() -> None:
    """Run the command line of this process."""
    # kubectl runs its plug-ins by file name; help then shows what the user typed.
    plugin = PurePath(sys.argv[0]).name.startswith("kubectl-")
    cli(prog_name="kubectl dbbench" if plugin else "dbbench")


if __name__ == "__main__":
    main()

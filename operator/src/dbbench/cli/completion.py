"""`dbbench completion`: the shell completes commands, options and names of benchmarks."""

import asyncio
import sys

import click
from click.shell_completion import get_completion_class

from dbbench.cli.failure import CommandFailed
from dbbench.cli.where import Where

SHELLS = ("bash", "fish", "zsh")
_VARIABLE = "_DBBENCH_COMPLETE"
_PATIENCE_SECONDS = 2.0
# What kubectl reads after the last candidate: cobra's directive not to add names of files.
_NO_FILES = ":4"


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script that makes SHELL complete `dbbench`.

    For bash: source <(dbbench completion bash). `kubectl dbbench` is completed where
    kubectl_complete-dbbench, which is installed beside dbbench, is on the path.
    """
    from dbbench.cli.main import cli

    found = get_completion_class(shell)
    if found is None:
        raise CommandFailed(f"click knows no completion for {shell}; update it")
    click.echo(found(cli, {}, "dbbench", _VARIABLE).source())


def kubectl() -> None:
    """Entry point of kubectl_complete-dbbench: kubectl calls it with the words typed so far."""
    from dbbench.cli.main import cli

    *words, incomplete = sys.argv[1:] or [""]
    bash = get_completion_class("bash")
    if bash is not None:
        for item in bash(cli, {}, "kubectl dbbench", _VARIABLE).get_completions(words, incomplete):
            click.echo(f"{item.value}\t{item.help}" if item.help else item.value)
    click.echo(_NO_FILES)


def benchmark_names(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Names of the benchmarks of the namespace; none where the cluster does not answer at once."""
    given = context.params
    where = Where(given.get("namespace"), given.get("kubeconfig"), given.get("context"))
    try:
        found = asyncio.run(asyncio.wait_for(_names(where), _PATIENCE_SECONDS))
    except (CommandFailed, TimeoutError):
        return []
    return [name for name in found if name.startswith(incomplete)]


async def _names(where: Where) -> list[str]:
    from dbbench.cli.session import connect  # with the client, only when it is needed

    async with connect(where) as session:
        return await session.names()

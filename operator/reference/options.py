"""All options of every command, from the command line itself."""

import click

from dbbench.cli.main import cli
from reference.tables import header, prose, table

_ABOUT = """\
# Options of every command

What `--help` of each command says. [Command line](cli.md) explains the commands.
"""


def page() -> str:
    """The page docs/reference/cli-options.md."""
    parts = [header("operator/src/dbbench/cli") + _ABOUT]
    with click.Context(cli, info_name="dbbench") as context:
        for name in cli.list_commands(context):
            command = cli.get_command(context, name)
            if command is not None:
                parts.append(_section(command, click.Context(command, context, info_name=name)))
    return "\n".join(parts)


def _section(command: click.Command, context: click.Context) -> str:
    usage = " ".join(["dbbench", str(context.info_name), *command.collect_usage_pieces(context)])
    text = f"## dbbench {context.info_name}\n\n```text\n{usage}\n```\n\n{_help(command)}\n"
    records = [
        parameter.get_help_record(context)
        for parameter in command.get_params(context)
        if isinstance(parameter, click.Option)
    ]
    rows = [
        (f"`{names}`".replace(", -", "`, `-"), prose(said)) for names, said in filter(None, records)
    ]
    return f"{text}\n{table(('option', 'meaning'), rows)}"


def _help(command: click.Command) -> str:
    """The help in paragraphs, each on one line; what click must not wrap is a block."""
    paragraphs = []
    for paragraph in (command.help or "").split("\n\n"):
        if paragraph.startswith("\b\n"):
            paragraphs.append(f"```text\n{paragraph.removeprefix(chr(8)).strip()}\n```")
        else:
            paragraphs.append(prose(paragraph))
    return "\n\n".join(paragraphs)

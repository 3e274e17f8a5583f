"""Ends of a command that are no success, with their exit codes."""

import click


class CommandFailed(click.ClickException):
    """Wrong input, or no access to the cluster. Prints `Error: message` on stderr."""

    exit_code = 2


class BenchmarkFailed(CommandFailed):
    """The benchmark failed, does not exist, or has no results."""

    exit_code = 1


class TimedOut(CommandFailed):
    """The command was told to wait no longer."""

    exit_code = 3

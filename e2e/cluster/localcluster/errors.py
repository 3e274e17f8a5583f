"""The one error that ends a command with a message instead of a traceback."""


class ClusterError(Exception):
    """The command cannot go on; the message says why and what the user can do."""

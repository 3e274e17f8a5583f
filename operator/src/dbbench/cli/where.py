"""The options that lead to a cluster. Loads no Kubernetes client: that takes a second."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click


@dataclass(frozen=True)
class Where:
    """The options that say which cluster and namespace are meant."""

    namespace: str | None
    kubeconfig: str | None
    context: str | None


def cluster_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options of `Where` to a command, spelt as kubectl spells them."""
    for option in (
        click.option("--kubeconfig", help="Path of the kubeconfig; $KUBECONFIG by default."),
        click.option("--context", help="Context of the kubeconfig; the current one by default."),
        click.option("-n", "--namespace", help="Namespace; the context's by default."),
    ):
        command = option(command)
    return command

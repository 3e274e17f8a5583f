"""The options that lead to a cluster. Loads no Kubernetes client: that takes a second."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click


@dataclass(frozen=True)
class Where:
    """The options that say which cluster and namespace are meant."""

    namespace: str | None
    kubeconfig: str | None
    context: str | None


def cluster_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command the options of `Where`, spelt as kubectl spells them, as `where`."""

    @wraps(command)
    def with_where(
        namespace: str | None, kubeconfig: str | None, context: str | None, **others: object
    ) -> object:
        return command(where=Where(namespace, kubeconfig, context), **others)

    found: Callable[..., Any] = with_where
    for option in (
        click.option("--kubeconfig", help="Path of the kubeconfig; $KUBECONFIG by default."),
        click.option("--context", help="Context of the kubeconfig; the current one by default."),
        click.option("-n", "--namespace", help="Namespace; the context's by default."),
    ):
        found = option(found)
    return found

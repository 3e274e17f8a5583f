"""`dbbench logs`: what the pods of a benchmark print, the database's and the driver's."""

import asyncio

import click

from dbbench.cli.completion import benchmark_names
from dbbench.cli.failure import BenchmarkFailed
from dbbench.cli.session import connect
from dbbench.cli.where import Where, cluster_options
from dbbench.evaluate.state import Manifest, labels_of
from dbbench.targets.names import LABEL_COMPONENT, LABEL_TARGET, Component

ROLES = {
    "database": Component.TARGET,
    "driver": Component.DRIVER,
    "preparation": Component.PREPARATION,
}


@click.command()
@click.argument("name", shell_complete=benchmark_names)
@cluster_options
@click.option("--of", "role", type=click.Choice(list(ROLES)), help="Pods of this kind only.")
@click.option("--target", help="Pods of this target only.")
@click.option(
    "--tail",
    type=click.IntRange(0),
    default=100,
    show_default=True,
    help="Lines of each container, from the end; 0 for all.",
)
def logs(
    name: str,
    where: Where,
    role: str | None,
    target: str | None,
    tail: int,
) -> None:
    """Print the logs of the pods that benchmark NAME has now.

    Each container is headed by ==> POD CONTAINER <==. The driver prints its progress and its result
    as lines of JSON. Pods of trials that are over are gone; their results are kept.
    """
    asyncio.run(_logs(where, name, role, target, tail))


async def _logs(where: Where, name: str, role: str | None, target: str | None, tail: int) -> None:
    async with connect(where) as session:
        await session.body(name)
        pods = [pod for pod in await session.pods(name) if _wanted(pod, role, target)]
        if not pods:
            what = " ".join(word for word in (role, target) if word)
            raise BenchmarkFailed(f"benchmark {name} has no {what + ' ' if what else ''}pod now")
        for pod in pods:
            for container in containers(pod):
                text = await session.log(pod["metadata"]["name"], container, tail)
                if text is not None:
                    click.echo(f"==> {pod['metadata']['name']} {container} <==")
                    click.echo(text, nl=not text.endswith("\n"))


def containers(pod: Manifest) -> list[str]:
    """Names of a pod's containers, in the order in which they start."""
    spec = pod["spec"]
    return [one["name"] for one in [*(spec.get("initContainers") or []), *spec["containers"]]]


def _wanted(pod: Manifest, role: str | None, target: str | None) -> bool:
    labels = labels_of(pod)
    return (role is None or labels.get(LABEL_COMPONENT) == ROLES[role].value) and (
        target is None or labels.get(LABEL_TARGET) == target
    )

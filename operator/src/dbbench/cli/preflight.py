"""`dbbench preflight`: what keeps a benchmark from starting, before it is applied."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import click
import yaml

from dbbench.api.benchmark import DBBenchmark
from dbbench.cli.console import console
from dbbench.cli.documents import Document, documents
from dbbench.cli.failure import BenchmarkFailed
from dbbench.cli.session import Session, connect
from dbbench.cli.where import Where, cluster_options
from dbbench.evaluate.preflight import problems
from dbbench.evaluate.problem import Problem
from dbbench.evaluate.state import State

SCHEMA_VERSION = 1
FORMATS = ("text", "json", "yaml")


@dataclass(frozen=True)
class Findings:
    """What was found about one benchmark, and what could not be looked at."""

    title: str
    problems: tuple[Problem, ...]
    unchecked: tuple[str, ...]
    queue: str

    @property
    def document(self) -> dict[str, Any]:
        """As -o json prints it."""
        return {
            "benchmark": self.title,
            "ready": not self.problems,
            "problems": [{"reason": p.reason, "message": p.message} for p in self.problems],
            "unchecked": list(self.unchecked),
            "queue": self.queue,
        }


@click.command()
@click.argument("file")
@cluster_options
@click.option(
    "-o",
    "--output",
    type=click.Choice(FORMATS),
    default=FORMATS[0],
    show_default=True,
    help="Format of the answer.",
)
def preflight(
    file: str,
    where: Where,
    output: str,
) -> None:
    """Look whether the benchmarks in FILE can run in this cluster; nothing is created.

    The API server checks the rules of the CRD (a dry run), and the operator's own checks are made
    with your rights: nodes, room, storage classes, KubeVirt. What you may not read is named.

    Exit code 0 when nothing is in the way, 1 otherwise.
    """
    found = asyncio.run(_preflight(where, documents(file)))
    if output == "text":
        for one in found:
            _print(one)
    else:
        document = {
            "kind": "Preflight",
            "schemaVersion": SCHEMA_VERSION,
            "benchmarks": [one.document for one in found],
        }
        text = (
            json.dumps(document, indent=2, ensure_ascii=False)
            if output == "json"
            else yaml.safe_dump(document, sort_keys=False, allow_unicode=True).rstrip()
        )
        click.echo(text)
    blocked = [one.title for one in found if one.problems]
    if blocked:
        raise BenchmarkFailed(f"cannot start in this cluster: {', '.join(blocked)}")


def _print(found: Findings) -> None:
    out = console()
    for problem in found.problems:
        out.print(f"{found.title}: {problem.reason}: {problem.message}", markup=False)
    for what in found.unchecked:
        out.print(f"{found.title}: not checked: {what}", markup=False)
    if found.queue:
        out.print(f"{found.title}: would wait: {found.queue}", markup=False)
    if not found.problems:
        out.print(f"{found.title}: nothing is in the way", markup=False)


async def _preflight(where: Where, wanted: list[Document]) -> list[Findings]:
    async with connect(where) as session:
        return [await _look(session, one) for one in wanted]


async def _look(session: Session, document: Document) -> Findings:
    refusal = await session.refusal(document.body)
    refused = (Problem("Refused", refusal),) if refusal else ()
    privileged = await session.privileged_targets()
    benchmark = DBBenchmark.parse(
        {
            "metadata": {
                "name": document.title,
                "namespace": session.namespace,
                "uid": "none",
            },
            "spec": document.body["spec"],
        }
    )
    # Where it is not known, the operator says so itself when it comes to that.
    state = await session.survey(benchmark, privileged_targets=privileged is not False)
    wait = await session.place_in_queue(benchmark)
    return Findings(
        document.title,
        (*refused, *problems(state)),
        tuple(_unchecked(state, privileged)),
        wait.message if wait else "",
    )


def _unchecked(state: State, privileged: bool | None) -> list[str]:
    missing = []
    if state.nodes is None:
        missing.append("nodes and the room on them (you may not list nodes)")
    if state.storage_classes is None:
        missing.append("storage classes (you may not list storageclasses)")
    if state.kubevirt and state.kubevirts is None:
        missing.append("KubeVirt's settings (you may not list kubevirts)")
    if state.connections is None:
        missing.append("Secrets of external databases (you may not list secrets)")
    if privileged is None:
        missing.append("whether the operator allows privileged targets (it was not found)")
    return missing

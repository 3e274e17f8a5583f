"""`dbbench run`: apply a benchmark, follow it, print its report."""

import asyncio
import time
from typing import Any

import click

from dbbench.api.benchmark import DBBenchmark
from dbbench.cli.console import console
from dbbench.cli.documents import only_document
from dbbench.cli.failure import BenchmarkFailed, CommandFailed, TimedOut
from dbbench.cli.report import Output, output_option, rendering, show
from dbbench.cli.session import Session, connect
from dbbench.cli.watch import DurationType, follow
from dbbench.cli.where import Where, cluster_options

_PAUSE_SECONDS = 1.0


@click.command()
@click.argument("file")
@cluster_options
@output_option
@click.option(
    "--replace",
    is_flag=True,
    help="Delete a benchmark of the same name first, with its results.",
)
@click.option(
    "--timeout",
    type=DurationType(),
    help="Give up after this time, for example 3h, with exit code 3; the benchmark goes on.",
)
def run(
    file: str,
    where: Where,
    output: str,
    replace: bool,
    timeout: int | None,
) -> None:
    """Create the benchmark in FILE, follow it until it ends, and print its report.

    FILE is YAML with one DBBenchmark; - reads standard input. Progress goes to standard error, the
    report to standard output, also where only a gate was missed.

    Exit code 0 when it succeeded, 1 when it failed, missed a gate, or exists already.
    """
    body = only_document(file).body
    metadata = body.get("metadata") or {}
    if not metadata.get("name"):
        raise CommandFailed(f"{file}: metadata.name is missing; give the benchmark a name")
    name = str(metadata["name"])
    failure, has_results = asyncio.run(_run(where, body, name, replace=replace, limit=timeout))
    if has_results:
        show(asyncio.run(rendering(where, name, Output(output))), Output(output))
    if failure is not None:
        raise failure


async def _run(
    where: Where, body: dict[str, Any], name: str, *, replace: bool, limit: int | None
) -> tuple[BenchmarkFailed | None, bool]:
    """How it failed, if it did, and whether there is something to report."""
    failure = None
    async with connect(where) as session:
        if replace:
            await _remove(session, name, limit)
        await session.create(
            body,
            otherwise=f"print its results with `dbbench report {name}`, or measure again with "
            "--replace, which deletes it first",
        )
        try:
            await follow(session, name, limit, console(stderr=True))
        except BenchmarkFailed as error:
            failure = error
        if not await session.exists(name):
            return failure, False
        benchmark = await session.benchmark(name)
    return failure, benchmark.status.results_ref is not None and _measured(benchmark)


def _measured(benchmark: DBBenchmark) -> bool:
    """Whether any trial counts: of a run that failed before there is nothing to report."""
    progress = benchmark.status.progress
    return progress is not None and progress.trials_done > 0


async def _remove(session: Session, name: str, limit: int | None) -> None:
    """Until it is gone with all that it owns: what is made anew has the same names."""
    await session.delete(name)
    began = time.monotonic()
    while await session.exists(name):
        if limit is not None and time.monotonic() - began > limit:
            raise TimedOut(f"{name} has not been deleted within {limit} s")
        await asyncio.sleep(_PAUSE_SECONDS)

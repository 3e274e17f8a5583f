"""`dbbench watch`: follow a benchmark until it ends."""

import asyncio
import time
from contextlib import nullcontext
from datetime import UTC, datetime

import click
from rich.console import Console
from rich.live import Live

from dbbench.api.benchmark import DBBenchmark
from dbbench.api.quantities import duration
from dbbench.cli.completion import benchmark_names
from dbbench.cli.console import console
from dbbench.cli.failure import BenchmarkFailed, TimedOut
from dbbench.cli.run_state import ending
from dbbench.cli.session import Session, Unreachable, connect
from dbbench.cli.watch_view import LineView, screen
from dbbench.cli.where import Where, cluster_options

_INTERVAL_SECONDS = 1.0
# An API server that restarts is back within this time.
_PATIENCE_SECONDS = 60.0


class DurationType(click.ParamType[int]):
    """A duration as the API writes it, in seconds."""

    name = "duration"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        try:
            return duration(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


@click.command()
@click.argument("name", shell_complete=benchmark_names)
@cluster_options
@click.option(
    "--timeout",
    type=DurationType(),
    help="Give up after this time, for example 30m, with exit code 3; the benchmark goes on.",
)
def watch(
    name: str,
    where: Where,
    timeout: int | None,
) -> None:
    """Follow benchmark NAME until it ends.

    Exit code 0 when it succeeded, 1 when it failed. Where the output is no terminal, a line is
    printed for each change.
    """
    asyncio.run(_watch(where, name, timeout))


async def _watch(where: Where, name: str, limit: int | None) -> None:
    out = console()
    async with connect(where) as session:
        text = await follow(session, name, limit, out)
    out.print(f"{name} succeeded: {text}")
    out.print(f"The full report: dbbench report {name} -n {session.namespace}")


async def follow(session: Session, name: str, limit: int | None, out: Console) -> str:
    """Shows the benchmark on `out` until it has succeeded; what it succeeded with.

    BenchmarkFailed when it ends otherwise, TimedOut after `limit` seconds.
    """
    try:
        async with asyncio.timeout(limit):
            benchmark = await _follow(session, name, out)
    except TimeoutError:
        raise TimedOut(f"{name} has not ended within {limit} s; it goes on") from None
    end = ending(benchmark)
    if end is None or not end.succeeded:
        raise BenchmarkFailed(f"{name} failed: {end.text if end else ''}")
    return end.text


async def _follow(session: Session, name: str, out: Console) -> DBBenchmark:
    """Shows the benchmark as it changes; returns it when it has ended."""
    lines = LineView(out)
    live = Live(console=out, refresh_per_second=4, transient=False) if out.is_terminal else None
    began = time.monotonic()
    seen = False
    benchmark: DBBenchmark | None = None
    lost: float | None = None
    with live or nullcontext():
        while True:
            try:
                benchmark = await session.benchmark(name)
                lost, seen = None, True
            except Unreachable as error:
                lost = lost or time.monotonic()
                if not seen or time.monotonic() - lost > _PATIENCE_SECONDS:
                    raise
                lines.notice(f"{error.message}; trying again")
            except BenchmarkFailed as error:
                if seen:
                    raise BenchmarkFailed(f"benchmark {name} has been deleted") from error
                raise
            if benchmark is not None and lost is None:
                waited = time.monotonic() - began
                if live:
                    live.update(screen(benchmark, datetime.now(UTC), waited, out.width))
                else:
                    lines.show(benchmark, datetime.now(UTC), waited)
                if ending(benchmark) is not None:
                    return benchmark
            await asyncio.sleep(_INTERVAL_SECONDS)

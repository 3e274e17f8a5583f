"""The history of benchmarks: from the cluster and from archives, as far as they belong together."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace

from dbbench.api.benchmark import DBBenchmark
from dbbench.cli.exported import is_archive, load, published_results
from dbbench.cli.failure import BenchmarkFailed, CommandFailed
from dbbench.cli.session import Refused, Session, connect, parsed
from dbbench.cli.where import Where
from dbbench.kube.cluster import Manifest
from dbbench.results.documents import SUMMARY_JSON
from dbbench.results.history import History, Run, fingerprint, history


def collected(where: Where, sources: Sequence[str], selector: str) -> History:
    """The runs that are named or selected, and like the latest of them.

    One name alone stands for all benchmarks of its namespace that are like it.
    """
    archives = [source for source in sources if is_archive(source)]
    names = [source for source in sources if not is_archive(source)]
    runs = []
    for path in archives:
        archive = load(path)
        runs.append(Run(archive.benchmark, archive.summary, path))
    if not names and not selector:
        return history(runs)
    if len(sources) == 1 and not selector:
        return asyncio.run(_like(where, names[0]))
    found, left_out = asyncio.run(_asked(where, names, selector))
    if not runs and not found:
        reasons = "".join(f"\n  {name} {reason}" for name, reason in left_out)
        raise BenchmarkFailed(f"no benchmark with the labels {selector} has results{reasons}")
    whole = history([*runs, *found])
    return replace(whole, left_out=(*whole.left_out, *left_out))


async def _like(where: Where, name: str) -> History:
    async with connect(where) as session:
        reference = await session.benchmark(name)
        runs = [await _run(session, reference)]
        wanted = fingerprint(reference)
        left_out = []
        for body in await session.selected():
            other = str(body["metadata"]["name"])
            try:
                benchmark = parsed(body)
                # Others have nothing to do with it, and need not be told.
                like = benchmark.status.results_ref and fingerprint(benchmark) == wanted
                if like and other != name:
                    runs.append(await _run(session, benchmark))
            except CommandFailed as error:
                left_out.append((other, f"cannot be read: {error.message}"))
    found = history(runs, runs[0])
    return replace(found, left_out=(*found.left_out, *left_out))


async def _asked(
    where: Where, names: Sequence[str], selector: str
) -> tuple[list[Run], list[tuple[str, str]]]:
    """What is named must be there; of what is selected, what cannot be used is left out."""
    async with connect(where) as session:
        runs = [await _run(session, await session.benchmark(name)) for name in names]
        left_out = []
        for body in await _selected(session, selector) if selector else ():
            name = str(body["metadata"]["name"])
            if name in names:
                continue
            try:
                runs.append(await _run(session, parsed(body)))
            except CommandFailed as error:
                left_out.append((name, f"cannot be read: {error.message}"))
    return runs, left_out


async def _selected(session: Session, selector: str) -> tuple[Manifest, ...]:
    try:
        return await session.selected(selector)
    except Refused as error:
        raise CommandFailed(
            f"-l {selector}: {error.message}; write for example -l team=db,env!=test"
        ) from error


async def _run(session: Session, benchmark: DBBenchmark) -> Run:
    data = await published_results(session, benchmark, SUMMARY_JSON)
    name = benchmark.metadata.name
    try:
        return Run(benchmark, json.loads(data[SUMMARY_JSON]), name)
    except ValueError as error:
        raise CommandFailed(f"{SUMMARY_JSON} of {name} is no JSON: {error}") from error

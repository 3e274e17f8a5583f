"""Archives of benchmarks: from the cluster, from a file, and what is said of a wrong one."""

import sys
from pathlib import Path

import click

from dbbench import __version__
from dbbench.api.benchmark import DBBenchmark
from dbbench.cli.failure import BenchmarkFailed, CommandFailed
from dbbench.cli.session import Session, connect, parsed
from dbbench.cli.where import Where
from dbbench.evaluate.recompute import as_published, differences, recompute
from dbbench.results.archive import SUFFIXES, Archive, ArchiveError, described, unpack
from dbbench.results.documents import SUMMARY_JSON
from dbbench.results.summary import Document

_MOST_NAMED = 5


def is_archive(name: str) -> bool:
    """Whether a command's argument means a file: a path, or a name as archives have it."""
    return name == "-" or "/" in name or name.endswith(SUFFIXES)


def load(path: str) -> Archive:
    """The archive in a file, `-` for standard input; CommandFailed names all that is wrong."""
    name = "standard input" if path == "-" else path
    try:
        content = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise CommandFailed(f"{path} cannot be read: {error.strerror}") from error
    try:
        return unpack(content)
    except ArchiveError as error:
        raise CommandFailed(_listed(f"{name} is damaged", error.problems)) from error


async def fetch(where: Where, name: str) -> Archive:
    """The archive of a benchmark that has results."""
    async with connect(where) as session:
        return await archive_of(session, name)


async def archive_of(session: Session, name: str) -> Archive:
    """As `fetch`, in a session that is open."""
    body = await session.body(name)
    benchmark = parsed(body)
    published = await published_results(session, benchmark, SUMMARY_JSON)
    records = await session.records(benchmark)
    if records.damaged:
        problems = tuple(f"{key}: {reason}" for key, reason in sorted(records.damaged.items()))
        raise BenchmarkFailed(_listed(f"stored records of {name} are damaged", problems))
    return Archive(described(body), records.trials, records.loads, published)


async def published_results(session: Session, benchmark: DBBenchmark, key: str) -> dict[str, str]:
    """What the operator published, `key` among it; BenchmarkFailed when it is not there."""
    reference = benchmark.status.results_ref
    if reference is None:
        raise BenchmarkFailed(_no_results(benchmark))
    data = await session.config_map(reference.config_map)
    if data is None or key not in data:
        raise BenchmarkFailed(
            f"ConfigMap {reference.config_map} with the results of {benchmark.metadata.name} is "
            f"gone, or has no {key}; somebody deleted it"
        )
    return data


def recomputed(archive: Archive) -> Document:
    """All results from the raw records, held against what the operator published.

    The same version must find the same figures; of another version the differences are named on
    standard error.
    """
    document = recompute(archive)
    found = differences(archive.summary, as_published(document))
    published_by = archive.summary.get("dbbench")
    if found and published_by == __version__:
        raise CommandFailed(
            _listed("the raw records do not give the figures that were published", tuple(found))
        )
    if found:
        title = (
            f"published by dbbench {published_by}, recomputed by {__version__}, which finds "
            f"{len(found)} fields otherwise"
        )
        click.echo(_listed(f"Note: {title}", tuple(found)), err=True)
    return document


def _listed(title: str, problems: tuple[str, ...]) -> str:
    lines = [f"  {problem[:300]}" for problem in problems[:_MOST_NAMED]]
    if len(problems) > _MOST_NAMED:
        lines.append(f"  and {len(problems) - _MOST_NAMED} more")
    return "\n".join([f"{title}:", *lines])


def _no_results(benchmark: DBBenchmark) -> str:
    name = benchmark.metadata.name
    progress = benchmark.status.progress
    if progress is None:
        return f"benchmark {name} has not begun; follow it with: dbbench watch {name}"
    return (
        f"benchmark {name} has no results yet: {progress.trials_done} of "
        f"{progress.trials_planned} trials are done; follow it with: dbbench watch {name}"
    )

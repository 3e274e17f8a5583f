"""`dbbench reproduce`: a published experiment, run or read, beside what its study printed."""

import asyncio
import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import yaml

from dbbench.api.benchmark import DBBenchmark
from dbbench.cli.console import console
from dbbench.cli.exported import fetch, load, recomputed
from dbbench.cli.failure import BenchmarkFailed, CommandFailed
from dbbench.cli.reproduction_view import listing, render, to_document
from dbbench.cli.session import Session, connect
from dbbench.cli.watch import DurationType, follow
from dbbench.cli.where import Where, cluster_options
from dbbench.experiments import files
from dbbench.experiments.catalogue import EXPERIMENTS, Experiment, State, find
from dbbench.experiments.reduced import SUFFIX, Manifest, reduced
from dbbench.results.archive import Archive
from dbbench.results.summary import Document

# In the tree that this package was installed from; a package of its own has no manifests.
_TREE = Path(__file__).parents[4] / files.FOLDER
_HOSTNAME = "kubernetes.io/hostname"


@dataclass(frozen=True)
class _Changes:
    """What a user's cluster needs otherwise than the files say."""

    image: str | None
    database_node: str | None
    driver_node: str | None

    def to(self, document: Manifest) -> Manifest:
        """The document with them, changed in place."""
        spec = document["spec"]
        if self.image:
            spec["database"]["image"] = self.image
        for role, node in (("database", self.database_node), ("driver", self.driver_node)):
            if node:
                spec["placement"][role] = {"nodeSelector": {_HOSTNAME: node}}
        return document


@click.command()
@click.argument("row", required=False)
@cluster_options
@click.option("--list", "as_list", is_flag=True, help="List all rows and what can be repeated.")
@click.option("--reduced", "small", is_flag=True, help="Run the reduced form of the experiment.")
@click.option("--dry-run", is_flag=True, help="Print what would be applied, and stop.")
@click.option(
    "--name", "names", multiple=True, help="Print a benchmark of the cluster; runs nothing."
)
@click.option(
    "--archive",
    "archives",
    multiple=True,
    metavar="FILE",
    help="Print a file that `dbbench export` wrote; runs nothing, needs no cluster.",
)
@click.option("--image", help="Image of the database, instead of the one in the file.")
@click.option("--database-node", metavar="NODE", help="Node of the database.")
@click.option("--driver-node", metavar="NODE", help="Node of the driver.")
@click.option(
    "--timeout",
    type=DurationType(),
    help="Give up after this time for each benchmark, with exit code 3; it goes on.",
)
@click.option(
    "--manifests",
    type=click.Path(path_type=Path),
    default=_TREE,
    show_default=files.FOLDER,
    help="Folder of the experiments.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document instead of tables.")
def reproduce(
    row: str | None,
    where: Where,
    as_list: bool,
    small: bool,
    dry_run: bool,
    names: Sequence[str],
    archives: Sequence[str],
    image: str | None,
    database_node: str | None,
    driver_node: str | None,
    timeout: int | None,
    manifests: Path,
    as_json: bool,
) -> None:
    """Run the published experiment ROW (S1 to S40), and print it beside what the study printed.

    The benchmarks of the row are created one after the other, in the namespace given, and
    followed until they end; their objects stay. Of a benchmark that has run, --name or --archive
    prints the same; where a row has several benchmarks, give the option several times.

    Where a study printed no slowdown, it is computed from the values that it printed.
    """
    if as_list:
        listing(EXPERIMENTS, console())
        return
    experiment = _experiment(row)
    full = _full(manifests, experiment)
    if names and archives:
        raise click.UsageError("give either --name or --archive")
    summaries: Mapping[str, Document]
    if names or archives:
        if small or dry_run:
            raise click.UsageError("--reduced and --dry-run are for a new run")
        found = [load(path) for path in archives]
        found += [asyncio.run(fetch(where, name)) for name in names]
        summaries = _assigned(experiment, found)
    else:
        changes = _Changes(image, database_node, driver_node)
        documents = {
            name: changes.to(reduced(document) if small else copy.deepcopy(document))
            for name, document in full.items()
        }
        if dry_run:
            click.echo(yaml.safe_dump_all(documents.values(), sort_keys=False), nl=False)
            return
        summaries = asyncio.run(_run(where, documents, timeout))
    if as_json:
        document = to_document(experiment, full, summaries)
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        render(experiment, full, summaries, console())


def _experiment(row: str | None) -> Experiment:
    if row is None:
        raise click.UsageError("which experiment? Give a row, such as S1, or --list")
    experiment = find(row)
    if experiment is None:
        raise CommandFailed(f"there is no row {row!r}: rows are S1 to S{len(EXPERIMENTS)}; --list")
    if experiment.state is State.NOT_YET:
        raise CommandFailed(
            f"{experiment.row} ({experiment.title}) cannot be repeated yet: {experiment.missing}"
        )
    return experiment


def _full(folder: Path, experiment: Experiment) -> dict[str, Manifest]:
    """The full form of each benchmark of the row, by the name of its file."""
    try:
        return {name: files.read(folder, name) for name in experiment.manifests}
    except OSError as error:
        raise CommandFailed(
            f"{error.filename}: {error.strerror}; --manifests names the folder {files.FOLDER} of "
            "dbbench's source"
        ) from error
    except yaml.YAMLError as error:
        raise CommandFailed(f"{folder}: not YAML: {error}") from error


async def _run(
    where: Where, documents: Mapping[str, Manifest], limit: int | None
) -> dict[str, Document]:
    """Every benchmark after the one before has ended: they would disturb each other."""
    summaries = {}
    for name, document in documents.items():
        own = document["metadata"]["name"]
        async with connect(where) as session:
            await _begin(session, document)
            await follow(session, own, limit, console())
        summaries[name] = recomputed(await fetch(where, own))
    return summaries


async def _begin(session: Session, document: Manifest) -> None:
    """Create the benchmark, unless it is there with the same spec: then it is gone on with."""
    name = document["metadata"]["name"]
    otherwise = f"print it with --name {name}, or delete it first"
    try:
        await session.create(document, otherwise=otherwise)
    except BenchmarkFailed:
        there = await session.body(name)
        wanted = {**there, "spec": document["spec"]}
        if DBBenchmark.parse(there).spec != DBBenchmark.parse(wanted).spec:
            raise
        console(stderr=True).print(f"benchmark {name} is there already, with the same spec")


def _assigned(experiment: Experiment, archives: Sequence[Archive]) -> dict[str, Document]:
    """Which archive is of which file: by the benchmark's name, where there are several files."""
    summaries: dict[str, Document] = {}
    for archive in archives:
        own = archive.benchmark.metadata.name
        name = own.removesuffix(SUFFIX)
        if len(experiment.manifests) == 1:
            name = experiment.manifests[0]
        if name not in experiment.manifests or name in summaries:
            wanted = ", ".join(experiment.manifests)
            raise CommandFailed(
                f"benchmark {own!r} is none of {experiment.row}, or is given twice; it has one "
                f"each of: {wanted} (each also with {SUFFIX})"
            )
        summary = recomputed(archive)
        if not _is_of(experiment, name, summary):
            raise BenchmarkFailed(
                f"benchmark {own!r} has no figures of {experiment.row}: its workloads are not "
                f"those of {name}.yaml"
            )
        summaries[name] = summary
    return summaries


def _is_of(experiment: Experiment, name: str, summary: Document) -> bool:
    """Whether any table of the row finds figures in it."""
    targets = [target["name"] for target in summary["spec"]["targets"]]
    return any(
        view.measure(summary, target)
        for view in experiment.views
        if view.manifest == name
        for target in targets
        if target != summary["baseline"]
    )

"""`dbbench init`: asks what to compare, and writes a file that can be applied."""

import re
import sys
from pathlib import Path
from typing import Any

import click
import yaml
from pydantic import ValidationError

from dbbench.api import API_VERSION, KIND
from dbbench.api.database import Engine
from dbbench.api.spec import DBBenchmarkSpec
from dbbench.cli.failure import CommandFailed

IMAGES = {
    Engine.POSTGRESQL: "postgres:17",
    Engine.MYSQL: "mysql:8.4",
}
TARGETS: dict[str, dict[str, Any]] = {
    "pod": {"pod": {}},
    "vm": {"virtualMachine": {"runtime": "Auto"}},
    "kubevirt": {"virtualMachine": {"runtime": "KubeVirt"}},
    "qemu": {"virtualMachine": {"runtime": "QEMU"}},
    "host": {"host": {}},
}
# Long enough to mean something, short enough for a first look.
WORKLOADS: dict[str, dict[str, Any]] = {
    "tpch": {"tpch": {"scaleFactor": "1"}},
    "tpcc": {"tpcc": {"warehouses": 5, "clients": 8, "warmup": "1m", "duration": "5m"}},
    "tatp": {"tatp": {"subscribers": 100000, "clients": 8, "warmup": "30s", "duration": "2m"}},
}
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?")
_DEFAULTS = {
    "name": "my-benchmark",
    "engine": Engine.POSTGRESQL.value,
    "targets": "pod,vm",
    "workloads": "tpcc",
    "cpus": "2",
    "memory": "4Gi",
    "storage": "20Gi",
}
_QUESTIONS = {
    "name": "Name of the benchmark",
    "engine": f"Database engine ({', '.join(IMAGES)})",
    "image": "Image of the database",
    "database_node": "Node of the database (kubernetes.io/hostname)",
    "driver_node": "Node of the client program; the same name to share the database's",
    "targets": f"Targets to compare, the baseline first ({', '.join(TARGETS)})",
    "workloads": f"Workloads ({', '.join(WORKLOADS)})",
    "cpus": "CPUs of the database",
    "memory": "Memory of the database",
    "storage": "Size of its volume",
}


@click.command()
@click.argument("file", default="dbbenchmark.yaml")
@click.option("--name", help=f"{_QUESTIONS['name']}; {_DEFAULTS['name']} by default.")
@click.option("--engine", type=click.Choice([engine.value for engine in IMAGES]), help="Engine.")
@click.option("--image", help="Image of the database; the engine's official one by default.")
@click.option("--database-node", metavar="NODE", help=f"{_QUESTIONS['database_node']}.")
@click.option("--driver-node", metavar="NODE", help=f"{_QUESTIONS['driver_node']}.")
@click.option("--targets", metavar="LIST", help=f"{_QUESTIONS['targets']}; pod,vm by default.")
@click.option("--workloads", metavar="LIST", help=f"{_QUESTIONS['workloads']}; tpcc by default.")
@click.option("--cpus", help=f"{_QUESTIONS['cpus']}; 2 by default.")
@click.option("--memory", help=f"{_QUESTIONS['memory']}; 4Gi by default.")
@click.option("--storage", help=f"{_QUESTIONS['storage']}; 20Gi by default.")
@click.option("--force", is_flag=True, help="Replace FILE when it is there.")
def init(file: str, force: bool, **given: str | None) -> None:
    """Write a DBBenchmark to FILE (dbbenchmark.yaml; - is standard output).

    On a terminal it asks for what no option says. Elsewhere the defaults hold, and both nodes must
    be named. What it writes is valid; `dbbench preflight FILE` tells whether it fits the cluster.
    """
    path = None if file == "-" else Path(file)
    if path is not None and path.exists() and not force:
        raise CommandFailed(f"{file} is there already; --force replaces it")
    text = written(_answers(given, ask=sys.stdin.isatty()))
    if path is None:
        click.echo(text, nl=False)
        return
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandFailed(f"{file} cannot be written: {error.strerror}") from error
    click.echo(
        f"{file} is written. Next: dbbench preflight {file}, then dbbench run {file}", err=True
    )


def _answers(given: dict[str, str | None], *, ask: bool) -> dict[str, str]:
    """Every question answered: by an option, by the user, or by its default."""
    answers: dict[str, str] = {}
    for key, question in _QUESTIONS.items():
        default = _DEFAULTS.get(key)
        if key == "image":
            default = IMAGES.get(_engine(answers["engine"]))
        value = given.get(key)
        if value is None:
            value = click.prompt(question, default=default, err=True) if ask else default
        if value is None:
            option = f"--{key.replace('_', '-')}"
            raise CommandFailed(f"{option} is missing: nobody can be asked here")
        answers[key] = str(value).strip()
    return answers


def written(answers: dict[str, str]) -> str:
    """The file; CommandFailed when an answer makes no valid benchmark."""
    if not _NAME.fullmatch(answers["name"]):
        raise CommandFailed(
            f"the name is {answers['name']!r}: write at most 40 lower-case letters, digits and "
            "dashes, for example postgres-pod-vs-vm"
        )
    spec = _spec(answers)
    try:
        DBBenchmarkSpec.model_validate(spec)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise CommandFailed(f"spec.{place} is {first['input']!r}: {first['msg']}") from error
    body = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": answers["name"]},
        "spec": spec,
    }
    header = (
        f"# Compares {', '.join(target['name'] for target in spec['targets'])}; slowdowns are "
        f"against {spec['baseline']}.\n# All fields: kubectl explain dbb.spec --recursive\n"
    )
    return header + yaml.safe_dump(body, sort_keys=False)


def _spec(answers: dict[str, str]) -> dict[str, Any]:
    targets = _chosen("targets", answers, TARGETS)
    workloads = _chosen("workloads", answers, WORKLOADS)
    if len(targets) < 2:
        raise CommandFailed(
            "targets: name at least two, for example pod,vm; the first is the baseline"
        )
    database, driver = answers["database_node"], answers["driver_node"]
    try:
        cpus = int(answers["cpus"])
    except ValueError:
        raise CommandFailed(f"cpus is {answers['cpus']!r}: write a whole number") from None
    return {
        "database": {
            "engine": _engine(answers["engine"]).value,
            "image": answers["image"],
            "storage": {"size": answers["storage"]},
        },
        "resources": {"cpu": cpus, "memory": answers["memory"], "dedicatedCPUs": True},
        "placement": {
            "database": _on_node(database),
            "driver": {"colocation": "SameNode"} if driver == database else _on_node(driver),
        },
        "baseline": targets[0]["name"],
        "targets": targets,
        "workloads": workloads,
        "trials": {"min": 5},
    }


def _on_node(name: str) -> dict[str, Any]:
    return {"nodeSelector": {"kubernetes.io/hostname": name}}


def _engine(text: str) -> Engine:
    by_name = {engine.value.lower(): engine for engine in IMAGES}
    try:
        return by_name[text.strip().lower()]
    except KeyError:
        raise CommandFailed(f"engine is {text!r}: write one of {', '.join(IMAGES)}") from None


def _chosen(
    what: str, answers: dict[str, str], known: dict[str, dict[str, Any]]
) -> list[dict[str, Any]]:
    names = [name.strip() for name in answers[what].split(",") if name.strip()]
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise CommandFailed(f"{what}: {unknown or 'none'}; write some of {','.join(known)}")
    if len(set(names)) < len(names):
        raise CommandFailed(f"{what}: {answers[what]!r} names one twice")
    return [{"name": name, **known[name]} for name in names]

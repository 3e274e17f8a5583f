"""`dbbench debug`: all that explains a benchmark, without secrets, as one file."""

import asyncio
import io
import tarfile
from pathlib import Path

import click

from dbbench import __version__
from dbbench.cli.completion import benchmark_names
from dbbench.cli.failure import CommandFailed
from dbbench.cli.logs import containers
from dbbench.cli.redaction import Redactor
from dbbench.cli.session import Session, connect
from dbbench.cli.where import Where, cluster_options
from dbbench.evaluate.state import Manifest
from dbbench.kube.kinds import JOB, NODE, PVC, SERVICE, STATEFUL_SET, VIRTUAL_MACHINE

_LINES = 5000
_KINDS = (JOB, STATEFUL_SET, PVC, SERVICE, VIRTUAL_MACHINE)


@click.command()
@click.argument("name", shell_complete=benchmark_names)
@cluster_options
@click.option("-o", "--output", metavar="FILE", help="File to write; NAME-debug.tar.gz by default.")
def debug(
    name: str,
    where: Where,
    output: str | None,
) -> None:
    """Write what explains benchmark NAME into one file, for a bug report.

    The benchmark, its objects and pods, events, logs, nodes, the operator and its log. Values of
    Secrets are removed wherever they stand, as far as you may read them, and whatever looks like a
    password or a token. What could not be read is named in README.txt. Look through it before you
    give it away: it has names of nodes, images and namespaces.
    """
    files = asyncio.run(_collect(where, name))
    path = Path(output or f"{name}-debug.tar.gz")
    try:
        path.write_bytes(_packed(files))
    except OSError as error:
        raise CommandFailed(f"{path} cannot be written: {error.strerror}") from error
    click.echo(f"{path}: {len(files)} files", err=True)
    click.echo(files["README.txt"].partition("\n\n")[2], err=True, nl=False)


async def _collect(where: Where, name: str) -> dict[str, str]:
    """Texts by file name, without secrets."""
    async with connect(where) as session:
        body = await session.body(name)
        missing: list[str] = []
        pods = await session.pods(name)
        secrets = await session.secrets(name, pods)
        if secrets is None:
            missing.append("Secrets: only what looks like one is removed")
        redactor = Redactor(secrets or ())
        files = {"dbbenchmark.json": redactor.manifest(body)}
        for kind in _KINDS:
            found = await session.children(kind, name)
            if found is None:
                missing.append(kind.plural)
            for item in found or ():
                files[f"objects/{_file(item)}.json"] = redactor.manifest(item)
        for pod in pods:
            files[f"objects/{_file(pod)}.json"] = redactor.manifest(pod)
        await _add_logs(session, pods, redactor, files, missing)
        events = await session.events(name)
        if events is None:
            missing.append("events")
        lines = [_event(event) for event in events or ()]
        files["events.txt"] = redactor.text("".join(f"{line}\n" for line in lines))
        nodes = await session.everywhere(NODE)
        if nodes is None:
            missing.append("nodes")
        for node in nodes or ():
            node.get("status", {}).pop("images", None)
            files[f"nodes/{node['metadata']['name']}.json"] = redactor.manifest(node)
        await _add_operator(session, redactor, files, missing)
    files["README.txt"] = _readme(name, session.namespace, missing)
    leaks = sorted(path for path, text in files.items() if redactor.found(text))
    if leaks:
        raise CommandFailed(f"a secret is still in {', '.join(leaks)}; nothing is written")
    return files


async def _add_logs(
    session: Session,
    pods: list[Manifest],
    redactor: Redactor,
    files: dict[str, str],
    missing: list[str],
) -> None:
    for pod in pods:
        own, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        for container in containers(pod):
            try:
                text = await session.log(own, container, _LINES, namespace=namespace)
            except CommandFailed as error:
                missing.append(f"log of {own} {container}: {error.message}")
                continue
            if text is not None:
                files[f"logs/{own}/{container}.log"] = redactor.text(text)


async def _add_operator(
    session: Session, redactor: Redactor, files: dict[str, str], missing: list[str]
) -> None:
    pods = await session.operator_pods()
    if not pods:
        missing.append("the operator and its log")
    for pod in pods or ():
        files[f"operator/{_file(pod)}.json"] = redactor.manifest(pod)
    await _add_logs(session, list(pods or ()), redactor, files, missing)


def _file(item: Manifest) -> str:
    return f"{item['kind']}-{item['metadata']['name']}"


def _event(event: Manifest) -> str:
    involved = event["involvedObject"]
    message = " ".join((event.get("message") or "").split())
    return (
        f"{event.get('lastTimestamp') or event.get('eventTime') or '-'} {event.get('type')} "
        f"{event.get('reason')} {involved.get('kind')}/{involved.get('name')}: {message}"
    )


def _readme(name: str, namespace: str, missing: list[str]) -> str:
    listed = "".join(f"  {what}\n" for what in missing) or "  nothing\n"
    return (
        f"Benchmark {name} in namespace {namespace}, collected by dbbench {__version__}. Its raw "
        "trials are not in here: dbbench export.\n\n"
        f"Could not be read:\n{listed}"
    )


def _packed(files: dict[str, str]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for path, text in sorted(files.items()):
            content = text.encode()
            member = tarfile.TarInfo(path)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return packed.getvalue()

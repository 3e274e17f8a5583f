"""Text of a user stays data: no option, no command and no line of a file is made of it."""

import json
import re

from access.kubectl import Manifest

from dbbench.api.benchmark import DBBenchmark
from dbbench.api.database import Engine
from dbbench.targets.container_disk import user_data

# Nothing that a shell, or Kubernetes' own $(VAR) in arguments, would read as anything but text.
_ARGUMENT = re.compile(r"[A-Za-z0-9@%+:,./_=-]+")
_MOUNTS = ("/dbbench/", "/tmp", "/dev/shm", "/run/", "/var/run/")  # noqa: S108 (mount points)
_LISTS = ("containers", "initContainers")


class EscapedError(AssertionError):
    """A user's text has got to where it means something."""


def confined(manifest: Manifest, benchmark: DBBenchmark) -> None:
    """EscapedError with the place."""
    kind, name = manifest["kind"], manifest["metadata"]["name"]
    if kind in ("StatefulSet", "Job"):
        pod = manifest["spec"]["template"]["spec"]
        for container in (one for part in _LISTS for one in pod.get(part, ())):
            _container(f"{kind} {name}", container, benchmark)
    if kind == "ConfigMap":
        _config_map(name, manifest["data"], benchmark)
    if kind == "VirtualMachine":
        _machine(f"{kind} {name}", manifest["spec"]["template"]["spec"])
    if kind == "Cluster":
        (statement,) = manifest["spec"]["bootstrap"]["initdb"]["postInitApplicationSQL"]
        if statement != "ALTER ROLE dbbench SUPERUSER":
            raise EscapedError(f"Cluster {name} would run {statement!r}")


def _machine(place: str, machine: Manifest) -> None:
    """A guest's kernel and cloud-init read texts, too; of a disk of its own only the latter."""
    if "firmware" in machine["domain"]:
        boot = machine["domain"]["firmware"]["kernelBoot"]
        _words(place, boot["kernelArgs"].split(" "))
    for volume in machine["volumes"]:
        if volume.get("cloudInitNoCloud", {"userData": user_data()}) != {"userData": user_data()}:
            raise EscapedError(f"{place}: user data made of the spec")


def _container(place: str, container: Manifest, benchmark: DBBenchmark) -> None:
    _words(place, [*container["command"], *container["args"]])
    if container.get("env") or container.get("envFrom"):
        raise EscapedError(f"{place}: an environment made of the spec")
    own = {"driver:1", "launcher:1", "kernel:1", benchmark.spec.database.image}
    if container["image"] not in own | _programs(container["name"], benchmark):
        raise EscapedError(f"{place} has the image {container['image']!r}")
    for mount in container.get("volumeMounts", ()):
        if not mount["mountPath"].startswith(_MOUNTS):
            raise EscapedError(f"{place} mounts {mount['mountPath']!r}")


def _programs(container: str, benchmark: DBBenchmark) -> set[str]:
    """Images of the spec in the place of dbbench's own, in this container and no other."""
    sweep = benchmark.spec.sweep
    axes = sweep.variants or () if sweep else ()
    machines = [
        *(target.virtual_machine for target in benchmark.spec.targets),
        *(variant.virtual_machine for axis in axes for variant in axis.values),
    ]
    programs = [
        {"kernel": machine.guest_kernel, "launcher": machine.launcher}.get(container)
        for machine in machines
        if machine
    ]
    return {program.image for program in programs if program}


def _words(place: str, words: list[str]) -> None:
    for word in words:
        if _ARGUMENT.fullmatch(word) is None:
            raise EscapedError(f"{place}: {word!r} in a command line")


def _config_map(name: str, data: dict[str, str], benchmark: DBBenchmark) -> None:
    """JSON reads as JSON; the server's file has the settings that were asked for, and no other.

    Scripts mean nothing but to the driver, which is told of their files alone.
    """
    for file, text in data.items():
        if file.endswith(".sql"):
            continue
        asked_for = benchmark.spec.database.config or {}
        if file.endswith(".json"):
            found = json.loads(text)
            # One document, in which what was asked for takes the place of what dbbench would set.
            if file == "hyper.json" and not asked_for.items() <= found.items():
                raise EscapedError(f"ConfigMap {name}: {file} reads as {found!r}")
            continue
        own, asked = _settings(text, benchmark.spec.database.engine)
        if asked != dict(sorted(asked_for.items())):
            raise EscapedError(f"ConfigMap {name}: {file} reads as {asked!r}")
        if own & asked.keys():
            raise EscapedError(f"ConfigMap {name}: {file} sets {own & asked.keys()} twice")


_OWN = {Engine.POSTGRESQL: 3, Engine.MYSQL: 11}


def _settings(text: str, engine: Engine) -> tuple[set[str], dict[str, str]]:
    """What the server reads: the names that dbbench sets itself, then the user's settings."""
    lines = [line for line in text.split("\n") if line and not line.startswith(("#", "["))]
    found = [_setting(line, engine) for line in lines]
    return {name for name, _ in found[: _OWN[engine]]}, dict(found[_OWN[engine] :])


def _setting(line: str, engine: Engine) -> tuple[str, str]:
    mark = "'" if engine is Engine.POSTGRESQL else '"'
    inside = r"(?:[^'\\]|''|\\\\)*" if engine is Engine.POSTGRESQL else r'(?:[^"\\]|\\"|\\\\)*'
    match = re.fullmatch(rf"([a-z_][a-z0-9_.]*) = {mark}({inside}){mark}", line, re.DOTALL)
    if match is None or "\r" in line:
        raise EscapedError(f"the server would not read {line!r} as one setting")
    return match[1], match[2].replace(mark + mark, mark).replace("\\" + mark, mark).replace(
        "\\\\", "\\"
    )

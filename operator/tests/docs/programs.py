"""What is asked of the commands in the documentation, program by program, without running them.

Each check raises ValueError with what is wrong.
"""

import json
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
import yaml
from jsonschema import Draft7Validator

from dbbench.api.crd import custom_resource_definition
from dbbench.api.status import ConditionType
from dbbench.cli.main import cli
from dbbench.targets import names
from tests.docs.blocks import PROJECT, Command

MAKEFILE = (PROJECT / "Makefile").read_text()
TARGETS = set(re.findall(r"^([a-z0-9-]+):.*## ", MAKEFILE, re.M))
CHART = PROJECT / "charts" / "dbbench-operator"
CONDITIONS = {*ConditionType, "Available", "Complete"}
LABELS = {value for name, value in vars(names).items() if name.startswith("LABEL_")}
# Commands of every Debian, of the shell, and those that fetch the project itself.
PLAIN = {
    "base64", "cd", "cat", "date", "echo", "export", "git", "gunzip", "hostname", "pip", "python3",
    "sed", "source", "test",
}  # fmt: skip
GLOBAL_FLAGS = {"-n": 1, "--namespace": 1, "-A": 0, "--context": 1, "--kubeconfig": 1}
SELECTING = {"-l": 1, "-o": 1}
VERBS: dict[str, dict[str, int]] = {
    "apply": {"-f": 1, "-k": 1, "--server-side": 0, "--dry-run": 1},
    "create": {"-f": 1, "--from-file": 1, "--from-literal": 1},
    "delete": {**SELECTING, "-f": 1},
    "describe": {"-l": 1},
    "get": {**SELECTING, "-w": 0},
    "label": {"--overwrite": 0},
    "logs": {"-c": 1, "--previous": 0, "--tail": 1, "-f": 0},
    "patch": {"--type": 1, "-p": 1},
    "wait": {"--for": 1, "--timeout": 1},
}
KINDS = {
    "dbb", "dbbenchmark", "dbbenchmarks", "dbbenchmarks.dbbench.io", "all",
    "clusters.postgresql.cnpg.io", "configmap", "configmaps", "crd", "deployment", "job",
    "namespace", "node", "nodes", "pod", "pods", "prometheus", "pvc", "secret", "vm",
}  # fmt: skip
BENCHMARK = {"dbb", "dbbenchmark", "dbbenchmarks", "dbbenchmarks.dbbench.io"}
HELM: dict[str, dict[str, int]] = {
    "install": {"--create-namespace": 0, "--set": 1, "-f": 1},
    "upgrade": {"--install": 0, "--create-namespace": 0, "--set": 1, "-f": 1, "--reuse-values": 0},
    "template": {"--set": 1, "-f": 1},
    "test": {},
    "uninstall": {},
}


def flags(
    arguments: Iterable[str], known: dict[str, int]
) -> tuple[list[str], list[tuple[str, str]]]:
    """Words and flags with their values; `known` says how many values each flag takes."""
    words, found = [], []
    rest = iter(arguments)
    for word in rest:
        if not word.startswith("-") or word == "-":
            words.append(word)
            continue
        name, equals, value = word.partition("=")
        if name not in known:
            raise ValueError(f"{name} is no flag of it")
        if known[name] and not equals:
            value = next(rest, "")
        if bool(known[name]) != bool(value):
            raise ValueError(f"{name} takes {known[name]} values")
        found.append((name, value))
    return words, found


def existing(path: str) -> None:
    """A file of the project has to be there; one of the reader's own has no such folder."""
    if path.startswith(("manifests", "charts", "docs")) and not (PROJECT / path).exists():
        raise ValueError(f"{path} is not in the project")


def dbbench(arguments: list[str]) -> None:
    """Parsed as the command line itself does; files that are named exist and are empty."""
    for word in arguments:
        if re.fullmatch(r"[\w.-]+\.[a-z]+", word):
            Path(word).touch()
    with click.Context(cli, info_name="dbbench") as context:
        try:
            name, command, rest = cli.resolve_command(context, list(arguments))
            if command is not None:
                command.make_context(name, rest, parent=context)
        except click.ClickException as error:
            raise ValueError(error.format_message()) from error


def make(arguments: list[str]) -> None:
    for word in arguments:
        name, equals, _ = word.partition("=")
        if equals and not re.search(rf"\$\((if \$\()?{name}\b", MAKEFILE):
            raise ValueError(f"the Makefile does not read {name}")
        if not equals and word not in TARGETS:
            raise ValueError(f"make has no target {word}")


def helm(arguments: list[str]) -> None:
    verb = arguments[0]
    if verb not in HELM:
        raise ValueError(f"helm {verb} is not known to this test")
    words, found = flags(arguments[1:], {"--namespace": 1, "-n": 1, **HELM[verb]})
    for word in words:
        existing(word)
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    for name, value in found:
        for setting in value.split(",") if name == "--set" else ():
            _set(values, *setting.split("=", 1))
    chart_accepts(values)


def chart_accepts(values: dict[str, Any]) -> None:
    """Values that the chart's own schema refuses are a ValueError with its words."""
    schema = json.loads((CHART / "values.schema.json").read_text())
    for error in Draft7Validator(schema).iter_errors(values):
        raise ValueError(f"{'.'.join(map(str, error.path))}: {error.message}")


def _set(values: dict[str, Any], path: str, text: str) -> None:
    *parents, last = path.split(".")
    for part in parents:
        values = values.setdefault(part, {})
    values[last] = yaml.safe_load(text.strip("{}")) if text[:1] != "{" else text[1:-1].split(",")


def kubectl(arguments: list[str]) -> None:
    if arguments[0] == "dbbench":
        dbbench(arguments[1:])
        return
    verb = arguments[0]
    if verb not in VERBS:
        raise ValueError(f"kubectl {verb} is not known to this test")
    words, found = flags(arguments[1:], {**GLOBAL_FLAGS, **VERBS[verb]})
    kinds = {part.partition("/")[0] for part in words[0].split(",")} if words else set()
    if verb != "logs" and kinds - KINDS:
        raise ValueError(f"no such resource: {', '.join(kinds - KINDS)}")
    for name, value in found:
        if name in ("-f", "-k"):
            existing(value)
        if name == "--for" and (condition := re.match(r"condition=(\w+)", value)):
            allowed = set(ConditionType) if kinds <= BENCHMARK else CONDITIONS
            if condition[1] not in allowed:
                raise ValueError(f"no condition {condition[1]}")
        if name == "-l":
            _labels(value)
        if name == "-o" and kinds <= BENCHMARK and value.startswith("jsonpath="):
            _path(value.removeprefix("jsonpath="))


def _labels(selector: str) -> None:
    for part in selector.split(","):
        key = re.split(r"!?=", part)[0]
        if key.startswith("dbbench.io/") and key not in LABELS:
            raise ValueError(f"dbbench sets no label {key}")


def _path(template: str) -> None:
    """Every field of a benchmark that a jsonpath names is one of the CRD."""
    version = custom_resource_definition()["spec"]["versions"][0]
    for path in re.findall(r"\{(\.[^}]*)\}", template):
        schema = version["schema"]["openAPIV3Schema"]
        for part in re.findall(r"\.(\w+)", path.partition("?")[0]):
            schema = schema.get("items", schema)
            if part not in schema.get("properties", {}):
                raise ValueError(f"a DBBenchmark has no {path}")
            schema = schema["properties"][part]


DRIVER = [
    path.read_text()
    for crate in ("driver", "agent")
    for path in sorted((PROJECT / "workloads" / crate / "src").rglob("*.rs"))
]
# An option is a field with `#[arg(long)]`, whose own name it has, or one that is built by hand.
ARGUMENT = re.compile(
    r"#\[arg\((.*?)\)\]\s*(?:(?:///|#\[)[^\n]*\n\s*)*(?:pub(?:\([a-z]+\))? )?(\w+):", re.S
)


def driver_options() -> set[str]:
    """Long options of the driver and of its agent, as their sources declare them."""
    found = set()
    for text in DRIVER:
        found |= set(re.findall(r"\.long\(\"([^\"]+)\"\)", text))
        for declared, name in ARGUMENT.findall(text):
            if re.search(r"\blong\b", declared):
                own = re.search(r'long = "([^"]+)"', declared)
                found.add(own[1] if own else name.replace("_", "-"))
    return {f"--{name}" for name in found}


def driver(arguments: list[str]) -> None:
    """Its options exist, for one command or another: only the driver itself can tell for which."""
    cli_source = (PROJECT / "workloads/driver/src/cli/mod.rs").read_text()
    commands = re.search(r"enum Command \{(.*?)^\}", cli_source, re.S | re.M)
    variants = re.findall(r"^    ([A-Z][A-Za-z]+)\(", commands[1], re.M) if commands else []
    names = [re.sub(r"(?<=[a-z])(?=[A-Z])", "-", variant).lower() for variant in variants]
    if arguments[0] not in names:
        raise ValueError(f"dbbench-driver has no command {arguments[0]}")
    options = {word.partition("=")[0] for word in arguments if word.startswith("--")}
    if options - driver_options():
        raise ValueError(f"no option of it: {', '.join(sorted(options - driver_options()))}")


def script(path: Path) -> None:
    if not os.access(path, os.X_OK):
        raise ValueError(f"{path} cannot be run")


CHECKS: dict[str, Callable[[list[str]], None]] = {
    "dbbench": dbbench,
    "helm": helm,
    "kubectl": kubectl,
    "make": make,
    "dbbench-driver": driver,
}


def check(command: Command) -> bool:
    """Whether the command is known here; ValueError when it is, and wrong."""
    program = command.program.rpartition("/")[2]
    if program in CHECKS:
        CHECKS[program](command.arguments)
        return True
    if "/" in command.program and (PROJECT / command.program).exists():
        script(PROJECT / command.program)
        return True
    return program in PLAIN

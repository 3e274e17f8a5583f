"""The scripts of the workload sql: whether they are there, and their copies. No I/O.

A run begins with a copy of all its scripts, so that no change of a ConfigMap comes between trials.
"""

from collections.abc import Iterator, Mapping

from dbbench.api.benchmark import DBBenchmark
from dbbench.api.sql import Script, SqlWorkload
from dbbench.evaluate.problem import Problem
from dbbench.evaluate.state import Manifest, Ref, State
from dbbench.results.storage import LIMIT_BYTES
from dbbench.targets.names import scripts_name
from dbbench.targets.scripts import config_map, files

ConfigMaps = Mapping[str, Mapping[str, str]]
"""Texts of the user's ConfigMaps: by the name of each that exists, then by key."""


def uncopied(state: State) -> dict[str, SqlWorkload]:
    """Workloads whose scripts have no copy yet, by name."""
    return {
        workload.name: workload.sql
        for workload in state.benchmark.spec.workloads
        if workload.sql
        and Ref("ConfigMap", scripts_name(state.benchmark, workload.name)) not in state.objects
    }


def config_maps_of(state: State) -> set[str]:
    """Names of the user's ConfigMaps that are still to be copied from."""
    references = [
        script.config_map_key_ref
        for sql in uncopied(state).values()
        for script in files(sql).values()
    ]
    return {reference.name for reference in references if reference}


def copies(state: State, found: ConfigMaps) -> tuple[Manifest, ...]:
    """The copies that are missing; KeyError where `script_problems` has one."""
    return tuple(
        config_map(
            state.context, name, {file: _text(script, found) for file, script in files(sql).items()}
        )
        for name, sql in uncopied(state).items()
    )


def script_problems(benchmark: DBBenchmark, found: ConfigMaps) -> Iterator[Problem]:
    """Scripts that are missing, or too long to be copied."""
    for index, workload in enumerate(benchmark.spec.workloads):
        if workload.sql is None:
            continue
        field = f"spec.workloads[{index}].sql"
        missing = [
            problem
            for place, script in _places(workload.sql)
            for problem in _missing(benchmark, f"{field}.{place}", script, found)
        ]
        yield from missing
        if missing:
            continue
        size = sum(len(_text(script, found).encode()) for _, script in _places(workload.sql))
        if size > LIMIT_BYTES:
            yield Problem(
                "ScriptsTooLarge",
                f"{field}: setup and scripts have {size} bytes together, and at most {LIMIT_BYTES} "
                "can be kept. Shorten them, for example with generate_series in place of rows that "
                "are written out.",
            )


def _places(sql: SqlWorkload) -> Iterator[tuple[str, Script]]:
    """All scripts with their fields."""
    if sql.setup:
        yield "setup", sql.setup
    for index, script in enumerate(sql.scripts):
        yield f"scripts[{index}]", script


def _missing(
    benchmark: DBBenchmark, field: str, script: Script, found: ConfigMaps
) -> Iterator[Problem]:
    reference = script.config_map_key_ref
    if reference is None:
        return
    name, key, namespace = reference.name, reference.key, benchmark.metadata.namespace
    texts = found.get(name)
    if texts is None:
        yield Problem(
            "ConfigMapNotFound",
            f"{field}.configMapKeyRef.name: ConfigMap {name!r} does not exist in namespace "
            f"{namespace}. Make it with `kubectl create configmap {name} -n {namespace} "
            f"--from-file={key}=FILE`.",
        )
    elif not texts.get(key):
        keys = ", ".join(sorted(texts)) or "none"
        yield Problem(
            "ConfigMapKeyMissing",
            f"{field}.configMapKeyRef.key: ConfigMap {name!r} in namespace {namespace} has no text "
            f"under the key {key!r}; its keys are: {keys}. Correct the key, or add it with "
            f"`kubectl edit configmap {name} -n {namespace}`.",
        )


def _text(script: Script, found: ConfigMaps) -> str:
    reference = script.config_map_key_ref
    return (script.text or "") if reference is None else found[reference.name][reference.key]

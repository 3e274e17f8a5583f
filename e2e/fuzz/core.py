"""What the operator's pure core makes of a DBBenchmark: every step up to the first job, and every
manifest that the run would ever need. A crash in here would be one of the operator.
"""

import copy
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import jsonschema
from access.kubectl import Manifest
from pydantic import ValidationError

from dbbench.api.benchmark import DBBenchmark
from dbbench.api.crd import schema_of
from dbbench.api.machine import Runtime
from dbbench.api.status import DBBenchmarkStatus
from dbbench.evaluate.connection import Connection, Tls
from dbbench.evaluate.decide import decide
from dbbench.evaluate.invalid import invalid_spec_status
from dbbench.evaluate.queue import contender, queue
from dbbench.evaluate.scripts import copies
from dbbench.evaluate.state import Served, State
from dbbench.metrics import benchmark_families
from dbbench.plan import block, plan_seed
from dbbench.plan.deployment import deployed
from dbbench.plan.duration import Assumptions, expected
from dbbench.reconciler import is_due
from dbbench.targets.build import foundation, instance, preparation
from dbbench.targets.context import Context, Images
from dbbench.targets.jobs import load_job, trial_job
from dbbench.targets.network_policy import network_policies
from dbbench.targets.scripts import files
from fuzz.confinement import confined

NOW = datetime(2026, 1, 1, tzinfo=UTC)
IMAGES = Images(driver="driver:1", launcher="launcher:1", guest_kernel="kernel:1")
_STATUS = jsonschema.Draft202012Validator(schema_of(DBBenchmarkStatus))
_DNS_LABEL = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
_STEPS = 3
HOSTILE_SCRIPT = "SELECT 'it''s'; -- $(HOSTNAME) \x00\x7f\u2028\U0001f600\n"


class DefectError(AssertionError):
    """The core did what it must not do."""


def refused(document: Manifest) -> None:
    """What an operator does with an object that an older CRD let in: it says so, and goes on."""
    body = stored(document)
    contender(body)
    is_due(body, NOW)
    benchmark_families([body])
    try:
        DBBenchmark.parse(body)
    except ValidationError as error:
        _check_status(invalid_spec_status(body, error))


def accepted(answer: Manifest) -> list[Manifest]:
    """All manifests of a benchmark as the API server returned it.

    DefectError or EscapedError for what must not be, and whatever the core raises.
    """
    body = stored(answer)
    benchmark = DBBenchmark.parse(body)
    is_due(body, NOW)
    benchmark_families([body])
    found = contender(body)
    if found is not None:
        queue([found], None)
    expected(benchmark.spec, Assumptions()).seconds(benchmark.spec.trials.min)
    for state in _clusters(benchmark):
        _look(state)
    manifests: list[Manifest] = []
    # A cluster without KubeVirt, and one with it where that makes a difference.
    machines = [t.virtual_machine for t in benchmark.spec.targets if t.virtual_machine]
    either = any(machine.runtime is Runtime.AUTO for machine in machines)
    for kubevirt in (False, True) if either else (False,):
        built = list(_manifests(benchmark, kubevirt))
        _check_names(built)
        for manifest in built:
            confined(manifest, benchmark)
        manifests += built
    return manifests


def stored(document: Manifest) -> Manifest:
    """The object with what the API server adds."""
    body = copy.deepcopy(document)
    body["metadata"] |= {
        "namespace": "fuzz",
        "uid": "3c1f0b6e-5d51-4c6b-9f0a-6f6f2c8f9d10",
        "generation": 1,
        "creationTimestamp": "2026-01-01T00:00:00Z",
    }
    return body


def _clusters(benchmark: DBBenchmark) -> Iterator[State]:
    """Where nothing fits, where everything is too small, and where nothing can be read."""
    nothing = State(benchmark=benchmark, now=NOW, images=IMAGES, kubevirt=False)
    yield replace(nothing, nodes=(), storage_classes=())
    roles = (benchmark.spec.placement.database, benchmark.spec.placement.of_driver)
    small = {"cpu": "1", "memory": "1Mi"}
    nodes = tuple(
        {
            "metadata": {"name": f"node-{index}", "labels": dict(role.node_selector)},
            "status": {"capacity": small, "allocatable": small, "nodeInfo": {}},
        }
        for index, role in enumerate(roles)
    )
    kubevirt = {"metadata": {"name": "kubevirt", "namespace": "kubevirt"}, "spec": {}}
    yield replace(nothing, nodes=nodes, storage_classes=(), kubevirt=True, kubevirts=(kubevirt,))
    secrets = {
        target.external.connection.secret_ref.name: Connection(
            frozenset(), port_is_valid=False, tls=Tls.SERVERS_CHOICE
        )
        for target in benchmark.spec.targets
        if target.external is not None
    }
    yield replace(nothing, nodes=None, connections=secrets, scripts=_scripts(benchmark))
    unread = replace(
        nothing,
        nodes=None,
        connections=None,
        scripts=None,
        privileged_targets=True,
        cloud_native_pg=Served.YES,
    )
    yield unread
    yield replace(unread, kubevirt=True, data_volumes=True)


def _scripts(benchmark: DBBenchmark) -> dict[str, dict[str, str]]:
    """The user's ConfigMaps, with all that they are asked for."""
    found: dict[str, dict[str, str]] = {}
    for workload in benchmark.spec.workloads:
        for script in files(workload.sql).values() if workload.sql else ():
            if reference := script.config_map_key_ref:
                found.setdefault(reference.name, {})[reference.key] = HOSTILE_SCRIPT
    return found


def _look(state: State) -> None:
    """A few looks, each with the status that the one before has written."""
    for _ in range(_STEPS):
        status = decide(state).status
        if status == state.benchmark.status:
            break
        state = replace(state, benchmark=state.benchmark.model_copy(update={"status": status}))
    _check_status(state.benchmark.status.document())


def _check_status(status: Manifest) -> None:
    for error in _STATUS.iter_errors(status):
        place = "/".join(map(str, error.absolute_path))
        raise DefectError(f"the API server would refuse status/{place}: {error.message[:200]}")


def _manifests(benchmark: DBBenchmark, kubevirt: bool) -> Iterator[Manifest]:
    seed = plan_seed(benchmark.spec, benchmark.metadata.uid)
    trials = block(benchmark.spec, seed, 1).trials
    yield from network_policies(Context(benchmark, IMAGES, kubevirt))
    nothing = State(benchmark=benchmark, now=NOW, images=IMAGES, kubevirt=kubevirt)
    yield from copies(nothing, _scripts(benchmark))
    for point in dict.fromkeys(trial.point for trial in trials):
        here = benchmark.model_copy(update={"spec": deployed(benchmark.spec, point)})
        ctx = Context(here, IMAGES, kubevirt)
        for target in here.spec.measured_targets:
            if target.deployed:
                for one in here.spec.instances(target.name):
                    disk = preparation(ctx, one)
                    yield from foundation(ctx, one)
                    yield from [disk] if disk else []
                    yield instance(ctx, one, True)
            for workload in here.spec.workloads:
                if workload.has_data:
                    yield load_job(ctx, target, workload, 1)
        for trial in trials:
            if trial.point == point:
                yield trial_job(ctx, trial, 1)


def _check_names(manifests: list[Manifest]) -> None:
    """Two objects of one kind never share a name, and every name is one."""
    names = [(manifest["kind"], manifest["metadata"]["name"]) for manifest in manifests]
    if len(set(names)) < len(names):
        raise DefectError(f"objects share a name: {sorted(n for n in names if names.count(n) > 1)}")
    for kind, name in names:
        if _DNS_LABEL.fullmatch(name) is None:
            raise DefectError(f"{name!r} is no name for a {kind}")

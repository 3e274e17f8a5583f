"""Every rule of the CRD on a real API server: what it accepts, what it refuses, and in which words.

This is what a user gets back from `kubectl apply`. What is stored asks for a node that does not
exist, so that an operator that happens to run leaves it alone.
"""

import json
from typing import Any

import pytest
from access.documents import benchmark, changed, check, on_node, refusal
from access.kubectl import CallError, Kubectl

POD = {"name": "pod", "pod": {}}
VM = {"name": "vm", "virtualMachine": {}}
NOWHERE = {"database": on_node("nowhere"), "driver": on_node("nowhere")}


@pytest.fixture(scope="module")
def server(crd: Kubectl, module_namespace: Kubectl) -> Kubectl:
    return module_namespace


TPCH = {"scaleFactor": "0.01"}
SCRIPT = {"name": "look", "text": "SELECT 1"}
FROM_CONFIG_MAP = {"configMapKeyRef": {"name": "orders.v2", "key": "order.sql"}}
MYSQL_CONFIG = {"innodb_buffer_pool_size": "2G", "report_port": "1", "skip_log_bin": "1"}


def mysql(**config: str) -> dict[str, Any]:
    """A database of the engine MySQL with these settings."""
    return {"engine": "MySQL", "image": "mysql:8.4", "config": config}


ACCEPTED: list[tuple[str, Any]] = [
    ("database.config", {"shared_buffers": "2GB", "auto_explain.log_min_duration": "-1"}),
    ("database.config", None),
    ("database", {"engine": "MySQL", "image": "mariadb:11.4", "config": MYSQL_CONFIG}),
    ("database", {"engine": "MySQL", "image": "mysql:8.4"}),
    ("database.image", "registry.example.com:5000/library/postgres@sha256:" + "0" * 64),
    ("database.imagePullPolicy", "Always"),
    ("database.runAsUser", 70),
    ("database.storage", {"size": "1.5Gi", "storageClassName": "fast"}),
    ("resources", {"cpu": 512, "memory": "1Ti", "dedicatedCPUs": False}),
    ("resources", None),
    ("placement.database.tolerations", [{"key": "bench", "operator": "Exists"}]),
    ("targets", [POD, {"name": "a" * 20, "pod": {"runtimeClassName": "kata"}}]),
    ("targets", [POD, {"name": "vm", "virtualMachine": {"runtime": "KubeVirt"}}]),
    ("targets", [POD, {"name": "bare", "host": {}}]),
    ("targets", [POD, {"name": "bare", "instances": 1, "host": {}}]),
    ("targets", [{**POD, "instances": 16}, {**VM, "instances": 3}]),
    ("workloads.0", {"name": "q", "tpch": {**TPCH, "queries": [1, 22], "runs": 1000}}),
    ("workloads.0", {"name": "q", "tpch": {**TPCH, "connection": ["Shared", "PerQuery"]}}),
    ("workloads.0", {"name": "q", "tpch": {"scaleFactor": "100", "queryTimeout": "1h30m"}}),
    ("workloads.0", {"name": "o", "tpcc": {"warehouses": 100000, "clients": 10000}}),
    ("workloads.0", {"name": "o", "tpcc": {"warehouses": 1, "warmup": "0s"}}),
    ("workloads.0", {"name": "t", "tatp": {"subscribers": 1, "distribution": "Uniform"}}),
    ("workloads.0", {"name": "s", "sql": {"scripts": [SCRIPT]}}),
    (
        "workloads.0",
        {
            "name": "s",
            "sql": {
                "setup": FROM_CONFIG_MAP,
                "scripts": [
                    {**FROM_CONFIG_MAP, "name": "order"},
                    {"name": "a", "weight": 1000000, "text": "SELECT ':x'; -- $(HOSTNAME)\n" * 900},
                ],
                "clients": 10000,
                "warmup": "0s",
                "duration": "5m",
            },
        },
    ),
    ("workloads.0", {"name": "m", "zachmann": {}}),
    ("workloads.0", {"name": "c", "micro": {}}),
    (
        "workloads.0",
        {"name": "c", "micro": {"probes": ["TLBMiss"], "threads": [1], "fileSize": "1Mi"}},
    ),
    (
        "workloads.0",
        {
            "name": "m",
            "zachmann": {
                "workProcesses": 4096,
                "tableSize": "4Ki",
                "warmup": "0s",
                "duration": "900s",
                "physicalCPUs": 65536,
                "maxSystemTime": "12.5%",
            },
        },
    ),
    ("trials", {"min": 3, "max": 3, "targetHalfWidth": "0.5%", "seed": 9007199254740991}),
    ("trials", {"control": True}),
    ("trials", {"min": 3, "max": 20, "targetHalfWidth": "1%", "redeploy": True}),
    ("trials", {"min": 4, "max": 20, "redeploy": True, "blocksPerDeployment": 2}),
    ("trials", {"min": 3, "blocksPerDeployment": 1}),
    ("trials", {"contamination": {"maxSteal": "2.5%", "maxRepeats": 0}}),
    ("trials", None),
    ("timeouts", {"ready": "30s", "load": "1h", "trial": "1h", "disk": "5m"}),
    ("gates", [{"workload": "telecom", "target": "vm", "maxSlowdown": "10%"}]),
    ("cleanupPolicy", "Never"),
    ("suspend", True),
    ("ttlAfterFinished", "0s"),
    ("ttlAfterFinished", "87600h"),
    ("ttlAfterFinished", "5256000m"),
    ("ttlAfterFinished", "315360000s"),
]


@pytest.mark.parametrize(("path", "value"), ACCEPTED, ids=lambda value: str(value)[:60])
def test_accepted(server: Kubectl, path: str, value: Any) -> None:
    check(server, changed(path, value))


REFUSED: list[tuple[str, Any, str, str]] = [
    # what is set, to what, the field that the message names, and what the message says
    ("ttlAfterFinished", "a day", "spec.ttlAfterFinished", "should match"),
    ("ttlAfterFinished", "-1h", "spec.ttlAfterFinished", "should match"),
    ("ttlAfterFinished", "", "spec.ttlAfterFinished", "at least 2 chars"),
    ("ttlAfterFinished", "87601h", "spec.ttlAfterFinished", "must be at most 87600h, ten years"),
    ("ttlAfterFinished", "9999999999999999h", "spec.ttlAfterFinished", "must be at most 87600h"),
    ("ttlAfterFinished", "99999999999999m", "spec.ttlAfterFinished", "must be at most 87600h"),
    ("ttlAfterFinished", "9999999999999999s", "spec.ttlAfterFinished", "must be at most 87600h"),
    (
        "targets",
        [POD, {"name": "bare", "instances": 2, "host": {}}],
        "spec.targets[1].instances",
        "would listen on the same ports of the node",
    ),
    ("targets", [POD, {**VM, "instances": 0}], "spec.targets[1].instances", "or equal to 1"),
    ("targets", [POD, {**VM, "instances": 17}], "spec.targets[1].instances", "or equal to 16"),
    ("targets", [POD, {**VM, "instances": "3"}], "spec.targets[1].instances", "integer"),
    ("database.engine", "Oracle", "spec.database.engine", '"PostgreSQL"'),
    ("database.engine", None, "spec.database.engine", "Required value"),
    ("database.image", "", "spec.database.image", "should be at least 1 chars long"),
    ("database.image", "postgres:17 --privileged", "spec.database.image", "should match"),
    ("database.image", "a" * 513, "spec.database.image", "may not be more than 512"),
    ("database.imagePullPolicy", "Sometimes", "spec.database.imagePullPolicy", "supported values"),
    ("database.runAsUser", 0, "spec.database.runAsUser", "greater than or equal to 1"),
    ("database.config", {"Shared Buffers": "1"}, "spec.database.config", "lower-case letters"),
    ("database.config", {"a;b": "1"}, "spec.database.config", "for example shared_buffers"),
    ("database.config", {"port": "1"}, "spec.database.config", "set by dbbench for PostgreSQL"),
    ("database.config", {"hba_file": "/x"}, "spec.database.config", "are set by dbbench"),
    ("database.config", {"include_dir": "/x"}, "spec.database.config", "are set by dbbench"),
    ("database.config", {"innodb_x": "1"}, "spec.database.config", "for PostgreSQL write shared"),
    ("database", mysql(datadir="/x"), "spec.database.config", "set by dbbench for MySQL; remove"),
    ("database", mysql(init_connect="x"), "spec.database.config", "are set by dbbench for MySQL"),
    ("database", mysql(skip_networking="1"), "spec.database.config", "set by dbbench for MySQL"),
    ("database", mysql(loose_port="1"), "spec.database.config", "are set by dbbench for MySQL"),
    ("database", mysql(shared_buffers="1GB"), "spec.database.config", "write innodb_buffer"),
    ("database", mysql(Max="1"), "spec.database.config", "or innodb_buffer_pool_size"),
    ("database.config", {"log_line_prefix": "a\nport = 1"}, "log_line_prefix", "should match"),
    ("database.config", {"x": "a" * 257}, "spec.database.config.x", "may not be more than 256"),
    ("database.storage.size", "0", "spec.database.storage.size", "must be greater than 0"),
    ("database.storage.size", "-1Gi", "spec.database.storage.size", "should match"),
    ("database.storage.size", "ten", "spec.database.storage.size", "should match"),
    ("resources.cpu", 0, "spec.resources.cpu", "greater than or equal to 1"),
    ("resources.cpu", 513, "spec.resources.cpu", "less than or equal to 512"),
    ("resources.cpu", "1500m", "spec.resources.cpu", "must be of type integer"),
    ("resources.memory", "0Gi", "spec.resources.memory", "must be greater than 0"),
    ("resources.dedicatedCPUs", "yes", "spec.resources.dedicatedCPUs", "must be of type boolean"),
    ("placement.database", None, "spec.placement.database", "Required value"),
    ("placement.driver", None, "spec.placement.driver", "Required value"),
    ("placement.database.nodeSelector", {}, "spec.placement.database.nodeSelector", "at least 1"),
    ("baseline", "metal", "spec.baseline", "must be the name of one of spec.targets"),
    ("baseline", None, "spec.baseline", "Required value"),
    ("targets", [POD], "spec.targets", "should have at least 2 items"),
    ("targets", [POD, POD], "spec.targets[1]", "Duplicate value"),
    ("targets.1", {"name": "vm"}, "spec.targets[1]", "'vm' must have exactly one kind"),
    (
        "targets.1",
        {"name": "vm", "pod": {}, "virtualMachine": {}},
        "spec.targets[1]",
        "target 'vm' must have exactly one kind: set one of pod: {}, host: {}, virtualMachine: {}",
    ),
    ("targets.1", {"name": "a", "pod": {}, "host": {}}, "spec.targets[1]", "exactly one kind"),
    ("targets.1", {"name": "a", "host": {"pid": 1}}, "spec.targets[1].host.pid", "unknown field"),
    ("targets.1.name", "VM", "spec.targets[1].name", "should match"),
    ("targets.1.name", "v" * 21, "spec.targets[1].name", "may not be more than 20"),
    ("targets.1.virtualMachine.runtime", "Xen", "spec.targets[1].virtualMachine.runtime", "QEMU"),
    (
        "targets.1.virtualMachine.rootDiskSize",
        "0",
        "spec.targets[1].virtualMachine.rootDiskSize",
        "must be greater than 0",
    ),
    ("workloads", [], "spec.workloads", "should have at least 1 items"),
    (
        "workloads.0",
        {"name": "w"},
        "spec.workloads[0]",
        "set one of tpch, tpcc, tatp, sql, zachmann, micro",
    ),
    (
        "workloads.0",
        {"name": "w", "zachmann": {}, "tatp": {"subscribers": 1}},
        "spec.workloads[0]",
        "must have exactly one kind",
    ),
    (
        "workloads.0",
        {"name": "m", "zachmann": {"workProcesses": 3}},
        "spec.workloads",
        "must together be smaller than spec.resources.memory",
    ),
    (
        "workloads.0",
        {"name": "c", "micro": {"probes": ["Shell"]}},
        "spec.workloads[0].micro.probes[0]",
        "supported values",
    ),
    (
        "workloads.0",
        {"name": "c", "micro": {"threads": [1, 2]}},
        "spec.workloads",
        "needs a CPU of its own",
    ),
    (
        "workloads.0",
        {"name": "c", "micro": {"sortSizes": [100000000]}},
        "spec.workloads",
        "lower the sizes or raise memory",
    ),
    (
        "workloads.0",
        {"name": "c", "micro": {"fileSize": "1500k"}},
        "spec.workloads[0].micro.fileSize",
        "whole number of MiB",
    ),
    (
        "workloads.0",
        {"name": "c", "micro": {"fileSize": "1E"}},
        "spec.workloads[0].micro.fileSize",
        "whole number of MiB",
    ),
    (
        "workloads.0",
        {"name": "m", "zachmann": {"workProcesses": 0}},
        "spec.workloads[0].zachmann.workProcesses",
        "or equal to 1",
    ),
    (
        "workloads.0",
        {"name": "m", "zachmann": {"tableSize": "100"}},
        "spec.workloads[0].zachmann.tableSize",
        "at least 4Ki",
    ),
    (
        "workloads.0",
        {"name": "m", "zachmann": {"maxSystemTime": "0%"}},
        "spec.workloads[0].zachmann.maxSystemTime",
        "above 0% and at most 100%",
    ),
    (
        "workloads.0",
        {"name": "m", "zachmann": {"duration": "0s"}},
        "spec.workloads[0].zachmann.duration",
        "must be longer than 0s",
    ),
    (
        "workloads.0",
        {"name": "w", "tpch": TPCH, "tpcc": {"warehouses": 1}},
        "spec.workloads[0]",
        "workload 'w' must have exactly one kind: set one of tpch, tpcc, tatp",
    ),
    (
        "workloads.0",
        {"name": "q", "tpch": {"scaleFactor": "0"}},
        "spec.workloads[0].tpch.scaleFactor",
        "must be greater than 0",
    ),
    (
        "workloads.0",
        {"name": "q", "tpch": {"scaleFactor": "0.000"}},
        "spec.workloads[0].tpch.scaleFactor",
        "must be greater than 0",
    ),
    (
        "workloads.0",
        {"name": "q", "tpch": {"scaleFactor": "-1"}},
        "spec.workloads[0].tpch.scaleFactor",
        "should match",
    ),
    ("workloads.0", {"name": "q", "tpch": {}}, "spec.workloads[0].tpch.scaleFactor", "Required"),
    (
        "workloads.0",
        {"name": "q", "tpch": {**TPCH, "queries": [23]}},
        "spec.workloads[0].tpch.queries[0]",
        "less than or equal to 22",
    ),
    (
        "workloads.0",
        {"name": "q", "tpch": {**TPCH, "queries": [1, 1]}},
        "spec.workloads[0].tpch.queries[1]",
        "Duplicate value",
    ),
    (
        "workloads.0",
        {"name": "q", "tpch": {**TPCH, "connection": ["Pooled"]}},
        "spec.workloads[0].tpch.connection[0]",
        "supported values",
    ),
    (
        "workloads.0",
        {"name": "q", "tpch": {**TPCH, "runs": 0}},
        "spec.workloads[0].tpch.runs",
        "greater than or equal to 1",
    ),
    (
        "workloads.0",
        {"name": "q", "tpch": {**TPCH, "queryTimeout": "0s"}},
        "spec.workloads[0].tpch.queryTimeout",
        "must be longer than 0s",
    ),
    (
        "workloads.0",
        {"name": "o", "tpcc": {"warehouses": 0}},
        "spec.workloads[0].tpcc.warehouses",
        "greater than or equal to 1",
    ),
    (
        "workloads.0",
        {"name": "o", "tpcc": {"warehouses": 1, "clients": 0}},
        "spec.workloads[0].tpcc.clients",
        "greater than or equal to 1",
    ),
    (
        "workloads.0",
        {"name": "o", "tpcc": {"warehouses": 1, "duration": "10"}},
        "spec.workloads[0].tpcc.duration",
        "should match",
    ),
    ("workloads.0", {"name": "s", "sql": {}}, "spec.workloads[0].sql.scripts", "Required value"),
    (
        "workloads.0",
        {"name": "s", "sql": {"scripts": []}},
        "spec.workloads[0].sql.scripts",
        "at least 1 items",
    ),
    (
        "workloads.0",
        {"name": "s", "sql": {"scripts": [SCRIPT, SCRIPT]}},
        "spec.workloads[0].sql.scripts[1]",
        "Duplicate value",
    ),
    (
        "workloads.0",
        {"name": "s", "sql": {"scripts": [{"name": "look"}]}},
        "spec.workloads[0].sql.scripts[0]",
        "set either text or configMapKeyRef",
    ),
    (
        "workloads.0",
        {"name": "s", "sql": {"scripts": [SCRIPT], "setup": {**FROM_CONFIG_MAP, "text": "x"}}},
        "spec.workloads[0].sql.setup",
        "written in one place",
    ),
    (
        "workloads.0",
        {"name": "s", "sql": {"scripts": [{**SCRIPT, "name": "look@9"}]}},
        "spec.workloads[0].sql.scripts[0].name",
        "should match",
    ),
    (
        "workloads.0",
        {"name": "s", "sql": {"scripts": [{**SCRIPT, "weight": 0}]}},
        "spec.workloads[0].sql.scripts[0].weight",
        "greater than or equal to 1",
    ),
    (
        "workloads.0",
        {"name": "s", "sql": {"scripts": [{**SCRIPT, "text": "x" * 32769}]}},
        "spec.workloads[0].sql.scripts[0].text",
        "may not be more than 32768",
    ),
    (
        "workloads.0",
        {
            "name": "s",
            "sql": {"scripts": [SCRIPT], "setup": {"configMapKeyRef": {"name": "a", "key": "b/c"}}},
        },
        "spec.workloads[0].sql.setup.configMapKeyRef.key",
        "should match",
    ),
    (
        "workloads.0",
        {"name": "t", "tatp": {"subscribers": 0}},
        "spec.workloads[0].tatp.subscribers",
        "greater than or equal to 1",
    ),
    (
        "workloads.0",
        {"name": "t", "tatp": {"subscribers": 1, "distribution": "Zipf"}},
        "spec.workloads[0].tatp.distribution",
        "supported values",
    ),
    ("trials", {"min": 3, "max": 2}, "spec.trials", "min must not be greater than max"),
    ("trials", {"max": 2}, "spec.trials", "lower min or raise max"),
    ("trials", {"min": 0}, "spec.trials.min", "greater than or equal to 1"),
    ("trials", {"targetHalfWidth": "1%"}, "spec.trials.targetHalfWidth", "needs max"),
    ("trials", {"max": 9, "targetHalfWidth": "1"}, "spec.trials.targetHalfWidth", "should match"),
    ("trials", {"seed": -1}, "spec.trials.seed", "greater than or equal to 0"),
    ("trials", {"redeploy": "Always"}, "spec.trials.redeploy", "boolean"),
    (
        "trials",
        {"min": 4, "blocksPerDeployment": 2},
        "spec.trials.blocksPerDeployment",
        "needs redeploy: true",
    ),
    (
        "trials",
        {"min": 3, "redeploy": True, "blocksPerDeployment": 2},
        "spec.trials.blocksPerDeployment",
        "must be multiples of blocksPerDeployment",
    ),
    (
        "trials",
        {"min": 4, "max": 9, "redeploy": True, "blocksPerDeployment": 2},
        "spec.trials.blocksPerDeployment",
        "must be multiples of blocksPerDeployment",
    ),
    (
        "trials",
        {"contamination": {"maxSteal": "0.05"}},
        "spec.trials.contamination.maxSteal",
        "should match",
    ),
    (
        "trials",
        {"contamination": {"maxRepeats": -1}},
        "spec.trials.contamination.maxRepeats",
        "greater than or equal to 0",
    ),
    ("timeouts", {"ready": "0s"}, "spec.timeouts.ready", "must be longer than 0s"),
    ("timeouts", {"ready": "soon"}, "spec.timeouts.ready", "should match"),
    (
        "gates",
        [{"workload": "telecom", "target": "pod", "maxSlowdown": "1%"}],
        "spec.gates",
        "not the baseline",
    ),
    (
        "gates",
        [{"workload": "telecom", "target": "metal", "maxSlowdown": "1%"}],
        "spec.gates",
        "each gate's target must be the name of one of the targets",
    ),
    (
        "gates",
        [{"workload": "none", "target": "vm", "maxSlowdown": "1%"}],
        "spec.gates",
        "each gate's workload must be the name of one of the workloads",
    ),
    (
        "gates",
        [{"workload": "telecom", "target": "vm", "maxSlowdown": "0.1"}],
        "spec.gates[0].maxSlowdown",
        "should match",
    ),
    (
        "gates",
        [{"workload": "telecom", "target": "vm", "maxSlowdown": f"{n}%"} for n in (1, 2)],
        "spec.gates[1]",
        "Duplicate value",
    ),
    ("cleanupPolicy", "Sometimes", "spec.cleanupPolicy", "supported values"),
    ("targtes", [], "spec.targtes", "unknown field"),
]


@pytest.mark.parametrize(
    ("path", "value", "field", "says"),
    REFUSED,
    ids=[f"{path}={str(value)[:50]}" for path, value, _, _ in REFUSED],
)
def test_refused_with_a_message_that_names_the_field(
    server: Kubectl, path: str, value: Any, field: str, says: str
) -> None:
    said = refusal(server, changed(path, value))
    assert field in said
    assert says in said


def test_a_name_that_is_too_long_for_what_is_made_from_it(server: Kubectl) -> None:
    check(server, benchmark("b" * 40))
    said = refusal(server, benchmark("b" * 41))
    assert "the name must have at most 40 characters" in said


def test_no_target_may_have_the_name_of_the_control(server: Kubectl) -> None:
    targets = [POD, {"name": "control", "pod": {}}]
    check(server, benchmark("control", placement=NOWHERE, targets=targets))
    said = refusal(
        server,
        benchmark("control", placement=NOWHERE, targets=targets, trials={"control": True}),
    )
    assert "spec.targets" in said
    assert "no target may be called control" in said


def test_the_largest_spec_is_within_the_cost_limits(server: Kubectl) -> None:
    """20 targets, 20 workloads, 50 gates and 100 settings at their longest."""
    names = [f"t{number:02d}".ljust(20, "x") for number in range(20)]
    document = changed("targets", [{"name": name, "pod": {}} for name in names])
    spec = document["spec"]
    spec["baseline"] = names[0]
    spec["workloads"] = [
        {"name": name, "tpch": {"scaleFactor": "1", "queries": list(range(1, 23))}}
        for name in names
    ]
    pairs = [(workload, target) for workload in names for target in names[1:]][:50]
    spec["gates"] = [
        {"workload": workload, "target": target, "maxSlowdown": "10%"} for workload, target in pairs
    ]
    spec["database"]["config"] = {f"custom.setting_{n:03d}": "v" * 256 for n in range(100)}
    check(server, document)


@pytest.fixture(scope="module")
def started(server: Kubectl) -> Kubectl:
    """A benchmark that the operator has begun: its first status update sets the start time."""
    document = changed("gates", [{"workload": "telecom", "target": "vm", "maxSlowdown": "1%"}])
    document["spec"]["placement"] = NOWHERE
    server.create(document)
    status = '{"status": {"startTime": "2026-11-21T08:00:00Z", "seed": 1}}'
    server("patch", "dbb", "checked", "--subresource=status", "--type=merge", "-p", status)
    return server


@pytest.mark.parametrize(
    "patch",
    [
        '{"suspend": true}',
        '{"cleanupPolicy": "Never"}',
        '{"ttlAfterFinished": "24h"}',
        '{"ttlAfterFinished": null}',
    ],
)
def test_a_started_run_can_be_suspended_and_told_what_to_keep(started: Kubectl, patch: str) -> None:
    started("patch", "dbb", "checked", "--type=merge", "-p", f'{{"spec": {patch}}}')


@pytest.mark.parametrize(
    "patch",
    [
        '{"database": {"image": "postgres:18"}}',
        '{"resources": {"cpu": 2}}',
        '{"baseline": "vm"}',
        '{"trials": {"min": 2}}',
        '{"workloads": [{"name": "other", "tatp": {"subscribers": 1}}]}',
        '{"timeouts": {"ready": "1m"}}',
        '{"gates": null}',
    ],
)
def test_nothing_else_of_a_started_run_can_be_changed(started: Kubectl, patch: str) -> None:
    with pytest.raises(CallError) as refused:
        started("patch", "dbb", "checked", "--type=merge", "-p", f'{{"spec": {patch}}}')
    assert "only suspend, cleanupPolicy and ttlAfterFinished can be changed" in refused.value.output
    assert "create a new DBBenchmark" in refused.value.output


def test_before_the_start_everything_can_be_changed(server: Kubectl) -> None:
    server.create(benchmark("changing", placement=NOWHERE))
    server("patch", "dbb", "changing", "--type=merge", "-p", '{"spec": {"trials": {"min": 2}}}')
    found = server.get("dbb", "changing")
    assert found is not None
    assert found["spec"]["trials"]["min"] == 2


def test_a_new_object_has_the_defaults_and_does_not_read_as_current(server: Kubectl) -> None:
    document = json.dumps(benchmark("fresh", placement=NOWHERE))
    found = json.loads(server("create", "-f", "-", "-o", "json", text=document))
    assert found["status"]["observedGeneration"] == -1
    assert not found["status"].get("conditions")
    assert found["spec"]["resources"] == {"cpu": 1, "memory": "768Mi", "dedicatedCPUs": True}
    assert found["spec"]["cleanupPolicy"] == "OnSuccess"
    assert found["spec"]["timeouts"] == {
        "ready": "10m",
        "load": "2h",
        "trial": "2h",
        "disk": "30m",
    }


def test_short_name_category_and_columns(server: Kubectl) -> None:
    server.apply(benchmark("listed", placement=NOWHERE))
    assert "listed" in server("get", "dbb", "listed")
    assert "dbbenchmark.dbbench.io/listed" in server("get", "dbbench", "-o", "name")
    header = server("get", "dbb").splitlines()[0].split()
    assert header == [
        "NAME", "ENGINE", "DONE", "PLANNED", "WORST-SLOWDOWN", "SUCCEEDED", "REASON", "AGE",
    ]  # fmt: skip

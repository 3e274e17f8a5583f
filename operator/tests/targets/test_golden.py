"""Every manifest that is built, held against a file.

After a change that is meant: `pytest tests/targets --update-golden`, then read the diff.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dbbench import plan
from dbbench.plan.intervention import confirming_places
from dbbench.targets import (
    Context,
    Manifest,
    foundation,
    instance,
    load_job,
    preparation,
    secret,
    trial_job,
)
from dbbench.targets.context import Devices
from dbbench.targets.network_policy import network_policies
from dbbench.targets.scripts import config_map

from .conftest import context

Golden = Callable[[str, list[Manifest]], None]


def everything(ctx: Context, target: str) -> list[Manifest]:
    """All of a target; of one with several instances, all of the last one."""
    chosen = ctx.spec.instances(target)[-1]
    found = foundation(ctx, chosen)
    disk = preparation(ctx, chosen)
    return [*found, *([disk] if disk else []), instance(ctx, chosen, True)]


def shared_cpus(body: dict[str, Any]) -> None:
    body["spec"]["resources"]["dedicatedCPUs"] = False


def named_class(body: dict[str, Any]) -> None:
    body["spec"]["targets"][0]["pod"] = {"runtimeClassName": "kata"}
    body["spec"]["database"]["storage"]["storageClassName"] = "fast"
    body["spec"]["placement"]["database"]["tolerations"] = [
        {"key": "bench", "operator": "Exists", "effect": "NoSchedule"}
    ]


def control(body: dict[str, Any]) -> None:
    body["spec"]["trials"]["control"] = True


def hugepages(body: dict[str, Any]) -> None:
    body["spec"]["resources"]["hugepages"] = {"pageSize": "2Mi", "size": "256Mi"}


def machine(runtime: str, *changes: Any, **options: Any) -> Any:
    """Four CPUs, and a virtual machine with these options."""

    def change(body: dict[str, Any]) -> None:
        body["spec"]["resources"]["cpu"] = 4
        body["spec"]["targets"][1]["virtualMachine"] = {"runtime": runtime, **options}
        for other in changes:
            other(body)

    return change


DIRECT = {"cache": "none", "io": "native", "dedicatedIOThread": True}
KUBEVIRT_CPU = {
    "sockets": 2, "cores": 1, "threads": 2, "maxSockets": 4, "model": "host-passthrough",
    "isolateEmulatorThread": True, "numa": {"guestMappingPassthrough": {}},
}  # fmt: skip
kubevirt_options = machine(
    "KubeVirt",
    hugepages,
    cpu=KUBEVIRT_CPU,
    ioThreadsPolicy="supplementalPool",
    ioThreads={"supplementalPoolThreadCount": 2},
    blockMultiQueue=True,
    networkInterfaceMultiqueue=True,
    dataDisk=DIRECT,
)
kubevirt_bridge = machine(
    "KubeVirt",
    cpu={"dedicatedCpuPlacement": False},
    network="Bridge",
    dataDisk={"cache": "writethrough", "io": "threads"},
)
qemu_microvm = machine("QEMU", machine="microvm", dataDisk={"cache": "writethrough"})
container_disk = machine(
    "KubeVirt",
    containerDisk={"image": "registry.example/debian-postgres:17"},
)
container_disk_options = machine(
    "KubeVirt",
    containerDisk={
        "image": "localhost/dbbench/container-disk:15",
        "imagePullPolicy": "Never",
        "user": "pg",
        "binaries": "/usr/lib/postgresql/15/bin",
    },
    dataDisk={"readAhead": "128Ki", "volume": "EmptyDisk"},
)
kubevirt_scsi = machine("KubeVirt", dataDisk={"bus": "scsi"})
kubevirt_host_disk = machine("KubeVirt", dataDisk={"volume": "HostDisk", **DIRECT})
kubevirt_empty_disk = machine("KubeVirt", dataDisk={"volume": "EmptyDisk", "cache": "writeback"})
kubevirt_data_volume = machine("KubeVirt", dataDisk={"volume": "DataVolume"})
qemu_read_ahead = machine("QEMU", dataDisk={"readAhead": "128Ki"})
kubevirt_read_ahead = machine("KubeVirt", dataDisk={"volume": "EmptyDisk", "readAhead": "0"})
qemu_scsi = machine("QEMU", dataDisk={"bus": "scsi", "cache": "none"})
qemu_tap = machine("QEMU", network="Tap")
qemu_kvm = machine("QEMU", accelerator="KVM")
qemu_tap_kvm = machine("QEMU", network="Tap", accelerator="KVM")
VERSIONS = {
    "guestKernel": {"image": "registry.example/dbbench/guest-kernel-6.12:0.1.0"},
    "launcher": {"image": "registry.example/launcher:7", "imagePullPolicy": "Always"},
}
qemu_emulated = machine("QEMU", accelerator="TCG", **VERSIONS)
qemu_options = machine(
    "QEMU",
    hugepages,
    cpu={"cores": 2, "threads": 2, "model": "Skylake-Server", "dedicatedCpuPlacement": False},
    dataDisk=DIRECT,
    network="User",
)


def host(body: dict[str, Any]) -> None:
    body["spec"]["targets"].append({"name": "bare", "host": {}})


def host_shared_cpus(body: dict[str, Any]) -> None:
    host(body)
    shared_cpus(body)


def block_volume(body: dict[str, Any]) -> None:
    body["spec"]["database"]["storage"]["volumeMode"] = "Block"


def data_volume_of_class(body: dict[str, Any]) -> None:
    """Three data volumes that are block devices of a named class."""
    machine("KubeVirt", named_class, block_volume, instances, dataDisk={"volume": "DataVolume"})(
        body
    )


def in_memory(body: dict[str, Any]) -> None:
    body["spec"]["database"]["storage"] = {"size": "256Mi", "medium": "Memory"}


def mariadb(body: dict[str, Any]) -> None:
    host(body)
    body["spec"]["database"] |= {
        "engine": "MySQL",
        "image": "localhost/dbbench/mariadb:10.11",
        "config": {"innodb_buffer_pool_size": "512M"},
    }


def hyper(body: dict[str, Any]) -> None:
    host(body)
    body["spec"]["resources"] |= {"cpu": 4, "memory": "8Gi"}
    body["spec"]["database"] |= {
        "engine": "Hyper",
        "image": "localhost/dbbench/hyper:0.0.26963",
        "config": {"memory_limit": "4g", "single_file_storage_implementation": "psync"},
    }
    body["spec"]["workloads"] = body["spec"]["workloads"][:2]


def caches(body: dict[str, Any]) -> None:
    tpch = {"scaleFactor": "0.01", "cache": ["Warm", "Cold"]}
    body["spec"]["workloads"] = [{"name": "analytics", "tpch": tpch}]


def sweep_of_clients(body: dict[str, Any]) -> None:
    body["spec"]["workloads"] = [{"name": "orders", "tpcc": {"warehouses": 1, "clients": 2}}]
    body["spec"]["sweep"] = {"clients": [1, 64]}


def sweep_of_deployments(body: dict[str, Any]) -> None:
    shared_cpus(body)
    body["spec"]["workloads"] = [{"name": "orders", "tpcc": {"warehouses": 1, "clients": 2}}]
    body["spec"]["sweep"] = {"cpu": [1, 2], "instances": [1, 2]}


def sweep_of_variants(body: dict[str, Any]) -> None:
    """Where the data are, and how the guest's disk is attached; the guest's own bus stays."""
    body["spec"]["workloads"] = [{"name": "orders", "tpcc": {"warehouses": 1, "clients": 2}}]
    body["spec"]["targets"][1]["virtualMachine"]["dataDisk"] = {"bus": "scsi"}
    body["spec"]["sweep"] = {
        "variants": [
            {
                "name": "storage",
                "values": [
                    {"name": "ssd", "storage": {"storageClassName": "fast"}},
                    {"name": "hdd", "storage": {"storageClassName": "slow"}},
                ],
            },
            {
                "name": "diskCache",
                "values": [
                    {
                        "name": "none",
                        "virtualMachine": {"dataDisk": {"cache": "none", "io": "native"}},
                    },
                    {"name": "writeback", "virtualMachine": {"dataDisk": {"cache": "writeback"}}},
                ],
            },
        ]
    }


def confirming(body: dict[str, Any]) -> None:
    """The guest's data disk is cached, whatever runs it."""
    disk = {"cache": "writeback"}
    body["spec"]["targets"][1]["virtualMachine"]["dataDisk"] = disk
    body["spec"]["confirm"] = True


UNCACHED = (("confirm", "DataDiskCacheNone"),)


def zachmann(body: dict[str, Any]) -> None:
    body["spec"]["workloads"] = [
        {"name": "memory", "zachmann": {"tableSize": "32M", "duration": "1m", "physicalCPUs": 8}}
    ]


def micro(body: dict[str, Any]) -> None:
    costs = {"probes": ["Sort", "SystemCall", "Read"], "threads": [1], "sortSizes": [100, 10]}
    body["spec"]["workloads"] = [
        {"name": "costs", "micro": costs | {"time": "2s", "fileSize": "16Mi"}},
        {"name": "all", "micro": {}},
        {"name": "memory", "zachmann": {"tableSize": "32M"}},
    ]


def sql(body: dict[str, Any]) -> None:
    """A script written in the spec, and one of a ConfigMap's."""
    orders = {"name": "orders", "key": "order.sql"}
    body["spec"]["workloads"] = [
        {
            "name": "mine",
            "sql": {
                "setup": {"text": "CREATE TABLE item (id int)"},
                "scripts": [
                    {"name": "look", "weight": 9, "text": "SELECT ':x; --' FROM item;\n"},
                    {"name": "order", "configMapKeyRef": orders},
                ],
                "clients": 4,
            },
        },
        {"name": "bare", "sql": {"scripts": [{"name": "one", "text": "SELECT 1"}]}},
    ]


def sweep_of_work_processes(body: dict[str, Any]) -> None:
    zachmann(body)
    instances(body)
    body["spec"]["sweep"] = {"workProcesses": [1, 3]}


def same_node(body: dict[str, Any]) -> None:
    body["spec"]["placement"]["driver"] = {"colocation": "SameNode"}
    body["spec"]["placement"]["database"]["tolerations"] = [{"key": "bench", "operator": "Exists"}]


def same_guest(body: dict[str, Any]) -> None:
    body["spec"]["placement"]["driver"] = {"colocation": "SameGuest"}


def external(body: dict[str, Any]) -> None:
    """A database that exists already, in place of the virtual machine."""
    connection = {"secretRef": {"name": "orders-app"}}
    body["spec"]["targets"][1] = {"name": "prod", "external": {"connection": connection}}


def cloud_native_pg(*changes: Any, **options: Any) -> Any:
    """A cluster of CloudNativePG beside the others."""

    def change(body: dict[str, Any]) -> None:
        body["spec"]["targets"].append({"name": "cnpg", "cloudNativePG": options})
        for other in changes:
            other(body)

    return change


cnpg_standbys = cloud_native_pg(
    hugepages, instances=3, synchronous={"method": "first", "number": 2}
)


def instances(body: dict[str, Any]) -> None:
    """Three of each target, on CPUs that they share."""
    shared_cpus(body)
    for target in body["spec"]["targets"]:
        target["instances"] = 3


def duet(body: dict[str, Any]) -> None:
    body["spec"]["workloads"] = [{"name": "orders", "tpcc": {"warehouses": 1, "clients": 2}}]
    body["spec"]["trials"]["mode"] = "Duet"


@pytest.mark.parametrize(
    ("case", "target", "kubevirt", "change"),
    [
        ("pod", "pod", False, None),
        ("pod-shared-cpus", "pod", False, shared_cpus),
        ("pod-runtime-class", "pod", False, named_class),
        ("host", "bare", False, host),
        ("host-shared-cpus", "bare", False, host_shared_cpus),
        ("pod-hugepages", "pod", False, hugepages),
        ("pod-in-memory", "pod", False, in_memory),
        ("qemu-in-memory", "vm", False, in_memory),
        ("kubevirt-in-memory", "vm", True, in_memory),
        ("pod-cold", "pod", False, caches),
        ("qemu-cold", "vm", False, caches),
        ("kubevirt-cold", "vm", True, caches),
        ("pod-zachmann", "pod", False, zachmann),
        ("pod-micro", "pod", False, micro),
        ("pod-same-guest", "pod", False, same_guest),
        ("qemu-zachmann", "vm", False, zachmann),
        ("kubevirt-zachmann", "vm", True, zachmann),
        ("qemu-block", "vm", False, block_volume),
        ("kubevirt-block", "vm", True, block_volume),
        ("pod-instance", "pod", False, instances),
        ("qemu-instance", "vm", False, instances),
        ("kubevirt-instance", "vm", True, instances),
        ("pod-control", "control", False, control),
        ("qemu", "vm", False, None),
        ("qemu-microvm", "vm", False, qemu_microvm),
        ("qemu-scsi", "vm", False, qemu_scsi),
        ("kubevirt-scsi", "vm", True, kubevirt_scsi),
        ("kubevirt-hostdisk", "vm", True, kubevirt_host_disk),
        ("kubevirt-emptydisk", "vm", True, kubevirt_empty_disk),
        ("kubevirt-datavolume", "vm", True, kubevirt_data_volume),
        ("kubevirt-datavolume-block", "vm", True, data_volume_of_class),
        ("qemu-read-ahead", "vm", False, qemu_read_ahead),
        ("kubevirt-read-ahead", "vm", True, kubevirt_read_ahead),
        ("qemu-options", "vm", False, qemu_options),
        ("qemu-tap", "vm", False, qemu_tap),
        ("qemu-shared-cpus", "vm", False, shared_cpus),
        ("qemu-storage-class", "vm", False, named_class),
        ("kubevirt", "vm", True, None),
        ("kubevirt-options", "vm", True, kubevirt_options),
        ("kubevirt-bridge", "vm", True, kubevirt_bridge),
        ("kubevirt-containerdisk", "vm", True, container_disk),
        ("kubevirt-containerdisk-options", "vm", True, container_disk_options),
        ("kubevirt-shared-cpus", "vm", True, shared_cpus),
        ("kubevirt-storage-class", "vm", True, named_class),
        ("cloudnativepg", "cnpg", False, cloud_native_pg()),
        ("cloudnativepg-standbys", "cnpg", False, cnpg_standbys),
        ("cloudnativepg-shared-cpus", "cnpg", False, cloud_native_pg(shared_cpus, instances=2)),
        ("cloudnativepg-storage-class", "cnpg", False, cloud_native_pg(named_class)),
        ("mariadb-pod", "pod", False, mariadb),
        ("mariadb-host", "bare", False, mariadb),
        ("mariadb-qemu", "vm", False, mariadb),
        ("mariadb-kubevirt", "vm", True, mariadb),
        ("hyper-pod", "pod", False, hyper),
        ("hyper-host", "bare", False, hyper),
        ("hyper-qemu", "vm", False, hyper),
        ("hyper-kubevirt", "vm", True, hyper),
    ],
)
def test_target(golden: Golden, case: str, target: str, kubevirt: bool, change: Any) -> None:
    golden(case, everything(context(change, kubevirt=kubevirt), target))


@pytest.mark.parametrize(
    ("case", "change"),
    [
        ("qemu-kvm", qemu_kvm),
        ("qemu-tap-kvm", qemu_tap_kvm),
        ("qemu-emulated", qemu_emulated),
    ],
)
def test_devices_of_a_guest(golden: Golden, case: str, change: Any) -> None:
    given = Devices("devices.kubevirt.io/kvm", "devices.kubevirt.io/vhost-net")
    golden(case, everything(replace(context(change), devices=given), "vm"))


def test_kernel_of_a_guest_under_kubevirt() -> None:
    change = machine("KubeVirt", guestKernel=VERSIONS["guestKernel"])
    (found,) = (
        one["spec"]["template"]["spec"]["domain"]["firmware"]["kernelBoot"]["container"]
        for one in everything(context(change, kubevirt=True), "vm")
        if one["kind"] == "VirtualMachine"
    )
    assert found["image"] == VERSIONS["guestKernel"]["image"]
    assert found["imagePullPolicy"] == "IfNotPresent"


def test_stopped_instances(golden: Golden) -> None:
    manifests = [
        instance(context(kubevirt=kubevirt), context().spec.target(target), False)
        for target, kubevirt in (("pod", False), ("vm", False), ("vm", True))
    ]
    golden("stopped", manifests)


def test_credentials(golden: Golden) -> None:
    golden("credentials", [secret(context(), "a password")])


def test_load_jobs(golden: Golden) -> None:
    ctx = context()
    target = ctx.spec.target("vm")
    golden("load", [load_job(ctx, target, workload, 1) for workload in ctx.spec.workloads])


def test_jobs_of_several_instances(golden: Golden) -> None:
    ctx = context(instances)
    target = ctx.spec.target("vm")
    trials = [trial for trial in plan.block(ctx.spec, 7, 1).trials if trial.target == "vm"]
    jobs = [load_job(ctx, target, ctx.spec.workloads[2], 1)]
    jobs += [trial_job(ctx, t, 1) for t in trials if t.cell.workload in ("analytics", "orders")]
    golden("jobs-instances", jobs)


def test_the_job_of_a_duet(golden: Golden) -> None:
    ctx = context(duet)
    first, second = plan.block(ctx.spec, 7, 1).trials
    assert second == first.together[1]
    golden("job-duet", [trial_job(ctx, first, 1)])


def test_trial_jobs(golden: Golden) -> None:
    ctx = context()
    trials = plan.block(ctx.spec, 7, 2).trials
    golden("trial", [trial_job(ctx, trial, 3) for trial in trials if trial.target == "vm"])


def test_jobs_against_mariadb(golden: Golden) -> None:
    ctx = context(mariadb)
    load = load_job(ctx, ctx.spec.target("vm"), ctx.spec.workload("orders"), 1)
    trials = plan.block(ctx.spec, 7, 1).trials
    run = [trial_job(ctx, t, 1) for t in trials if (t.target, t.cell.workload) == ("vm", "orders")]
    golden("mariadb-jobs", [load, *run])


def test_jobs_against_hyper(golden: Golden) -> None:
    ctx = context(hyper)
    load = load_job(ctx, ctx.spec.target("vm"), ctx.spec.workload("analytics"), 1)
    trial = next(t for t in plan.block(ctx.spec, 7, 1).trials if t.target == "vm")
    golden("hyper-jobs", [load, trial_job(ctx, trial, 1)])


def test_jobs_against_an_external_database(golden: Golden) -> None:
    ctx = context(external)
    load = load_job(ctx, ctx.spec.target("prod"), ctx.spec.workload("orders"), 1)
    trials = plan.block(ctx.spec, 7, 1).trials
    run = [
        trial_job(ctx, t, 1) for t in trials if (t.target, t.cell.workload) == ("prod", "orders")
    ]
    golden("external-jobs", [load, *run])


def test_jobs_against_cloudnativepg(golden: Golden) -> None:
    ctx = context(cloud_native_pg())
    golden("cloudnativepg-jobs", [load_job(ctx, ctx.spec.target("cnpg"), ctx.spec.workloads[2], 1)])


@pytest.mark.parametrize(
    ("case", "change"),
    [
        ("network-policies", None),
        ("network-policies-host", host),
        ("network-policies-external", external),
        ("network-policies-mariadb", mariadb),
        ("network-policies-hyper", hyper),
    ],
)
def test_network_policies(golden: Golden, case: str, change: Any) -> None:
    golden(case, network_policies(context(change)))


def test_nothing_runs_an_external_database() -> None:
    ctx = context(external)
    with pytest.raises(ValueError, match="'prod' exists already"):
        instance(ctx, ctx.spec.target("prod"), True)


def test_trial_jobs_of_cache_states(golden: Golden) -> None:
    ctx = context(caches)
    trials = plan.block(ctx.spec, 7, 1).trials
    golden("trial-caches", [trial_job(ctx, trial, 1) for trial in trials if trial.target == "vm"])


def test_trial_jobs_inside_the_target(golden: Golden) -> None:
    """They have no password and no address of the database."""
    ctx = context(sweep_of_work_processes)
    trials = [trial for trial in plan.block(ctx.spec, 7, 1).trials if trial.target == "vm"]
    jobs = [trial_job(ctx, trial, 1) for trial in trials]
    assert "secret" not in str([job["spec"]["template"]["spec"] for job in jobs])
    golden("trial-zachmann", jobs)


def test_trial_jobs_beside_the_database(golden: Golden) -> None:
    """The agent alone knows the way to the database, and its password."""
    ctx = context(same_guest)
    jobs = [trial_job(ctx, trial, 1) for trial in plan.block(ctx.spec, 7, 1).trials]
    assert "secret" not in str([job["spec"]["template"]["spec"] for job in jobs])
    golden("trial-same-guest", jobs)


def test_jobs_of_the_users_own_statements(golden: Golden) -> None:
    """Their text is in a file, and in no command line."""
    ctx = context(sql)
    copy = config_map(ctx, "mine", {"_setup.sql": "CREATE", "look.sql": "x", "order.sql": "y"})
    jobs = [load_job(ctx, ctx.spec.target("vm"), ctx.spec.workload("mine"), 1)]
    trials = [trial for trial in plan.block(ctx.spec, 7, 1).trials if trial.target == "vm"]
    jobs += [trial_job(ctx, trial, 1) for trial in trials]
    assert not any(word in str(jobs) for word in ("SELECT", "CREATE", "--replace"))
    golden("sql", [copy, *jobs])


def test_statements_without_a_setup_have_nothing_to_load() -> None:
    ctx = context(sql)
    with pytest.raises(ValueError, match="'bare' has no data"):
        load_job(ctx, ctx.spec.target("vm"), ctx.spec.workload("bare"), 1)


def test_trial_jobs_of_unit_costs(golden: Golden) -> None:
    ctx = context(micro)
    trials = [trial for trial in plan.block(ctx.spec, 7, 1).trials if trial.target == "vm"]
    golden("trial-micro", [trial_job(ctx, trial, 1) for trial in trials])


def test_trial_jobs_of_a_sweep(golden: Golden) -> None:
    ctx = context(sweep_of_clients)
    trials = plan.block(ctx.spec, 7, 1).trials
    golden("trial-sweep", [trial_job(ctx, trial, 1) for trial in trials if trial.target == "vm"])


@pytest.mark.parametrize(
    ("case", "target", "kubevirt"),
    [("pod", "pod", False), ("qemu", "vm", False), ("kubevirt", "vm", True)],
)
def test_a_deployment_of_a_sweep(golden: Golden, case: str, target: str, kubevirt: bool) -> None:
    """Two CPUs, and the last of two instances: everything of it, and its jobs."""
    ctx = context(sweep_of_deployments, kubevirt=kubevirt)
    point = (("cpu", "2"), ("instances", "2"))
    spec = plan.deployed(ctx.spec, point)
    here = replace(ctx, benchmark=ctx.benchmark.model_copy(update={"spec": spec}))
    name = f"{target}@cpu2-instances2"
    jobs = [load_job(here, spec.target(name), spec.workloads[0], 1)]
    jobs += [
        trial_job(here, trial, 1)
        for trial in plan.block(ctx.spec, 7, 1).trials
        if trial.deployment == name
    ]
    golden(f"{case}-deployment", [*everything(here, name), *jobs])


@pytest.mark.parametrize(
    ("case", "target", "kubevirt", "cache"),
    [
        ("pod", "pod", False, "writeback"),
        ("qemu", "vm", False, "none"),
        ("qemu", "vm", False, "writeback"),
        ("kubevirt", "vm", True, "none"),
        ("kubevirt", "vm", True, "writeback"),
    ],
)
def test_a_variant(golden: Golden, case: str, target: str, kubevirt: bool, cache: str) -> None:
    """What the variants leave out is as the target says it: the guest's bus."""
    ctx = context(sweep_of_variants, kubevirt=kubevirt)
    point = (("storage", "ssd"), ("diskCache", cache))
    spec = plan.deployed(ctx.spec, point)
    here = replace(ctx, benchmark=ctx.benchmark.model_copy(update={"spec": spec}))
    name = f"{target}@storagessd-diskCache{cache}"
    trials = [trial for trial in plan.block(ctx.spec, 7, 1).trials if trial.deployment == name]
    jobs = [load_job(here, spec.target(name), spec.workload("orders"), 1)]
    jobs += [trial_job(here, trial, 1) for trial in trials]
    golden(f"{case}-variant-{cache}", [*everything(here, name), *jobs])


@pytest.mark.parametrize(("case", "kubevirt"), [("qemu", False), ("kubevirt", True)])
def test_a_deployment_that_tests_a_cause(golden: Golden, case: str, kubevirt: bool) -> None:
    """The guest with one change of its disk; its jobs, and those of one connection beside it."""
    ctx = context(confirming, kubevirt=kubevirt)
    tests = plan.arranged(confirming_places(ctx.spec), 7, 4).trials
    (trial,) = [
        one
        for one in tests
        if one.cell.workload == "telecom" and one.point[-1:] == UNCACHED and one.target == "vm"
    ]
    spec = plan.deployed(ctx.spec, trial.point)
    here = replace(ctx, benchmark=ctx.benchmark.model_copy(update={"spec": spec}))
    jobs = [load_job(here, spec.target(trial.deployment), spec.workload("telecom"), 1)]
    jobs.append(trial_job(here, trial, 1))
    jobs += [trial_job(ctx, one, 1) for one in tests if not one.point and one.target == "vm"]
    assert len(jobs) == 3
    golden(f"{case}-confirm", [*everything(here, trial.deployment), *jobs])


def test_a_driver_on_the_databases_node(golden: Golden) -> None:
    ctx = context(same_node)
    golden("load-same-node", [load_job(ctx, ctx.spec.target("pod"), ctx.spec.workloads[0], 1)])

"""What must be the same in every target, and what must hold for each pod."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from dbbench import plan
from dbbench.targets import (
    Context,
    Manifest,
    TargetRuntime,
    foundation,
    instance,
    load_job,
    preparation,
    runtime_of,
    trial_job,
)

from .conftest import context

WAYS = [("pod", False), ("vm", False), ("vm", True)]


def config_of(ctx: Context, target: str) -> dict[str, str]:
    maps = [m for m in foundation(ctx, ctx.spec.target(target)) if m["kind"] == "ConfigMap"]
    return next(m["data"] for m in maps if "agent.json" in m["data"])


def pods(ctx: Context) -> Iterator[tuple[str, Manifest]]:
    """Every pod spec that a benchmark makes, but for KubeVirt's own."""
    for target in ctx.spec.targets:
        found = [instance(ctx, target, True), preparation(ctx, target)]
        found += [load_job(ctx, target, workload, 1) for workload in ctx.spec.workloads]
        for manifest in found:
            if manifest is not None and manifest["kind"] != "VirtualMachine":
                yield manifest["metadata"]["name"], manifest["spec"]["template"]["spec"]
    for trial in plan.block(ctx.spec, 7, 1).trials:
        manifest = trial_job(ctx, trial, 1)
        yield manifest["metadata"]["name"], manifest["spec"]["template"]["spec"]


def memory_data(body: dict[str, Any]) -> None:
    body["spec"]["database"]["storage"] = {"size": "256Mi", "medium": "Memory"}


def block_data(body: dict[str, Any]) -> None:
    body["spec"]["database"]["storage"]["volumeMode"] = "Block"


def mariadb(body: dict[str, Any]) -> None:
    body["spec"]["database"] |= {"engine": "MySQL", "config": {"innodb_buffer_pool_size": "1G"}}


@pytest.mark.parametrize("change", [None, memory_data, block_data, mariadb])
def test_the_same_files_configure_every_target(change: Any) -> None:
    first, *others = [
        config_of(context(change, kubevirt=kubevirt), target) for target, kubevirt in WAYS
    ]
    assert all(other == first for other in others)


def test_data_in_memory_are_as_large_in_the_pod_as_in_the_guest_and_have_no_volume() -> None:
    ctx = context(memory_data)
    pod = instance(ctx, ctx.spec.target("pod"), True)["spec"]["template"]["spec"]
    data = next(volume for volume in pod["volumes"] if volume["name"] == "data")
    assert data["emptyDir"] == {"medium": "Memory", "sizeLimit": "256Mi"}
    assert json.loads(config_of(ctx, "vm")["agent.json"])["dataInMemoryBytes"] == 256 * 2**20
    claims = [
        manifest["metadata"]["name"]
        for target in ctx.spec.targets
        for manifest in foundation(ctx, target)
        if manifest["kind"] == "PersistentVolumeClaim"
    ]
    assert claims == ["quickstart-vm-root"]


def test_a_block_volume_is_the_guest_s_disk_and_never_a_pod_s() -> None:
    ctx = context(block_data)
    modes = {
        manifest["metadata"]["name"]: manifest["spec"]["volumeMode"]
        for target in ctx.spec.targets
        for manifest in foundation(ctx, target)
        if manifest["kind"] == "PersistentVolumeClaim"
    }
    assert modes == {
        "quickstart-pod-data": "Filesystem",
        "quickstart-vm-data": "Block",
        "quickstart-vm-root": "Filesystem",
    }
    maps = foundation(ctx, ctx.spec.target("vm"))
    launcher = next(m for m in maps if "launcher.json" in m.get("data", {}))
    disk = json.loads(launcher["data"]["launcher.json"])["disks"][1]
    assert disk == {"serial": "data", "file": "/dev/dbbench-data", "device": True}


def test_auto_is_kubevirt_where_its_api_is_served_else_qemu() -> None:
    for served, expected in ((True, TargetRuntime.KUBEVIRT), (False, TargetRuntime.QEMU)):
        ctx = context(kubevirt=served)
        assert runtime_of(ctx, ctx.spec.target("vm")) is expected
        assert runtime_of(ctx, ctx.spec.target("pod")) is TargetRuntime.POD


@pytest.mark.parametrize(
    ("runtime", "expected"),
    [("KubeVirt", TargetRuntime.KUBEVIRT), ("QEMU", TargetRuntime.QEMU)],
)
def test_a_named_runtime_is_used_whatever_the_cluster_serves(
    runtime: str, expected: TargetRuntime
) -> None:
    for served in (True, False):
        ctx = context(
            lambda body: body["spec"]["targets"][1]["virtualMachine"].update(runtime=runtime),
            kubevirt=served,
        )
        assert runtime_of(ctx, ctx.spec.target("vm")) is expected


@pytest.mark.parametrize(("target", "kubevirt"), WAYS)
def test_the_service_selects_the_instance_s_pods_and_no_job_s(target: str, kubevirt: bool) -> None:
    ctx = context(kubevirt=kubevirt)
    chosen = ctx.spec.target(target)
    service = next(m for m in foundation(ctx, chosen) if m["kind"] == "Service")
    wanted = service["spec"]["selector"].items()
    assert wanted <= instance(ctx, chosen, True)["spec"]["template"]["metadata"]["labels"].items()
    jobs = [load_job(ctx, chosen, workload, 1) for workload in ctx.spec.workloads]
    jobs += [disk] if (disk := preparation(ctx, chosen)) else []
    jobs += [trial_job(ctx, trial, 1) for trial in plan.block(ctx.spec, 7, 1).trials]
    for job in jobs:
        assert not wanted <= job["spec"]["template"]["metadata"]["labels"].items()


def test_pods_pass_pod_security_restricted_but_for_the_disk_job() -> None:
    for name, pod in [*pods(context()), *pods(context(mariadb))]:
        if name == "quickstart-disk-vm":
            continue
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] > 0
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in [*pod.get("initContainers", []), *pod["containers"]]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"]},
                "readOnlyRootFilesystem": True,
            }


def bare(body: dict[str, Any]) -> None:
    body["spec"]["targets"].append({"name": "bare", "host": {}})


def test_the_host_target_is_the_pod_in_the_node_s_namespaces_and_nothing_else() -> None:
    ctx = context(bare)
    pod, host = (
        instance(ctx, ctx.spec.target(name), True)["spec"]["template"]["spec"]
        for name in ("pod", "bare")
    )
    assert host.pop("hostNetwork") is host.pop("hostPID") is host.pop("hostIPC") is True
    assert host.pop("dnsPolicy") == "ClusterFirstWithHostNet"
    assert host["securityContext"].pop("seccompProfile") == {"type": "Unconfined"}
    assert pod["securityContext"].pop("seccompProfile") == {"type": "RuntimeDefault"}
    assert json.loads(json.dumps(host).replace("quickstart-bare", "quickstart-pod")) == pod


def test_the_host_target_has_no_cpu_limit_but_its_cpuset() -> None:
    def change(body: dict[str, Any]) -> None:
        bare(body)
        body["spec"]["resources"]["dedicatedCPUs"] = False

    for ctx, limits in (
        (context(bare), {"cpu": "1", "memory": "1Gi"}),
        (context(change), {"memory": "1Gi"}),
    ):
        pod = instance(ctx, ctx.spec.target("bare"), True)["spec"]["template"]["spec"]
        assert pod["containers"][0]["resources"]["limits"] == limits


def side_by_side(body: dict[str, Any]) -> None:
    body["spec"]["resources"].update(cpu=2, dedicatedCPUs=False)
    for target in body["spec"]["targets"]:
        target["instances"] = 3


@pytest.mark.parametrize(("target", "kubevirt"), WAYS)
def test_instances_share_nothing_but_the_password(target: str, kubevirt: bool) -> None:
    ctx = context(side_by_side, kubevirt=kubevirt)
    found = [
        {m["kind"] + "/" + m["metadata"]["name"] for m in foundation(ctx, one)}
        | {instance(ctx, one, True)["metadata"]["name"]}
        for one in ctx.spec.instances(target)
    ]
    assert len(found) == 3
    assert len(set.union(*found)) == sum(map(len, found))
    configurations = [
        m["data"]["agent.json"]
        for one in ctx.spec.instances(target)
        for m in foundation(ctx, one)
        if "agent.json" in m.get("data", {})
    ]
    assert len(set(configurations)) == 1


@pytest.mark.parametrize(("target", "kubevirt"), WAYS)
def test_a_service_selects_its_own_instance_alone(target: str, kubevirt: bool) -> None:
    ctx = context(side_by_side, kubevirt=kubevirt)
    pods = [
        instance(ctx, one, True)["spec"]["template"]["metadata"]["labels"]
        for one in ctx.spec.instances(target)
    ]
    for number, one in enumerate(ctx.spec.instances(target)):
        service = next(m for m in foundation(ctx, one) if m["kind"] == "Service")
        wanted = service["spec"]["selector"].items()
        assert [wanted <= labels.items() for labels in pods] == [n == number for n in range(3)]
        assert pods[number]["dbbench.io/target"] == target


@pytest.mark.parametrize(("target", "kubevirt"), WAYS)
def test_instances_that_share_cpus_ask_together_for_what_one_would(
    target: str, kubevirt: bool
) -> None:
    ctx = context(side_by_side, kubevirt=kubevirt)
    pod = instance(ctx, ctx.spec.instances(target)[0], True)["spec"]["template"]["spec"]
    resources = pod["domain"]["resources"] if "domain" in pod else pod["containers"][0]["resources"]
    assert resources["requests"]["cpu"] == "666m"
    assert resources["limits"]["cpu"] == "2"


def test_each_instance_has_a_driver_and_the_first_one_leads() -> None:
    ctx = context(side_by_side)
    for trial in plan.block(ctx.spec, 7, 1).trials:
        drivers = trial_job(ctx, trial, 1)["spec"]["template"]["spec"]["containers"]
        options = [dict(zip(one["args"][2::2], one["args"][3::2], strict=True)) for one in drivers]
        hosts = [one["--url"].split("@")[1].split(":")[0] for one in options]
        services = [
            next(m for m in foundation(ctx, one) if m["kind"] == "Service")["metadata"]["name"]
            for one in ctx.spec.instances(trial.target)
        ]
        assert hosts == services
        assert [one["--process-index"] for one in options] == ["0", "1", "2"]
        assert [one.get("--barrier-listen") for one in options] == ["127.0.0.1:9592", None, None]
        assert [one.get("--barrier") for one in options] == [None, *["127.0.0.1:9592"] * 2]
        assert {one["--processes"] for one in options} == {"3"}
        assert len({one["--seed"] for one in options}) == 1


def test_no_pod_has_a_token_or_the_addresses_of_other_services() -> None:
    for _, pod in pods(context()):
        assert pod["automountServiceAccountToken"] is False
        assert pod["enableServiceLinks"] is False


@pytest.mark.parametrize("change", [None, memory_data, block_data])
def test_volumes_and_mounts_match(change: Any) -> None:
    for name, pod in pods(context(change)):
        volumes = {volume["name"] for volume in pod["volumes"]}
        containers = [*pod.get("initContainers", []), *pod["containers"]]
        mounts = [m for container in containers for m in container["volumeMounts"]]
        mounts += [d for container in containers for d in container.get("volumeDevices", [])]
        assert {mount["name"] for mount in mounts} == volumes, name


@pytest.mark.parametrize("target", ["pod", "vm"])
@pytest.mark.parametrize("dedicated", [True, False])
def test_dedicated_cpus_are_a_guaranteed_pod_with_whole_cpus(target: str, dedicated: bool) -> None:
    def change(body: dict[str, Any]) -> None:
        body["spec"]["resources"].update(cpu=3, dedicatedCPUs=dedicated)

    ctx = context(change)
    pod = instance(ctx, ctx.spec.target(target), True)["spec"]["template"]["spec"]
    containers = [*pod["initContainers"], *pod["containers"]]
    guaranteed = all(
        container["resources"].get("limits") == container["resources"]["requests"]
        and container["resources"]["requests"].keys() == {"cpu", "memory"}
        for container in containers
    )
    assert guaranteed is dedicated
    assert pod["containers"][0]["resources"]["limits"]["cpu"] == "3"


def test_dedicated_cpus_in_kubevirt_leave_the_cpus_to_it_and_bound_the_memory() -> None:
    ctx = context(kubevirt=True)
    vm = instance(ctx, ctx.spec.target("vm"), True)
    domain = vm["spec"]["template"]["spec"]["domain"]
    assert domain["cpu"]["dedicatedCpuPlacement"] is True
    assert domain["resources"] == {
        "requests": {"memory": "1024Mi"},
        "limits": {"memory": "1024Mi"},
    }


def test_the_guest_has_the_pod_s_cpus_and_memory() -> None:
    def change(body: dict[str, Any]) -> None:
        body["spec"]["resources"].update(cpu=2, memory="1500Mi")

    ctx = context(change)
    maps = foundation(ctx, ctx.spec.target("vm"))
    launcher = next(m for m in maps if "launcher.json" in m.get("data", {}))
    document = json.loads(launcher["data"]["launcher.json"])
    assert (document["cpus"], document["memoryMiB"]) == (2, 1500)
    vm = instance(context(change, kubevirt=True), ctx.spec.target("vm"), True)
    domain = vm["spec"]["template"]["spec"]["domain"]
    assert domain["cpu"]["cores"] == 2
    assert domain["memory"] == {"guest": "1500Mi"}


def test_a_disk_image_fits_its_volume() -> None:
    ctx = context()
    found = foundation(ctx, ctx.spec.target("vm"))
    launcher = next(m for m in found if "launcher.json" in m.get("data", {}))
    data = json.loads(launcher["data"]["launcher.json"])["disks"][1]
    assert data["serial"] == "data"
    assert 0.9 * 2**31 < data["sizeBytes"] < 0.95 * 2**31
    assert data["sizeBytes"] % 2**20 == 0
    root = next(m for m in found if m["metadata"]["name"] == "quickstart-vm-root")
    assert root["spec"]["resources"]["requests"]["storage"] == "4358Mi"


def test_drivers_reach_the_database_by_the_service_and_take_the_password_from_a_file() -> None:
    ctx = context()
    for trial in plan.block(ctx.spec, 7, 1).trials:
        arguments = trial_job(ctx, trial, 1)["spec"]["template"]["spec"]["containers"][0]["args"]
        options = dict(zip(arguments[2::2], arguments[3::2], strict=True))
        service = f"quickstart-{trial.target}"
        assert options["--url"] == f"postgres://dbbench@{service}:5432/dbbench"
        assert options["--agent"] == f"http://{service}:9590"
        assert options["--password-file"] == "/dbbench/secret/password"
        assert options["--seed"] == str(trial.seed)


def test_every_target_is_loaded_from_the_same_seed() -> None:
    ctx = context()
    workload = ctx.spec.workloads[0]
    arguments = [
        load_job(ctx, target, workload, 1)["spec"]["template"]["spec"]["containers"][0]["args"]
        for target in ctx.spec.targets
    ]
    seeds = {args[args.index("--seed") + 1] for args in arguments}
    assert seeds == {"7"}


def test_jobs_end_at_the_time_limits_of_the_spec() -> None:
    def change(body: dict[str, Any]) -> None:
        body["spec"]["timeouts"] = {"ready": "5m", "load": "1h", "trial": "90s", "disk": "2m"}

    ctx = context(change)
    target = ctx.spec.target("vm")
    disk = preparation(ctx, target)
    assert disk is not None
    assert disk["spec"]["activeDeadlineSeconds"] == 120
    load = load_job(ctx, target, ctx.spec.workloads[0], 1)
    # From when the job is made: its pod may take the time to run in which anything must be ready.
    assert load["spec"]["activeDeadlineSeconds"] == 300 + 3600
    trial = plan.block(ctx.spec, 7, 1).trials[0]
    assert trial_job(ctx, trial, 1)["spec"]["activeDeadlineSeconds"] == 300 + 90

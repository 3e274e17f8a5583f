"""What is found missing before anything is deployed."""

import dataclasses

from dbbench.evaluate.preflight import problems

from .model_cluster import ModelCluster, node, spec


def reasons(cluster, **changes):
    state = dataclasses.replace(cluster.state(), **changes)
    return {problem.reason: problem.message for problem in problems(state)}


def test_cluster_with_everything_has_no_problems():
    assert reasons(ModelCluster(spec())) == {}


def test_missing_node_is_named_with_the_nodes_that_exist():
    found = reasons(ModelCluster(spec()), nodes=(node("b"), node("c")))
    assert found.keys() == {"NodeNotFound"}
    assert "spec.placement.database.nodeSelector" in found["NodeNotFound"]
    assert "b, c" in found["NodeNotFound"]


def test_selector_that_matches_two_nodes_is_refused():
    twin = node("a2")
    twin["metadata"]["labels"]["kubernetes.io/hostname"] = "a"
    found = reasons(ModelCluster(spec()), nodes=(node("a"), twin, node("b")))
    assert found.keys() == {"NodeNotUnique"}


def test_resources_beyond_the_node_are_named():
    resources = {"cpu": 8, "memory": "64Gi"}
    found = reasons(ModelCluster(spec(resources=resources)), nodes=(node("a", "3500m"), node("b")))
    assert found.keys() == {"InsufficientCPU", "InsufficientMemory"}
    assert "3.5" in found["InsufficientCPU"]


def test_a_driver_on_the_databases_node_needs_cpus_beside_it():
    placement = spec()["placement"] | {"driver": {"colocation": "SameNode"}}
    four = ModelCluster(spec(resources={"cpu": 4}, placement=placement), nodes=(node("a"),))
    found = reasons(four)
    assert found.keys() == {"InsufficientCPU"}
    assert "the driver needs 250m" in found["InsufficientCPU"]
    three = ModelCluster(spec(resources={"cpu": 3}, placement=placement), nodes=(node("a"),))
    assert reasons(three) == {}


def test_instances_with_exclusive_cpus_need_them_all_at_once():
    targets = [{"name": "pod", "instances": 3, "pod": {}}, {"name": "one", "pod": {}}]
    cluster = ModelCluster(spec(targets=targets, resources={"cpu": 2, "memory": "2Gi"}))
    found = reasons(cluster)
    assert found.keys() == {"InsufficientCPU"}
    assert (
        "spec.targets[0].instances: 3 instances of 'pod' need 6 exclusive CPUs"
        in (found["InsufficientCPU"])
    )
    assert "dedicatedCPUs: false" in found["InsufficientCPU"]
    assert reasons(cluster, nodes=(node("a", "6"), node("b"))) == {}


def test_drivers_of_instances_on_the_database_s_node_are_counted():
    targets = [{"name": "pod", "instances": 4, "pod": {}}, {"name": "one", "pod": {}}]
    placement = spec()["placement"] | {"driver": {"colocation": "SameNode"}}
    shared = {"cpu": 3, "memory": "1Gi", "dedicatedCPUs": False}
    changes = {"targets": targets, "placement": placement}
    assert reasons(ModelCluster(spec(resources=shared, **changes))) == {}
    changes["targets"] = [targets[0] | {"instances": 5}, targets[1]]
    found = reasons(ModelCluster(spec(resources=shared, **changes)))
    assert "5 instances of 'pod' with their drivers need 4.25 CPUs" in found["InsufficientCPU"]


def test_shared_cpus_may_be_overcommitted_and_memory_never():
    targets = [{"name": "pod", "instances": 16, "pod": {}}, {"name": "one", "pod": {}}]
    shared = {"cpu": 4, "memory": "512Mi", "dedicatedCPUs": False}
    assert reasons(ModelCluster(spec(targets=targets, resources=shared))) == {}
    found = reasons(ModelCluster(spec(targets=targets, resources=shared | {"memory": "1Gi"})))
    assert found.keys() == {"InsufficientMemory"}
    assert "need 16 x 1Gi" in found["InsufficientMemory"]


def with_machine(machine, **changes):
    targets = [{"name": "pod", "pod": {}}, {"name": "vm", "virtualMachine": machine}]
    return ModelCluster(spec(targets=targets, **changes), kubevirt=True)


def test_cpus_of_a_guest_s_emulator_and_io_threads_are_counted():
    machine = {
        "runtime": "KubeVirt",
        "cpu": {"isolateEmulatorThread": True},
        "ioThreadsPolicy": "supplementalPool",
        "ioThreads": {"supplementalPoolThreadCount": 2},
    }
    cluster = with_machine(machine, resources={"cpu": 4})
    found = reasons(cluster)
    assert found.keys() == {"InsufficientCPU"}
    assert "target 'vm'" in found["InsufficientCPU"]
    assert "needs 7 CPUs, but node a has 4" in found["InsufficientCPU"]
    assert reasons(cluster, nodes=(node("a", "7"), node("b"))) == {}
    two = with_machine(machine, resources={"cpu": 1})
    assert reasons(two) == {}


def test_an_empty_disk_needs_the_node_s_ephemeral_storage():
    machine = {"runtime": "KubeVirt", "dataDisk": {"volume": "EmptyDisk"}}
    cluster = with_machine(machine)
    small = node("a")
    small["status"]["allocatable"]["ephemeral-storage"] = "9663676416"
    found = reasons(cluster, nodes=(small, node("b")))
    assert found.keys() == {"InsufficientDisk"}
    assert "spec.targets[1].virtualMachine.dataDisk.volume" in found["InsufficientDisk"]
    assert "EmptyDisk needs 10Gi" in found["InsufficientDisk"]
    small["status"]["allocatable"]["ephemeral-storage"] = "10Gi"
    assert reasons(cluster, nodes=(small, node("b"))) == {}
    assert reasons(cluster) == {}


def test_huge_pages_of_all_instances_are_counted():
    resources = {"memory": "512Mi", "hugepages": {"pageSize": "2Mi", "size": "256Mi"}}
    targets = [{"name": "pod", "instances": 3, "pod": {}}, {"name": "vm", "virtualMachine": {}}]
    ready = node("a")
    ready["status"]["allocatable"]["hugepages-2Mi"] = "512Mi"
    found = reasons(
        ModelCluster(spec(resources=resources, targets=targets)), nodes=(ready, node("b"))
    )
    assert "each of 3 instances of 'pod' needs 256Mi" in found["InsufficientHugepages"]
    assert "`echo 384 >" in found["InsufficientHugepages"]


def test_huge_pages_must_be_set_aside_on_the_node():
    resources = {"memory": "1Gi", "hugepages": {"pageSize": "2Mi", "size": "256Mi"}}
    found = reasons(ModelCluster(spec(resources=resources)))
    assert found.keys() == {"InsufficientHugepages"}
    command = "`echo 512 > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages`"
    assert command in found["InsufficientHugepages"]
    ready = node("a")
    ready["status"]["allocatable"]["hugepages-2Mi"] = "1Gi"
    assert reasons(ModelCluster(spec(resources=resources)), nodes=(ready, node("b"))) == {}
    ready["status"]["allocatable"]["hugepages-2Mi"] = "256Mi"
    pods = [{"name": "pod", "pod": {}}, {"name": "kata", "pod": {"runtimeClassName": "kata"}}]
    without_guests = ModelCluster(spec(resources=resources, targets=pods))
    assert reasons(without_guests, nodes=(ready, node("b"))) == {}


def test_missing_storage_class_is_named_with_those_that_exist():
    database = spec()["database"] | {"storage": {"storageClassName": "fast"}}
    found = reasons(ModelCluster(spec(database=database)))
    assert "'fast'" in found["StorageClassNotFound"]
    assert "standard" in found["StorageClassNotFound"]


def test_no_default_storage_class_is_a_problem_only_when_none_is_named():
    plain = ({"metadata": {"name": "fast"}},)
    assert reasons(ModelCluster(spec()), storage_classes=plain).keys() == {"StorageClassNotFound"}
    database = spec()["database"] | {"storage": {"storageClassName": "fast"}}
    assert reasons(ModelCluster(spec(database=database)), storage_classes=plain) == {}


def test_pods_with_data_in_memory_need_no_storage_class():
    database = spec()["database"] | {"storage": {"size": "512Mi", "medium": "Memory"}}
    pods = [{"name": "pod", "pod": {}}, {"name": "kata", "pod": {"runtimeClassName": "kata"}}]
    in_memory = ModelCluster(spec(database=database, targets=pods))
    assert reasons(in_memory, storage_classes=()) == {}
    guest = ModelCluster(spec(database=database))
    assert reasons(guest, storage_classes=()).keys() == {"StorageClassNotFound"}


def test_kubevirt_that_is_asked_for_must_be_there():
    targets = [
        {"name": "pod", "pod": {}},
        {"name": "vm", "virtualMachine": {"runtime": "KubeVirt"}},
    ]
    found = reasons(ModelCluster(spec(targets=targets)))
    assert "spec.targets[1].virtualMachine.runtime" in found["KubeVirtNotInstalled"]
    assert reasons(ModelCluster(spec(targets=targets), kubevirt=True)) == {}


def test_host_targets_must_be_allowed_by_the_operator():
    targets = [{"name": "pod", "pod": {}}, {"name": "bare", "host": {}}]
    found = reasons(ModelCluster(spec(targets=targets)))
    assert found.keys() == {"PrivilegedTargetsDisabled"}
    assert "spec.targets[1].host" in found["PrivilegedTargetsDisabled"]
    assert "privilegedTargets.enabled=true" in found["PrivilegedTargetsDisabled"]
    assert reasons(ModelCluster(spec(targets=targets)), privileged_targets=True) == {}


def test_host_disks_must_be_allowed_by_the_operator():
    machine = {"runtime": "KubeVirt", "dataDisk": {"volume": "HostDisk"}}
    targets = [{"name": "pod", "pod": {}}, {"name": "vm", "virtualMachine": machine}]
    cluster = ModelCluster(spec(targets=targets), kubevirt=True)
    found = reasons(cluster)
    assert found.keys() == {"PrivilegedTargetsDisabled"}
    assert "spec.targets[1].virtualMachine.dataDisk.volume" in (found["PrivilegedTargetsDisabled"])
    assert reasons(cluster, privileged_targets=True) == {}


def test_tap_devices_must_be_allowed_by_the_operator():
    def with_network(network):
        machine = {"runtime": "QEMU", "network": network}
        targets = [{"name": "pod", "pod": {}}, {"name": "vm", "virtualMachine": machine}]
        return ModelCluster(spec(targets=targets))

    found = reasons(with_network("Tap"))
    assert found.keys() == {"PrivilegedTargetsDisabled"}
    assert "spec.targets[1].virtualMachine.network" in found["PrivilegedTargetsDisabled"]
    assert "or write User" in found["PrivilegedTargetsDisabled"]
    assert reasons(with_network("Tap"), privileged_targets=True) == {}
    assert reasons(with_network("User")) == {}


def test_what_may_not_be_read_is_not_judged():
    assert reasons(ModelCluster(spec()), nodes=None, storage_classes=None) == {}

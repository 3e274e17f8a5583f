"""What a node's programs are told."""

import tomllib
from dataclasses import replace
from ipaddress import IPv4Network

import pytest
from localcluster import node_config
from localcluster.addresses import plan
from localcluster.node_config import Machine, memory_reservation_mib

ADDRESSES = plan(IPv4Network("10.213.0.0/16"), ["bench-db", "bench-driver"])
MACHINE = Machine(memory_mib=24000, cni_programs="/usr/lib/cni", snapshotter="overlayfs")


def test_containerd_configuration_is_toml_with_the_machines_values() -> None:
    config = tomllib.loads(node_config.containerd_config(MACHINE))
    cri = config["plugins"]["io.containerd.grpc.v1.cri"]
    assert cri["cni"]["bin_dir"] == "/usr/lib/cni"
    assert cri["containerd"]["snapshotter"] == "overlayfs"
    assert cri["sandbox_image"] == node_config.PAUSE_IMAGE
    assert cri["restrict_oom_score_adj"] is True


@pytest.mark.parametrize("nodes", [1, 2, 3, 8])
@pytest.mark.parametrize("memory", [3500, 8000, 24000, 256000])
def test_nodes_together_promise_no_more_memory_than_there_is(memory: int, nodes: int) -> None:
    offered = memory - memory_reservation_mib(memory, nodes)
    assert 0 < offered * nodes <= memory
    assert offered * nodes >= memory // 2 - nodes


def test_kubelet_has_exclusive_cores_and_half_a_core_reserved() -> None:
    node = ADDRESSES.node("bench-db")
    config = node_config.kubelet_config(ADDRESSES, node, MACHINE, "/pki/ca", "/pki/node")
    assert config["cpuManagerPolicy"] == "static"
    assert config["systemReserved"] == {"cpu": "500m", "memory": "13024Mi"}
    assert config["tlsPrivateKeyFile"] == "/pki/node.key"
    assert config["clusterDNS"] == ["10.213.128.10"]


def test_kubelet_that_shares_its_cores_hands_out_all_of_them() -> None:
    machine = replace(MACHINE, exclusive_cpus=False)
    config = node_config.kubelet_config(ADDRESSES, ADDRESSES.nodes[0], machine, "/ca", "/node")
    assert config["cpuManagerPolicy"] == "none"
    assert config["systemReserved"] == {"memory": "13024Mi"}


def test_nodes_do_not_share_a_cgroup() -> None:
    roots = {
        str(node_config.kubelet_config(ADDRESSES, node, MACHINE, "/ca", "/node")["cgroupRoot"])
        for node in ADDRESSES.nodes
    }
    assert len(roots) == len(ADDRESSES.nodes)


def test_pod_network_gives_out_the_nodes_own_range() -> None:
    plugins = node_config.cni_config(ADDRESSES.node("bench-driver"))["plugins"]
    assert isinstance(plugins, list)
    assert plugins[0]["ipam"]["ranges"] == [[{"subnet": "10.213.65.0/24"}]]


def test_kube_proxy_leaves_the_machines_connection_tracking_alone() -> None:
    config = node_config.kube_proxy_config(ADDRESSES, ADDRESSES.nodes[0], "/kubeconfig")
    assert config["conntrack"] == {
        "maxPerCore": 0,
        "min": 0,
        "tcpEstablishedTimeout": "0s",
        "tcpCloseWaitTimeout": "0s",
    }

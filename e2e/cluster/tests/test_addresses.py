"""Names and addresses of a cluster."""

from ipaddress import IPv4Address, IPv4Network

import pytest
from localcluster.addresses import (
    Addresses,
    free_network,
    parse_node_names,
    parse_routes,
    plan,
)
from localcluster.errors import ClusterError

NETWORK = IPv4Network("10.213.0.0/16")


def test_ranges_of_one_cluster_lie_in_its_network_and_do_not_overlap() -> None:
    addresses = plan(NETWORK, [f"n{index}" for index in range(30)])
    ranges = [addresses.node_network, addresses.services, *(n.pods for n in addresses.nodes)]
    for index, one in enumerate(ranges):
        assert one.subnet_of(NETWORK)
        assert not any(one.overlaps(other) for other in ranges[index + 1 :])
    assert all(node.pods.subnet_of(addresses.pods) for node in addresses.nodes)
    assert all(node.address in addresses.node_network for node in addresses.nodes)


def test_addresses_of_nodes_differ_from_the_gateway_and_from_each_other() -> None:
    addresses = plan(NETWORK, [f"n{index}" for index in range(30)])
    taken = {addresses.gateway, *(node.address for node in addresses.nodes)}
    assert len(taken) == 31
    assert addresses.gateway == IPv4Address("10.213.0.1")
    assert addresses.dns_service in addresses.services


def test_names_of_links_fit_into_the_kernels_fifteen_characters() -> None:
    name = "a" * 40
    node = plan(NETWORK, [f"n{index}" for index in range(29)] + [name]).node(name)
    assert len(node.link) <= 15


def test_record_gives_the_same_plan_again() -> None:
    addresses = plan(NETWORK, ["bench-db", "bench-driver"])
    assert Addresses.from_record(addresses.to_record()) == addresses


def test_unknown_node_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(ClusterError, match="bench-db, bench-driver"):
        plan(NETWORK, ["bench-db", "bench-driver"]).node("bench-1")


def test_free_network_avoids_every_route_of_the_machine() -> None:
    first = free_network([])
    inside = IPv4Network((first.network_address + 256 * 7, 24))
    around = IPv4Network("10.128.0.0/9")
    assert not free_network([inside]).overlaps(inside)
    assert not free_network([around]).overlaps(around)


def test_no_free_network_is_an_error() -> None:
    with pytest.raises(ClusterError, match="no free private address range"):
        free_network([IPv4Network("10.0.0.0/8")])


def test_routes_are_read_without_the_default_and_with_host_routes() -> None:
    routes: list[dict[str, object]] = [
        {"dst": "default", "gateway": "192.0.2.1"},
        {"dst": "10.8.0.0/24", "dev": "tun0"},
        {"type": "local", "dst": "127.0.0.1", "dev": "lo"},
    ]
    assert parse_routes(routes) == [IPv4Network("10.8.0.0/24"), IPv4Network("127.0.0.1/32")]


def test_node_names_are_read_in_order() -> None:
    assert parse_node_names("bench-db, bench-driver") == ["bench-db", "bench-driver"]


@pytest.mark.parametrize("text", ["", ",", "Bench", "-a", "a-", "a_b", "a,a", "a" * 41, "a.b"])
def test_names_that_no_node_can_have_are_refused(text: str) -> None:
    with pytest.raises(ClusterError):
        parse_node_names(text)


def test_too_many_nodes_are_refused() -> None:
    with pytest.raises(ClusterError, match="at most 30"):
        parse_node_names(",".join(f"n{index}" for index in range(31)))

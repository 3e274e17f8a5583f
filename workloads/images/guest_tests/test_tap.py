"""A guest in its pod's place on the network, by a tap device."""

import json

import pytest
from containers import PodNetwork

from conftest import Bench

TAP = {"network": {"tap": {}}, "listen": "0.0.0.0:9591"}


def test_a_guest_takes_its_pod_s_place_on_the_network(
    bench: Bench, pod_network: PodNetwork
) -> None:
    code, output = bench.pack()
    assert code == 0, output
    bench.join(pod_network)
    # A container that is started again finds what it has made.
    for _ in range(2):
        code, output = bench.tap()
        assert code == 0, output
    with bench.guest(changes=TAP) as started:
        bench.wait_until_ready(started)
        facts = json.loads(bench.get("/v1/facts")[1])
        assert facts["networkInterface"] == {"name": "eth0", "mtu": pod_network.mtu}
        assert bench.shell("cat /sys/class/net/eth0/address") == pod_network.hardware()
        assert bench.shell("cat /etc/resolv.conf").splitlines()[:2] == [
            "nameserver 10.96.0.10",
            "search bench.svc.cluster.local",
        ]
        assert bench.shell("hostname") == "bench-0"
        assert bench.shell("grep -w bench-0 /etc/hosts | cut -f 1") == pod_network.address
        # As many bytes in one answer as take many frames, with what a card leaves to another.
        assert len(bench.sql("SELECT repeat('dbbench', 500000)")) == 3_500_000
        # From beyond the gateway, which answers no question for its hardware address.
        assert bench.ask("/readyz", "--interface", pod_network.far)[0] == 200
        # The launcher's own agent is still there, at the same address.
        status, answer = bench.ask("/v1/facts", port=9591)
        assert status == 200
        beside = json.loads(answer)
        assert beside["guestNetwork"] == "Tap"
        assert beside["kernel"] != facts["kernel"]
        assert started.stop() == 0, started.output()


def test_without_its_device_a_guest_says_what_makes_it(
    bench: Bench, pod_network: PodNetwork
) -> None:
    assert bench.pack()[0] == 0
    bench.join(pod_network)
    with bench.guest(changes=TAP) as started:
        assert started.process.wait(60) == 1
        assert "the init container network makes it" in started.output()


@pytest.mark.parametrize(
    ("capabilities", "said"),
    [
        ((), "cannot make the device /run/dbbench/tun: Operation not permitted"),
        (("CAP_MKNOD",), "cannot attach to the interface tap0: EPERM"),
    ],
)
def test_a_tap_device_takes_two_capabilities(
    bench: Bench, pod_network: PodNetwork, capabilities: tuple[str, ...], said: str
) -> None:
    bench.join(pod_network)
    code, output = bench.tap(capabilities)
    assert code == 1
    assert said in output


def test_a_pod_without_a_network_is_told_so(bench: Bench) -> None:
    code, output = bench.tap()
    assert code == 1
    assert "no default route over IPv4" in output

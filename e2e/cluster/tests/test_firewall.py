"""Rules for a host firewall that drops: tried on a bridge between real network namespaces."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from localcluster import firewall

_SOURCES = Path(firewall.__file__).parents[1]
_NAMES = ("dbbench-check-host", "dbbench-check-left", "dbbench-check-right")


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


@pytest.fixture
def host() -> Iterator[str]:
    """A namespace in the part of the host: a bridge that two others hang on."""
    made, *others = _NAMES
    for name in _NAMES:
        _ip("netns", "add", name)
    _ip("-n", made, "link", "add", "bridge0", "type", "bridge")
    _ip("-n", made, "link", "set", "bridge0", "up")
    for index, name in enumerate(others):
        peer = ("peer", "name", "eth0", "netns", name)
        _ip("-n", made, "link", "add", f"port{index}", "type", "veth", *peer)
        _ip("-n", made, "link", "set", f"port{index}", "master", "bridge0", "up")
        _ip("-n", name, "address", "add", f"10.9.8.{index + 1}/24", "dev", "eth0")
        _ip("-n", name, "link", "set", "eth0", "up")
    yield made
    for name in _NAMES:
        _ip("netns", "delete", name)


def _in(namespace: str, *command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["ip", "netns", "exec", namespace, *command], capture_output=True, text=True, check=False
    )


def _python(namespace: str, statement: str) -> None:
    code = f"from localcluster import firewall; firewall.{statement}"
    completed = _in(namespace, "env", f"PYTHONPATH={_SOURCES}", "python3", "-c", code)
    assert completed.returncode == 0, completed.stderr


def _neighbours_meet() -> bool:
    return _in(_NAMES[1], "bash", "-c", "echo > /dev/tcp/10.9.8.2/9").stderr.find("refused") >= 0


def test_accepting_host_gets_no_rule(host: str) -> None:
    before = _in(host, "iptables", "-S").stdout
    _python(host, 'open_for("bridge0")')
    assert _in(host, "iptables", "-S").stdout == before


def test_dropping_host_lets_the_bridge_pass_once_and_is_put_back(host: str) -> None:
    for chain in ("FORWARD", "INPUT"):
        assert _in(host, "iptables", "-P", chain, "DROP").returncode == 0
    before = _in(host, "iptables", "-S").stdout
    _python(host, 'open_for("bridge0")')
    _python(host, 'open_for("bridge0")')
    opened = _in(host, "iptables", "-S").stdout
    assert opened.count("-i bridge0 -o bridge0") == 1
    assert opened.count("bridge0") == 3
    assert _neighbours_meet()
    _python(host, 'close_for("bridge0")')
    assert _in(host, "iptables", "-S").stdout == before


@pytest.mark.parametrize(
    ("listing", "verdict"),
    [
        ("-P FORWARD DROP\n-A FORWARD -j DOCKER-USER\n", True),
        ("-P FORWARD ACCEPT\n-A FORWARD -j DROP\n", False),
        ("", False),
    ],
)
def test_policy_is_read_from_the_chains_listing(listing: str, verdict: bool) -> None:
    assert firewall.drops(listing) is verdict

"""Lets the cluster's packets through a host firewall that drops what it does not know.

Docker sets the forwarding policy to DROP, and where ``br_netfilter`` is loaded that holds for
frames between two ports of a bridge too: nodes could not reach each other. ufw drops what
comes in: pods could not reach the API server. Hosts without such a policy get no rule.
"""

import shutil
from collections.abc import Sequence

from localcluster.processes import run

_COMMENT = ("-m", "comment", "--comment", "dbbench cluster", "-j", "ACCEPT")


def drops(listing: str) -> bool:
    """Whether a chain's policy is not ACCEPT, from ``iptables -S CHAIN``."""
    policies = [line.split()[2] for line in listing.splitlines() if line.startswith("-P ")]
    return any(policy != "ACCEPT" for policy in policies)


def _rules(bridge: str) -> dict[str, Sequence[str]]:
    return {
        "FORWARD": ("FORWARD", "-i", bridge, "-o", bridge, *_COMMENT),
        "INPUT": ("INPUT", "-i", bridge, *_COMMENT),
    }


def open_for(bridge: str) -> None:
    """Adds the rules that are needed and missing."""
    if shutil.which("iptables") is None:
        return
    for chain, rule in _rules(bridge).items():
        listing = run(["iptables", "-w", "-S", chain], check=False)
        if listing.returncode or not drops(listing.stdout) or _is_present(rule):
            continue
        run(["iptables", "-w", "-I", *rule])


def close_for(bridge: str) -> None:
    """Removes the rules that ``open_for`` added."""
    if shutil.which("iptables") is None:
        return
    for rule in _rules(bridge).values():
        while _is_present(rule):
            run(["iptables", "-w", "-D", *rule])


def _is_present(rule: Sequence[str]) -> bool:
    return run(["iptables", "-w", "-C", *rule], check=False).returncode == 0

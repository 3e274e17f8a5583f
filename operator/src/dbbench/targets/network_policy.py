"""NetworkPolicies of a benchmark: its pods reach what they need, and nothing else. No I/O.

Pods of CloudNativePG are its operator's matter, and are only where drivers may go. Pods in a node's
own network (`host: {}`) are under no policy. Probes come from the node, which is always let in.
"""

from typing import Any

from dbbench.targets import names
from dbbench.targets.context import Context, Manifest
from dbbench.targets.names import Component
from dbbench.targets.service import AGENT_PORT, HOST_AGENT_PORT

_DNS = 53


def network_policies(ctx: Context) -> list[Manifest]:
    """The policies of all of the benchmark's pods; each adds to what the others allow."""
    ports = [_port(port) for port in (ctx.engine.port, AGENT_PORT, HOST_AGENT_PORT)]
    benchmark = names.selector(ctx.benchmark)
    own = {"podSelector": {"matchLabels": benchmark}}
    # A node's addresses are no pod's: they cannot be selected.
    anywhere = any(target.host is not None for target in ctx.spec.targets)
    to_databases: Manifest = {"ports": ports} | ({} if anywhere else {"to": [own]})
    found = [
        _policy(ctx, "isolation", _pods(ctx, *_ISOLATED), ingress=[], egress=[]),
        _policy(ctx, "driver", _pods(ctx, Component.DRIVER), egress=[_NAME_SERVERS, to_databases]),
        _policy(
            ctx,
            "database",
            _pods(ctx, Component.TARGET),
            ingress=[{"ports": ports, "from": [{"podSelector": _pods(ctx, Component.DRIVER)}]}],
        ),
    ]
    external = [target.name for target in ctx.spec.measured_targets if target.external is not None]
    if external:
        drivers = _pods(ctx, Component.DRIVER)
        drivers["matchExpressions"].append(_one_of(names.LABEL_TARGET, external))
        # Where it is only its Secret says, which the operator does not read.
        found.append(_policy(ctx, "external", drivers, egress=[{}]))
    return found


_ISOLATED = (Component.DRIVER, Component.PREPARATION, Component.TARGET)


def _port(port: int, protocol: str = "TCP") -> Manifest:
    return {"port": port, "protocol": protocol}


# Wherever they run: a cluster's own, or one on each node.
_NAME_SERVERS: Manifest = {"ports": [_port(_DNS, "UDP"), _port(_DNS)]}


def _one_of(label: str, values: list[str]) -> Manifest:
    return {"key": label, "operator": "In", "values": values}


def _pods(ctx: Context, *components: Component) -> Manifest:
    """Selector of the benchmark's pods of some kinds."""
    return {
        "matchLabels": names.selector(ctx.benchmark),
        "matchExpressions": [_one_of(names.LABEL_COMPONENT, [one.value for one in components])],
    }


def _policy(ctx: Context, name: str, pods: Manifest, **directions: list[Any]) -> Manifest:
    """A policy about the directions that are given; an empty list allows nothing."""
    labels = names.labels(ctx.benchmark, Component.NETWORK)
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": names.metadata(ctx.benchmark, names.policy_name(ctx.benchmark, name), labels),
        "spec": {
            "podSelector": pods,
            "policyTypes": [direction.capitalize() for direction in directions],
            **{direction: allowed for direction, allowed in directions.items() if allowed},
        },
    }

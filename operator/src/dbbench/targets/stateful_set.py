"""The StatefulSet around a target's pod: what the pod and the QEMU target share. No I/O."""

from dbbench.api.target import Target
from dbbench.targets import names
from dbbench.targets.context import Context, Manifest
from dbbench.targets.placement import STOP_SECONDS, on_node
from dbbench.targets.service import AGENT_PORT, selector


def stateful_set(ctx: Context, target: Target, running: bool, pod: Manifest) -> Manifest:
    """One pod or none. `pod` is the part of its spec that differs between targets."""
    labels = names.labels(ctx.benchmark, names.Component.TARGET, target=target.name)
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": names.metadata(
            ctx.benchmark, names.instance_name(ctx.benchmark, target.name), labels
        ),
        "spec": {
            "replicas": 1 if running else 0,
            "serviceName": names.service_name(ctx.benchmark, target.name),
            "selector": {"matchLabels": selector(ctx, target)},
            # A turn is never cut short: a changed template counts from the next start.
            "updateStrategy": {"type": "OnDelete"},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "automountServiceAccountToken": False,
                    "enableServiceLinks": False,
                    "terminationGracePeriodSeconds": STOP_SECONDS,
                    **on_node(ctx.spec.placement.database),
                    **pod,
                },
            },
        },
    }


def readiness_probe() -> Manifest:
    """Ready when the agent says that the database accepts connections."""
    return {
        "httpGet": {"path": "/readyz", "port": AGENT_PORT},
        "periodSeconds": 1,
        "timeoutSeconds": 5,
        "failureThreshold": 3,
    }


def ports(ctx: Context) -> list[Manifest]:
    """Ports of the container."""
    return [
        {"name": "database", "containerPort": ctx.engine.port, "protocol": "TCP"},
        {"name": "agent", "containerPort": AGENT_PORT, "protocol": "TCP"},
    ]

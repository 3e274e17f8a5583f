"""The Service of a target: the one network path that drivers use, whatever the runtime. No I/O."""

from dbbench.api.target import Target
from dbbench.targets import names
from dbbench.targets.context import Context, Manifest

AGENT_PORT = 9590
DATABASE_PORT_NAME = "database"
AGENT_PORT_NAME = "agent"


def service(ctx: Context, target: Target) -> Manifest:
    """ClusterIP Service with the database's port and the agent's."""
    labels = names.labels(ctx.benchmark, names.Component.TARGET, target=target.name)
    ports = ((DATABASE_PORT_NAME, ctx.engine.port), (AGENT_PORT_NAME, AGENT_PORT))
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": names.metadata(
            ctx.benchmark, names.service_name(ctx.benchmark, target.name), labels
        ),
        "spec": {
            "type": "ClusterIP",
            "selector": selector(ctx, target),
            "ports": [
                {"name": name, "port": port, "targetPort": port, "protocol": "TCP"}
                for name, port in ports
            ],
        },
    }


def selector(ctx: Context, target: Target) -> dict[str, str]:
    """Labels of the database's pod alone: the target's Jobs carry its other labels too."""
    return {
        names.LABEL_COMPONENT: names.Component.TARGET.value,
        **names.selector(ctx.benchmark, target.name),
    }

"""The Service of a target: the one network path that drivers use, whatever the runtime. No I/O."""

from dbbench.api.target import Target
from dbbench.targets import names
from dbbench.targets.context import Context, Manifest, TargetRuntime, runtime_of

AGENT_PORT = 9590
# Of the agent outside the guest, which reads what QEMU uses.
HOST_AGENT_PORT = 9591
DATABASE_PORT_NAME = "database"
AGENT_PORT_NAME = "agent"
HOST_AGENT_PORT_NAME = "host-agent"


def service(ctx: Context, target: Target) -> Manifest:
    """ClusterIP Service with the ports of the database and of the agents."""
    labels = names.labels(ctx.benchmark, names.Component.TARGET, target=target.name)
    ports = [(DATABASE_PORT_NAME, ctx.engine.port), (AGENT_PORT_NAME, AGENT_PORT)]
    if has_host_agent(ctx, target):
        ports.append((HOST_AGENT_PORT_NAME, HOST_AGENT_PORT))
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


def has_host_agent(ctx: Context, target: Target) -> bool:
    """Whether our own program runs outside the guest: KubeVirt's launcher has none of it."""
    return runtime_of(ctx, target) is TargetRuntime.QEMU


def selector(ctx: Context, target: Target) -> dict[str, str]:
    """Labels of the database's pod alone: the target's Jobs carry its other labels too."""
    return {
        names.LABEL_COMPONENT: names.Component.TARGET.value,
        **names.selector(ctx.benchmark, target.name),
    }

"""The database in a plain pod. No I/O."""

from dbbench.api.target import PodTarget, Target
from dbbench.engines.engine import BINARIES, CONFIG, DATA, SECRET
from dbbench.targets import names, placement, security, volumes
from dbbench.targets.config import AGENT_FILE
from dbbench.targets.context import Context, Manifest
from dbbench.targets.stateful_set import ports, readiness_probe, stateful_set

_BINARY = f"{BINARIES}/dbbench-driver"


def pod_instance(ctx: Context, target: Target, pod: PodTarget, running: bool) -> Manifest:
    """A StatefulSet whose container is the database image, with the agent as PID 1."""
    spec = ctx.spec
    writable = [("tmp", "/tmp")]  # noqa: S108 (a mount point)
    writable += [
        (f"run-{number}", path) for number, path in enumerate(ctx.engine.writable_directories)
    ]
    template: Manifest = {
        "securityContext": security.pod(spec.database.run_as_user),
        "initContainers": [
            {
                "name": "agent",
                "image": ctx.images.driver,
                "imagePullPolicy": ctx.images.pull_policy,
                "command": ["/usr/local/bin/dbbench-driver"],
                "args": ["agent", "install", "--to", BINARIES],
                "resources": placement.init(placement.has_exclusive_cpus(spec.resources, target)),
                "securityContext": security.container(),
                "volumeMounts": [volumes.mount("bin", BINARIES)],
            }
        ],
        "containers": [
            {
                "name": "database",
                "image": spec.database.image,
                "imagePullPolicy": spec.database.image_pull_policy.value,
                "command": [_BINARY],
                "args": ["agent", "serve", "--config", f"{CONFIG}/{AGENT_FILE}"],
                "ports": ports(ctx),
                "resources": placement.of_pod(spec.resources, target),
                "readinessProbe": readiness_probe(),
                "securityContext": security.container(),
                "volumeMounts": [
                    volumes.mount("bin", BINARIES, read_only=True),
                    volumes.mount("config", CONFIG, read_only=True),
                    volumes.mount("secret", SECRET, read_only=True),
                    volumes.mount("data", DATA),
                    volumes.mount("shm", "/dev/shm"),  # noqa: S108 (a mount point)
                    *(volumes.mount(name, path) for name, path in writable),
                ],
            }
        ],
        "volumes": [
            volumes.scratch("bin"),
            volumes.from_config_map("config", names.config_name(ctx.benchmark, target.name)),
            volumes.from_secret("secret", names.credentials_name(ctx.benchmark)),
            *(volumes.data(ctx, target) or [volumes.memory("data", spec.database.storage.size)]),
            # As large as the guest's, where shared memory is bounded by the memory alone.
            volumes.memory("shm", spec.resources.memory),
            *(volumes.scratch(name) for name, _ in writable),
        ],
    }
    if pod.runtime_class_name is not None:
        template["runtimeClassName"] = pod.runtime_class_name
    return stateful_set(ctx, target, running, template)

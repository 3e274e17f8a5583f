"""The operator's configuration, from its environment."""

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass

from dbbench import __version__
from dbbench.targets.context import NO_DEVICES, Devices, Images

DEFAULT_REGISTRY = "dbbench"
PRIVILEGED_TARGETS = "DBBENCH_PRIVILEGED_TARGETS"
_NETWORK_POLICIES = "DBBENCH_NETWORK_POLICIES"


@dataclass(frozen=True)
class Settings:
    """What the chart sets. `namespaces` empty: the whole cluster is watched.

    `privileged_targets`: targets may use a node's own namespaces (`host: {}`).
    `network_policies`: each benchmark gets NetworkPolicies for its pods. `devices`: resources of
    nodes that QEMU in a pod asks for.
    """

    images: Images
    namespaces: tuple[str, ...]
    log_level: int
    port: int
    privileged_targets: bool
    network_policies: bool
    devices: Devices = NO_DEVICES


def from_environment(environment: Mapping[str, str] = os.environ) -> Settings:
    """Reads the DBBENCH_ variables; ValueError names the one that is wrong."""

    def image(variable: str, name: str) -> str:
        return environment.get(variable) or f"{DEFAULT_REGISTRY}/{name}:{__version__}"

    def switch(variable: str) -> bool:
        value = environment.get(variable) or "false"
        if value not in ("true", "false"):
            raise ValueError(f"{variable} is {value!r}; write true or false")
        return value == "true"

    level = environment.get("DBBENCH_LOG_LEVEL") or "INFO"
    levels = logging.getLevelNamesMapping()
    if level.upper() not in levels:
        raise ValueError(f"DBBENCH_LOG_LEVEL is {level!r}; write DEBUG, INFO, WARNING or ERROR")
    port = environment.get("DBBENCH_PORT") or "8080"
    if not port.isdigit():
        raise ValueError(f"DBBENCH_PORT is {port!r}; write a port number such as 8080")
    names = environment.get("DBBENCH_WATCH_NAMESPACES", "").split(",")
    return Settings(
        images=Images(
            driver=image("DBBENCH_DRIVER_IMAGE", "driver"),
            launcher=image("DBBENCH_LAUNCHER_IMAGE", "launcher"),
            guest_kernel=image("DBBENCH_GUEST_KERNEL_IMAGE", "guest-kernel"),
            pull_policy=environment.get("DBBENCH_IMAGE_PULL_POLICY") or "IfNotPresent",
        ),
        namespaces=tuple(name.strip() for name in names if name.strip()),
        log_level=levels[level.upper()],
        port=int(port),
        privileged_targets=switch(PRIVILEGED_TARGETS),
        network_policies=switch(_NETWORK_POLICIES),
        devices=Devices(
            kvm=environment.get("DBBENCH_KVM_RESOURCE") or "",
            vhost_net=environment.get("DBBENCH_VHOST_NET_RESOURCE") or "",
        ),
    )

"""What every manifest is built from. No I/O."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dbbench.api.benchmark import DBBenchmark
from dbbench.api.machine import ProgramImage, Runtime
from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.target import Target
from dbbench.engines import Engine, engine_of

Manifest = dict[str, Any]


class TargetRuntime(StrEnum):
    """How a target runs, after Auto has been decided."""

    POD = "Pod"
    HOST = "Host"
    QEMU = "QEMU"
    KUBEVIRT = "KubeVirt"
    CLOUD_NATIVE_PG = "CloudNativePG"
    EXTERNAL = "External"


@dataclass(frozen=True)
class Images:
    """dbbench's own images, as the operator was configured with."""

    driver: str
    launcher: str
    guest_kernel: str
    pull_policy: str = "IfNotPresent"


@dataclass(frozen=True)
class Devices:
    """Resources of nodes by which a device plugin gives pods a device; empty: none is asked for."""

    kvm: str = ""
    vhost_net: str = ""


NO_DEVICES = Devices()


@dataclass(frozen=True)
class Context:
    """One benchmark, what the operator has for it, and whether KubeVirt's API is served."""

    benchmark: DBBenchmark
    images: Images
    kubevirt: bool
    devices: Devices = NO_DEVICES

    @property
    def spec(self) -> DBBenchmarkSpec:
        return self.benchmark.spec

    @property
    def name(self) -> str:
        return self.benchmark.metadata.name

    @property
    def engine(self) -> Engine:
        return engine_of(self.spec.database)

    def program(self, own: str, other: ProgramImage | None) -> dict[str, str]:
        """Of a container: an image of dbbench's own, or what the target has in its place."""
        if other is None:
            return {"image": own, "imagePullPolicy": self.images.pull_policy}
        return {"image": other.image, "imagePullPolicy": other.image_pull_policy.value}


def runtime_of(ctx: Context, target: Target) -> TargetRuntime:
    """How the target runs. Auto is KubeVirt where its API is served."""
    if target.external is not None:
        return TargetRuntime.EXTERNAL
    if target.cloud_native_pg is not None:
        return TargetRuntime.CLOUD_NATIVE_PG
    if target.host is not None:
        return TargetRuntime.HOST
    if target.virtual_machine is None:
        return TargetRuntime.POD
    match target.virtual_machine.runtime:
        case Runtime.KUBEVIRT:
            return TargetRuntime.KUBEVIRT
        case Runtime.QEMU:
            return TargetRuntime.QEMU
        case Runtime.AUTO:
            return TargetRuntime.KUBEVIRT if ctx.kubevirt else TargetRuntime.QEMU

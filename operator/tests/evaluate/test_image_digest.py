"""Which image a target has run, from the pods that a node reports."""

from typing import Any

import pytest

from dbbench.evaluate.environment import environment
from dbbench.evaluate.state import Manifest

from .model_cluster import ModelCluster, spec

DISK = "registry.example/debian-postgres:17"


def pod(target: str, **containers: tuple[str, str, str]) -> Manifest:
    """Of a target: names of containers with the image asked for, its name on the node, its digest.

    Those whose names end with `init` are init containers.
    """
    kinds = {True: "initContainers", False: "containers"}
    statuses = {True: "initContainerStatuses", False: "containerStatuses"}
    spec: dict[str, list[Manifest]] = {}
    status: dict[str, list[Manifest]] = {}
    for name, (asked, known, digest) in containers.items():
        initial = name.endswith("init")
        spec.setdefault(kinds[initial], []).append({"name": name, "image": asked})
        one = {"name": name, "image": known, "imageID": digest}
        status.setdefault(statuses[initial], []).append(one)
    labels = {"dbbench.io/target": target}
    return {"metadata": {"name": target, "labels": labels}, "spec": spec, "status": status}


LAUNCHER = ("quay.io/kubevirt/virt-launcher:v1", "virt-launcher", "launcher@sha256:9")
AGENT = ("guest-kernel:1", "guest-kernel:1", "guest-kernel@sha256:8")


@pytest.mark.parametrize(
    "containers",
    [
        # KubeVirt's pod has a container for each disk that is in an image.
        {"compute": LAUNCHER, "volumeroot": (DISK, "sha256:77", "disk@sha256:7"),
         "volumeagent": AGENT},
        {"compute": LAUNCHER, "volumerootinit": (DISK, DISK, "disk@sha256:7")},
    ],
)  # fmt: skip
def test_a_disk_of_its_own_has_the_digest_of_its_image(containers: dict[str, Any]) -> None:
    machine = {"runtime": "KubeVirt", "containerDisk": {"image": DISK}}
    body = spec(
        targets=[{"name": "pod", "pod": {}}, {"name": "vm", "virtualMachine": machine}],
    )
    cluster = ModelCluster(body, kubevirt=True)
    image = body["database"]["image"]
    cluster.pods = {
        "pod": pod("pod", database=(image, image, "postgres@sha256:1")),
        "vm": pod("vm", **containers),
    }
    found = {target.name: target.image_digest for target in environment(cluster.state()).targets}
    assert found == {"pod": "postgres@sha256:1", "vm": "disk@sha256:7"}

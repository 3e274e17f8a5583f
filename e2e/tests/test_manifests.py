"""What the operator builds is accepted by a real API server, with KubeVirt's schema and others.

The manifests are the golden ones of operator/tests/targets: each is applied as a dry run with
strict validation, and each pod once more under the Pod Security level that the docs promise.
"""

import copy
import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from access import cloud_native_pg, kubevirt
from access.kubectl import CallError, Kubectl
from access.paths import PROJECT

GOLDEN = PROJECT / "operator" / "tests" / "targets" / "golden"
FILES = sorted(GOLDEN.glob("*/*.yaml"))
CLUSTER = GOLDEN / "cloudnativepg" / "cluster-quickstart-cnpg.yaml"
MACHINE = GOLDEN / "kubevirt" / "virtualmachine-quickstart-vm.yaml"


def read(path: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = yaml.safe_load(path.read_text())
    # The test's namespace, and no owner: there is none.
    manifest["metadata"].pop("namespace")
    manifest["metadata"].pop("ownerReferences")
    return manifest


def accept(kubectl: Kubectl, manifest: dict[str, Any]) -> None:
    """CallError with the server's answer when it refuses."""
    kubectl("create", "--dry-run=server", "--validate=strict", "-f", "-", text=json.dumps(manifest))


def labelled_namespace(kubectl: Kubectl, level: str) -> Iterator[Kubectl]:
    name = f"manifests-{level}-{secrets.token_hex(3)}"
    labels = {"pod-security.kubernetes.io/enforce": level}
    metadata = {"name": name, "labels": labels}
    kubectl.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    yield kubectl.within(name)
    kubectl("delete", "namespace", name, "--wait=false")


@pytest.fixture(scope="module")
def restricted(kubectl: Kubectl) -> Iterator[Kubectl]:
    yield from labelled_namespace(kubectl, "restricted")


@pytest.fixture(scope="module")
def baseline(kubectl: Kubectl) -> Iterator[Kubectl]:
    yield from labelled_namespace(kubectl, "baseline")


@pytest.fixture(scope="module")
def privileged(kubectl: Kubectl) -> Iterator[Kubectl]:
    yield from labelled_namespace(kubectl, "privileged")


@pytest.fixture(scope="module", autouse=True)
def api(kubectl: Kubectl) -> Iterator[None]:
    """KubeVirt's API without its stand-in, and CloudNativePG's: nothing is run here."""
    kubevirt.install_api(kubectl)
    cloud_native_pg.install_api(kubectl)
    yield
    cloud_native_pg.remove(kubectl)
    kubevirt.remove(kubectl)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_manifest_is_accepted(restricted: Kubectl, path: Path) -> None:
    accept(restricted, read(path))


def pod_of(path: Path) -> dict[str, Any]:
    template = read(path)["spec"]["template"]
    spec = {"restartPolicy": "Always", **template["spec"]}
    # A dry run needs no such class on the cluster.
    spec.pop("runtimeClassName", None)
    metadata = {"name": "probe", "labels": template["metadata"]["labels"]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


PODS = [path for path in FILES if path.name.startswith(("statefulset-", "job-"))]
PRIVILEGED = [
    path
    for path in PODS
    if path.name.startswith("statefulset-") and {"host", "tap"} & {*path.parent.name.split("-")}
]
# The one kind of pod that needs root.
DISK = [path for path in PODS if path.name.startswith("job-quickstart-disk-vm")]
PLAIN = [path for path in PODS if path not in (*DISK, *PRIVILEGED)]


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_pods_pass_restricted(restricted: Kubectl, path: Path) -> None:
    accept(restricted, pod_of(path))


@pytest.mark.parametrize("path", PRIVILEGED, ids=lambda path: path.parent.name)
def test_the_pods_of_a_host_target_and_of_a_tap_device_need_privileged(
    baseline: Kubectl, privileged: Kubectl, path: Path
) -> None:
    accept(privileged, pod_of(path))
    with pytest.raises(CallError, match="violates PodSecurity"):
        accept(baseline, pod_of(path))


@pytest.mark.parametrize("path", DISK, ids=lambda path: path.parent.name)
def test_the_disk_job_s_pod_needs_baseline(
    restricted: Kubectl, baseline: Kubectl, path: Path
) -> None:
    pod = pod_of(path)
    accept(baseline, pod)
    with pytest.raises(CallError, match="violates PodSecurity"):
        accept(restricted, pod)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["domain", "devices", "logSerialConsol"], True, "unknown field"),
        (["domain", "cpu", "cores"], "two", "cores"),
        (["volumes", 0, "name"], None, "name"),
        (["domain"], None, "domain"),
    ],
)
def test_kubevirt_s_schema_refuses_what_it_does_not_know(
    restricted: Kubectl, path: list[Any], value: Any, message: str
) -> None:
    machine = read(MACHINE)
    at = machine["spec"]["template"]["spec"]
    for key in path[:-1]:
        at = at[key]
    if value is None:
        del at[path[-1]]
    else:
        at[path[-1]] = copy.deepcopy(value)
    with pytest.raises(CallError, match=message):
        accept(restricted, machine)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["imageNam"], "postgres:17", "unknown field"),
        (["instances"], 0, "instances"),
        (["affinity", "nodeSelector"], "bench-db", "nodeSelector"),
        (["postgresql", "synchronous"], {"method": "all", "number": 1}, "method"),
        (["bootstrap", "initdb", "secret"], {}, "name"),
    ],
)
def test_cloudnativepg_s_schema_refuses_what_it_does_not_know(
    restricted: Kubectl, path: list[Any], value: Any, message: str
) -> None:
    cluster = read(CLUSTER)
    at = cluster["spec"]
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    with pytest.raises(CallError, match=message):
        accept(restricted, cluster)

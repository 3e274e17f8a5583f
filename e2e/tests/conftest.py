"""What every test on a cluster gets: the cluster, the CRD or the operator, its own namespace."""

import re
import time
from collections.abc import Iterator

import pytest
from access import cluster
from access.kubectl import Kubectl, wait
from access.operator import Helm
from access.paths import CHART

CRD = CHART / "files" / "dbbench.io_dbbenchmarks.yaml"
PODS_GONE_SECONDS = 180
_session = f"{int(time.time()) % 100000:05d}"


@pytest.fixture(scope="session")
def kubectl() -> Kubectl:
    """The cluster, started if it does not run; KUBECONFIG names another one."""
    if cluster.user_kubeconfig() is None:
        cluster.start_local()
    client = cluster.client()
    wait("the API server answers", lambda: cluster.answers(client), limit=60)
    return client


@pytest.fixture(scope="session")
def crd(kubectl: Kubectl) -> Kubectl:
    """The cluster with the CRD served."""
    kubectl("apply", "--server-side", "--force-conflicts", "-f", str(CRD))
    kubectl("wait", "--for=condition=Established", "crd/dbbenchmarks.dbbench.io", "--timeout=60s")
    # Discovery of a new type lags behind its condition.
    wait("the CRD is served", lambda: kubectl("get", "dbb") is not None, limit=30)
    return kubectl


@pytest.fixture(scope="session")
def operator(kubectl: Kubectl) -> Iterator[Helm]:
    """The operator, installed with Helm; uninstalled after the last test."""
    helm = Helm(kubectl)
    # The test of the CRD alone may have applied it; Helm then takes it over.
    helm.install("logLevel=DEBUG", "crds.enabled=true")
    yield helm
    helm.uninstall()


def namespace_name(label: str) -> str:
    """A namespace's name for a test module or function, new in each session."""
    text = re.sub(r"[^a-z0-9]+", "-", label.lower().removeprefix("test_")).strip("-")
    return f"{text[:40].rstrip('-')}-{_session}"


@pytest.fixture
def namespace(kubectl: Kubectl, request: pytest.FixtureRequest) -> Iterator[Kubectl]:
    """A namespace for one test, deleted afterwards."""
    yield from new_namespace(kubectl, request.node.name)


@pytest.fixture(scope="module")
def module_namespace(kubectl: Kubectl, request: pytest.FixtureRequest) -> Iterator[Kubectl]:
    """A namespace for all tests of one module."""
    yield from new_namespace(kubectl, request.node.name.rsplit("/", 1)[-1].removesuffix(".py"))


def new_namespace(kubectl: Kubectl, label: str) -> Iterator[Kubectl]:
    """Enforces Pod Security `baseline`: the job that writes a guest's disk needs no more."""
    name = namespace_name(label)
    kubectl.apply(
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {
                "name": name,
                "labels": {
                    "pod-security.kubernetes.io/enforce": "baseline",
                    "pod-security.kubernetes.io/warn": "restricted",
                },
            },
        }
    )
    yield kubectl.within(name)
    inside = kubectl.within(name)
    kubectl("delete", "namespace", name, "--wait=false")
    # The next test needs the CPUs of what still runs here.
    wait(f"pods of {name} are gone", lambda: not inside.list("pods"), limit=PODS_GONE_SECONDS)

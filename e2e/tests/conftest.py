"""What every test on a cluster gets: the cluster, the CRD or the operator, its own namespace."""

from collections.abc import Iterator

import pytest
from access import cluster
from access.kubectl import Kubectl, wait
from access.namespaces import new_namespace
from access.operator import SETTINGS, Helm, Refusals


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
    cluster.install_crd(kubectl)
    return kubectl


@pytest.fixture(scope="session")
def refusals() -> Refusals:
    """From before the operator is installed."""
    return Refusals()


@pytest.fixture(scope="session")
def operator(kubectl: Kubectl, refusals: Refusals) -> Iterator[Helm]:
    """The operator, installed with Helm; uninstalled after the last test."""
    helm = Helm(kubectl)
    # The test of the CRD alone may have applied it; Helm then takes it over.
    helm.install(*SETTINGS)
    yield helm
    helm.uninstall()


@pytest.fixture
def namespace(kubectl: Kubectl, request: pytest.FixtureRequest) -> Iterator[Kubectl]:
    """A namespace for one test, deleted afterwards."""
    with new_namespace(kubectl, request.node.name) as inside:
        yield inside


@pytest.fixture(scope="module")
def module_namespace(kubectl: Kubectl, request: pytest.FixtureRequest) -> Iterator[Kubectl]:
    """A namespace for all tests of one module."""
    label = request.node.name.rsplit("/", 1)[-1].removesuffix(".py")
    with new_namespace(kubectl, label) as inside:
        yield inside

"""What the API server's audit log says of the operator, after all tests of this suite: it has run
under the chart's rights, was refused nothing, and has used them all.

The last file of the suite. By itself it fails, because it measures what the others have used.
"""

import pytest
import yaml
from access.audit import Request, Right, granted, read
from access.cluster import user_kubeconfig
from access.kubectl import Manifest
from access.operator import ACCOUNT, DEPLOYMENT, NAMESPACE, Helm, Refusals
from access.paths import CHART, LOCAL_AUDIT_LOG

# Needed by an admission plug-in, on the operator's behalf and not by a request of its own.
BY_ADMISSION = {Right("dbbench.io", "dbbenchmarks/finalizers", "update")}


@pytest.fixture(scope="module")
def asked(operator: Helm) -> list[Request]:
    """All requests of the operator's account."""
    assert user_kubeconfig() is None, "only the local cluster's audit log can be read"
    return [request for request in read(LOCAL_AUDIT_LOG) if request.user == ACCOUNT]


@pytest.fixture(scope="module")
def rights(operator: Helm) -> set[Right]:
    """What the chart grants to the operator, with every kind of target that the tests deploy."""
    text = operator("template", DEPLOYMENT, CHART, "--set", "cloudNativePG.enabled=true")
    manifests: list[Manifest] = [one for one in yaml.safe_load_all(text) if one]
    return granted(manifests, DEPLOYMENT)


def test_the_operator_was_refused_nothing(asked: list[Request], refusals: Refusals) -> None:
    assert asked, f"nothing is logged of {ACCOUNT} in {NAMESPACE}"
    refused = {
        f"{request.right}: {request.message}"
        for request in asked
        if request.refused and refusals.wrong_at(request.at)
    }
    assert not refused, "; ".join(sorted(refused))


def test_the_chart_grants_no_right_that_was_not_used(
    asked: list[Request], rights: set[Right]
) -> None:
    used = {right for request in asked if not request.refused for right in request.rights}
    unused = sorted(map(str, rights - used - BY_ADMISSION))
    assert not unused, f"granted, but never used: {', '.join(unused)}"

"""The chart: what it renders, what it refuses, and that the operator works with what it grants."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from access.benchmarks import Benchmark
from access.documents import benchmark
from access.kubectl import CallError, Kubectl, wait
from access.operator import NAMESPACE, Helm, Refusals
from access.paths import CHART, PROJECT

# Listed in the whole cluster; KubeVirt's settings are one object of it, in a namespace of its own.
CLUSTER_SCOPED = {"nodes", "storageclasses", "kubevirts"}
CLUSTER_WIDE = {"ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition"}


@pytest.fixture(scope="module")
def helm(kubectl: Kubectl) -> Helm:
    return Helm(kubectl)


def render(helm: Helm, *settings: str) -> list[dict[str, Any]]:
    arguments: list[Any] = ["template", "dbbench", CHART, "--kube-version", "1.34.4"]
    for setting in settings:
        arguments += ["--set", setting]
    return [document for document in yaml.safe_load_all(helm(*arguments)) if document]


def of_kind(documents: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [document for document in documents if document["kind"] == kind]


def test_the_chart_passes_lint(helm: Helm) -> None:
    assert "0 chart(s) failed" in helm("lint", "--strict", CHART)


def test_the_plain_install_is_accepted_by_the_server(kubectl: Kubectl, crd: Kubectl) -> None:
    """Objects of the namespace that it makes itself are checked in one that exists."""
    for document in yaml.safe_load_all((PROJECT / "manifests/install.yaml").read_text()):
        if "namespace" in document["metadata"]:
            document["metadata"]["namespace"] = "default"
        text = yaml.safe_dump(document)
        kubectl(
            "apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", "-", text=text
        )


def test_nobody_gets_a_wildcard_or_rights_on_roles(helm: Helm) -> None:
    for role in of_kind(render(helm), "ClusterRole"):
        for rule in role["rules"]:
            assert "*" not in rule["apiGroups"] + rule["resources"] + rule["verbs"]
            assert "rbac.authorization.k8s.io" not in rule["apiGroups"]
            assert not {"escalate", "bind", "impersonate"} & set(rule["verbs"])


def test_named_namespaces_mean_roles_alone(helm: Helm) -> None:
    documents = render(helm, "watchNamespaces={team-a,team-b}", "crds.enabled=false")
    assert not [d["kind"] for d in documents if d["kind"] in CLUSTER_WIDE]
    assert {d["metadata"]["namespace"] for d in of_kind(documents, "Role")} == {"team-a", "team-b"}
    (deployment,) = of_kind(documents, "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    env = {entry["name"]: entry["value"] for entry in container["env"]}
    assert env["DBBENCH_WATCH_NAMESPACES"] == "team-a,team-b"


def test_without_kubevirt_there_are_no_rights_on_it(helm: Helm) -> None:
    def groups(documents: list[dict[str, Any]]) -> set[str]:
        roles = of_kind(documents, "ClusterRole")
        return {group for role in roles for rule in role["rules"] for group in rule["apiGroups"]}

    assert "kubevirt.io" in groups(render(helm))
    assert "kubevirt.io" not in groups(render(helm, "kubevirt.enabled=false"))


def test_rights_on_clusters_of_cloudnativepg_are_there_when_asked_for(helm: Helm) -> None:
    def groups(*settings: str) -> set[str]:
        documents = render(helm, *settings)
        roles = [*of_kind(documents, "ClusterRole"), *of_kind(documents, "Role")]
        return {group for role in roles for rule in role["rules"] for group in rule["apiGroups"]}

    assert "postgresql.cnpg.io" not in groups()
    assert "postgresql.cnpg.io" in groups("cloudNativePG.enabled=true")
    assert "postgresql.cnpg.io" in groups("cloudNativePG.enabled=true", "watchNamespaces={a}")


def rights(documents: list[dict[str, Any]], kind: str) -> set[tuple[str, str, str]]:
    """Group, resource and verb of each rule of the operator's roles."""
    return {
        (group, resource, verb)
        for role in of_kind(documents, kind)
        if role["metadata"]["name"] in ("dbbench-operator", "dbbench-operator-kubevirt")
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def test_roles_grant_in_their_namespaces_what_cluster_roles_grant_everywhere(helm: Helm) -> None:
    options = ("cloudNativePG.enabled=true", "networkPolicy.benchmarks=true", "crds.enabled=false")
    everywhere = rights(render(helm, *options), "ClusterRole")
    of_the_cluster = {(g, r, v) for g, r, v in everywhere if r in CLUSTER_SCOPED}
    assert {resource for _, resource, _ in of_the_cluster} == CLUSTER_SCOPED
    inside = rights(render(helm, *options, "watchNamespaces={team-a}"), "Role")
    assert inside == everywhere - of_the_cluster


def test_rights_on_network_policies_are_there_when_asked_for(helm: Helm) -> None:
    plain, asked = render(helm), render(helm, "networkPolicy.benchmarks=true")
    more = rights(asked, "ClusterRole") - rights(plain, "ClusterRole")
    assert {(group, resource) for group, resource, _ in more} == {
        ("networking.k8s.io", "networkpolicies")
    }
    for documents, value in ((plain, "false"), (asked, "true")):
        (deployment,) = of_kind(documents, "Deployment")
        (container,) = deployment["spec"]["template"]["spec"]["containers"]
        assert {"name": "DBBENCH_NETWORK_POLICIES", "value": value} in container["env"]


def network_policy(helm: Helm, *settings: str) -> dict[str, Any]:
    documents = render(helm, "networkPolicy.enabled=true", *settings)
    (policy,) = of_kind(documents, "NetworkPolicy")
    (deployment,) = of_kind(documents, "Deployment")
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert policy["spec"]["podSelector"]["matchLabels"].items() <= labels.items()
    return policy


def test_a_network_policy_is_there_when_asked_for(helm: Helm) -> None:
    assert not of_kind(render(helm), "NetworkPolicy")
    spec = network_policy(helm)["spec"]
    assert spec["policyTypes"] == ["Ingress", "Egress"]
    assert spec["ingress"] == [{"ports": [{"port": "metrics", "protocol": "TCP"}]}]
    (names, server) = spec["egress"]
    assert {port["port"] for port in names["ports"]} == {53}
    assert server == {"ports": [{"port": port, "protocol": "TCP"} for port in (443, 6443)]}


def test_a_network_policy_can_name_the_peers(helm: Helm) -> None:
    """Whoever may ask for metrics, `helm test` may, too."""
    monitoring = "networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.team=monitoring"
    server = ("networkPolicy.apiServer.cidrs={10.96.0.1/32}", "networkPolicy.apiServer.ports={443}")
    documents = render(helm, "networkPolicy.enabled=true", monitoring)
    spec = network_policy(helm, monitoring, *server)["spec"]
    (asked, tested) = spec["ingress"][0]["from"]
    assert asked == {"namespaceSelector": {"matchLabels": {"team": "monitoring"}}}
    (pod,) = of_kind(documents, "Pod")
    labels = pod["metadata"]["labels"]
    assert tested["podSelector"]["matchLabels"].items() <= labels.items()
    assert spec["egress"][1] == {
        "ports": [{"port": 443, "protocol": "TCP"}],
        "to": [{"ipBlock": {"cidr": "10.96.0.1/32"}}],
    }


@pytest.mark.parametrize("peers", [(), ("networkPolicy.apiServer.cidrs={10.96.0.1/32,fd00::/8}",)])
def test_a_network_policy_is_accepted_by_the_server(
    kubectl: Kubectl, helm: Helm, peers: tuple[str, ...]
) -> None:
    policy = network_policy(helm, *peers)
    policy["metadata"]["namespace"] = "default"
    kubectl(
        "create", "--dry-run=server", "--validate=strict", "-f", "-", text=yaml.safe_dump(policy)
    )


def test_one_registry_serves_every_image(helm: Helm) -> None:
    documents = render(helm, "image.registry=mirror.example.com/x", "image.tag=9.9.9")
    (deployment,) = of_kind(documents, "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    env = {entry["name"]: entry["value"] for entry in container["env"]}
    images = [value for name, value in env.items() if name.endswith("_IMAGE")]
    assert len(images) == 3
    for image in (container["image"], *images):
        assert image.startswith("mirror.example.com/x/dbbench/")
        assert image.endswith(":9.9.9")


@pytest.mark.parametrize(("keep", "policy"), [("true", "keep"), ("false", None)])
def test_the_crd_stays_after_uninstall_if_told_to(
    helm: Helm, keep: str, policy: str | None
) -> None:
    (crd,) = of_kind(render(helm, f"crds.keep={keep}"), "CustomResourceDefinition")
    annotations = crd["metadata"].get("annotations") or {}
    assert annotations.get("helm.sh/resource-policy") == policy


@pytest.mark.parametrize(
    ("setting", "value"),
    [("logLevel=INFO", "false"), ("privilegedTargets.enabled=true", "true")],
)
def test_targets_in_the_node_s_namespaces_are_opt_in(helm: Helm, setting: str, value: str) -> None:
    (deployment,) = of_kind(render(helm, setting), "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert {"name": "DBBENCH_PRIVILEGED_TARGETS", "value": value} in container["env"]


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("logLevel=LOUD", "logLevel"),
        ("privilegedTargets.enabled=maybe", "privilegedTargets"),
        ("replicas=2", "replicas"),
        ("watchNamespaces={Team_A}", "watchNamespaces"),
        ("image.pullPolicy=Sometimes", "pullPolicy"),
        ("networkPolicy.apiServer.cidrs={api.example.com}", "cidrs"),
        ("networkPolicy.metricsFrom[0].namespace=monitoring", "metricsFrom"),
        ("serviceAccount.create=false", "serviceAccount.name is needed"),
    ],
)
def test_wrong_values_are_refused_by_name(helm: Helm, setting: str, says: str) -> None:
    with pytest.raises(CallError) as refused:
        render(helm, setting)
    assert says in refused.value.output


def test_the_operator_passes_the_restricted_pod_security(operator: Helm) -> None:
    namespace = operator.kubectl.within(NAMESPACE)
    answer = namespace(
        "label", "namespace", NAMESPACE, "pod-security.kubernetes.io/enforce=restricted",
        "--overwrite", "--dry-run=server",
    )  # fmt: skip
    assert "violate" not in answer
    (pod,) = operator.pods()
    found = namespace.get("pod", pod)
    assert found is not None
    (container,) = found["spec"]["containers"]
    assert container["securityContext"]["readOnlyRootFilesystem"] is True


@pytest.fixture
def roles_alone(operator: Helm, namespace: Kubectl, refusals: Refusals) -> Iterator[Kubectl]:
    """The one namespace that the operator has rights in."""
    with refusals.meant():
        operator.install(f"watchNamespaces={{{namespace.namespace}}}")
        yield namespace
        operator.install("logLevel=DEBUG")


def test_with_roles_alone_it_serves_the_named_namespace_and_no_other(
    operator: Helm, roles_alone: Kubectl
) -> None:
    namespace, other = roles_alone, "default"
    try:
        for place in (namespace, namespace.within(other)):
            place.apply(benchmark("roles", cleanupPolicy="Always"))
        served = Benchmark(namespace, "roles")
        served.wait_for_step("start:", limit=300)
        ignored = Benchmark(namespace.within(other), "roles")
        assert ignored.status["observedGeneration"] == -1
        ignored.delete()
        served.delete()
        wait("its pods are gone", lambda: not namespace.list("pods"), limit=180)
    finally:
        operator.kubectl.within(other).delete("dbb", "roles")

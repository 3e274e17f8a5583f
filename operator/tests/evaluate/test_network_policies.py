"""When NetworkPolicies are made, and when they go."""

from dbbench.evaluate.decide import decide

from .model_cluster import ModelCluster, spec


def test_network_policies_are_there_before_any_pod_and_go_with_the_rest() -> None:
    cluster = ModelCluster(spec(cleanupPolicy="Always"), network_policies=True)
    cluster.step()
    assert not cluster.objects
    first = decide(cluster.state())
    kinds = [manifest["kind"] for manifest in first.apply]
    assert kinds[:3] == ["NetworkPolicy"] * 3
    assert "NetworkPolicy" not in kinds[3:]
    cluster.run()
    assert not [ref for ref in cluster.objects if ref.kind == "NetworkPolicy"]


def test_without_network_policies_there_are_none() -> None:
    cluster = ModelCluster(spec())
    cluster.step()
    assert "NetworkPolicy" not in [manifest["kind"] for manifest in decide(cluster.state()).apply]

"""NetworkPolicies select the pods that there are, and let through what these pods do."""

from typing import Any

import pytest

from dbbench import plan
from dbbench.targets import Context, Manifest, instance, load_job, preparation, trial_job
from dbbench.targets.network_policy import network_policies
from dbbench.targets.service import service

from .conftest import context


def policies(ctx: Context) -> dict[str, Manifest]:
    found = {policy["metadata"]["name"]: policy["spec"] for policy in network_policies(ctx)}
    return {name.removeprefix("quickstart-"): spec for name, spec in found.items()}


def selects(selector: Manifest, pod: Manifest) -> bool:
    labels = pod["metadata"]["labels"]
    return selector["matchLabels"].items() <= labels.items() and all(
        labels.get(one["key"]) in one["values"] for one in selector["matchExpressions"]
    )


def pods(ctx: Context, target: str) -> dict[str, Manifest]:
    """The templates of a target's pods."""
    chosen, (trial, *_) = ctx.spec.target(target), plan.block(ctx.spec, 7, 1).trials
    disk = preparation(ctx, chosen)
    found = {
        "load": load_job(ctx, chosen, ctx.spec.workloads[0], 1),
        "trial": trial_job(ctx, trial, 1),
        **({"database": instance(ctx, chosen, True)} if chosen.deployed else {}),
        **({"disk": disk} if disk else {}),
    }
    return {name: manifest["spec"]["template"] for name, manifest in found.items()}


@pytest.mark.parametrize(
    ("target", "kubevirt"), [("pod", False), ("vm", False), ("vm", True)], ids=str
)
def test_every_pod_is_isolated_and_has_what_its_part_needs(target: str, kubevirt: bool) -> None:
    ctx = context(kubevirt=kubevirt)
    by_part = {
        part: {name for name, spec in policies(ctx).items() if selects(spec["podSelector"], pod)}
        for part, pod in pods(ctx, target).items()
    }
    assert by_part.pop("disk", {"isolation"}) == {"isolation"}
    assert by_part == {
        "load": {"isolation", "driver"},
        "trial": {"isolation", "driver"},
        "database": {"isolation", "database"},
    }


def test_isolation_allows_nothing() -> None:
    isolation = policies(context())["isolation"]
    assert isolation["policyTypes"] == ["Ingress", "Egress"]
    assert not isolation.keys() & {"ingress", "egress"}


@pytest.mark.parametrize("target", ["pod", "vm"])
def test_every_port_of_a_target_is_open_to_drivers_alone(target: str) -> None:
    ctx = context()
    served = {port["port"] for port in service(ctx, ctx.spec.target(target))["spec"]["ports"]}
    (asked,) = policies(ctx)["database"]["ingress"]
    assert served <= {port["port"] for port in asked["ports"]}
    (driver,) = asked["from"]
    found = pods(ctx, target)
    assert selects(driver["podSelector"], found["load"])
    assert selects(driver["podSelector"], found["trial"])
    assert not selects(driver["podSelector"], found["database"])
    # Another namespace would need a selector of its own.
    assert driver.keys() == {"podSelector"}


def external(body: dict[str, Any]) -> None:
    connection = {"secretRef": {"name": "orders-app"}}
    body["spec"]["targets"][1] = {"name": "prod", "external": {"connection": connection}}
    body["spec"]["baseline"] = "prod"
    body["spec"]["trials"]["control"] = True


def test_only_drivers_of_external_databases_reach_the_rest_of_the_world() -> None:
    ctx = context(external)
    world = policies(ctx)["external"]
    assert world["egress"] == [{}]
    assert selects(world["podSelector"], pods(ctx, "prod")["load"])
    assert selects(world["podSelector"], pods(ctx, "control")["load"])
    assert not selects(world["podSelector"], pods(ctx, "pod")["load"])
    assert not selects(world["podSelector"], pods(ctx, "pod")["database"])
    assert "external" not in policies(context())


def test_a_target_in_the_node_s_network_is_reached_by_its_ports_alone() -> None:
    def host(body: dict[str, Any]) -> None:
        body["spec"]["targets"].append({"name": "bare", "host": {}})

    (_, databases) = policies(context(host))["driver"]["egress"]
    assert "to" not in databases
    assert {port["port"] for port in databases["ports"]} == {5432, 9590, 9591}
    (_, usual) = policies(context())["driver"]["egress"]
    (own,) = usual["to"]
    assert own == {"podSelector": {"matchLabels": {"dbbench.io/benchmark": "quickstart"}}}

"""Text that becomes a part of other objects: labels, names, tolerations, times, values of settings.

What the API server takes here it also takes in the pods, claims and files that are made of it.
"""

from typing import Any

import pytest
from access.documents import benchmark, changed, check, refusal
from access.kubectl import CallError, Kubectl

SELECTOR = "placement.database.nodeSelector"
TOLERATIONS = "placement.database.tolerations"
CLASS = "database.storage.storageClassName"
NAME_OF_A_LABEL = "not the name of a label"
MATCH = "should match"


@pytest.fixture(scope="module")
def server(crd: Kubectl, module_namespace: Kubectl) -> Kubectl:
    return module_namespace


ACCEPTED: list[tuple[str, Any]] = [
    (SELECTOR, {"zone": "", "example.com/Role_1": "a_b.C-1"}),
    (SELECTOR, {f"{'a' * 63}.{'b' * 63}/{'c' * 63}": "d" * 63}),
    (TOLERATIONS, [{"operator": "Exists"}]),
    (TOLERATIONS, [{"operator": "Exists", "effect": "NoExecute"}]),
    (TOLERATIONS, [{"key": "example.com/bench", "value": "yes", "effect": "PreferNoSchedule"}]),
    (TOLERATIONS, [{"key": "bench", "operator": "Equal", "value": "yes", "effect": "NoSchedule"}]),
    (TOLERATIONS, [{"key": "bench", "operator": "Exists", "value": ""}]),
    (CLASS, "fast.local-1"),
    ("targets.0.pod", {"runtimeClassName": "kata.v2"}),
    ("timeouts", {"ready": "87600h", "load": "99999m", "trial": "1h2m3s", "disk": "999999s"}),
    ("workloads.0.tatp.warmup", "0s"),
    ("database.config", {"a" * 128: "it's \"quoted\" \\ $(x) # 'all' \u2028 \U0001f600"}),
]
REFUSED: list[tuple[str, Any, str, str]] = [
    (SELECTOR, {"a b": "c"}, f"spec.{SELECTOR}", NAME_OF_A_LABEL),
    (SELECTOR, {"": "c"}, f"spec.{SELECTOR}", NAME_OF_A_LABEL),
    (SELECTOR, {"a..b/c": "d"}, f"spec.{SELECTOR}", NAME_OF_A_LABEL),
    (SELECTOR, {"c" * 64: "d"}, f"spec.{SELECTOR}", NAME_OF_A_LABEL),
    (SELECTOR, {"a/b/c": "d"}, f"spec.{SELECTOR}", NAME_OF_A_LABEL),
    (SELECTOR, {"zone": "$(x)"}, f"spec.{SELECTOR}.zone", MATCH),
    (SELECTOR, {"zone": "-a"}, f"spec.{SELECTOR}.zone", MATCH),
    (SELECTOR, {"zone": "a\n"}, f"spec.{SELECTOR}.zone", MATCH),
    (SELECTOR, {"zone": "a" * 64}, f"spec.{SELECTOR}.zone", "more than 63"),
    ("placement.driver.nodeSelector", {"a b": "c"}, "spec.placement.driver.nodeSelector", "label"),
    (TOLERATIONS, [{}], f"spec.{TOLERATIONS}[0].operator", "needs operator: Exists"),
    (TOLERATIONS, [{"value": "a"}], f"spec.{TOLERATIONS}[0].operator", "needs operator: Exists"),
    (TOLERATIONS, [{"key": "a", "operator": "In"}], f"spec.{TOLERATIONS}[0].operator", '"Exists"'),
    (TOLERATIONS, [{"key": "a", "effect": "No"}], f"spec.{TOLERATIONS}[0].effect", '"NoSchedule"'),
    (TOLERATIONS, [{"key": "a b"}], f"spec.{TOLERATIONS}[0].key", MATCH),
    (TOLERATIONS, [{"key": "a", "value": "'"}], f"spec.{TOLERATIONS}[0].value", MATCH),
    (
        TOLERATIONS,
        [{"key": "a", "operator": "Exists", "value": "b"}],
        f"spec.{TOLERATIONS}[0].value",
        "Exists compares no value",
    ),
    (CLASS, "Fast", f"spec.{CLASS}", MATCH),
    (CLASS, "", f"spec.{CLASS}", "at least 1"),
    (CLASS, "a..b", f"spec.{CLASS}", MATCH),
    ("targets.0.pod", {"runtimeClassName": "a b"}, "pod.runtimeClassName", MATCH),
    (
        "targets.0",
        {"name": "pod", "external": {"connection": {"secretRef": {"name": "a.-b"}}}},
        "spec.targets[0].external.connection.secretRef.name",
        MATCH,
    ),
    ("timeouts.ready", "87601h", "spec.timeouts.ready", "must be at most 87600h"),
    ("timeouts.ready", "9999999999999999h", "spec.timeouts.ready", "must be at most 87600h"),
    ("timeouts.ready", "0s", "spec.timeouts.ready", "must be longer than 0s"),
    ("workloads.0.tatp.warmup", "9999999999999999s", "tatp.warmup", "must be at most 87600h"),
    ("workloads.0.tatp.duration", "99999999999999m", "tatp.duration", "must be at most 87600h"),
    ("database.config", {"work_mem": "1\x7f"}, "spec.database.config.work_mem", MATCH),
    ("database.config", {"a" * 129: "1"}, "spec.database.config", "at most 128"),
]


@pytest.mark.parametrize(("path", "value"), ACCEPTED, ids=lambda value: str(value)[:60])
def test_accepted(server: Kubectl, path: str, value: Any) -> None:
    check(server, changed(path, value))


@pytest.mark.parametrize(
    ("path", "value", "field", "says"),
    REFUSED,
    ids=[f"{path}={str(value)[:50]!r}" for path, value, _, _ in REFUSED],
)
def test_refused_with_a_message_that_names_the_field(
    server: Kubectl, path: str, value: Any, field: str, says: str
) -> None:
    said = refusal(server, changed(path, value))
    assert field in said
    assert says in said


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("timeouts.ready", "soon"),
        ("ttlAfterFinished", ""),
        ("resources.memory", "much"),
        ("workloads.0", {"name": "q", "tpch": {"scaleFactor": "#"}}),
    ],
)
def test_a_rule_says_nothing_where_the_pattern_has_refused(
    server: Kubectl, path: str, value: Any
) -> None:
    said = refusal(server, changed(path, value))
    assert "evaluating rule" not in said
    assert said.count("spec.") == 2


def test_a_name_that_is_too_long_is_refused_by_its_field(server: Kubectl) -> None:
    with pytest.raises(CallError, match=r"metadata\.name: .*must have at most 40 characters"):
        check(server, benchmark("b" * 41))

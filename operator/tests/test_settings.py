"""The operator's configuration."""

import pytest

from dbbench.settings import from_environment


def test_targets_in_the_node_s_namespaces_are_off_unless_asked_for() -> None:
    assert from_environment({}).privileged_targets is False
    assert from_environment({"DBBENCH_PRIVILEGED_TARGETS": "true"}).privileged_targets is True


def test_network_policies_are_off_unless_asked_for() -> None:
    assert from_environment({}).network_policies is False
    assert from_environment({"DBBENCH_NETWORK_POLICIES": "true"}).network_policies is True


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("DBBENCH_PRIVILEGED_TARGETS", "yes"),
        ("DBBENCH_NETWORK_POLICIES", "on"),
        ("DBBENCH_LOG_LEVEL", "LOUD"),
        ("DBBENCH_PORT", "http"),
    ],
)
def test_a_wrong_value_is_named(variable: str, value: str) -> None:
    with pytest.raises(ValueError, match=f"{variable} is '{value}'"):
        from_environment({variable: value})

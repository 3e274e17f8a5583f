"""Every DBBenchmark that users find in manifests/ is accepted by a real API server as it is."""

from pathlib import Path

import pytest
import yaml
from access.documents import check
from access.kubectl import CallError, Kubectl
from access.paths import EXPERIMENTS, SAMPLES

FILES = sorted([*SAMPLES.glob("*.yaml"), *EXPERIMENTS.rglob("*.yaml")])


@pytest.fixture(scope="module")
def server(crd: Kubectl, module_namespace: Kubectl) -> Kubectl:
    return module_namespace


def test_samples_and_both_forms_of_the_experiments_are_among_them() -> None:
    assert {path.parent.name for path in FILES} == {"samples", "experiments", "reduced"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_it_is_accepted(server: Kubectl, path: Path) -> None:
    for document in yaml.safe_load_all(path.read_text()):
        check(server, document)


def test_an_unknown_field_in_one_of_them_is_refused_by_name(server: Kubectl) -> None:
    document = yaml.safe_load((EXPERIMENTS / "s01-warm.yaml").read_text())
    document["spec"]["workloads"][0]["tpch"]["scale"] = "Reduced"
    with pytest.raises(CallError) as refused:
        check(server, document)
    assert 'unknown field "spec.workloads[0].tpch.scale"' in refused.value.output

"""Every DBBenchmark that users find in manifests/ is accepted by a real API server as it is."""

import re
from pathlib import Path

import pytest
import yaml
from access.documents import check, refusal
from access.kubectl import Kubectl
from access.paths import EXPERIMENTS, PROJECT, SAMPLES

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
    said = refusal(server, document)
    assert 'unknown field "spec.workloads[0].tpch.scale"' in said


def test_the_benchmarks_in_the_documentation_are_accepted(server: Kubectl) -> None:
    pages = [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))]
    blocks = [
        block
        for page in pages
        for block in re.findall(r"^```yaml\n(.*?)^```$", page.read_text(), re.S | re.M)
        if "\nkind: DBBenchmark\n" in block
    ]
    assert blocks
    for block in blocks:
        for document in yaml.safe_load_all(block):
            check(server, document)

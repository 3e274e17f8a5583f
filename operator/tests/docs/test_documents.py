"""YAML, JSON and CSV in the docs are what they are said to be, by the types that read them."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from dbbench.api.benchmark import DBBenchmark
from dbbench.api.database import Database
from dbbench.api.spec import DBBenchmarkSpec
from tests.docs.blocks import PROJECT, Block, blocks
from tests.docs.programs import CHART, chart_accepts

SAMPLE = yaml.safe_load((PROJECT / "manifests" / "samples" / "quickstart.yaml").read_text())
VALUES = yaml.safe_load((CHART / "values.yaml").read_text())
RESULT = PROJECT / "workloads" / "schema" / "result.schema.json"
SPEC_FIELDS = {field.alias for field in DBBenchmarkSpec.model_fields.values()}
DATABASE_FIELDS = {field.alias for field in Database.model_fields.values()}


def judge(document: dict[str, Any]) -> str:
    """What a document of the docs is; ValueError where its reader refuses it.

    A part of a benchmark is read within the sample.
    """
    keys = set(document)
    if document.get("kind") == "DBBenchmark":
        metadata = document["metadata"] | {"namespace": "default", "uid": "0"}
        DBBenchmark.parse(document | {"metadata": metadata})
        return "benchmark"
    if keys == {"spec"}:
        return judge(SAMPLE | {"spec": SAMPLE["spec"] | document["spec"]})
    if keys <= SPEC_FIELDS:
        return judge({"spec": document})
    if keys <= DATABASE_FIELDS:
        return judge({"spec": {"database": SAMPLE["spec"]["database"] | document}})
    if keys <= set(VALUES):
        chart_accepts(VALUES | document)
        return "values of the chart"
    return ""


@pytest.mark.parametrize("block", blocks("yaml"), ids=lambda block: block.where)
def test_yaml_is_read_by_the_api_or_the_chart_or_its_block_is_marked(block: Block) -> None:
    for document in yaml.safe_load_all(block.text):
        assert judge(document) or block.needs, (
            f"{block.where}: neither a DBBenchmark, a part of one, nor values of the chart; put "
            "<!-- needs: WHAT --> before the block"
        )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sweep: {cpus: [1, 2]}", "cpus"),
        ("config: 5", "config"),
        ("kubevirt: {enabled: often}", "kubevirt.enabled"),
        ("spec: {cleanupPolicy: Sometimes}", "cleanupPolicy"),
    ],
)
def test_wrong_yaml_is_found(text: str, said: str) -> None:
    with pytest.raises((ValueError, ValidationError), match=said):
        judge(yaml.safe_load(text))


def test_yaml_of_something_else_is_not_taken_for_ours() -> None:
    assert judge({"kind": "Deployment", "apiVersion": "apps/v1"}) == ""


@pytest.mark.parametrize("block", blocks("json"), ids=lambda block: block.where)
def test_json_is_json_and_results_follow_their_schema(block: Block) -> None:
    document = json.loads(block.text)
    if document["kind"] == "Result":
        Draft202012Validator(json.loads(Path(RESULT).read_text())).validate(document)


@pytest.mark.parametrize("block", blocks("csv"), ids=lambda block: block.where)
def test_csv_has_as_many_values_in_each_row_as_columns(block: Block) -> None:
    lines = [line for line in block.text.splitlines() if line and not line.startswith("#")]
    rows = list(csv.reader(io.StringIO("\n".join(lines))))
    assert {len(row) for row in rows} == {len(rows[0])}


def test_readme_and_quickstart_show_the_same_measured_table_and_say_that_it_is_emulated() -> None:
    """`make demo DEMO_OPTIONS='--readme ...'` writes both."""
    shown = []
    for page in (PROJECT / "README.md", PROJECT / "docs" / "quickstart.md"):
        _, begin, rest = page.read_text().partition("<!-- demo: begin -->")
        table, end, _ = rest.partition("<!-- demo: end -->")
        assert begin
        assert end
        shown.append(table)
    assert shown[0] == shown[1]
    assert "vm (emulated)" in shown[0]
    assert "no hardware virtualisation" in shown[0]


def test_the_quickstart_puts_the_nodes_of_the_reader_into_the_sample() -> None:
    """Its `sed` leaves none of the sample's own."""
    text = (PROJECT / "manifests" / "samples" / "quickstart.yaml").read_text()
    page = (PROJECT / "docs" / "quickstart.md").read_text()
    changes = re.findall(r"s/([a-z-]+)/\$([A-Z_]+)/", page)
    assert {name for _, name in changes} == {"DATABASE_NODE", "DRIVER_NODE"}
    for old, new in changes:
        text = text.replace(old, new.lower().replace("_", "-"), 1)
    placement = yaml.safe_load(text)["spec"]["placement"]
    selected = {role: one["nodeSelector"] for role, one in placement.items()}
    assert selected == {
        "database": {"kubernetes.io/hostname": "database-node"},
        "driver": {"kubernetes.io/hostname": "driver-node"},
    }

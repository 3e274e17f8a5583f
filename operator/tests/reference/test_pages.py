"""The generated pages have everything that the code has, and say it in words."""

import re

import click
import pytest

from dbbench.api.crd import schema_of
from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.status import DBBenchmarkStatus
from dbbench.cli.main import cli
from dbbench.results.series import FAMILIES
from reference import api, metrics, options
from reference.tables import prose, table


def fields(path, schema):
    """Path and schema of each field, however deep."""
    for name, field in schema.get("properties", {}).items():
        yield f"{path}.{name}", field
        yield from fields(f"{path}.{name}", field)
        yield from fields(f"{path}.{name}[]", field.get("items", {}))


FIELDS = [
    *fields("spec", schema_of(DBBenchmarkSpec)),
    *fields("status", schema_of(DBBenchmarkStatus)),
]


def test_every_field_of_the_api_is_described():
    assert len(FIELDS) > 200
    assert [path for path, field in FIELDS if not field.get("description")] == []


def test_every_field_has_its_row_in_the_section_of_its_object():
    sections = dict(re.findall(r"^## `([^`]+)`$(.*?)(?=^## |\Z)", api.page(), re.S | re.M))
    for path, _ in FIELDS:
        parent, _, name = path.rpartition(".")
        assert f"\n| `{name}` |" in sections[parent]


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 9}, "integer, 1 to 9"),
        ({"type": "integer", "minimum": 0}, "integer, at least 0"),
        ({"type": "string", "enum": ["A", "B"]}, "`A` or `B`"),
        ({"type": "string", "maxLength": 5}, "text, at most 5 characters"),
        (
            {"type": "array", "items": {"type": "integer"}, "maxItems": 3},
            "list of integers, at most 3",
        ),
        (
            {"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 7},
            "map of texts, at most 7 entries",
        ),
    ],
)
def test_types_are_told_in_words(schema, said):
    assert api.type_of(schema) == said


def test_every_command_and_option_is_there():
    page = options.page()
    with click.Context(cli) as context:
        for name in cli.list_commands(context):
            command = cli.get_command(context, name)
            section = page.partition(f"## dbbench {name}\n")[2].partition("\n## ")[0]
            for parameter in command.params:
                if isinstance(parameter, click.Option):
                    assert max(parameter.opts, key=len) in section


def test_every_series_is_there():
    page = metrics.page()
    for family in FAMILIES:
        assert f"| `{family.name}` | " in page
    assert "`dbbench_operator_reconciles_total`" in page
    assert "`dbbench_condition` | `type`, `status` |" in page


def test_nothing_but_code_means_something_to_markdown():
    assert prose("ssl* is `a*b` < 5") == r"ssl\* is `a*b` &lt; 5"
    assert table(["a"], [["x|y"]]) == "| a |\n|---|\n| x\\|y |\n"

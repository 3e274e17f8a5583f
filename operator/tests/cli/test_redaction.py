"""What is secret is in no text that leaves the cluster, in whatever form it stands there."""

import base64
import json
from urllib.parse import quote

import pytest

from dbbench.cli.redaction import REMOVED, Redactor, secret_values

PASSWORD = 'p"ss/w ö\\rd+1'


def secret(**data):
    return {"data": {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}}


REDACTOR = Redactor([secret(password=PASSWORD, username="postgres", pin="123")])


@pytest.mark.parametrize(
    "form",
    [
        PASSWORD,
        json.dumps(PASSWORD)[1:-1],
        quote(PASSWORD, safe=""),
        base64.b64encode(PASSWORD.encode()).decode(),
        base64.b64encode(PASSWORD.encode()).decode().rstrip("="),
    ],
)
def test_a_known_value_is_removed_in_every_form(form):
    text = f"before {form} after"
    assert REDACTOR.found(text)
    assert REDACTOR.text(text) == f"before {REMOVED} after"


def test_names_of_users_and_very_short_values_are_not_hunted_for():
    assert secret_values(secret(username="postgres", pin="123", key="abcd")) == ["abcd"]
    assert REDACTOR.text("database postgres has 12345 rows") == "database postgres has 12345 rows"


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("postgres://bench:hunter22@db:5432/x", "hunter22"),
        ("mysql://bench:hunter22@db/x?ssl=1", "hunter22"),
        ("PGPASSWORD=hunter22 psql", "hunter22"),
        ("password = 'hunter22'", "hunter22"),
        ('{"apiKey": "hunter22"}', "hunter22"),
        (json.dumps({"message": '{"password":"hunter22"}'}), "hunter22"),
        ("--db-password=hunter22", "hunter22"),
        ("Authorization: Bearer abcdefgh.12345678", "abcdefgh.12345678"),
        ("token eyJhbGciOiJSUzI1.eyJpc3MiOiJrdWJl.c2lnbmF0dXJl", "eyJpc3MiOiJrdWJl"),
        ("CREATE USER bench IDENTIFIED BY 'hunter 22'", "hunter 22"),
        ("ALTER ROLE bench PASSWORD 'hunter 22'", "hunter 22"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "MIIE"),
    ],
)
def test_what_looks_like_a_secret_is_removed(text, hidden):
    found = Redactor().text(text)
    assert hidden not in found
    assert REMOVED in found


@pytest.mark.parametrize(
    "text",
    [
        "password authentication failed for user bench",
        "secretName is wrong",
        "https://example.org/a:b@c",
        '"secret": {"secretName": "quick-credentials"}',
        "12 tokens a second",
    ],
)
def test_what_explains_a_failure_stays(text):
    assert Redactor().text(text) == text


def test_an_object_loses_annotations_and_values_of_secret_variables_and_stays_json():
    manifest = {
        "kind": "Pod",
        "metadata": {
            "name": "db",
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "hunter22"},
            "managedFields": [{}],
        },
        "spec": {
            "containers": [
                {
                    "name": "database",
                    "env": [
                        {"name": "POSTGRES_PASSWORD", "value": "a b"},
                        {"name": "POSTGRES_USER", "value": "bench"},
                        {"name": "PW", "value": PASSWORD},
                    ],
                }
            ],
            "volumes": [{"name": "s", "secret": {"secretName": "db-credentials"}}],
        },
    }
    found = json.loads(REDACTOR.manifest(manifest))
    assert found["metadata"] == {"name": "db"}
    values = [variable["value"] for variable in found["spec"]["containers"][0]["env"]]
    assert values == [REMOVED, "bench", REMOVED]
    assert found["spec"]["volumes"] == manifest["spec"]["volumes"]

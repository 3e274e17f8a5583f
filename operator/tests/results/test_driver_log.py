"""The driver's lines in a log that others write to as well."""

import json

from hypothesis import given
from hypothesis import strategies as st

from dbbench.results.driver_log import parse

RESULT = '{"kind":"Result","schemaVersion":1,"valid":true}'
ERROR = '{"kind":"Error","exitCode":3,"reason":"DatabaseUnreachable","message":"no \\"route\\""}'
PROGRESS = '{"kind":"Progress","phase":"measure","done":%d,"total":22,"unit":"queries"}'


def test_each_kind_of_line_is_found_among_noise():
    log = "\n".join(
        ["connecting", PROGRESS % 1, "panic: {", PROGRESS % 2, "", RESULT, ERROR, "bye\r"]
    )
    output = parse(log)
    assert output.result == json.loads(RESULT)
    assert output.error["message"] == 'no "route"'
    assert output.last_progress["done"] == 2


def test_a_log_without_the_driver_says_nothing():
    output = parse("exec format error\n")
    assert (output.result, output.error, output.last_progress) == (None, None, None)
    assert not output.truncated


def test_a_line_that_starts_within_another_one_is_found():
    output = parse(f"half a line of the other stream{RESULT}{PROGRESS % 3}\n")
    assert output.result == json.loads(RESULT)
    assert output.last_progress["done"] == 3


def test_the_order_of_a_documents_fields_does_not_matter():
    output = parse('noise {x} {"exitCode":3,"inner":{"a":1},"kind":"Error","message":"gone"}')
    assert output.error == {"exitCode": 3, "inner": {"a": 1}, "kind": "Error", "message": "gone"}


def test_documents_that_follow_one_another_on_a_line_are_told_apart():
    output = parse(f"{PROGRESS % 4}{ERROR}{RESULT}")
    assert output.last_progress["done"] == 4
    assert output.error["exitCode"] == 3
    assert output.result["valid"] is True


def test_a_result_that_was_cut_off_is_none_and_said_to_be_cut():
    output = parse(RESULT[:-10])
    assert output.result is None
    assert output.truncated


def test_of_two_results_the_last_whole_one_counts():
    second = RESULT.replace("true", "false")
    output = parse(f"{RESULT}\n{second}\n{RESULT[:20]}")
    assert output.result == json.loads(second)
    assert not output.truncated


def test_a_result_quoted_in_an_error_is_no_result():
    error = json.dumps({"kind": "Error", "exitCode": 5, "message": RESULT}, separators=(",", ":"))
    output = parse(error)
    assert output.result is None
    assert output.error["message"] == RESULT


@given(st.lists(st.text(), max_size=5), st.dictionaries(st.text(), st.text() | st.integers()))
def test_any_result_is_found_among_any_other_lines(noise, fields):
    document = {"kind": "Result"} | {k: v for k, v in fields.items() if k != "kind"} | {"z": 1}
    line = json.dumps(document, separators=(",", ":"))
    text = "\n".join([*noise, line, *noise])
    assert parse(text).result == document

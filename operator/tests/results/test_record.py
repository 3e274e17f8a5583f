"""Records survive their own documents, and nothing else passes for one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbbench.results.record import (
    LoadRecord,
    Outcome,
    RecordError,
    TrialRecord,
    from_document,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
COMMON = {
    "target": st.text(),
    "workload": st.text(),
    "attempt": st.integers(),
    "outcome": st.sampled_from(Outcome),
    "reason": st.text(),
    "message": st.text(),
    "started": st.text(),
    "finished": st.text(),
    "result": st.none() | st.dictionaries(st.text(), JSON, max_size=4),
    "instances": st.lists(st.dictionaries(st.text(), JSON, max_size=2), max_size=3).map(tuple),
}
# May be absent.
OPTIONAL = ("result", "instances")
TRIALS = st.builds(TrialRecord, trial=st.text(), block=st.integers(), cell=st.text(), **COMMON)
LOADS = st.builds(LoadRecord, **COMMON)


@given(TRIALS | LOADS)
def test_a_record_is_what_its_document_says(record):
    assert from_document(record.to_document()) == record


@given(TRIALS | LOADS, st.data())
def test_a_document_without_one_of_its_fields_is_refused(record, data):
    document = record.to_document()
    name = data.draw(st.sampled_from([key for key in document if key not in OPTIONAL]))
    del document[name]
    with pytest.raises(RecordError, match=name):
        from_document(document)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kind", "Other"),
        ("schemaVersion", 2),
        ("attempt", "1"),
        ("attempt", True),
        ("outcome", "Fine"),
        ("target", None),
        ("result", [1]),
        ("instances", [1]),
    ],
)
def test_a_field_of_another_type_is_refused(make_record, field, value):
    document = {
        "kind": "LoadRecord",
        "schemaVersion": 1,
        "target": "vm",
        "workload": "orders",
        "attempt": 1,
        "outcome": "Measured",
        "reason": "",
        "message": "",
        "started": "",
        "finished": "",
        "result": None,
    }
    from_document(document)
    with pytest.raises(RecordError, match=field):
        from_document(document | {field: value})

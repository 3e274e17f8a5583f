"""Files of measurements: what is read, and what every mistake is answered with."""

import contextlib
import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbbench.cli.long_form import InputError, read
from dbbench.stats import Sample, Unit

HEADER = "target,cell,trial,value,unit\n"

NAMES = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8).filter(
    lambda name: not name.startswith("#")
)


def problems(text):
    with pytest.raises(InputError) as caught:
        read(text)
    return [str(problem) for problem in caught.value.problems]


def test_rows_become_samples_with_their_lines():
    rows = read(HEADER + "pod,Q1,1,0.5,seconds\nvm,rate,2,1.2e3,per_second\n")
    assert [(row.line, row.sample) for row in rows] == [
        (2, Sample("pod", "Q1", "1", 0.5, Unit.SECONDS)),
        (3, Sample("vm", "rate", "2", 1200.0, Unit.PER_SECOND)),
    ]


def test_the_unit_is_seconds_when_it_is_not_given():
    assert read("target,cell,trial,value\nvm,Q1,1,2\n")[0].sample == Sample(
        "vm", "Q1", "1", 2.0, Unit.SECONDS
    )
    assert read(HEADER + "vm,Q1,1,2,\n")[0].sample.unit is Unit.SECONDS


def test_order_case_and_spaces_of_the_header_do_not_matter():
    rows = read(" Value , TARGET,trial,cell\n 2.5 , vm ,1, Q1 \n")
    assert rows[0].sample == Sample("vm", "Q1", "1", 2.5, Unit.SECONDS)


def test_blank_lines_comments_quotes_and_a_byte_order_mark_are_fine():
    text = '\ufeff# from a paper\n\ntarget,cell,trial,value\r\n\r\n# more\nvm,"a, b",1,2\r\n'
    rows = read(text)
    assert rows[0].sample.cell == "a, b"
    assert rows[0].line == 6


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "line 1: the file is empty; begin with target,cell,trial,value,unit"),
        ("# only a comment\n", "line 1: the file is empty"),
        (HEADER, "line 1: there is no value below the header"),
        ("target,cell,value\nvm,Q1,1\n", "line 1: there is no column trial; the first line must"),
        ("pod,Q1,1,0.5\n", "there is no column target and no column cell"),
        ("target;cell;trial;value\n", "line 1: fields are separated by ';'; write commas"),
        ("target\tcell\ttrial\tvalue\n", "separated by '\\t'; write commas"),
        (
            "target,cell,trial,value,units\nvm,Q1,1,1,s\n",
            "line 1, column units: 'units' is not a column",
        ),
        ("target,cell,trial,value,cell\n", "column cell: 'cell' is there twice"),
        (HEADER + "vm,Q1,1,2\n", "line 2: has 4 fields, but the header names 5"),
        (HEADER + ",Q1,1,2,\n", "line 2, column target: target is empty; write a name"),
        (HEADER + "vm,,1,2,\n", "line 2, column cell: cell is empty"),
        (HEADER + "vm,Q1,,2,\n", "line 2, column trial: trial is empty"),
        (HEADER + "vm,Q1,1,fast,\n", "line 2, column value: 'fast' is not a number; write a n"),
        (HEADER + 'vm,Q1,1,"1,5",\n', "line 2, column value: '1,5' is not a number; write 1.5"),
        (HEADER + "vm,Q1,1,,\n", "line 2, column value: '' is not a number"),
        (HEADER + "vm,Q1,1,nan,\n", "'nan' is not a number"),
        (HEADER + "vm,Q1,1,inf,\n", "'inf' is not a number"),
        (HEADER + "vm,Q1,1,1_000,\n", "'1_000' is not a number"),
        (HEADER + "vm,Q1,1,0,\n", "0 is not a time or rate greater than 0; leave out trials"),
        (HEADER + "vm,Q1,1,-2.5,\n", "-2.5 is not a time or rate greater than 0"),
        (HEADER + "vm,Q1,1,1e999,\n", "1e999 is not a time or rate"),
        (
            HEADER + "vm,Q1,1,2,ms\n",
            "line 2, column unit: 'ms' is not a unit; convert the value and write seconds, "
            "per_second or per_minute",
        ),
        (
            HEADER + "pod,Q1,1,2,seconds\nvm,Q1,1,2,per_second\n",
            "line 3, column unit: cell 'Q1' is in per_second here and in seconds in line 2",
        ),
        (
            HEADER + "vm,Q1,1,2,\nvm,Q1,1,3,\n",
            "line 3, column trial: target 'vm' has a value for cell 'Q1', trial '1' in line 2 "
            "already; number the trials",
        ),
        (HEADER + 'vm,"Q1,1,2,\n', "not readable as CSV"),
    ],
)
def test_a_mistake_is_named_with_its_place_and_what_to_write(text, expected):
    assert any(expected in problem for problem in problems(text)), problems(text)


def test_all_mistakes_of_a_file_are_named_at_once_in_order():
    text = HEADER + "vm,Q1,1,x,\nvm,Q1,2,1,ms\nvm,Q1,3,1,\n,Q1,4,0,\n"
    assert [problem.split(":")[0] for problem in problems(text)] == [
        "line 2, column value",
        "line 3, column unit",
        "line 5, column target",
        "line 5, column value",
    ]


@given(
    st.dictionaries(
        st.tuples(NAMES, NAMES, NAMES),
        st.floats(1e-300, 1e300),
        min_size=1,
        max_size=8,
    )
)
def test_what_csv_writes_is_read_back(values):
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["target", "cell", "trial", "value"])
    writer.writerows([*key, repr(value)] for key, value in values.items())
    found = {
        (row.sample.target, row.sample.cell, row.sample.trial): row.sample.value
        for row in read(text.getvalue())
    }
    assert found == values


@given(st.text())
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(InputError):
        assert read(text)

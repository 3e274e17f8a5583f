"""The page of a history: whole, self-contained, and every run where it belongs."""

import copy
import re
from xml.etree import ElementTree

import pytest

from dbbench.results.page import history_to_html

HOSTILE = "<script>alert('1')</script>\"><img src=x onerror=alert(1)> & ]]> </style></svg>"
SLOWDOWNS = [0.10, 0.11, 0.09, 0.20, 0.21, 0.19]


@pytest.fixture
def document():
    """What `dbbench history -o json` prints of six runs that got slower after the third."""
    names = [f"n-{day}@2026-11-0{day}T02:00:00Z" for day in range(1, 7)]
    points = [
        {
            "trial": name, "value": slowdown,
            "interval": {"low": slowdown - 0.01, "high": slowdown + 0.01},
        }
        for name, slowdown in zip(names, SLOWDOWNS, strict=True)
    ]  # fmt: skip
    change = {"slowdown": 0.0909, "interval": {"low": 0.08, "high": 0.10}}
    return {
        "answer": "vm has regressed", "seed": 1, "significance": 0.01, "confidence": 0.95,
        "margin": 0.01, "series": 2, "baseline": "pod", "fingerprint": "0123456789ab",
        "trends": [
            {
                "target": "vm", "cell": "orders", "of": "slowdown", "unit": None,
                "verdict": "Regressed", **change, "points": points,
                "reference": {"first": names[0], "last": names[2]},
                "current": {"first": names[3], "last": names[5]},
            },
            {
                "target": "pod", "cell": "orders", "of": "value", "unit": "seconds",
                "verdict": "TooFew", "slowdown": None, "interval": None, "reference": None,
                "current": {"first": names[0], "last": names[0]},
                "points": [{"trial": names[0], "value": 3.0, "interval": None}],
            },
        ],
        "changes": [
            {
                "target": "vm", "cell": "orders", "index": 3, "trial": names[3], "p": 0.001,
                **change, "verdict": "Slower", "differences": ["environment.nodeKernel: 1 -> 2"],
            }
        ],
        "runs": [
            {
                "trial": name, "name": "n", "startTime": "2026-11-01T02:00:00Z", "dbbench": "0.1.0",
                "fairnessVerified": "True", "representative": "False" if at == 1 else "True",
                "source": name,
            }
            for at, name in enumerate(names)
        ],
        "leftOut": [{"source": "larger", "reason": "has another fingerprint: x: 1 -> 2"}],
    }  # fmt: skip


def body(document):
    """The page's body; it is well-formed, or this fails."""
    text = history_to_html(document)
    assert text.startswith("<!DOCTYPE html>\n<html")
    return ElementTree.fromstring(text[text.index("<body>") : text.index("</html>")])


def words(found):
    return " ".join("".join(found.itertext()).split())


def charts(document):
    return [one for one in body(document).iter("svg") if one.get("role") == "img"]


def test_the_answer_is_the_heading_and_what_is_no_evidence_stands_below_it(document):
    page = body(document)
    assert words(next(page.iter("h1"))) == "vm has regressed"
    (note,) = [one for one in page.iter("div") if one.get("role") == "note"]
    assert words(note) == "Not representative: n-2@2026-11-02T02:00:00Z."


def test_every_run_has_a_mark_that_says_what_it_is(document):
    first, second = charts(document)
    titles = [words(one) for one in first.iter("title")]
    assert "n-1@2026-11-01T02:00:00Z: +10.00 %, +9.00 % to +11.00 %" in titles
    assert sum(title.startswith("n-") for title in titles) == len(SLOWDOWNS)
    assert [words(one) for one in second.iter("title")][1:] == ["n-1@2026-11-01T02:00:00Z: 3 s"]


def test_a_change_stands_between_the_runs_and_each_stretch_has_its_mean(document):
    first, second = charts(document)
    lines = {
        kind: [one for one in first.iter("line") if one.get("class") == kind]
        for kind in ("line s1", "floor")
    }
    (border,) = lines["floor"]
    left, right = lines["line s1"]
    assert left.get("x2") == right.get("x1") == border.get("x1") == "50.00%"
    # Above each other by what the stretches differ: further up is slower.
    assert float(right.get("y1")) < float(left.get("y1"))
    assert [one for one in second.iter("line") if one.get("class") == "floor"] == []


def test_changes_are_listed_with_what_came_with_them(document):
    text = words(body(document))
    assert "environment.nodeKernel: 1 -> 2" in text
    assert "larger has another fingerprint: x: 1 -> 2" in text


def test_a_file_of_results_has_neither_runs_nor_what_came_with_a_change(document):
    for name in ("runs", "leftOut", "baseline", "fingerprint"):
        del document[name]
    del document["changes"][0]["differences"]
    text = words(body(document))
    assert "otherwise than before" not in text
    assert "Runs" not in [words(one) for one in body(document).iter("h2")]


@pytest.mark.parametrize("value", [0.0, 0.3])
def test_equal_values_have_a_plot(document, value):
    for point in document["trends"][0]["points"]:
        point |= {"value": value, "interval": None}
    assert not re.search(r"nan|inf\b", history_to_html(document))


def test_the_page_needs_nothing_beside_it_and_text_stays_text(document):
    def hostile(value):
        if isinstance(value, dict):
            return {key: hostile(one) for key, one in value.items()}
        if isinstance(value, list):
            return [hostile(one) for one in value]
        known = value in ("Regressed", "TooFew", "Slower", "seconds")
        return HOSTILE + value if isinstance(value, str) and not known else value

    found = hostile(copy.deepcopy(document))
    text = history_to_html(found)
    assert HOSTILE in "".join(body(found).itertext())
    assert not re.search(r"<(script|img|link|iframe)|url\(|@import|https?:", text)
    assert "default-src &#x27;none&#x27;" in text or "default-src 'none'" in text

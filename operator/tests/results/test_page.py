"""The HTML page: whole, self-contained, readable without eyes, and never the data's own markup."""

import copy
import html
import re
from dataclasses import replace
from functools import lru_cache
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbbench.api.status import Environment, TargetEnvironment
from dbbench.results.analysis import analyse
from dbbench.results.page import to_html
from dbbench.results.page.markup import element, joined
from dbbench.results.record import Outcome
from dbbench.results.summary import summary

HOSTILE = "<script>alert('1')</script>\"><img src=x onerror=alert(1)> & ]]> </style></svg>"
VOID = {"meta", "br"}
ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "main", "header", "footer", "nav", "section",
    "h1", "h2", "h3", "p", "div", "span", "strong", "em", "b", "small", "br", "a", "ul", "li", "dl",
    "dt", "dd", "table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "figure",
    "figcaption",
    "details", "summary", "pre", "code",
    "svg", "g", "line", "path", "rect", "circle", "polyline", "text", "desc",
}  # fmt: skip


class Page(HTMLParser):
    """Elements with their attributes, and whether every one is closed where it should be."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.open = []
        self.texts = []
        self.inside = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes), tuple(self.open)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes), tuple(self.open)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    def of(self, tag):
        return [attributes for name, attributes, _ in self.elements if name == tag]

    @property
    def text(self):
        return "".join(self.texts)


ENVIRONMENT = Environment(
    database_node="a",
    cpu_model="Some CPU",
    targets=[
        TargetEnvironment(
            name="pod", runtime="Pod", kernel="6.1", properties={"clock source": "tsc"}
        ),
        TargetEnvironment(name="vm", runtime="QEMU", kernel="6.1", emulated=True),
    ],
)


@lru_cache(maxsize=1)
def computed():
    """Histograms take their time: once for all tests."""
    return {}


@pytest.fixture
def document(benchmark, records):
    found = computed()
    if not found:
        analysis = analyse(benchmark, records, frozenset({"vm"}))
        found |= summary(benchmark, analysis, records, ENVIRONMENT, fairness="all is equal")
    return copy.deepcopy(found)


@pytest.fixture
def page(document, records):
    return Page(to_html(document, records))


def test_what_was_compared_is_shown_for_each_target(page):
    shown = page.text.partition("What is compared")[2]
    assert "clock sourcetsc-" in "".join(shown.split("\n"))


def test_the_answer_is_the_heading_and_emulation_stands_below_it(page, document):
    text = page.text
    assert text.index(document["answer"]) < text.index("Emulated: not representative.")
    assert ("div", "note") in [(tag, found.get("role")) for tag, found, _ in page.elements]


def test_without_emulation_nothing_speaks_of_it(benchmark, records):
    document = summary(benchmark, analyse(benchmark, records, frozenset()), records, None)
    assert "emulat" not in to_html(document, records).lower()


def test_the_page_needs_nothing_beside_it(page, document, records):
    assert {tag for tag, _, _ in page.elements} <= ALLOWED
    for _, attributes, _ in page.elements:
        assert not [name for name in attributes if name.startswith("on") or name == "src"]
    assert all(link["href"].startswith("#") for link in page.of("a"))
    assert not re.search(r"url\(|@import|https?:", to_html(document, records))
    (policy,) = [found for found in page.of("meta") if "http-equiv" in found]
    assert policy["content"].startswith("default-src 'none'")


def test_links_lead_to_sections(page):
    anchors = {found["id"] for found in page.of("section")}
    assert {link["href"][1:] for link in page.of("a")} == anchors
    assert {"slowdown", "query-by-query", "latency", "how-to-repeat-it"} <= anchors


def test_every_table_has_a_caption_and_headers_with_their_scope(page):
    assert len(page.of("caption")) == len(page.of("table")) > 0
    assert {found["scope"] for found in page.of("th")} == {"col", "row"}
    assert {found["role"] for found in page.of("table")} == {"table"}


def test_every_plot_has_a_title_and_all_others_are_hidden_from_readers(page):
    plots = [found for found in page.of("svg") if found.get("role") == "img"]
    titles = [inside for tag, _, inside in page.elements if tag == "title" and "svg" in inside]
    assert len(plots) > 0
    assert len(titles) >= len(plots)
    outer = [found for tag, found, inside in page.elements if tag == "svg" and "svg" not in inside]
    assert all(found.get("role") == "img" or found.get("aria-hidden") or "ticks" in
               found.get("class", "") for found in outer)  # fmt: skip


def test_every_coordinate_of_a_plot_is_a_number(page):
    for tag, attributes, inside in page.elements:
        if "svg" in inside or tag == "svg":
            for name in ("x", "y", "x1", "x2", "y1", "y2", "width", "height"):
                if name in attributes:
                    assert re.fullmatch(r"-?\d+(\.\d+)?%?", attributes[name]), (tag, name)


def test_verdicts_differ_in_words_and_shapes_beside_their_colour(page):
    assert "Slower" in page.text
    shapes = {found["d"] for found in page.of("path")}
    assert len(shapes) >= 3


def test_every_query_operation_and_trial_is_shown(page, records):
    text = page.text
    for name in ("Q1", "Q2", "Q10", "NEW_ORDER", "slowdown of total"):
        assert name in text
    for record in records:
        assert f"{record.trial}.1" in text


def test_what_was_not_used_is_crossed_and_its_reason_is_told(document, records):
    records[0] = replace(records[0], outcome=Outcome.INVALID, message="the driver was saturated")
    records[1] = replace(records[1], outcome=Outcome.FAILED, message="lost", result=None)
    found = Page(to_html(document, records))
    assert sum(one.get("class") == "cross" for one in found.of("path")) == 2
    assert "the driver was saturated" in found.text


ACCOUNT = {
    "baselineSeconds": 1.0,
    "targetSeconds": 1.5,
    "seconds": 0.5,
    "terms": [
        {"cause": "system", "partOf": None, "baselineSeconds": 0.2, "targetSeconds": 0.6,
         "seconds": 0.4, "interval": {"low": 0.3, "high": 0.5}, "share": 0.8},
        {"cause": "pageFaults", "partOf": "system", "baselineSeconds": 0.1, "targetSeconds": 0.4,
         "seconds": 0.3, "interval": None, "share": 0.6},
        {"cause": "unexplained", "partOf": None, "baselineSeconds": 0.8, "targetSeconds": 0.9,
         "seconds": 0.1, "interval": {"low": -9.0, "high": 9.0}, "share": 0.2},
    ],
    "notMeasured": ["steal"],
}  # fmt: skip


def test_causes_are_bars_as_long_as_what_they_add(document, records):
    document["comparisons"][0] |= {"account": ACCOUNT, "cause": "system time: 80 %"}
    page = Page(to_html(document, records))
    bars = [
        float(found["width"].rstrip("%"))
        for found in page.of("rect")
        if found.get("class", "").startswith("term")
    ]
    assert [bar / bars[-1] for bar in bars] == pytest.approx([0.8, 0.6, 0.2, 1.0], abs=0.01)
    assert "System time: 80 %." in page.text
    assert "Not measured on both sides: steal." in page.text
    assert "page faults" in page.text


def test_the_spec_can_be_applied_again_with_the_seed_of_the_run(page, document):
    assert "kind: DBBenchmark" in page.text
    assert f"seed: {document['seed']}" in page.text


def test_nothing_measured_gives_a_page_as_well(benchmark):
    document = summary(benchmark, analyse(benchmark, [], frozenset()), [], None)
    assert "Nothing has been compared" in Page(to_html(document, [])).text


def hostile(value):
    """The document with every text of a user, a server or a log replaced."""
    if isinstance(value, dict):
        kept = ("unit", "verdict", "outcome", "uid", "cpu", "memory", "metric", "quantile")
        return {key: one if key in kept else hostile(one) for key, one in value.items()}
    if isinstance(value, list):
        return [hostile(one) for one in value]
    return HOSTILE + value if isinstance(value, str) else value


def test_names_and_messages_never_become_markup(document, records):
    records[0] = replace(
        records[0], outcome=Outcome.FAILED, message=HOSTILE, reason=HOSTILE, result=None
    )
    found = hostile(document)
    found["emulatedTargets"] = document["emulatedTargets"]
    page = Page(to_html(found, records))
    assert {tag for tag, _, _ in page.elements} <= ALLOWED
    assert not [one for _, one, _ in page.elements if any(name.startswith("on") for name in one)]
    assert HOSTILE in page.text


@settings(deadline=None)
@given(st.text(), st.text())
def test_any_text_comes_back_as_it_was(content, attribute):
    text = element("p", content, title=attribute)
    assert text.count("<") == 2
    opened, rest = text.split(">", 1)
    assert html.unescape(rest.removesuffix("</p>")) == content
    assert html.unescape(opened.removeprefix('<p title="').removesuffix('"')) == attribute


def test_only_markup_goes_unescaped():
    assert joined(["<b>", element("b", "<"), None, ["&"]]) == "&lt;b&gt;<b>&lt;</b>&amp;"

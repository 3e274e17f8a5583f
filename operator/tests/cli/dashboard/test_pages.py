"""What the pages say of a benchmark, without a browser."""

import html
import re
from datetime import UTC, datetime

import pytest

from dbbench.api.benchmark import DBBenchmark
from dbbench.cli.dashboard.detail import detail
from dbbench.cli.dashboard.overview import overview
from dbbench.cli.dashboard.parts import since, worst
from dbbench.cli.run_state import line
from dbbench.results.page.markup import joined
from tests.cli.dashboard.conftest import comparison

NOW = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)
HOUR = 3600.0


def text_of(page):
    """Without markup; one blank for any."""
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


@pytest.fixture
def running_one(running):
    return DBBenchmark.parse(running)


def test_the_line_of_watch_is_that_of_the_page(running_one):
    title = re.search("<title>(.*?)</title>", detail(running_one, NOW), re.S)[1]
    assert html.unescape(title) == f"running: {line(running_one, NOW, HOUR)} - dbbench"


def test_the_worst_slowdown_has_its_interval_and_its_verdict(running_one):
    shown = text_of(joined([worst(running_one)]))
    assert shown == "+50.00 % Slower +40.00 to +60.00 %: vm (emulated), orders"


def test_without_results_there_is_no_slowdown(named):
    assert worst(DBBenchmark.parse(named("quick"))) is None


def test_emulation_is_said_wherever_a_figure_is(running_one):
    found = text_of(overview([running_one], [], "here", NOW))
    assert "running emulated" in found
    page = text_of(detail(running_one, NOW))
    assert "Representative=False: Emulated: no hardware virtualization" in page
    assert "orders: vm (emulated)" in page


def test_results_have_their_values_causes_and_conditions(running_one):
    page = text_of(detail(running_one, NOW))
    assert "throughput 150 /s 100 /s 2" in page
    assert "orders: vm (emulated): exits: 60 % of it" in page
    assert "vm/orders, cause tested: confirmed" in page
    assert "Succeeded Unknown Running" in page
    assert "orders/clients=8" in page


def test_a_place_in_the_queue_is_said_on_both_pages(named):
    queue = {"position": 2, "node": "node a", "benchmark": "db/other"}
    benchmark = DBBenchmark.parse(named("quick", reason="Queued", queue=queue))
    assert "Queued (2) node a: db/other" in text_of(overview([benchmark], [], "here", NOW))
    assert "place in the queue 2, for node a: db/other" in text_of(detail(benchmark, NOW))


def test_an_operator_that_does_not_look_is_asked_after(named):
    benchmark = DBBenchmark.parse(named("quick", observedGeneration=-1))
    assert "Does it run?" in text_of(overview([benchmark], [], "here", NOW))


def test_the_latest_end_comes_first_and_what_is_left_out_is_counted(named):
    ended = [
        DBBenchmark.parse(
            named(f"n{day:03d}", ("Succeeded", "True"),
                  completionTime=f"2026-{1 + day // 28:02d}-{1 + day % 28:02d}T00:00:00Z",
                  comparisons=[comparison(0.1)])
        )
        for day in range(210)
    ]  # fmt: skip
    page = overview(ended, [], "here", NOW)
    assert "210 ended" in page
    assert page.index(">n209</a>") < page.index(">n208</a>")
    assert ">n010</a>" in page
    assert ">n009</a>" not in page
    assert "10 that ended earlier are left out" in page


def test_what_cannot_start_comes_before_what_has_ended(named):
    ended = named("ended", ("Succeeded", "True"), completionTime="2026-11-21T00:00:00Z")
    blocked = named("blocked", ("Stalled", "True", "NodeMissing", "no node"))
    page = overview([DBBenchmark.parse(one) for one in (ended, blocked)], [], "here", NOW)
    assert page.index(">blocked</a>") < page.index(">ended</a>")


def test_no_benchmarks_yet_says_how_to_begin():
    page = text_of(overview([], [], "namespace db of https://c", NOW))
    assert "Benchmarks in namespace db of https://c" in page
    assert "No benchmarks yet" in page
    assert "dbbench run FILE" in page


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0, "< 1 min"), (59, "< 1 min"), (60, "1 min"), (7199, "119 min"), (7200, "2 h"),
     (172799, "47 h"), (172800, "2 d")],
)  # fmt: skip
def test_times_have_one_unit(seconds, expected):
    assert since(seconds) == expected

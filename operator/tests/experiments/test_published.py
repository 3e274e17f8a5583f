"""What stands beside the measured figures is what the studies printed."""

import pytest

from dbbench.experiments import published
from dbbench.experiments.catalogue import EXPERIMENTS, find
from dbbench.experiments.measured import CAUSES, LEVELS

VIEWS = [view for experiment in EXPERIMENTS for view in experiment.views if view.paper]


def paper(row, number=0):
    return find(row).views[number].paper()


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: f"{view.manifest}-{view.title}")
def test_every_paper_s_table_has_figures_and_names_its_source_and_sides(view):
    figures = view.paper()
    assert figures
    assert view.source
    assert view.sides[1]
    for figure in figures.values():
        assert any(
            value is not None for value in (figure.target, figure.difference, figure.slowdown)
        )


def test_warm_queries_are_those_of_table_1():
    table = paper("S1")
    assert list(table) == [f"Q{n}" for n in range(1, 23)]
    assert (table["Q1"].baseline, table["Q1"].target) == (14.19, 15.30)
    assert table["Q20"].slowdown == pytest.approx(0.6003)


def test_cold_aggregates_differ_in_sign():
    mean, total, geometric = (figure.slowdown for figure in paper("S11", 1).values())
    assert mean == pytest.approx(0.0624, abs=0.0001)
    assert total == pytest.approx(-0.0050, abs=0.00005)
    assert geometric == pytest.approx(0.0555, abs=0.00005)


def test_the_scale_up_is_that_of_table_8():
    gains = paper("S28", 1)
    assert {name: figure.target for name, figure in gains.items()} == {
        "from cpu=2 to cpu=4": 1.90,
        "from cpu=4 to cpu=8": 1.87,
    }


def test_page_faults_are_83_percent_of_the_extra_system_time():
    terms = paper("S2")
    share = terms["of that page faults"].difference / terms["system time"].difference
    assert share == pytest.approx(0.83, abs=0.005)
    faults = paper("S5")["page faults"]
    assert (faults.baseline, faults.target) == (
        pytest.approx(4.56e6, abs=5e3),
        pytest.approx(4.55e6, abs=5e3),
    )


def test_a_page_fault_costs_twice_as_much_on_xen():
    assert paper("S6")["page fault"].slowdown == pytest.approx(3.5 / 1.67 - 1)


def test_the_host_reads_more_than_its_guest_needs():
    levels = paper("S13")
    needed, guest, host = (levels[LEVELS[name]].target for name in ("database", "target", "host"))
    assert needed == pytest.approx(guest, rel=0.001)
    assert host > 1.2 * guest
    assert levels[LEVELS["host"]].baseline is None


def test_waiting_for_io_is_less_on_xen():
    waiting = paper("S12")[CAUSES["ioWait"]]
    assert waiting.difference == pytest.approx(waiting.target - waiting.baseline)
    assert waiting.difference < 0


def test_a_slowdown_of_rates_that_is_not_printed_is_computed_as_one():
    assert paper("S27")["order entry"].slowdown == pytest.approx(293 / 250 - 1)


def test_the_cloud_instance_has_no_baseline():
    for row, name, rate in (("S24", "TPC-C", 88448), ("S25", "TATP", 371885)):
        figure = paper(row)[name]
        assert (figure.baseline, figure.target, figure.slowdown) == (None, rate, None)


def test_aggregates_of_a_target_that_is_not_there_are_refused():
    with pytest.raises(ValueError, match="no times of kvm"):
        published.aggregates("minhas_table1_warm", "base", "kvm")


def test_a_work_process_is_slowed_down_by_what_follows_from_table_1():
    """The table prints the loss, 1 - virtual / native, which is less."""
    table = paper("S35")
    assert list(table) == [f"workProcesses={n}" for n in (1, 3, 6, 9, 12)]
    assert table["workProcesses=1"].slowdown == pytest.approx(10442.84 / 8199.26 - 1)
    gains = paper("S35", 1)
    assert (gains["from workProcesses=3 to workProcesses=6"].target) == 1.67


def test_overcommitment_costs_up_to_a_tenth():
    rates = {name: figure.target for name, figure in paper("S38").items()}
    assert 1 - rates["cpu=4"] / rates["cpu=2"] == pytest.approx(0.0914, abs=0.00005)

"""The published tables: computed slowdowns agree with the printed ones within their rounding.

A value printed as 14.19 stands for anything in [14.185, 14.195], and the studies computed their
percentages from values that were not rounded. So the printed percentage, as an interval, must
overlap the interval of the percentages that the printed values allow.
"""

import csv
from decimal import Decimal

import pytest

from dbbench.cli.long_form import read
from dbbench.experiments.published import FOLDER
from dbbench.stats import Sample, Unit, compare

DATA = FOLDER


def rounding(text):
    """The interval that a printed number stands for."""
    number = Decimal(text)
    half = Decimal(5).scaleb(number.as_tuple().exponent - 1)
    return float(number - half), float(number + half)


def overlap(one, other):
    return one[0] <= other[1] and other[0] <= one[1]


def rows(name):
    lines = (DATA / name).read_text().splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def samples(name):
    return [row.sample for row in read((DATA / name).read_text())]


def printed_values(name, target):
    return {row["cell"]: rounding(row["value"]) for row in rows(name) if row["target"] == target}


TIMES = ["minhas_table1_warm", "minhas_table5_cold", "minhas_table2_syscalls"]
PRINTED = [
    pytest.param(table, row, id=f"{table}-{row['cell']}")
    for table in TIMES
    for row in rows(f"{table}.printed.csv")
]


@pytest.mark.parametrize(("table", "row"), PRINTED)
def test_relative_slowdowns_of_times(table, row):
    base = printed_values(f"{table}.csv", "base")[row["cell"]]
    xen = printed_values(f"{table}.csv", "xen")[row["cell"]]
    possible = (xen[0] / base[1] - 1, xen[1] / base[0] - 1)
    computed = {
        found.cell: found.relative for found in compare(samples(f"{table}.csv"), "base").slowdowns
    }[row["cell"]]
    low, high = rounding(row["relative_pct"])
    assert possible[0] <= computed <= possible[1]
    assert overlap(possible, (low / 100, high / 100))


@pytest.mark.parametrize(
    ("table", "row"),
    [case for case in PRINTED if case.values[1]["absolute"]],
)
def test_absolute_slowdowns_of_times(table, row):
    base = printed_values(f"{table}.csv", "base")[row["cell"]]
    xen = printed_values(f"{table}.csv", "xen")[row["cell"]]
    possible = (xen[0] - base[1], xen[1] - base[0])
    computed = {
        found.cell: found.absolute for found in compare(samples(f"{table}.csv"), "base").slowdowns
    }[row["cell"]]
    assert possible[0] <= computed <= possible[1]
    assert overlap(possible, rounding(row["absolute"]))


def test_aggregates_of_the_cold_runs_differ_in_sign():
    found = compare(samples("minhas_table5_cold.csv"), "base").aggregate("xen", Unit.SECONDS)
    base = printed_values("minhas_table5_cold.csv", "base")
    xen = printed_values("minhas_table5_cold.csv", "xen")
    lowest = [xen[cell][0] / base[cell][1] - 1 for cell in base]
    highest = [xen[cell][1] / base[cell][0] - 1 for cell in base]
    mean = (sum(lowest) / len(lowest), sum(highest) / len(highest))
    assert mean[0] <= found.mean_of_slowdowns <= mean[1]
    assert overlap(mean, (0.06235, 0.06245))
    assert found.mean_of_slowdowns == pytest.approx(0.0624, abs=0.0001)
    assert found.slowdown_of_total == pytest.approx(-0.0050, abs=0.00005)
    assert found.geometric_mean == pytest.approx(0.0555, abs=0.00005)


def test_mean_of_the_printed_cold_percentages():
    printed = [Decimal(row["relative_pct"]) for row in rows("minhas_table5_cold.printed.csv")]
    assert round(sum(printed) / len(printed), 2) == Decimal("6.24")


# Not all of the losses are rounded alike: 24.2553 is printed as 24.25, 38.3833 as 38.39.
LAST_DIGIT = 0.01
# 7995.15 and 5541.42 are a loss of 30.69 %, but 36.17 % is printed: one of the three is wrong.
CONTRADICTS_ITSELF = "9"


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=f"{row['cell']}-work-processes")
        for row in rows("boegelsack_table1.printed.csv")
    ],
)
def test_slowdown_of_a_throughput_is_not_the_printed_loss_but_leads_to_it(row):
    native = printed_values("boegelsack_table1.csv", "native")[row["cell"]]
    virtual = printed_values("boegelsack_table1.csv", "virtual")[row["cell"]]
    slowdown = {
        found.cell: found.relative
        for found in compare(samples("boegelsack_table1.csv"), "native").slowdowns
    }[row["cell"]]
    assert native[0] / virtual[1] - 1 <= slowdown <= native[1] / virtual[0] - 1
    loss, printed = 100 * slowdown / (1 + slowdown), float(row["loss_pct"])
    if row["cell"] == CONTRADICTS_ITSELF:
        assert loss == pytest.approx(30.69, abs=0.005)
    else:
        assert loss == pytest.approx(printed, abs=LAST_DIGIT)
        assert slowdown * 100 > printed + 5


def test_order_entry_throughput():
    found = compare(samples("vmware_table1.csv"), "native").slowdowns[0]
    # 293K and 250K, both rounded to thousands.
    assert 292.5 / 250.5 - 1 < found.relative < 293.5 / 249.5 - 1
    assert found.relative == pytest.approx(0.172)
    assert found.absolute == -43000


def test_overcommitment_costs_up_to_a_tenth_of_the_throughput():
    # Section 3.2.2 of Boegelsack et al. 2010: about 52500 with 6 virtual CPUs, 47700 with 12, both
    # rounded to hundreds; "up to 10 %".
    samples = [
        Sample(target, "6 work processes", "1", rate, Unit.PER_SECOND)
        for target, rate in (("150 %", 52500.0), ("300 %", 47700.0))
    ]
    found = compare(samples, "150 %").slowdowns[0]
    assert 52450 / 47750 - 1 <= found.relative <= 52550 / 47650 - 1
    assert found.relative / (1 + found.relative) == pytest.approx(0.0914, abs=0.0001)

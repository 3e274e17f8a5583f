"""Histograms written by the Rust crate are read and added to the digit."""

import pytest

from dbbench.results.latency import HistogramError, merge


def in_microseconds(latency):
    return {
        "count": latency.count,
        **{name: round(getattr(latency, name) * 1e6) for name in ("p50", "p95", "p99", "p999")},
        "max": round(latency.maximum * 1e6),
    }


def expected(entry):
    return {name: entry[name] for name in ("count", "p50", "p95", "p99", "p999", "max")}


@pytest.mark.parametrize("name", ["resizing", "bounded", "merged"])
def test_quantiles_are_those_that_the_writer_computes(histograms, name):
    latency = merge([histograms[name]["histogram"]])
    assert in_microseconds(latency) == expected(histograms[name])
    assert latency.mean == pytest.approx(histograms[name]["mean"] / 1e6, rel=1e-9)


def test_two_histograms_added_are_the_histogram_of_all_values(histograms):
    parts = [histograms["resizing"]["histogram"], histograms["bounded"]["histogram"]]
    for order in (parts, parts[::-1]):
        assert in_microseconds(merge(order)) == expected(histograms["merged"])


def test_no_value_is_no_latency(histograms):
    assert merge([]) is None
    assert merge([histograms["empty"]["histogram"]]) is None


def test_an_empty_histogram_adds_nothing(histograms):
    both = merge([histograms["empty"]["histogram"], histograms["bounded"]["histogram"]])
    assert both == merge([histograms["bounded"]["histogram"]])


@pytest.mark.parametrize("damage", ["", "AAAA", "no base64!", "HISTFAAABEt4", "cut", "changed"])
def test_what_is_no_histogram_is_refused(histograms, damage):
    whole = histograms["merged"]["histogram"]
    text = {"cut": whole[:200], "changed": whole[:-8] + "AAAAAAAA"}.get(damage, damage)
    with pytest.raises(HistogramError):
        merge([text])

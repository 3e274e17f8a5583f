"""Histograms written by the Rust crate are read and added to the digit."""

import pytest

from dbbench.results.latency import QUANTILES, Counts, HistogramError, decode, merge


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


@pytest.mark.parametrize("name", ["resizing", "bounded", "merged"])
def test_quantiles_of_counts_are_those_of_the_histogram(histograms, name):
    counts = decode(histograms[name]["histogram"])
    assert counts.total == histograms[name]["count"]
    for quantile, share in QUANTILES.items():
        assert round(counts.at(share) * 1e6) == histograms[name][quantile]
        # Within the bucket, which is a thousandth wide at most.
        assert counts.smooth(share) == pytest.approx(counts.at(share), rel=2e-3)


def test_counts_are_added_and_taken_away(histograms):
    one, other = (decode(histograms[name]["histogram"]) for name in ("resizing", "bounded"))
    both = Counts.sum([one, other])
    assert both.at(0.99) == decode(histograms["merged"]["histogram"]).at(0.99)
    assert both.minus(other).at(0.95) == one.at(0.95)


def test_what_is_no_histogram_has_no_counts():
    with pytest.raises(HistogramError):
        decode("no histogram")

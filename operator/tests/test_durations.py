"""Durations in buckets."""

from dbbench.durations import BOUNDS, Durations


def test_each_is_in_the_first_bucket_that_holds_it_and_in_all_after_that():
    found = Durations()
    for seconds in (0.003, 0.01, 0.2, 1.0, 99.0):
        found.add(seconds)
    counts = dict(found.buckets())
    assert counts["0.01"] == 2
    assert counts["0.1"] == 2
    assert counts["0.25"] == 3
    assert counts["1.0"] == 4
    assert counts["30.0"] == 4
    assert counts["+Inf"] == 5
    assert found.total == 0.003 + 0.01 + 0.2 + 1.0 + 99.0


def test_nothing_yet_is_a_zero_in_every_bucket():
    assert [count for _, count in Durations().buckets()] == [0.0] * (len(BOUNDS) + 1)

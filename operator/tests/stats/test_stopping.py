"""When a run may stop."""

import pytest

from dbbench.stats.stopping import looks, narrow_enough


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        (0, []),
        (6, []),
        (8, []),
        (9, []),
        (10, [6, 8, 10]),
        (11, []),
        (12, [8, 10, 12]),
        (30, [26, 28, 30]),
    ],
)
def test_looks_are_taken_after_whole_pairs_of_blocks(blocks, expected):
    assert looks(blocks) == expected


@pytest.mark.parametrize(
    ("blocks", "expected"), [(20, []), (29, []), (30, [18, 24, 30]), (33, []), (36, [24, 30, 36])]
)
def test_looks_are_taken_after_whole_pairs_of_deployments_where_blocks_share_one(blocks, expected):
    assert looks(blocks, 3) == expected


def test_every_interval_has_to_be_narrow():
    assert narrow_enough([(-0.01, 0.01), (0.05, 0.06)], 0.01)
    assert not narrow_enough([(-0.01, 0.01), (0.05, 0.08)], 0.01)
    assert not narrow_enough([(-0.01, 0.01), None], 0.01)

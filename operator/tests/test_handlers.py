"""Which changes of a benchmark are a reason to look at it."""

import pytest

from dbbench.handlers import is_news


@pytest.mark.parametrize(
    ("metadata", "status", "expected"),
    [
        ({"generation": 1}, None, True),
        ({"generation": 1}, {"phase": "Running", "observedGeneration": 1}, False),
        ({"generation": 2}, {"phase": "Running", "observedGeneration": 1}, True),
        ({"generation": 1, "deletionTimestamp": "2026-01-01T00:00:00Z"},
         {"observedGeneration": 1}, True),
    ],
)  # fmt: skip
def test_what_the_operator_itself_wrote_is_no_news(metadata, status, expected):
    assert is_news({"metadata": metadata, "status": status}) is expected

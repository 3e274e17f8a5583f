"""Latencies of an operation over several trials, from the driver's mergeable histograms. No I/O.

Quantiles cannot be averaged; histograms can be added. So the quantiles of a target are those of
the sum of its trials' HdrHistograms (base64, version 2, deflated, in microseconds).
"""

import base64
import binascii
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from hdrh.codec import (
    HdrCookieException,
    HdrHistogramSettingsException,
    HdrLengthException,
)
from hdrh.histogram import HdrHistogram

FEWEST_FOR_QUANTILES = 100
"""With fewer values, quantiles near the ends are single values: a query's few runs, for example."""

_MICROSECONDS = 1e6
_LONGEST_MICROSECONDS = 24 * 3600 * 10**6
_DIGITS = 3


QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p999": 0.999}


class HistogramError(ValueError):
    """A text that is not a histogram."""


@dataclass(frozen=True)
class Latency:
    """Latencies of one operation, in seconds, exact to three significant digits."""

    count: int
    mean: float
    p50: float
    p95: float
    p99: float
    p999: float
    maximum: float


@dataclass(frozen=True)
class Counts:
    """How many values each bucket of a histogram holds; `total` of them together."""

    buckets: npt.NDArray[np.int64]

    @property
    def total(self) -> int:
        return int(self.buckets.sum())

    @staticmethod
    def sum(parts: Sequence["Counts"]) -> "Counts":
        """All values of at least one histogram together."""
        return Counts(np.sum([part.buckets for part in parts], axis=0))

    def minus(self, part: "Counts") -> "Counts":
        """The values that are left without those of a part."""
        return Counts(self.buckets - part.buckets)

    def at(self, quantile: float) -> float:
        """The quantile in seconds, the highest value of its bucket, as the histogram has it."""
        bucket = self._bucket(max(int(quantile * self.total + 0.5), 1))
        return float(bucket_edges()[bucket + 1] - 1) / _MICROSECONDS

    def smooth(self, quantile: float) -> float:
        """The quantile in seconds, between the edges of its bucket as if values were spread evenly.

        Steps of a bucket's width would be noise where small changes of a quantile are compared.
        """
        rank = quantile * self.total
        bucket = self._bucket(max(rank, 1e-9))
        low, high = bucket_edges()[bucket], bucket_edges()[bucket + 1]
        below = int(self.buckets[:bucket].sum())
        part = (rank - below) / max(int(self.buckets[bucket]), 1)
        # Half a microsecond stands for a latency that was too short to be told from 0.
        return max(float(low + part * (high - low)), 0.5) / _MICROSECONDS

    def _bucket(self, rank: float) -> int:
        return int(np.searchsorted(np.cumsum(self.buckets), rank))


def decode(text: str) -> Counts:
    """The counts of one encoded histogram; HistogramError when it is none."""
    total = _empty()
    _add(total, text)
    return Counts(np.array(total.counts[: total.counts_len], dtype=np.int64))


@lru_cache(maxsize=1)
def bucket_edges() -> npt.NDArray[np.int64]:
    """Lowest value of each bucket, in microseconds, and the end of the last one."""
    layout = _empty()
    lowest = [int(layout.get_value_from_index(index)) for index in range(layout.counts_len)]
    last = int(layout.get_highest_equivalent_value(lowest[-1])) + 1
    return np.array([*lowest, last], dtype=np.int64)


def _empty() -> HdrHistogram:
    return HdrHistogram(1, _LONGEST_MICROSECONDS, _DIGITS)


def merge(histograms: Sequence[str]) -> Latency | None:
    """Quantiles over all values of some encoded histograms; None when they hold no value.

    Raises HistogramError for a text that is not such a histogram.
    """
    total = _empty()
    for text in histograms:
        _add(total, text)
    count = int(total.get_total_count())
    if count == 0:
        return None
    p50, p95, p99, p999 = (
        total.get_value_at_percentile(percentile) / _MICROSECONDS
        for percentile in (50, 95, 99, 99.9)
    )
    return Latency(
        count=count,
        mean=_mean(total, count) / _MICROSECONDS,
        p50=p50,
        p95=p95,
        p99=p99,
        p999=p999,
        maximum=total.get_max_value() / _MICROSECONDS,
    )


def _mean(total: HdrHistogram, count: int) -> float:
    """Mean of all values, each at the middle of its bucket.

    The library's own walks through every bucket there could be, for seconds; few hold a value.
    """
    return float(
        sum(
            occurrences * _middle(total, total.get_value_from_index(index))
            for index, occurrences in enumerate(total.counts[: total.counts_len])
            if occurrences
        )
        / count
    )


def _middle(total: HdrHistogram, lowest: int) -> int:
    """The value in the middle of a bucket, by its lowest."""
    return lowest + (int(total.get_highest_equivalent_value(lowest)) - lowest + 1) // 2


def _add(total: HdrHistogram, text: str) -> None:
    try:
        # The library ignores characters that are not base64, and reads beyond a cut stream: both
        # are checked before it is asked. Eight bytes of cookie and length come first.
        zlib.decompress(base64.b64decode(text, validate=True)[8:])
        total.add(HdrHistogram.decode(text))
    except (
        binascii.Error,
        zlib.error,
        ValueError,
        IndexError,
        RuntimeError,
        HdrCookieException,
        HdrLengthException,
        HdrHistogramSettingsException,
    ) as error:
        raise HistogramError(f"not an HdrHistogram: {type(error).__name__} {error}") from error

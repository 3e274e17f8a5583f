"""From what the operator and the API server counted to figures beside their goals. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from access.audit import Request, Right
from prometheus_client.parser import text_string_to_metric_families

STATUS = Right("dbbench.io", "dbbenchmarks/status", "update")
_DISCOVERY = "discovery"


@dataclass(frozen=True)
class Histogram:
    """Cumulative counts by upper bound, seconds."""

    counts: dict[float, float]

    @property
    def count(self) -> float:
        return self.counts.get(float("inf"), 0.0)

    def since(self, earlier: "Histogram") -> "Histogram":
        """What was counted after the earlier look."""
        return Histogram(
            {bound: n - earlier.counts.get(bound, 0.0) for bound, n in self.counts.items()}
        )

    def bound_of(self, share: float) -> float:
        """The least bound that so many do not exceed: the true quantile is no greater."""
        wanted = share * self.count
        return next((b for b, n in sorted(self.counts.items()) if n >= wanted), float("inf"))


@dataclass(frozen=True)
class Scrape:
    """What the operator says about itself."""

    durations: Histogram
    waits: Histogram
    errors: float


def scrape(text: str) -> Scrape:
    """From the operator's /metrics."""
    found: dict[str, dict[float, float]] = {}
    errors = 0.0
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if sample.name.endswith("_seconds_bucket"):
                buckets = found.setdefault(family.name, {})
                buckets[float(sample.labels["le"])] = sample.value
            elif sample.name == "dbbench_operator_reconcile_errors_total":
                errors = sample.value
    return Scrape(
        Histogram(found["dbbench_operator_reconcile_duration_seconds"]),
        Histogram(found["dbbench_operator_queue_wait_seconds"]),
        errors,
    )


@dataclass(frozen=True)
class StatusWrites:
    """How many statuses were written, and how many of those changed nothing."""

    written: int
    unchanged: int
    parts: Counter[str]


def status_writes(requests: Iterable[Request]) -> StatusWrites:
    """Of requests with bodies. The server gives an object that stays the same no new version.

    `parts`: which fields of the status differed from what was written before, with their counts.
    """
    written = unchanged = 0
    parts: Counter[str] = Counter()
    before: dict[str, dict[str, object]] = {}
    for request in requests:
        if request.right != STATUS or request.code != 200 or not request.sent or not request.answer:
            continue
        written += 1
        sent, answer = request.sent["metadata"], request.answer["metadata"]
        unchanged += sent["resourceVersion"] == answer["resourceVersion"]
        status = request.answer.get("status") or {}
        last = before.get(answer["uid"], {})
        parts.update(key for key in status.keys() | last.keys() if status.get(key) != last.get(key))
        before[answer["uid"]] = status
    return StatusWrites(written, unchanged, parts)


def by_right(requests: Iterable[Request]) -> Counter[str]:
    """How often each right was used."""
    return Counter(str(request.right) if request.right else _DISCOVERY for request in requests)


@dataclass(frozen=True)
class Figure:
    """One measured value with the goal that it has to meet; `good` None: there is no goal."""

    name: str
    value: str
    goal: str = ""
    good: bool | None = None


def table(figures: Sequence[Figure]) -> str:
    """One line each, the missed goals named as such."""
    words = {True: "met", False: "MISSED", None: ""}
    wide, value = (
        max(len(getattr(figure, part)) for figure in figures) for part in ("name", "value")
    )
    return "\n".join(
        f"{one.name:{wide}}  {one.value:>{value}}  {one.goal:24} {words[one.good]}".rstrip()
        for one in figures
    )

"""All Prometheus series, from the families that the operator shows."""

from collections.abc import Iterable

from prometheus_client.core import Metric

from dbbench.metrics import benchmark_families, confirmation_families, own_families
from dbbench.reconciler import Statistics
from dbbench.results.series import FAMILIES, Family
from reference.tables import header, prose, table

_ABOUT = """\
# Metrics

`http://POD:8080/metrics`, through the Service `dbbench-operator-metrics`. Series of benchmarks are
rebuilt from the API at each scrape, so they survive a restart of the operator and end with the
object; all have the labels `namespace` and `benchmark`. No label names a single run: a benchmark
that is measured again under its name goes on with its series. The alerts are in
[operations.md](../operations.md#alerts).
"""
_OF_BENCHMARK = ("namespace", "benchmark")


def page() -> str:
    """The page docs/reference/metrics.md."""
    return "\n".join(
        [
            header("operator/src/dbbench/metrics.py and results/series.py") + _ABOUT,
            _section("While a benchmark runs, and after", map(_family, benchmark_families([]))),
            _section("Tests of causes (`confirm: true`)", map(_family, confirmation_families([]))),
            _section("From the results of a run that has ended", FAMILIES),
            _section("The operator itself", map(_family, own_families(Statistics(), 0))),
        ]
    )


def _family(metric: Metric) -> Family:
    """A family of the client library; its counters' names get their ending in the exposition."""
    name = metric.name + ("_total" if metric.type == "counter" else "")
    labels: Iterable[str] = getattr(metric, "_labelnames", ())
    return Family(
        name, metric.documentation, tuple(name for name in labels if name not in _OF_BENCHMARK)
    )


def _section(title: str, families: Iterable[Family]) -> str:
    rows = [
        (f"`{family.name}`", ", ".join(f"`{label}`" for label in family.labels), prose(family.help))
        for family in families
    ]
    return f"## {title}\n\n{table(('series', 'labels', 'meaning'), rows)}"

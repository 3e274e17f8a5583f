"""The ConfigMap `<benchmark>-results`: summary.json, summary.csv and report.md. No I/O."""

import csv
import io
import json
from collections.abc import Mapping
from typing import Any

from dbbench.results.markdown import to_markdown
from dbbench.results.storage import LIMIT_BYTES
from dbbench.results.summary import Document, summary

__all__ = ["results_data", "summary", "to_csv", "to_json", "to_markdown"]

SUMMARY_JSON = "summary.json"
SUMMARY_CSV = "summary.csv"
REPORT = "report.md"

_COLUMNS = (
    "level",
    "workload",
    "cell",
    "target",
    "name",
    "unit",
    "baseline_value",
    "target_value",
    "slowdown",
    "interval_low",
    "interval_high",
    "verdict",
    "blocks",
    "emulated",
    "speedup",
    "speedup_low",
    "speedup_high",
)

# What is left out first when the documents would not fit into a ConfigMap. All of it can be
# computed again from the records.
_DISPENSABLE = ("operations", "latencies", "queries", "curves", "variants")
_LONGEST_NOT_MEASURED = 100


def results_data(document: Document) -> dict[str, str]:
    """`data` of the ConfigMap, from a summary.

    What does not fit into a ConfigMap is left out part by part, and named in `omitted`.
    """
    fitting = dict(document)
    data = _rendered(fitting)
    if _size(data) > LIMIT_BYTES:
        trials = dict(fitting["trials"])
        trials["notMeasured"] = trials["notMeasured"][:_LONGEST_NOT_MEASURED]
        fitting |= {"trials": trials, "omitted": [*fitting["omitted"], "trials.notMeasured"]}
        data = _rendered(fitting)
    if _size(data) > LIMIT_BYTES and any(one["account"] for one in fitting["queries"]):
        fitting |= _without_accounts(fitting, "queries")
        data = _rendered(fitting)
    for part in _DISPENSABLE:
        if _size(data) <= LIMIT_BYTES:
            break
        fitting |= {part: [], "omitted": [*fitting["omitted"], part]}
        data = _rendered(fitting)
    if _size(data) > LIMIT_BYTES:
        fitting |= _without_accounts(fitting, "comparisons", "controls")
        data = _rendered(fitting)
    return data


def _without_accounts(document: Document, *parts: str) -> Document:
    bare = {part: [found | {"account": None} for found in document[part]] for part in parts}
    return bare | {"omitted": [*document["omitted"], f"{parts[0]}.account"]}


def to_json(document: Document) -> str:
    """The summary as text, indented, ending in a newline."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def to_csv(document: Document) -> str:
    """Every comparison as a row: of metrics, queries, latency quantiles, and points of a sweep.

    A point is compared with the smallest one of its axis on the same target, a variant with the
    first one.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    for found in document["comparisons"]:
        writer.writerow(_row("metric", found["metric"], found) | {"emulated": found["emulated"]})
    emulated = {
        (found["workload"], found["cell"], found["target"]): found["emulated"]
        for found in document["comparisons"]
    }
    for found in document["queries"]:
        row = _row("query", found["query"], found)
        writer.writerow(row | {"emulated": emulated[_place(found)]})
    for found in document["latencies"]:
        row = _row("latency", f"{found['operation']} {found['quantile']}", found)
        writer.writerow(row | {"emulated": found["emulated"]})
    for curve in document["curves"]:
        for point in curve["points"]:
            writer.writerow(_point_row(curve, point))
    for compared in document["variants"]:
        for point in compared["points"]:
            writer.writerow(_variant_row(compared, point))
    return text.getvalue()


def _variant_row(compared: Mapping[str, Any], point: Mapping[str, Any]) -> Document:
    interval = point["slowdownToFirstInterval"] or {}
    return _along_row("variant", f"{compared['axis']}={point['variant']}", compared, point) | {
        "slowdown": point["slowdownToFirst"],
        "interval_low": interval.get("low"),
        "interval_high": interval.get("high"),
    }


def _along_row(
    level: str, name: str, line: Mapping[str, Any], point: Mapping[str, Any]
) -> Document:
    """A point of an axis, beside the first one on the same target."""
    return {
        "level": level,
        "workload": line["workload"],
        "cell": point["cell"],
        "target": line["target"],
        "name": name,
        "unit": line["unit"],
        "baseline_value": line["points"][0]["value"],
        "target_value": point["value"],
        "blocks": point["blocks"],
        "emulated": line["emulated"],
    }


def _point_row(curve: Mapping[str, Any], point: Mapping[str, Any]) -> Document:
    interval = point["speedupInterval"] or {}
    return _along_row("point", f"{curve['axis']}={point['axisValue']}", curve, point) | {
        "speedup": point["speedup"],
        "speedup_low": interval.get("low"),
        "speedup_high": interval.get("high"),
    }


def _row(level: str, name: str, found: Mapping[str, Any]) -> Document:
    interval = found["interval"] or {}
    return {
        "level": level,
        "workload": found["workload"],
        "cell": found["cell"],
        "target": found["target"],
        "name": name,
        "unit": found["unit"],
        "baseline_value": found["baselineValue"],
        "target_value": found["targetValue"],
        "slowdown": found["slowdown"],
        "interval_low": interval.get("low"),
        "interval_high": interval.get("high"),
        "verdict": found["verdict"],
        "blocks": found["blocks"],
    }


def _place(found: Mapping[str, Any]) -> tuple[str, str, str]:
    return found["workload"], found["cell"], found["target"]


def _rendered(document: Document) -> dict[str, str]:
    return {
        SUMMARY_JSON: to_json(document),
        SUMMARY_CSV: to_csv(document),
        REPORT: to_markdown(document),
    }


def _size(data: Mapping[str, str]) -> int:
    return sum(len(key) + len(text.encode()) for key, text in data.items())

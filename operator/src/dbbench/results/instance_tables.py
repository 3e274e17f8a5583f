"""The instances of targets side by side, as a section of report.md. No I/O."""

from dbbench.results.figures import quantity
from dbbench.results.tables import table
from dbbench.results.wording import Document


def side_by_side(document: Document) -> list[str]:
    """Section of the report; empty where every target is one database."""
    rows = [
        [
            "/".join(part for part in (found["workload"], found["cell"]) if part),
            found["target"],
            "-" if found["overcommitment"] is None else f"{100 * found['overcommitment']:.4g}%",
            quantity(found["total"], found["unit"]),
            ", ".join(quantity(value, found["unit"]) for value in found["values"]),
            f"{found['fairnessIndex']:.4f}",
            f"{found['leastFairnessIndex']:.4f}",
        ]
        for found in document["instances"]
    ]
    if not rows:
        return []
    header = [
        "workload",
        "target",
        "overcommitment",
        "compared",
        "each instance",
        "fairness index",
        "least",
    ]
    return [
        "## Instances side by side",
        "",
        "What is compared is the sum of the instances' rates, or the mean of their times. The "
        "fairness index is Jain's, of their rates: 1 when all are equal, 1/n when one has all.",
        "",
        *table(header, rows, left=3),
    ]

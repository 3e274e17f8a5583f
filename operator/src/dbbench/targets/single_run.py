"""The Job around the pods that prepare, load and measure. No I/O."""

from dbbench.targets import names
from dbbench.targets.context import Context, Manifest


def job(
    ctx: Context, name: str, labels: dict[str, str], deadline_seconds: int, pod: Manifest
) -> Manifest:
    """One pod, run once: the operator, not the Job controller, decides about a second attempt.

    It stays after it has finished, until the operator has read its log and deletes it.
    """
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": names.metadata(ctx.benchmark, name, labels),
        "spec": {
            "backoffLimit": 0,
            "activeDeadlineSeconds": deadline_seconds,
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "restartPolicy": "Never",
                    "automountServiceAccountToken": False,
                    "enableServiceLinks": False,
                    **pod,
                },
            },
        },
    }

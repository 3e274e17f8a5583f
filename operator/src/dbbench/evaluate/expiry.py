"""When a benchmark that has finished is deleted by itself. No I/O."""

from datetime import datetime, timedelta

from dbbench.api.quantities import duration
from dbbench.evaluate.state import parse_timestamp


def expiry(ttl_after_finished: str | None, completion_time: str | None) -> datetime | None:
    """When `spec.ttlAfterFinished` has passed since `status.completionTime`; None without either.

    As of Kubernetes' Jobs (ttlSecondsAfterFinished): it counts from success and from failure alike,
    0s is at once, and a benchmark that has not finished never expires.
    """
    if ttl_after_finished is None or completion_time is None:
        return None
    return parse_timestamp(completion_time) + timedelta(seconds=duration(ttl_after_finished))

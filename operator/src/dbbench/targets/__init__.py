"""(benchmark, target) -> Kubernetes manifests, as plain dictionaries. No I/O."""

from dbbench.targets.build import (
    foundation,
    instance,
    preparation,
    runtime_of,
    secret,
)
from dbbench.targets.context import Context, Images, Manifest, TargetRuntime
from dbbench.targets.jobs import load_job, trial_job

__all__ = [
    "Context",
    "Images",
    "Manifest",
    "TargetRuntime",
    "foundation",
    "instance",
    "load_job",
    "preparation",
    "runtime_of",
    "secret",
    "trial_job",
]

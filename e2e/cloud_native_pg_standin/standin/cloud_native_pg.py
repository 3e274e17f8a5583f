"""Names of CloudNativePG's API that the stand-in uses, with CloudNativePG's spelling. No I/O."""

from enum import StrEnum
from typing import Any

Object = dict[str, Any]

GROUP = "postgresql.cnpg.io"
VERSION = "v1"
API_VERSION = f"{GROUP}/{VERSION}"
KIND = "Cluster"
CLUSTERS = "clusters"

LABEL_CLUSTER = "cnpg.io/cluster"
LABEL_INSTANCE = "cnpg.io/instanceName"
LABEL_INSTANCE_ROLE = "cnpg.io/instanceRole"
# The same under its older name, which CloudNativePG still writes.
LABEL_OLD_ROLE = "role"
LABEL_POD_ROLE = "cnpg.io/podRole"
LABEL_JOB_ROLE = "cnpg.io/jobRole"
LABEL_CLAIM_ROLE = "cnpg.io/pvcRole"
ANNOTATION_SERIAL = "cnpg.io/nodeSerial"
ANNOTATION_CLAIM_STATUS = "cnpg.io/pvcStatus"
INITIALIZING, READY = "initializing", "ready"
HIBERNATION = "cnpg.io/hibernation"

PRIMARY, REPLICA, INSTANCE = "primary", "replica", "instance"
REPLICATION_USER = "streaming_replica"


class JobRole(StrEnum):
    """What a Job does to an instance's claim."""

    INITDB = "initdb"
    JOIN = "join"


class Phase(StrEnum):
    """status.phase, as far as the stand-in gets."""

    FIRST_PRIMARY = "Setting up primary"
    CREATING_REPLICA = "Creating a new replica"
    WAITING = "Waiting for the instances to become active"
    HEALTHY = "Cluster in healthy state"
    CANNOT_CREATE = "Unable to create required cluster objects"


class UntranslatableError(Exception):
    """The cluster uses something that the stand-in does not do."""


def name_of(found: Object) -> str:
    """The object's name."""
    name: str = found["metadata"]["name"]
    return name


def is_going(found: Object) -> bool:
    """Whether somebody has asked for the object's deletion."""
    return "deletionTimestamp" in found["metadata"]


def has_condition(found: Object, kind: str) -> bool:
    """Whether a condition of that type is True."""
    conditions = found.get("status", {}).get("conditions") or []
    return any(one["type"] == kind and one["status"] == "True" for one in conditions)

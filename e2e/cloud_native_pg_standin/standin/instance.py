"""An instance of a cluster: its claim, the Job that fills it, and the pod of its server. No I/O."""

from pathlib import Path

from standin.cloud_native_pg import (
    ANNOTATION_CLAIM_STATUS,
    ANNOTATION_SERIAL,
    INITIALIZING,
    INSTANCE,
    LABEL_CLAIM_ROLE,
    LABEL_CLUSTER,
    LABEL_INSTANCE,
    LABEL_INSTANCE_ROLE,
    LABEL_JOB_ROLE,
    LABEL_OLD_ROLE,
    LABEL_POD_ROLE,
    PRIMARY,
    REPLICA,
    JobRole,
    Object,
)
from standin.configuration import PORT, SOCKETS, custom_conf
from standin.translation import Cluster

_DATA = "/var/lib/postgresql/data"
_APPLICATION = "/controller/application"
_MOUNTS = {
    "pgdata": _DATA,
    "scratch-data": SOCKETS,
    "shm": "/dev/shm",  # noqa: S108 (a volume of the pod's own)
    "application": _APPLICATION,
}


def job_role(serial: int) -> JobRole:
    """The first instance is made, the others are copies of it."""
    return JobRole.INITDB if serial == 1 else JobRole.JOIN


def job_name(cluster: Cluster, serial: int) -> str:
    return f"{cluster.instance(serial)}-{job_role(serial)}"


def claim(cluster: Cluster, serial: int) -> Object:
    """The instance's volume; its annotation tells whether a Job still has to fill it."""
    metadata = _metadata(cluster, serial, cluster.instance(serial))
    metadata["labels"] |= {LABEL_CLAIM_ROLE: "PG_DATA"}
    metadata["annotations"] |= {ANNOTATION_CLAIM_STATUS: INITIALIZING}
    spec: Object = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": cluster.storage_size}},
    }
    if cluster.storage_class is not None:
        spec["storageClassName"] = cluster.storage_class
    kind = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
    return kind | {"metadata": metadata, "spec": spec}


def job(cluster: Cluster, serial: int) -> Object:
    """What fills the claim: initdb, or a copy of the primary."""
    role = job_role(serial)
    metadata = _metadata(cluster, serial, job_name(cluster, serial))
    metadata["labels"] |= {LABEL_JOB_ROLE: role.value}
    if role is JobRole.INITDB:
        variables = {"APP_DATABASE": cluster.database, "APP_OWNER": cluster.owner}
        container = _container(cluster, role, variables, cluster.statements)
    else:
        container = _container(cluster, role, {"PRIMARY": cluster.write_service})
    template = {
        "metadata": {key: metadata[key] for key in ("labels", "annotations")},
        "spec": {"restartPolicy": "Never", **_pod_spec(cluster, serial, container)},
    }
    kind = {"apiVersion": "batch/v1", "kind": "Job"}
    return kind | {"metadata": metadata, "spec": {"template": template}}


def pod(cluster: Cluster, serial: int) -> Object:
    """The server of the instance."""
    role = PRIMARY if serial == 1 else REPLICA
    metadata = _metadata(cluster, serial, cluster.instance(serial))
    metadata["labels"] |= {
        LABEL_POD_ROLE: INSTANCE,
        LABEL_INSTANCE_ROLE: role,
        LABEL_OLD_ROLE: role,
    }
    variables = {
        "CUSTOM_CONF": custom_conf(cluster, serial),
        "SMART_SHUTDOWN_SECONDS": str(cluster.smart_shutdown_seconds),
        "STOP_SECONDS": str(cluster.stop_seconds),
    }
    container = _container(cluster, "run", variables)
    container["name"] = "postgres"
    container["ports"] = [{"name": "postgresql", "containerPort": PORT, "protocol": "TCP"}]
    container["readinessProbe"] = {
        "exec": {"command": ["pg_isready", "--quiet"]},
        "periodSeconds": 5,
        "timeoutSeconds": 5,
    }
    spec = _pod_spec(cluster, serial, container)
    spec["hostname"] = cluster.instance(serial)
    spec["terminationGracePeriodSeconds"] = cluster.stop_seconds
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _metadata(cluster: Cluster, serial: int, name: str) -> Object:
    return {
        "name": name,
        "namespace": cluster.namespace,
        "labels": {
            **cluster.labels,
            LABEL_CLUSTER: cluster.name,
            LABEL_INSTANCE: cluster.instance(serial),
        },
        "annotations": {**cluster.annotations, ANNOTATION_SERIAL: str(serial)},
        "ownerReferences": cluster.owner_references,
    }


def _container(
    cluster: Cluster, script: str, variables: dict[str, str], arguments: tuple[str, ...] = ()
) -> Object:
    """A container that runs one of the scripts beside this file; it is named after it."""
    environment = {
        "PGDATA": f"{_DATA}/pgdata",
        "PGHOST": SOCKETS,
        "PASSWORD_FILE": f"{_APPLICATION}/password",
        **variables,
    }
    text = Path(__file__).with_name(f"{script}.sh").read_text()
    container: Object = {
        "name": str(script),
        "image": cluster.image,
        "command": ["/bin/sh", "-c", _literal(text), str(script)],
        "args": [_literal(argument) for argument in arguments],
        "env": [{"name": name, "value": _literal(text)} for name, text in environment.items()],
        "resources": cluster.resources,
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [{"name": name, "mountPath": path} for name, path in _MOUNTS.items()],
    }
    if cluster.pull_policy is not None:
        container["imagePullPolicy"] = cluster.pull_policy
    return container


def _literal(text: str) -> str:
    """Text in which Kubernetes expands no `$(NAME)`."""
    return text.replace("$", "$$")


def _pod_spec(cluster: Cluster, serial: int, container: Object) -> Object:
    shm: Object = {"medium": "Memory"}
    if cluster.shared_memory is not None:
        shm["sizeLimit"] = cluster.shared_memory
    return {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "nodeSelector": cluster.node_selector,
        "tolerations": list(cluster.tolerations),
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": cluster.uid_of_server,
            "runAsGroup": cluster.gid_of_server,
            "fsGroup": cluster.gid_of_server,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
        "volumes": [
            {
                "name": "pgdata",
                "persistentVolumeClaim": {"claimName": cluster.instance(serial)},
            },
            {"name": "scratch-data", "emptyDir": {}},
            {"name": "shm", "emptyDir": shm},
            {
                "name": "application",
                "secret": {
                    "secretName": cluster.secret,
                    "items": [{"key": "password", "path": "password"}],
                    "defaultMode": 0o440,
                },
            },
        ],
    }

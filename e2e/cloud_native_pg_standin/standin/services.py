"""The Services of a cluster. No I/O."""

from standin.cloud_native_pg import (
    INSTANCE,
    LABEL_CLUSTER,
    LABEL_INSTANCE_ROLE,
    LABEL_POD_ROLE,
    PRIMARY,
    REPLICA,
    Object,
)
from standin.configuration import PORT
from standin.translation import Cluster


def services(cluster: Cluster) -> list[Object]:
    """Of the primary, of the standbys, and of all."""
    selectors = {
        cluster.write_service: {LABEL_INSTANCE_ROLE: PRIMARY},
        f"{cluster.name}-ro": {LABEL_INSTANCE_ROLE: REPLICA},
        f"{cluster.name}-r": {LABEL_POD_ROLE: INSTANCE},
    }
    return [_service(cluster, name, selector) for name, selector in selectors.items()]


def _service(cluster: Cluster, name: str, selector: dict[str, str]) -> Object:
    own = {LABEL_CLUSTER: cluster.name}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": name,
            "namespace": cluster.namespace,
            "labels": cluster.labels | own,
            "annotations": cluster.annotations,
            "ownerReferences": cluster.owner_references,
        },
        "spec": {
            "type": "ClusterIP",
            "selector": own | selector,
            "ports": [{"name": "postgres", "port": PORT, "targetPort": PORT, "protocol": "TCP"}],
        },
    }

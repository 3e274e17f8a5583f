"""The database as a cluster of CloudNativePG. No I/O.

Its operator makes pods, claims and Services from one object. All of them carry the labels that tell
benchmark and target, and CloudNativePG's own, which tell the pods apart.
"""

from dbbench.api.cloud_native_pg import CloudNativePGTarget
from dbbench.api.target import Target
from dbbench.engines.engine import DATABASE_NAME, DATABASE_USER
from dbbench.targets import names, placement
from dbbench.targets.context import Context, Manifest

API_VERSION = "postgresql.cnpg.io/v1"
KIND = "Cluster"

# Of the pods of a cluster; those that make and join instances have a job's role.
CLUSTER_LABEL = "cnpg.io/cluster"
JOB_LABEL = "cnpg.io/jobRole"
ROLE_LABEL = "cnpg.io/instanceRole"
PRIMARY = "primary"

HIBERNATION = "cnpg.io/hibernation"

# A shutdown that waits for clients; the driver has gone by then.
_SMART_SHUTDOWN_SECONDS = 5


def cluster(
    ctx: Context, target: Target, cloud_native_pg: CloudNativePGTarget, running: bool
) -> Manifest:
    """A Cluster of the image, the size and the settings that every target has.

    Stopped it is hibernated: its pods go, its claims stay.
    """
    benchmark, spec = ctx.benchmark, ctx.spec
    database, storage = spec.database, spec.database.storage
    labels = names.labels(benchmark, names.Component.TARGET, target=target.name)
    metadata = names.metadata(benchmark, names.cluster_name(benchmark, target.name), labels)
    synchronous = cloud_native_pg.synchronous
    node = placement.on_node(spec.placement.database)
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": metadata | {"annotations": {HIBERNATION: "off" if running else "on"}},
        "spec": {
            "instances": cloud_native_pg.instances,
            "imageName": database.image,
            "imagePullPolicy": database.image_pull_policy.value,
            "postgresUID": database.run_as_user,
            "postgresGID": database.run_as_user,
            # Not those of app.kubernetes.io, some of which are CloudNativePG's own.
            "inheritedMetadata": {"labels": names.selector(benchmark, target.name)},
            # Standbys are on the node that is measured, like everything else of a target.
            "affinity": {"enablePodAntiAffinity": False, **node},
            "resources": placement.of_pod(spec.resources, target),
            "ephemeralVolumesSizeLimit": {"shm": spec.resources.memory},
            "storage": {"size": storage.size}
            | (
                {"storageClass": storage.storage_class_name}
                if storage.storage_class_name is not None
                else {}
            ),
            "postgresql": {"parameters": dict(sorted((database.config or {}).items()))}
            | (
                {"synchronous": synchronous.document() | {"dataDurability": "required"}}
                if synchronous is not None
                else {}
            ),
            "bootstrap": {
                "initdb": {
                    "database": DATABASE_NAME,
                    "owner": DATABASE_USER,
                    "secret": {"name": names.credentials_name(benchmark)},
                    # As the user that the image's own entrypoint makes for the other targets.
                    "postInitApplicationSQL": [f"ALTER ROLE {DATABASE_USER} SUPERUSER"],
                }
            },
            "enableSuperuserAccess": False,
            "enablePDB": False,
            "monitoring": {"disableDefaultQueries": True},
            "smartShutdownTimeout": _SMART_SHUTDOWN_SECONDS,
            "stopDelay": placement.STOP_SECONDS,
        },
    }

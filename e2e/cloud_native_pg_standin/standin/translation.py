"""What a Cluster asks for, or why the stand-in does not do it. No I/O."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from standin.cloud_native_pg import API_VERSION, HIBERNATION, KIND, Object, UntranslatableError

# What is carried out. Everything below these fields is taken as it is.
_TRANSLATED = {
    "affinity.nodeSelector",
    "affinity.tolerations",
    "bootstrap.initdb.database",
    "bootstrap.initdb.owner",
    "bootstrap.initdb.postInitApplicationSQL",
    "bootstrap.initdb.secret.name",
    "ephemeralVolumesSizeLimit.shm",
    "imageName",
    "imagePullPolicy",
    "inheritedMetadata.annotations",
    "inheritedMetadata.labels",
    "instances",
    "postgresGID",
    "postgresUID",
    "postgresql.parameters",
    "postgresql.synchronous.method",
    "postgresql.synchronous.number",
    "resources",
    "smartShutdownTimeout",
    "stopDelay",
    "storage.size",
    "storage.storageClass",
}
# Fields that ask for nothing with this value: most are the schema's defaults.
_NOTHING: dict[str, Any] = {
    "affinity.enablePodAntiAffinity": False,
    "enablePDB": False,
    "enableSuperuserAccess": False,
    "failoverDelay": 0,
    "logLevel": "info",
    "maxSyncReplicas": 0,
    "minSyncReplicas": 0,
    "monitoring.disableDefaultQueries": True,
    "monitoring.enablePodMonitor": False,
    "postgresql.synchronous.dataDurability": "required",
    "primaryUpdateMethod": "restart",
    "primaryUpdateStrategy": "unsupervised",
    "replicationSlots.highAvailability.enabled": True,
    "replicationSlots.highAvailability.slotPrefix": "_cnpg_",
    "replicationSlots.synchronizeReplicas.enabled": True,
    "replicationSlots.updateInterval": 30,
    "startDelay": 3600,
    "storage.resizeInUseVolumes": True,
    "switchoverDelay": 3600,
}
_REQUIRED = (
    "bootstrap.initdb.database",
    "bootstrap.initdb.owner",
    "bootstrap.initdb.secret.name",
    "imageName",
    "storage.size",
)


@dataclass(frozen=True)
class Cluster:
    """A Cluster, in the words of what it is made of."""

    name: str
    namespace: str
    uid: str
    hibernation: bool
    instances: int
    image: str
    uid_of_server: int
    gid_of_server: int
    database: str
    owner: str
    secret: str
    storage_size: str
    smart_shutdown_seconds: int
    stop_seconds: int
    pull_policy: str | None = None
    storage_class: str | None = None
    shared_memory: str | None = None
    statements: tuple[str, ...] = ()
    resources: Object = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)
    node_selector: dict[str, str] = field(default_factory=dict)
    tolerations: tuple[Object, ...] = ()
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    synchronous_method: str | None = None
    synchronous_number: int = 0

    @property
    def serials(self) -> range:
        """Numbers of the instances; the first is the primary, always."""
        return range(1, self.instances + 1)

    def instance(self, serial: int) -> str:
        """Name of an instance's pod and claim."""
        return f"{self.name}-{serial}"

    @property
    def write_service(self) -> str:
        return f"{self.name}-rw"

    @property
    def owner_references(self) -> list[Object]:
        return [
            {
                "apiVersion": API_VERSION,
                "kind": KIND,
                "name": self.name,
                "uid": self.uid,
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ]


def translate(document: Object) -> Cluster:
    """The Cluster of a document; UntranslatableError names what is not done."""
    metadata, spec = document["metadata"], document["spec"]
    _check(spec)
    initdb = spec["bootstrap"]["initdb"]
    affinity, inherited = spec.get("affinity", {}), spec.get("inheritedMetadata", {})
    synchronous = spec.get("postgresql", {}).get("synchronous", {})
    return Cluster(
        name=metadata["name"],
        namespace=metadata["namespace"],
        uid=metadata["uid"],
        hibernation=metadata.get("annotations", {}).get(HIBERNATION) == "on",
        instances=spec["instances"],
        image=spec["imageName"],
        pull_policy=spec.get("imagePullPolicy"),
        uid_of_server=spec["postgresUID"],
        gid_of_server=spec["postgresGID"],
        database=initdb["database"],
        owner=initdb["owner"],
        secret=initdb["secret"]["name"],
        statements=tuple(initdb.get("postInitApplicationSQL", ())),
        storage_size=spec["storage"]["size"],
        storage_class=spec["storage"].get("storageClass"),
        shared_memory=spec.get("ephemeralVolumesSizeLimit", {}).get("shm"),
        resources=spec.get("resources", {}),
        parameters=spec.get("postgresql", {}).get("parameters", {}),
        node_selector=affinity.get("nodeSelector", {}),
        tolerations=tuple(affinity.get("tolerations", ())),
        labels=inherited.get("labels", {}),
        annotations=inherited.get("annotations", {}),
        synchronous_method=synchronous.get("method"),
        synchronous_number=synchronous.get("number", 0),
        smart_shutdown_seconds=spec["smartShutdownTimeout"],
        stop_seconds=spec["stopDelay"],
    )


def _check(spec: Object) -> None:
    found = dict(_fields(spec))
    for path, value in found.items():
        if path not in _TRANSLATED and not _asks_for_nothing(path, value):
            raise UntranslatableError(f"spec.{path}: {value!r} is not done by the stand-in")
    for path in _REQUIRED:
        if path not in found:
            raise UntranslatableError(f"spec.{path}: the stand-in has no default for it")


def _asks_for_nothing(path: str, value: object) -> bool:
    if value == {}:
        # An empty part of the spec of which something is translated.
        return any(known.startswith(f"{path}.") for known in _TRANSLATED)
    return path in _NOTHING and bool(value == _NOTHING[path])


def _fields(value: Object, parent: str = "") -> Iterator[tuple[str, Any]]:
    """Paths of the fields that are set, down to those that are translated as a whole."""
    for key, inner in value.items():
        path = f"{parent}{key}"
        if inner and isinstance(inner, dict) and path not in _TRANSLATED:
            yield from _fields(inner, f"{path}.")
        else:
            yield path, inner

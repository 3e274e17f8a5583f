"""The kinds of object that dbbench reads or writes, and where the API server serves them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """A kind with its API path. `namespaced` is False for objects of the whole cluster."""

    api_version: str
    name: str
    plural: str
    namespaced: bool = True

    @property
    def prefix(self) -> str:
        """Path of the group and version, such as `/apis/apps/v1`."""
        core = "/" not in self.api_version
        return f"/api/{self.api_version}" if core else f"/apis/{self.api_version}"

    def path(self, namespace: str | None = None, name: str | None = None) -> str:
        """Path of one object, or of the collection when no name is given."""
        parts = [self.prefix]
        if self.namespaced and namespace is not None:
            parts += ["namespaces", namespace]
        parts.append(self.plural)
        if name is not None:
            parts.append(name)
        return "/".join(parts)


DBBENCHMARK = Kind("dbbench.io/v1alpha1", "DBBenchmark", "dbbenchmarks")
CONFIG_MAP = Kind("v1", "ConfigMap", "configmaps")
DEPLOYMENT = Kind("apps/v1", "Deployment", "deployments")
EVENT = Kind("v1", "Event", "events")
JOB = Kind("batch/v1", "Job", "jobs")
NETWORK_POLICY = Kind("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies")
NODE = Kind("v1", "Node", "nodes", namespaced=False)
POD = Kind("v1", "Pod", "pods")
PVC = Kind("v1", "PersistentVolumeClaim", "persistentvolumeclaims")
SECRET = Kind("v1", "Secret", "secrets")
SERVICE = Kind("v1", "Service", "services")
STATEFUL_SET = Kind("apps/v1", "StatefulSet", "statefulsets")
STORAGE_CLASS = Kind("storage.k8s.io/v1", "StorageClass", "storageclasses", namespaced=False)
VIRTUAL_MACHINE = Kind("kubevirt.io/v1", "VirtualMachine", "virtualmachines")
CLOUD_NATIVE_PG = Kind("postgresql.cnpg.io/v1", "Cluster", "clusters")
KUBEVIRT = Kind("kubevirt.io/v1", "KubeVirt", "kubevirts")
DATA_VOLUME = Kind("cdi.kubevirt.io/v1beta1", "DataVolume", "datavolumes")

# What a benchmark owns besides its ConfigMaps and the Secret with the password. Pods are owned by
# its jobs, stateful sets and virtual machines.
OWNED = (JOB, PVC, SERVICE, STATEFUL_SET)

_ALL = (
    DBBENCHMARK, CONFIG_MAP, EVENT, JOB, NETWORK_POLICY, NODE, POD, PVC, SECRET, SERVICE,
    STATEFUL_SET, STORAGE_CLASS, VIRTUAL_MACHINE, CLOUD_NATIVE_PG,
)  # fmt: skip
BY_NAME = {kind.name: kind for kind in _ALL}

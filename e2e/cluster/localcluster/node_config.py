"""What a node's programs are told: containerd, CNI, kubelet, kube-proxy. Pure: no I/O here."""

from dataclasses import dataclass

from localcluster.addresses import Addresses, NodeAddress

PAUSE_IMAGE = "localhost/dbbench/pause:0.1.0"
CONTAINERD_SOCKET = "/run/containerd/containerd.sock"
DOMAIN = "cluster.local"
_RESERVED_CPU = "500m"
# Left to the host: the control plane, the page cache of the images, the user's own work.
_HOST_MEMORY_MIB = 2048


@dataclass(frozen=True)
class Machine:
    """What the machine offers to all nodes together."""

    memory_mib: int
    cni_programs: str
    snapshotter: str
    exclusive_cpus: bool = True
    """Whether pods may have processors of their own; the kubelet then keeps a part for itself."""


def memory_reservation_mib(memory_mib: int, nodes: int) -> int:
    """Memory of the machine that one of ``nodes`` nodes must not hand out, in MiB.

    Every kubelet sees the whole machine; reserving the others' share keeps the sum of what
    the nodes promise within what there is.
    """
    share = max(memory_mib - _HOST_MEMORY_MIB, memory_mib // 2) // nodes
    return memory_mib - share


def containerd_config(machine: Machine) -> str:
    """The node's containerd configuration (TOML, version 2).

    ``restrict_oom_score_adj``: without CAP_SYS_RESOURCE a lower score than the daemon's own
    cannot be given. ``disable_apparmor``: a profile would stay in the kernel after ``down``.
    """
    return f"""\
version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = [
  "io.containerd.internal.v1.opt",
  "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs",
]

[grpc]
  address = "{CONTAINERD_SOCKET}"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE_IMAGE}"
  restrict_oom_score_adj = true
  disable_apparmor = true
  enable_unprivileged_ports = true
  enable_unprivileged_icmp = true

[plugins."io.containerd.grpc.v1.cri".containerd]
  snapshotter = "{machine.snapshotter}"
  default_runtime_name = "runc"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  SystemdCgroup = false

[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "{machine.cni_programs}"
  conf_dir = "/var/lib/cni/net.d"
"""


def cni_config(node: NodeAddress) -> dict[str, object]:
    """The pod network: a cable from each pod to its node, which routes.

    Not a bridge: pods on one bridge would answer each other past the node's connection
    tracking, and a Service whose backend is on the client's node would break.
    """
    ipam = {
        "type": "host-local",
        "ranges": [[{"subnet": str(node.pods)}]],
        "routes": [{"dst": "0.0.0.0/0"}],
    }
    return {
        "cniVersion": "0.4.0",
        "name": "dbbench",
        "plugins": [
            {"type": "ptp", "ipMasq": False, "ipam": ipam},
            {"type": "portmap", "capabilities": {"portMappings": True}},
        ],
    }


def kubelet_config(
    addresses: Addresses, node: NodeAddress, machine: Machine, authority: str, certificate: str
) -> dict[str, object]:
    """The kubelet's configuration; ``authority`` and ``certificate`` are paths less suffix."""
    reserved = {"memory": f"{memory_reservation_mib(machine.memory_mib, len(addresses.nodes))}Mi"}
    if machine.exclusive_cpus:
        reserved["cpu"] = _RESERVED_CPU
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": f"{authority}.crt"},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": f"{certificate}.crt",
        "tlsPrivateKeyFile": f"{certificate}.key",
        "containerRuntimeEndpoint": f"unix://{CONTAINERD_SOCKET}",
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{node.cgroup}",
        "failCgroupV1": False,
        "failSwapOn": False,
        "cpuManagerPolicy": "static" if machine.exclusive_cpus else "none",
        "systemReserved": reserved,
        "clusterDNS": [str(addresses.dns_service)],
        "clusterDomain": DOMAIN,
        # The host's resolver is out of the pods' reach, and pods need nothing from outside.
        "resolvConf": "",
        "evictionHard": {
            "memory.available": "100Mi",
            "nodefs.available": "1%",
            "nodefs.inodesFree": "1%",
            "imagefs.available": "1%",
            "imagefs.inodesFree": "1%",
        },
        # An image that is collected cannot be pulled again: there is no registry.
        "imageGCHighThresholdPercent": 100,
        "imageGCLowThresholdPercent": 99,
        "serializeImagePulls": False,
        "volumePluginDir": "/var/lib/kubelet/volume-plugins",
        "oomScoreAdj": 0,
    }


def kube_proxy_config(
    addresses: Addresses, node: NodeAddress, kubeconfig: str
) -> dict[str, object]:
    """kube-proxy's configuration: nftables, inside the node's own network namespace."""
    # Zero leaves the kernel's connection tracking limits alone: they belong to the machine.
    untouched = {
        "maxPerCore": 0,
        "min": 0,
        "tcpEstablishedTimeout": "0s",
        "tcpCloseWaitTimeout": "0s",
    }
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "nftables",
        "clusterCIDR": str(addresses.pods),
        "hostnameOverride": node.name,
        "clientConnection": {"kubeconfig": kubeconfig},
        "conntrack": untouched,
        "oomScoreAdj": 0,
    }

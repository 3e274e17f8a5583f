"""The database in the node's own namespaces. No I/O."""

from dbbench.api.target import PodTarget, Target
from dbbench.targets.context import Context, Manifest
from dbbench.targets.placement import has_exclusive_cpus
from dbbench.targets.pod import pod_instance


def host_instance(ctx: Context, target: Target, running: bool) -> Manifest:
    """The pod's StatefulSet without what isolates the pod. It needs Pod Security `privileged`.

    The node's network, processes and IPC; no filter of system calls; no limit of CPU time. Where
    CPUs are exclusive, requests stay equal to limits, because the static CPU manager gives its
    cpuset to nothing else; kubelets from 1.33 on then enforce no limit of CPU time either.
    """
    manifest = pod_instance(ctx, target, PodTarget(), running)
    pod = manifest["spec"]["template"]["spec"]
    pod |= {
        "hostNetwork": True,
        "hostPID": True,
        "hostIPC": True,
        # Else the pod would ask the node's own name servers.
        "dnsPolicy": "ClusterFirstWithHostNet",
    }
    pod["securityContext"]["seccompProfile"] = {"type": "Unconfined"}
    if not has_exclusive_cpus(ctx.spec.resources, target):
        (database,) = pod["containers"]
        del database["resources"]["limits"]["cpu"]
    return manifest

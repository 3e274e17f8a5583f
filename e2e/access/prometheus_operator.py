"""The real Prometheus operator in the local cluster, from its Go module, and a Prometheus by it.

Its CRDs, rights and Deployment are the files that the module has for its users. The Prometheus is
Debian's, which is built without Kubernetes' service discovery: it runs on this machine with what
the Prometheus operator wrote for it, and gets the same targets with the same labels from here.
"""

import base64
import gzip
import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml
from localcluster import cluster_images
from localcluster.gobuild import PROMETHEUS_OPERATOR_FOLDER, PROMETHEUS_OPERATOR_MODULE
from localcluster.layout import Layout

from access.cluster import user_kubeconfig
from access.kubectl import Kubectl, Manifest, run, wait, wait_until_established

READY_SECONDS = 180
PROGRAM = "prometheus-operator"
NAME = "observed"
# Of what its controller of Prometheus servers looks at; where the others are missing, it does not
# start the controllers of Alertmanager, of agents and of Thanos.
_KINDS = ("podmonitors", "probes", "prometheuses", "prometheusrules", "scrapeconfigs")
_CRDS = tuple(f"{kind}.monitoring.coreos.com" for kind in (*_KINDS, "servicemonitors"))
_CLUSTER_WIDE = {"ClusterRole", "ClusterRoleBinding"}


@dataclass(frozen=True)
class Written:
    """What the Prometheus operator has written for a server: its configuration, files of rules."""

    configuration: Manifest
    rules: dict[str, str]


@contextmanager
def installed(kubectl: Kubectl) -> Iterator[None]:
    """Its API and the operator itself, in the namespace of `kubectl`, until the block ends."""
    if user_kubeconfig() is not None:
        raise RuntimeError("an image can be put into the nodes of the local cluster alone")
    _import_image()
    module = _module()
    crds = module / "example" / "prometheus-operator-crd"
    manifests = _manifests(module / "example/rbac/prometheus-operator", kubectl.namespace)
    try:
        # Larger than the annotation that client-side apply keeps.
        for crd in _CRDS:
            plural, group = crd.split(".", 1)
            kubectl("apply", "--server-side", "-f", str(crds / f"{group}_{plural}.yaml"))
        for crd in _CRDS:
            wait_until_established(kubectl, crd)
        kubectl.apply(*manifests)
        wait("the Prometheus operator is ready", lambda: _ready(kubectl), limit=READY_SECONDS)
        yield
    finally:
        for manifest in manifests:
            if manifest["kind"] in _CLUSTER_WIDE:
                kubectl.delete(manifest["kind"].lower(), manifest["metadata"]["name"])
        kubectl("delete", "crd", "--ignore-not-found", *_CRDS)


def observe(kubectl: Kubectl, labels: dict[str, str]) -> Written:
    """What is written for a Prometheus that selects by these labels in every namespace.

    Returns when it has found something to scrape and rules. It evaluates them each second.
    """
    selected = {"matchLabels": labels}
    kubectl.apply(
        {
            "apiVersion": "monitoring.coreos.com/v1",
            "kind": "Prometheus",
            "metadata": {"name": NAME},
            "spec": {
                # All that a server needs is written; a pod of Debian's could not use it.
                "replicas": 0,
                "version": _prometheus_version(),
                "serviceMonitorSelector": selected,
                "serviceMonitorNamespaceSelector": {},
                "ruleSelector": selected,
                "ruleNamespaceSelector": {},
                "evaluationInterval": "1s",
            },
        }
    )
    return wait(
        "the Prometheus operator finds what the chart made",
        lambda: _written(kubectl),
        limit=READY_SECONDS,
    )


def without_discovery(kubectl: Kubectl, configuration: Manifest) -> Manifest:
    """The configuration with the targets of now in the place of Kubernetes' service discovery."""
    jobs = []
    for job in configuration["scrape_configs"]:
        other = {key: value for key, value in job.items() if key != "kubernetes_sd_configs"}
        other["static_configs"] = [
            group
            for discovery in job["kubernetes_sd_configs"]
            for namespace in discovery["namespaces"]["names"]
            for group in _endpoints(kubectl.within(namespace))
        ]
        jobs.append(other)
    return {**configuration, "scrape_configs": jobs}


def _endpoints(kubectl: Kubectl) -> Iterator[Manifest]:
    """Each address and port of a namespace, with the labels of Prometheus' role `endpoints`.

    https://prometheus.io/docs/prometheus/latest/configuration/configuration/#endpoints
    """
    for endpoints in kubectl.list("endpoints"):
        name = endpoints["metadata"]["name"]
        service = kubectl.get("service", name) or {"metadata": {}}
        about = {"namespace": kubectl.namespace, "endpoints_name": name, "service_name": name}
        for key, value in service["metadata"].get("labels", {}).items():
            label = re.sub(r"[^a-zA-Z0-9_]", "_", key)
            about |= {f"service_label_{label}": value, f"service_labelpresent_{label}": "true"}
        for subset in endpoints.get("subsets", []):
            for address in subset.get("addresses", []):
                target = address.get("targetRef", {})
                of_pod = {"pod_name": target["name"]} if target.get("kind") == "Pod" else {}
                for port in subset.get("ports", []):
                    found = {
                        **about,
                        **of_pod,
                        "endpoint_port_name": port.get("name", ""),
                        "endpoint_address_target_kind": target.get("kind", ""),
                        "endpoint_address_target_name": target.get("name", ""),
                    }
                    yield {
                        "targets": [f"{address['ip']}:{port['port']}"],
                        "labels": {f"__meta_kubernetes_{key}": found[key] for key in found},
                    }


def _import_image() -> None:
    layout = Layout.of_project()
    subprocess.run([layout.sources / "build", PROGRAM], check=True)
    archive = cluster_images.ensure_other(layout, PROGRAM)
    subprocess.run([layout.sources / "cluster", "import", archive], check=True)


def _module() -> Path:
    """The folder of the operator's Go module, fetched where this machine does not have it."""
    pins = Layout.of_project().go_sources / PROMETHEUS_OPERATOR_FOLDER
    command = ["go", "-C", str(pins), "mod", "download", "-json", PROMETHEUS_OPERATOR_MODULE]
    return Path(json.loads(run(command, env={"GOWORK": "off"}))["Dir"])


def _manifests(folder: Path, namespace: str) -> list[Manifest]:
    """Rights, account and Deployment among the module's examples, for the namespace."""
    wanted = {*_CLUSTER_WIDE, "ServiceAccount", "Deployment"}
    found = []
    for file in sorted(folder.glob("*.yaml")):
        manifest: Manifest = yaml.safe_load(file.read_text())
        if manifest["kind"] not in wanted:
            continue
        manifest["metadata"].pop("namespace", None)
        for subject in manifest.get("subjects", []):
            subject["namespace"] = namespace
        if manifest["kind"] == "Deployment":
            (container,) = manifest["spec"]["template"]["spec"]["containers"]
            container["image"] = cluster_images.name(PROGRAM)
            # They are about a list of kubelets in kube-system, and an image that we do not have.
            del container["args"]
            # Without it, it starts soon.
            del container["resources"]["limits"]["cpu"]
        found.append(manifest)
    return found


def _written(kubectl: Kubectl) -> Written | None:
    """None until it has jobs and rules."""
    secret = kubectl.get("secret", f"prometheus-{NAME}") or {}
    packed = secret.get("data", {}).get("prometheus.yaml.gz", "")
    found = kubectl.get("configmap", f"prometheus-{NAME}-rulefiles-0") or {}
    rules: dict[str, str] = found.get("data") or {}
    if not packed or not rules:
        return None
    text = gzip.decompress(base64.b64decode(packed)).decode()
    # As the sidecar does in each pod, for its own.
    text = text.replace("$(SHARD)", "0").replace("$(POD_NAME)", f"prometheus-{NAME}-0")
    configuration: Manifest = yaml.safe_load(text)
    return Written(configuration, rules) if configuration.get("scrape_configs") else None


def _prometheus_version() -> str:
    """Of Debian's, by which the operator chooses what it writes: `v2.42.0`."""
    said = run(["prometheus", "--version"])
    return "v" + said.split("version ", 1)[1].split("+")[0].split()[0]


def _ready(kubectl: Kubectl) -> bool:
    status = (kubectl.get("deployment", PROGRAM) or {}).get("status", {})
    return bool(status.get("readyReplicas") == 1)

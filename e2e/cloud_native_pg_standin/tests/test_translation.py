"""Cluster -> Services, claims, Jobs and pods."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from standin.cloud_native_pg import UntranslatableError
from standin.configuration import custom_conf, synchronous_standby_names
from standin.instance import claim, job, pod
from standin.services import services
from standin.translation import Cluster, translate

GOLDEN = Path(__file__).parents[3] / "operator" / "tests" / "targets" / "golden"
# What the API server adds: defaults of CloudNativePG's schema.
DEFAULTS: dict[str, Any] = {
    "failoverDelay": 0,
    "logLevel": "info",
    "maxSyncReplicas": 0,
    "minSyncReplicas": 0,
    "primaryUpdateMethod": "restart",
    "primaryUpdateStrategy": "unsupervised",
    "replicationSlots": {
        "highAvailability": {"enabled": True, "slotPrefix": "_cnpg_"},
        "synchronizeReplicas": {"enabled": True},
        "updateInterval": 30,
    },
    "startDelay": 3600,
    "switchoverDelay": 3600,
}


def document(case: str = "cloudnativepg") -> dict[str, Any]:
    """The very cluster that dbbench builds, as the API server keeps it."""
    found = yaml.safe_load((GOLDEN / case / "cluster-quickstart-cnpg.yaml").read_text())
    found["metadata"]["uid"] = "u-1"
    found["spec"] |= DEFAULTS
    found["spec"]["monitoring"]["enablePodMonitor"] = False
    found["spec"]["storage"]["resizeInUseVolumes"] = True
    return found


def cluster(case: str = "cloudnativepg") -> Cluster:
    return translate(document(case))


def changed(path: str, value: Any) -> dict[str, Any]:
    found = copy.deepcopy(document())
    *parents, last = path.split(".")
    at = found["spec"]
    for key in parents:
        at = at.setdefault(key, {})
    at[last] = value
    return found


@pytest.mark.parametrize(
    "case", sorted(path.parent.name for path in GOLDEN.glob("*/cluster-quickstart-cnpg.yaml"))
)
def test_every_cluster_that_dbbench_builds_is_carried_out(case: str) -> None:
    found = cluster(case)
    for serial in found.serials:
        (container,) = pod(found, serial)["spec"]["containers"]
        assert container["resources"] == document(case)["spec"]["resources"]


def test_a_pod_has_the_names_labels_and_owner_that_cloudnativepg_gives() -> None:
    metadata = pod(cluster(), 1)["metadata"]
    assert metadata["name"] == "quickstart-cnpg-1"
    assert metadata["labels"]["cnpg.io/cluster"] == "quickstart-cnpg"
    assert metadata["labels"]["cnpg.io/podRole"] == "instance"
    assert metadata["labels"]["cnpg.io/instanceRole"] == "primary"
    assert metadata["labels"]["dbbench.io/target"] == "cnpg"
    (owner,) = metadata["ownerReferences"]
    assert (owner["kind"], owner["uid"], owner["controller"]) == ("Cluster", "u-1", True)


def test_pods_are_placed_and_limited_as_the_cluster_says() -> None:
    spec = pod(cluster("cloudnativepg-storage-class"), 1)["spec"]
    assert spec["nodeSelector"] == {"kubernetes.io/hostname": "bench-db"}
    assert spec["tolerations"] == [{"key": "bench", "operator": "Exists", "effect": "NoSchedule"}]
    assert spec["terminationGracePeriodSeconds"] == 120
    volumes = {volume["name"]: volume for volume in spec["volumes"]}
    assert volumes["shm"]["emptyDir"] == {"medium": "Memory", "sizeLimit": "1Gi"}
    assert volumes["pgdata"]["persistentVolumeClaim"] == {"claimName": "quickstart-cnpg-1"}


def test_a_claim_has_the_size_and_the_class_of_the_storage() -> None:
    found = claim(cluster("cloudnativepg-storage-class"), 1)
    assert found["spec"]["resources"]["requests"] == {"storage": "2Gi"}
    assert found["spec"]["storageClassName"] == "fast"
    assert found["metadata"]["annotations"]["cnpg.io/pvcStatus"] == "initializing"


@pytest.mark.parametrize("serial", [1, 2])
def test_pods_are_restricted(serial: int) -> None:
    found = cluster("cloudnativepg-standbys")
    for spec in (pod(found, serial)["spec"], job(found, serial)["spec"]["template"]["spec"]):
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["runAsUser"] == 999
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert spec["automountServiceAccountToken"] is False
        (container,) = spec["containers"]
        security = container["securityContext"]
        assert security["allowPrivilegeEscalation"] is False
        assert security["capabilities"] == {"drop": ["ALL"]}
        assert security["readOnlyRootFilesystem"] is True


def test_the_first_instance_is_made_and_the_others_are_joined() -> None:
    found = cluster("cloudnativepg-standbys")
    made, joined = job(found, 1), job(found, 2)
    assert made["metadata"]["name"] == "quickstart-cnpg-1-initdb"
    assert joined["metadata"]["name"] == "quickstart-cnpg-2-join"
    assert joined["spec"]["template"]["metadata"]["labels"]["cnpg.io/jobRole"] == "join"
    (container,) = made["spec"]["template"]["spec"]["containers"]
    assert container["args"] == ["ALTER ROLE dbbench SUPERUSER"]
    (container,) = joined["spec"]["template"]["spec"]["containers"]
    assert {"name": "PRIMARY", "value": "quickstart-cnpg-rw"} in container["env"]
    assert pod(found, 2)["metadata"]["labels"]["cnpg.io/instanceRole"] == "replica"


def test_text_of_the_cluster_is_neither_expanded_nor_part_of_a_script() -> None:
    statement = "SELECT '$(PGDATA)' || $$ ; rm -rf / $$"
    found = translate(changed("bootstrap.initdb.postInitApplicationSQL", [statement]))
    (container,) = job(found, 1)["spec"]["template"]["spec"]["containers"]
    # Kubernetes makes one dollar of two.
    assert [text.replace("$$", "$") for text in container["args"]] == [statement]
    assert "$$(PGDATA)" in container["args"][0]
    assert "rm -rf /" not in container["command"][2].replace('rm -rf "', "")


def test_the_services_lead_to_the_primary_the_standbys_and_all() -> None:
    found = {one["metadata"]["name"]: one["spec"]["selector"] for one in services(cluster())}
    own = {"cnpg.io/cluster": "quickstart-cnpg"}
    assert found == {
        "quickstart-cnpg-rw": own | {"cnpg.io/instanceRole": "primary"},
        "quickstart-cnpg-ro": own | {"cnpg.io/instanceRole": "replica"},
        "quickstart-cnpg-r": own | {"cnpg.io/podRole": "instance"},
    }


def test_the_settings_are_the_cluster_s_beside_cloudnativepg_s_own() -> None:
    text = custom_conf(translate(changed("postgresql.parameters", {"work_mem": "it's \\1"})), 1)
    lines = text.splitlines()
    assert "work_mem = 'it''s \\\\1'" in lines
    assert "max_worker_processes = '32'" in lines
    assert "synchronous_standby_names = ''" in lines


def test_commits_wait_for_the_standbys_that_the_cluster_says() -> None:
    names = synchronous_standby_names(cluster("cloudnativepg-standbys"))
    assert names == 'FIRST 2 ("quickstart-cnpg-2","quickstart-cnpg-3")'


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("backup", {"target": "primary"}),
        ("backup", {}),
        ("walStorage", {"size": "1Gi"}),
        ("enableSuperuserAccess", True),
        ("replica", {"enabled": True, "source": "other"}),
        ("bootstrap.initdb.encoding", "LATIN1"),
        ("postgresql.synchronous", {"method": "any", "number": 1, "dataDurability": "preferred"}),
        ("affinity.enablePodAntiAffinity", True),
        ("managed", {"roles": [{"name": "other"}]}),
    ],
)
def test_what_is_not_done_is_refused_by_name(path: str, value: Any) -> None:
    with pytest.raises(UntranslatableError, match=rf"spec\.{path}.* is not done by the stand-in"):
        translate(changed(path, value))


def test_what_is_needed_and_absent_is_refused_by_name() -> None:
    found = document()
    del found["spec"]["bootstrap"]["initdb"]["secret"]
    with pytest.raises(UntranslatableError, match=r"spec\.bootstrap\.initdb\.secret\.name"):
        translate(found)

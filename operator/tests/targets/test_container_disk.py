"""What starts the database on a disk that boots by itself."""

import json
from typing import Any

import yaml

from dbbench.targets import foundation, instance, preparation
from dbbench.targets.container_disk import user_data

from .conftest import context

# The most that KubeVirt's admission takes of user data that are not in a Secret, in bytes.
KUBEVIRT_LIMIT = 2048
HOSTILE = 'x\'; DROP "$(reboot)"\\'


def machine(**disk: Any) -> dict[str, Any]:
    found = {"runtime": "KubeVirt", "containerDisk": {"image": "debian-postgres:17", **disk}}
    return {"name": "vm", "virtualMachine": found}


def built(target: dict[str, Any]) -> list[dict[str, Any]]:
    """Everything of it, with a setting that would not like to be text of another file."""

    def change(body: dict[str, Any]) -> None:
        body["spec"]["targets"][1] = target
        body["spec"]["database"]["config"] = {"application_name": HOSTILE}

    ctx = context(change, kubevirt=True)
    chosen = ctx.spec.target("vm")
    assert preparation(ctx, chosen) is None
    return [*foundation(ctx, chosen), instance(ctx, chosen, True)]


def volumes(target: dict[str, Any]) -> dict[str, Any]:
    (found,) = [one for one in built(target) if one["kind"] == "VirtualMachine"]
    return {one["name"]: one for one in found["spec"]["template"]["spec"]["volumes"]}


def test_the_user_data_fit_into_a_virtual_machine_and_say_what_is_meant() -> None:
    text = user_data()
    assert text.startswith("#cloud-config\n")
    assert len(text.encode()) <= KUBEVIRT_LIMIT
    document = yaml.safe_load(text)
    (unit,) = document["write_files"]
    assert unit["path"] == "/run/systemd/system/dbbench.service"
    assert "ExecStart=/run/dbbench/dbbench-driver agent guest\n" in unit["content"]
    assert "KillMode=mixed\n" in unit["content"]
    # Lists alone: no shell reads them.
    assert all(isinstance(command, list) for command in document["runcmd"])
    assert document["runcmd"][-1][-1] == "dbbench.service"


def test_nothing_of_a_benchmark_is_in_the_user_data() -> None:
    options = machine(user="pg", binaries="/usr/lib/postgresql/17/bin")
    for target in (machine(), options):
        given = volumes(target)["cloudinit"]["cloudInitNoCloud"]
        assert given == {"userData": user_data()}
    assert "secretName" in volumes(options)["secret"]["secret"]


def test_the_agent_reads_the_users_words_from_a_document() -> None:
    target = machine(user="pg", binaries="/opt/pg-17/bin")
    target["virtualMachine"]["dataDisk"] = {"readAhead": "128Ki"}
    (files,) = [one["data"] for one in built(target) if one["kind"] == "ConfigMap"]
    assert json.loads(files["guest.json"]) == {
        "user": "pg",
        "directories": ["/var/run/postgresql"],
        "binaries": "/opt/pg-17/bin",
        "readAheadKb": 128,
    }


def test_no_claim_and_no_job_are_made_for_a_root_disk() -> None:
    kinds = [one["kind"] for one in built(machine())]
    assert sorted(kinds) == ["ConfigMap", "PersistentVolumeClaim", "Service", "VirtualMachine"]

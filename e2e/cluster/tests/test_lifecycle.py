"""A whole cluster of two nodes: started, used, broken, started again, removed.

The tests share one cluster and run in the order in which they stand.
"""

import json
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from localcluster import cgroups, gobuild
from localcluster.cluster_images import ensure as ensure_images
from localcluster.layout import Layout
from localcluster.processes import Processes, children, kill
from localcluster.progress import Progress
from sandbox import Sandbox

NODES = "check-a,check-b"
PODS = (Path(__file__).parent / "pods.yaml").read_text()


class Clone:
    """One copy of the project in the sandbox, driven by its command line."""

    def __init__(self, sandbox: Sandbox, name: str) -> None:
        self.sandbox = sandbox
        self.layout = Layout(sandbox.clone(name))
        self._program = str(self.layout.sources / "cluster")

    def cluster(self, *arguments: str) -> str:
        return self.sandbox.run([self._program, *arguments])

    def try_cluster(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return self.sandbox.try_run([self._program, *arguments])

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        kubectl = str(self.layout.bin / "kubectl")
        return self.sandbox.run(
            [kubectl, f"--kubeconfig={self.layout.kubeconfig}", *arguments], stdin
        )

    def in_pod(self, pod: str, *command: str) -> str:
        return self.kubectl("--namespace=check", "exec", pod, "--", *command)

    def pids(self) -> dict[str, int]:
        records = self.layout.processes.glob("*.json")
        return {record.stem: json.loads(record.read_text())["pid"] for record in records}

    def kill(self, name: str) -> None:
        # The records hold pids of the sandbox's own process list.
        self.sandbox.run(["kill", "-KILL", str(self.pids()[name])])


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    layout, progress = Layout.of_project(), Progress()
    gobuild.Builder(layout.go_sources, layout.bin, progress).build(gobuild.select([]))
    ensure_images(layout)
    made = Sandbox()
    yield made
    made.close()


@pytest.fixture(scope="module")
def clone(sandbox: Sandbox) -> Clone:
    made = Clone(sandbox, "first")
    made.cluster("up", "--nodes", NODES)
    made.kubectl("apply", "--filename=-", stdin=PODS)
    ready = ("wait", "--for=condition=Ready", "pod", "--all", "--timeout=120s")
    made.kubectl("--namespace=check", *ready)
    return made


def eventually(clone: Clone, pod: str, *command: str) -> str:
    """A command's output once it succeeds: rules for a new Service reach a node with a delay."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return clone.in_pod(pod, *command)
        except AssertionError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)


def test_status_finds_every_part_well(clone: Clone) -> None:
    lines = clone.cluster("status").splitlines()
    assert [line for line in lines if not line.startswith("ok ")] == []
    assert len(lines) == 8


def test_service_answers_by_its_name_from_the_other_node(clone: Clone) -> None:
    served = eventually(clone, "client", "wget", "-qO-", "http://server.check/index.html")
    assert served == clone.in_pod("server", "cat", "/data/index.html")


def test_service_answers_the_pod_behind_it(clone: Clone) -> None:
    # By its long name: the short one is the pod's own host name.
    served = eventually(clone, "server", "wget", "-qO-", "http://server.check/index.html")
    assert served == clone.in_pod("server", "cat", "/data/index.html")


def test_name_outside_the_cluster_does_not_exist(clone: Clone) -> None:
    with pytest.raises(AssertionError, match="NXDOMAIN"):
        clone.in_pod("client", "nslookup", "example.org")


def test_api_server_is_reached_through_its_service(clone: Clone) -> None:
    url = "https://kubernetes.default/version"
    version = eventually(clone, "client", "wget", "--no-check-certificate", "-qO-", url)
    assert json.loads(version)["gitVersion"] == "v1.34.4"


def test_guaranteed_pod_has_a_core_of_its_own(clone: Clone) -> None:
    status = clone.in_pod("server", "cat", "/proc/self/status")
    allowed = re.search(r"Cpus_allowed_list:\s*(\S+)", status)
    assert allowed is not None
    assert allowed[1].isdigit()
    assert allowed[1] != "0"


def test_volume_belongs_to_the_pods_group_and_lies_in_the_clusters_state(clone: Clone) -> None:
    assert clone.in_pod("server", "stat", "-c", "%g", "/data") == "65532\n"
    files = list((clone.layout.node("check-a") / "var/lib/local-path").glob("*/index.html"))
    assert len(files) == 1


def test_host_reaches_pods(clone: Clone) -> None:
    address = clone.kubectl(
        "--namespace=check", "get", "pod", "server", "--output=jsonpath={.status.podIP}"
    )
    fetch = (
        "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=10).status)"
    )
    url = f"http://{address}:8080/index.html"
    assert clone.sandbox.run(["python3", "-c", fetch, url]) == "200\n"


def test_logs_are_read_and_image_is_known_by_its_digest(clone: Clone) -> None:
    assert clone.kubectl("--namespace=check", "logs", "server") == "serving\n"
    path = "--output=jsonpath={.status.containerStatuses[0].imageID}"
    image = clone.kubectl("--namespace=check", "get", "pod", "server", path)
    assert re.fullmatch(r"localhost/dbbench/busybox@sha256:[0-9a-f]{64}", image)


def test_second_up_leaves_everything_running_as_it_is(clone: Clone) -> None:
    before = clone.pids()
    clone.cluster("up")
    assert clone.pids() == before


def test_second_import_imports_nothing(clone: Clone) -> None:
    shown = clone.cluster("import", str(clone.layout.images / "busybox.tar"))
    assert shown.splitlines() == [f"{n}: 0 imported, 1 already there" for n in NODES.split(",")]


def test_other_nodes_are_refused_while_the_cluster_runs(clone: Clone) -> None:
    refused = clone.try_cluster("up", "--nodes", "check-c")
    assert refused.returncode == 1
    assert "the cluster has the nodes check-a, check-b" in refused.stderr


def test_another_clone_is_told_whose_cluster_runs(clone: Clone) -> None:
    other = Clone(clone.sandbox, "second")
    refused = other.try_cluster("up", "--nodes", "check-c")
    assert refused.returncode == 1
    assert f"stop it first: {clone.layout.project}/e2e/cluster/cluster down" in refused.stderr
    other.cluster("down")
    clone.cluster("status")


def test_dead_control_plane_is_reported_and_started_again(clone: Clone) -> None:
    for name in ("etcd", "kube-apiserver", "kube-scheduler"):
        clone.kill(name)
    reported = clone.try_cluster("status")
    assert reported.returncode == 1
    assert re.search(r"^FAIL  kube-scheduler +not running", reported.stdout, re.MULTILINE)
    clone.cluster("up")
    clone.cluster("status")


def test_node_loses_power_and_its_pod_comes_back_with_its_data(clone: Clone) -> None:
    before = clone.in_pod("server", "stat", "-c", "%i", "/data/index.html")
    clone.cluster("node", "stop", "check-a")
    assert "FAIL  node check-a" in clone.try_cluster("status").stdout
    clone.cluster("node", "start", "check-a")
    assert eventually(clone, "server", "stat", "-c", "%i", "/data/index.html") == before
    restarted = "--for=jsonpath={.status.containerStatuses[0].restartCount}=1"
    clone.kubectl("--namespace=check", "wait", "pod/server", restarted, "--timeout=60s")


def test_dead_daemon_of_a_node_is_restarted_by_the_node(clone: Clone) -> None:
    log = clone.layout.logs / "node-check-b.log"
    kill([clone.sandbox.process(str(clone.layout.bin / "kubelet"), "--hostname-override=check-b")])
    deadline = time.monotonic() + 60
    while "kubelet ended with -9; restarting" not in log.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def assert_nothing_is_left(clone: Clone) -> None:
    assert not clone.layout.state.exists()
    assert clone.sandbox.run(["ip", "netns", "list"]) == ""
    links = json.loads(clone.sandbox.run(["ip", "-j", "link", "show"]))
    assert [link["ifname"] for link in links if link["ifname"].startswith("dbbench")] == []
    assert "10." not in clone.sandbox.run(["ip", "-4", "route", "show", "table", "all"])
    assert cgroups.existing("dbbench-node-check-") == []
    mounts = clone.sandbox.run(["cat", "/proc/self/mountinfo"])
    assert str(clone.layout.state) not in mounts
    # What has ended (Z) stays listed until the sandbox's first process collects it.
    processes = [
        line.split() for line in clone.sandbox.run(["ps", "-A", "-o", "stat=,comm="]).splitlines()
    ]
    assert {name for state, name, *_ in processes if state[0] != "Z"} <= {"pause", "ps"}


def test_down_leaves_nothing_and_can_be_repeated(clone: Clone) -> None:
    clone.cluster("down")
    assert_nothing_is_left(clone)
    clone.cluster("down")


def test_down_cleans_up_after_a_start_that_was_killed_half_way(clone: Clone) -> None:
    program = str(clone.layout.sources / "cluster")
    with subprocess.Popen(clone.sandbox.command(program, "up", "--nodes", NODES)) as start:
        while "node-check-a" not in clone.pids():
            assert start.poll() is None
            time.sleep(0.05)
        kill(children(start.pid))
    clone.cluster("down")
    assert_nothing_is_left(clone)


def test_orphan_of_a_deleted_clone_is_named_and_removed(clone: Clone) -> None:
    lost = Clone(clone.sandbox, "lost")
    lost.cluster("up", "--nodes", "check-a")
    clone.sandbox.run(["mv", str(lost.layout.project), f"{lost.layout.project}.away"])
    refused = clone.try_cluster("up", "--nodes", NODES)
    assert "cluster down --orphan" in refused.stderr
    clone.cluster("down", "--orphan")
    assert_nothing_is_left(lost)


def test_what_a_dead_cluster_left_is_removed_by_the_next_start(clone: Clone) -> None:
    dead = Clone(clone.sandbox, "dead")
    dead.cluster("up", "--nodes", "check-a")
    kill(Processes(dead.layout.state, dead.layout.processes, dead.layout.logs).all())
    started = clone.try_cluster("up", "--nodes", "check-a")
    assert started.returncode == 0, started.stderr
    assert "dead cluster" in started.stderr
    assert not dead.layout.state.exists()
    clone.cluster("down")
    assert_nothing_is_left(clone)

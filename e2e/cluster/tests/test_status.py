"""The status of a cluster of which nothing runs, and how progress is shown."""

import io
from ipaddress import IPv4Network
from pathlib import Path

import pytest
from localcluster import status
from localcluster.addresses import plan
from localcluster.layout import Layout
from localcluster.pki import Pki
from localcluster.progress import Progress

# Loopback: nothing listens there, and the kernel says so at once.
ADDRESSES = plan(IPv4Network("127.213.0.0/16"), ["bench-db"])


def test_cluster_of_which_nothing_runs_is_reported_part_by_part(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    Pki(layout.pki).ensure(ADDRESSES)
    lines = status.gather(ADDRESSES, layout)
    assert not any(line.is_well for line in lines)
    assert [line.part for line in lines] == [
        "etcd",
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
        "node bench-db",
        "API server",
    ]


def test_table_marks_what_is_not_well() -> None:
    table = status.render(
        [status.Line("etcd", True, "pid 1"), status.Line("node a", False, "not running")]
    )
    assert table.splitlines() == ["ok    etcd    pid 1", "FAIL  node a  not running"]


def test_task_is_reported_with_its_outcome() -> None:
    stream = io.StringIO()
    progress = Progress(stream)
    with progress.task("first"):
        pass
    with pytest.raises(ValueError, match="broken"), progress.task("second"):
        raise ValueError("broken")
    first, second = stream.getvalue().splitlines()
    assert first.startswith("  ok     first ")
    assert second.startswith("  failed second ")

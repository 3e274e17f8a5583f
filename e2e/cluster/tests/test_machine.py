"""What the machine offers, and what it gets back."""

from pathlib import Path

import pytest
from localcluster import kernel_settings, machine, network, record
from localcluster.addresses import free_network, plan
from localcluster.cluster import Cluster
from localcluster.errors import ClusterError
from localcluster.layout import Layout
from localcluster.node_init import covered_by
from localcluster.progress import Progress
from localcluster.teardown import mounts_below


def test_capabilities_are_read_from_the_mask() -> None:
    assert machine.has_capability("000001fffeffffff", 21)
    assert not machine.has_capability("000001fffeffffff", 24)


def test_cni_programs_must_all_be_in_one_folder(tmp_path: Path) -> None:
    half, whole = tmp_path / "half", tmp_path / "whole"
    for folder, programs in (
        (half, ("ptp", "loopback")),
        (whole, ("ptp", "portmap", "host-local", "loopback")),
    ):
        folder.mkdir()
        for program in programs:
            (folder / program).touch()
    assert machine.cni_folder([str(half), str(whole)]) == str(whole)
    assert machine.cni_folder([str(half)]) is None


def test_missing_programs_are_named_by_their_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert {"containerd", "runc", "nftables", "openssl"} <= set(machine.missing_packages())


def test_without_apt_the_packages_are_left_to_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ClusterError, match="lacks nftables, socat and has no apt-get"):
        machine.install_packages(["nftables", "socat"])


def test_this_machine_passes_and_full_disk_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.check(tmp_path / "not/there/yet")
    monkeypatch.setattr(machine, "_DISK_GIB", 2**30)
    with pytest.raises(ClusterError, match="GiB free, 1073741824 GiB are needed: make room"):
        machine.check(tmp_path / "not/there/yet")


def test_cluster_that_was_begun_asks_for_no_free_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "_DISK_GIB", 2**30)
    monkeypatch.setattr(network, "owner", lambda: None)
    layout = Layout(tmp_path)
    cluster = Cluster(layout, Progress())
    with pytest.raises(ClusterError, match="GiB are needed: make room"):
        cluster.up(["other"])
    record.write(layout, plan(free_network([]), ["mine"]))
    # It gets past the machine, to the next thing that is wrong.
    with pytest.raises(ClusterError, match="the cluster has the nodes mine"):
        cluster.up(["other"])


def test_kernel_settings_are_put_back_as_they_were_before_the_first_start(tmp_path: Path) -> None:
    panic = tmp_path / "sys/kernel/panic"
    panic.parent.mkdir(parents=True)
    panic.write_text("1\n")
    kernel_settings.save(tmp_path / "record.json", tmp_path / "sys")
    panic.write_text("10\n")
    kernel_settings.save(tmp_path / "record.json", tmp_path / "sys")
    kernel_settings.restore(tmp_path / "record.json", tmp_path / "sys")
    assert panic.read_text() == "1"


def test_without_a_record_no_kernel_setting_is_touched(tmp_path: Path) -> None:
    kernel_settings.restore(tmp_path / "record.json", tmp_path / "sys")


def test_project_below_a_nodes_own_folder_is_noticed() -> None:
    assert covered_by(Path("/var/lib/jenkins/dbbench"), ("/var/lib", "/run"))
    assert not covered_by(Path("/var/library/dbbench"), ("/var/lib", "/run"))


def test_mounts_below_a_folder_are_found_innermost_first() -> None:
    mountinfo = (
        "1 0 8:1 / / rw - ext4 /dev/vda rw\n"
        "2 1 0:5 / /s/cluster/a rw - tmpfs tmpfs rw\n"
        "3 2 0:6 / /s/cluster/a/b rw - tmpfs tmpfs rw\n"
        "4 1 0:7 / /s/clusters rw - tmpfs tmpfs rw\n"
    )
    assert mounts_below(mountinfo, Path("/s/cluster")) == ["/s/cluster/a/b", "/s/cluster/a"]


def test_package_is_downloaded_and_not_installed(tmp_path: Path) -> None:
    file = machine.download_package("busybox-static", tmp_path)
    assert file.parent == tmp_path
    assert file.stat().st_size > 0

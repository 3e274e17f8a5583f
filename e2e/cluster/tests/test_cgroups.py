"""Reading the machine's cgroup trees, and a cgroup made and removed in them."""

import os
import subprocess
from pathlib import Path

import pytest
from localcluster import cgroups
from localcluster.cgroups import Hierarchy

HYBRID = """\
22 1 0:20 / /sys rw - sysfs sysfs rw
25 22 0:22 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
26 25 0:23 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct
27 25 0:24 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
28 25 0:25 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd
29 25 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
"""
UNIFIED = "30 22 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"


def test_hybrid_machine_has_its_v1_trees_and_the_unified_one() -> None:
    assert cgroups.parse_mounts(HYBRID) == [
        Hierarchy(Path("/sys/fs/cgroup/cpu"), ("cpu", "cpuacct"), 1),
        Hierarchy(Path("/sys/fs/cgroup/memory"), ("memory",), 1),
        Hierarchy(Path("/sys/fs/cgroup/systemd"), ("name=systemd",), 1),
        Hierarchy(Path("/sys/fs/cgroup/unified"), (), 2),
    ]


def test_missing_v1_controllers_are_named() -> None:
    assert cgroups.missing_controllers(cgroups.parse_mounts(HYBRID)) == ["cpuset", "pids"]


@pytest.mark.parametrize(
    ("offered", "missing"),
    [("cpuset cpu io memory pids", []), ("cpu io pids", ["cpuset", "memory"])],
)
def test_missing_v2_controllers_are_named(tmp_path: Path, offered: str, missing: list[str]) -> None:
    (tmp_path / "cgroup.controllers").write_text(f"{offered}\n")
    assert cgroups.missing_controllers([Hierarchy(tmp_path, (), 2)]) == missing


def test_cgroup_in_use_is_not_abandoned() -> None:
    name = f"dbbench-check-{os.getpid()}"
    cgroups.ensure(name)
    tree = cgroups.hierarchies()[0].mount
    with subprocess.Popen(["sleep", "60"]) as member:
        try:
            (tree / name / "system/cgroup.procs").write_text(str(member.pid))
            assert cgroups.abandoned(name) == []
        finally:
            member.kill()
    cgroups.remove(name)


def test_unified_mount_is_version_two() -> None:
    assert cgroups.parse_mounts(UNIFIED) == [Hierarchy(Path("/sys/fs/cgroup"), (), 2)]


def test_cgroup_takes_processes_and_is_removed_with_all_below_it() -> None:
    name = f"dbbench-check-{os.getpid()}"
    cgroups.ensure(name)
    try:
        entered = "from localcluster import cgroups; import sys; cgroups.enter(sys.argv[1])"
        shown = "print(open('/proc/self/cgroup').read())"
        completed = subprocess.run(
            ["python3", "-c", f"{entered}; {shown}", name],
            env={**os.environ, "PYTHONPATH": str(Path(cgroups.__file__).parents[1])},
            capture_output=True,
            text=True,
            check=True,
        )
        paths = [line.split(":", 2)[2] for line in completed.stdout.split()]
        assert set(paths) == {f"/{name}/system"}
        assert cgroups.abandoned(name) == [name]
    finally:
        cgroups.remove(name)
    assert cgroups.existing(name) == []

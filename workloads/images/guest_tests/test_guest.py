"""The database's image as a guest, under emulation, beside the same image as a container."""

import json

import pytest
from containers import wait_until

# What the database's user sees, in pod and guest. Files that a runtime writes are left out, and
# those that only root can read.
RUNTIME = r"/etc/(hosts|hostname|resolv\.conf|mtab)$"
ENVIRONMENT = "env | grep -E '^(HOME|PATH|LANG|PG_MAJOR|PGDATA|POSTGRES_DB)=' | sort"
LIMITS = "cat /proc/self/limits"
FILES = (
    "find /usr/lib/postgresql /etc -xdev -type f -readable "
    f"| grep -vE '{RUNTIME}' | sort | xargs sha256sum | sha256sum"
)
MEMORY = {
    "workProcesses": 1, "tableBytes": 4_000_000, "recordBytes": 128, "pages": "4K",
    "physicalCpus": None, "warmupMilliseconds": 0, "durationMilliseconds": 500,
    "maxSystemPercent": 50.0, "seed": 7,
}  # fmt: skip
OWNERS_OF_WORK_PROCESSES = (
    "grep -lsa work-process /proc/[0-9]*/cmdline | xargs -n1 dirname "
    "| xargs stat -c %u 2>/dev/null | sort -u"
)
METADATA = (
    "find /usr /etc /var -xdev ! -path /var/run/postgresql -printf '%p %m %U %G %y %l\\n' "
    f"| grep -vE '{RUNTIME[:-1]} ' | sort | sha256sum"
)


def test_a_guest_runs_the_same_bits_under_the_same_conditions_as_the_pod(bench) -> None:
    code, output = bench.pack()
    assert code == 0, output
    bench.configure({"workloads": ["zachmann"]})
    seen = {}
    for kind, start in (("pod", bench.pod), ("guest", bench.guest)):
        with start() as started:
            bench.wait_until_ready(started)
            seen[kind] = {
                "version": bench.sql("SELECT version()"),
                "settings": bench.sql("SELECT name, setting FROM pg_settings ORDER BY name"),
                "groups": bench.shell("id"),
                "environment": bench.shell(ENVIRONMENT),
                "limits": bench.shell(LIMITS),
                "files": bench.shell(FILES),
                "metadata": bench.shell(METADATA),
            }
            facts = json.loads(bench.get("/v1/facts")[1])
            counters = json.loads(bench.get("/v1/counters")[1])
            for fact in ("serverExecutable", "limits", "transparentHugepages", "osRelease"):
                seen[kind][fact] = facts[fact]
            seen[kind]["readAheadKb"] = facts["dataMount"]["readAheadKb"]
            bench.post("/v1/workload", {"zachmann": MEMORY})
            # It waits now, and belongs to the database's user; so does this search, which it finds.
            assert bench.shell(OWNERS_OF_WORK_PROCESSES) == "999"
            memory = bench.post("/v1/workload/start")
            assert memory["target"]["facts"]["hypervisor"] == facts["hypervisor"]
            assert [process["wrongRecords"] for process in memory["workProcesses"]] == [0]
            assert memory["metrics"][0]["value"] > 0
            # An emulated CPU may spend a large share of its time in the kernel.
            assert all(why.startswith("system time") for why in memory["invalidReasons"])
            assert counters["processes"]["count"] >= 6
            assert counters["cpu"]["userSeconds"] > 0
            if kind == "guest":
                assert facts["hypervisor"] == "TCG"
                assert facts["emulated"] is True
                assert facts["dataMount"]["fstype"] == "ext4"
                assert facts["cpusAllowed"] == [0]
                assert facts["memoryBytes"] < 512 << 20
                assert counters["io"]["writeBytes"] > 0
                assert bench.shell("stat -c '%a %u' /dbbench/secret/password") == "400 999"
                assert bench.shell(
                    "df --output=fstype /tmp /dev/shm /run | sort -u | paste -sd,"
                ) == ("Type,ext4,tmpfs")
            assert started.stop() == 0, started.output()
        if kind == "pod":
            # The guest gets a volume of its own.
            for entry in (bench.folder / "data").iterdir():
                entry.rename(bench.folder / f"pod-{entry.name}")
    assert seen["guest"] == seen["pod"]
    assert seen["guest"]["readAheadKb"] is not None


def test_what_is_committed_survives_a_power_down(bench) -> None:
    assert bench.pack()[0] == 0
    with bench.guest() as started:
        bench.wait_until_ready(started)
        bench.sql("CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n")
        assert started.stop() == 0, started.output()
        assert "database system is shut down" in started.output()
    with bench.guest() as started:
        bench.wait_until_ready(started)
        assert bench.sql("SELECT sum(n) FROM kept") == "500500"
        assert "was not properly shut down" not in started.output()
        assert "blank data disk" not in started.output()
        assert started.stop() == 0


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"command": ["no-such-program"]}, '"no-such-program" is not in PATH'),
        ({"command": ["false"]}, "the database ended by itself with exit code 1"),
        ({"stopSignal": "SIGNONE"}, "SIGNONE"),
    ],
)
def test_a_guest_that_cannot_work_says_why_and_ends(bench, changes: dict, reason: str) -> None:
    assert bench.pack()[0] == 0
    bench.configure(changes)
    with bench.guest() as started:
        assert started.process.wait(240) == 1
        output = started.output()
    assert "dbbench-guest: failed: " in output
    last = output.strip().splitlines()[-1]
    assert last.startswith("dbbench-agent: the guest failed: ")
    assert reason in last


def test_a_guest_killed_while_it_initialises_starts_again_from_the_beginning(bench) -> None:
    assert bench.pack()[0] == 0
    with bench.guest() as started:
        wait_until(lambda: "creating" in started.output() or bench.ready(), "initdb", started)
    with bench.guest() as started:
        bench.wait_until_ready(started)
        assert bench.sql("SELECT current_database()") == "dbbench"
        assert started.stop() == 0


def test_a_microvm_is_not_emulated(bench) -> None:
    with bench.guest({"machine": "microvm"}) as started:
        assert started.process.wait(60) == 1
        assert '"microvm" needs KVM' in started.output()


def test_a_missing_disk_is_named(bench) -> None:
    with bench.guest() as started:
        assert started.process.wait(60) == 1
        assert 'disk "root", /dbbench/root/disk.img: No such file' in started.output()


def test_a_finished_root_disk_is_kept_and_a_half_written_one_is_made_again(bench) -> None:
    assert bench.pack()[0] == 0
    disk = bench.folder / "root" / "disk.img"
    owner = disk.stat()
    assert (owner.st_uid, owner.st_gid, owner.st_mode & 0o777) == (0, 107, 0o660)
    made = owner.st_ino
    code, output = bench.pack()
    assert code == 0
    assert "is up to date" in output
    assert disk.stat().st_ino == made
    (bench.folder / "root" / "disk.img.stamp").unlink()
    assert bench.pack()[0] == 0
    assert disk.stat().st_ino != made
    assert sorted(path.name for path in disk.parent.iterdir()) == ["disk.img", "disk.img.stamp"]


def test_a_root_disk_that_is_too_small_is_an_error_and_leaves_nothing(bench) -> None:
    code, output = bench.pack("64Mi")
    assert code == 1
    assert "too small" in output
    assert list((bench.folder / "root").iterdir()) == []

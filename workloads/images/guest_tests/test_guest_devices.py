"""A guest with other memory, CPUs and disks than by default, under emulation."""

import json


def test_a_guest_has_its_data_in_memory_its_huge_pages_and_its_topology(bench) -> None:
    code, output = bench.pack()
    assert code == 0, output
    bench.configure({"dataInMemoryBytes": 256 << 20})
    root_alone = [{"serial": "root", "file": "/dbbench/root/disk.img"}]
    changes = {
        "cpus": 2,
        "topology": {"sockets": 2, "cores": 1, "threads": 1},
        "cmdline": "console=ttyS0 quiet net.ifnames=0 panic=-1 hugepagesz=2M hugepages=60",
        "disks": root_alone,
    }
    with bench.guest(changes=changes) as started:
        bench.wait_until_ready(started)
        facts = json.loads(bench.get("/v1/facts")[1])
        assert facts["dataMount"]["fstype"] == "tmpfs"
        size = bench.shell("df --output=size --block-size=1 /dbbench/data | tail -n 1")
        assert int(size) == 256 << 20
        assert facts["hugePages"] == {"2Mi": 120 << 20}
        # huge_pages = try, with room for 64 MB of shared buffers.
        assert bench.shell("grep -c -w ht /proc/$PPID/smaps") != "0"
        assert facts["cpusAllowed"] == [0, 1]
        assert bench.shell("cat /sys/devices/system/cpu/cpu1/topology/physical_package_id") == "1"
        assert started.stop() == 0, started.output()


def test_a_data_disk_bypasses_the_page_cache_on_a_thread_of_its_own(bench) -> None:
    code, output = bench.pack()
    assert code == 0, output
    data = {"serial": "data", "file": "/dbbench/data/disk.img", "sizeBytes": 1 << 30}
    options = {"cache": "None", "io": "Native", "dedicatedIoThread": True}
    root = {"serial": "root", "file": "/dbbench/root/disk.img"}
    with bench.guest(changes={"disks": [root, data | options]}) as started:
        bench.wait_until_ready(started)
        bench.sql("CREATE TABLE kept AS SELECT generate_series(1, 1000)")
        assert bench.sql("SELECT count(*) FROM kept") == "1000"
        assert started.stop() == 0, started.output()


def test_a_scsi_data_disk_is_found_written_through_and_not_read_ahead(bench) -> None:
    code, output = bench.pack("2Gi", "--data-read-ahead-kb", "0")
    assert code == 0, output
    data = {"serial": "data", "file": "/dbbench/data/disk.img", "sizeBytes": 1 << 30}
    options = {"bus": "Scsi", "cache": "WriteThrough"}
    root = {"serial": "root", "file": "/dbbench/root/disk.img"}
    with bench.guest(changes={"disks": [root, data | options]}) as started:
        bench.wait_until_ready(started)
        facts = json.loads(bench.get("/v1/facts")[1])
        assert facts["dataMount"]["device"] == "/dev/sda"
        assert bench.shell("cat /sys/block/sda/queue/write_cache") == "write through"
        assert facts["dataMount"]["readAheadKb"] == 0
        assert started.stop() == 0, started.output()

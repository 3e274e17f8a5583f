"""A guest that boots a disk of its own, with cloud-init, emulated: `make test-container-disk`."""

import json
import subprocess
from pathlib import Path

import containers
import pytest
from containers import ROOT, Container, Running

from conftest import POSTGRES, Bench, Images
from dbbench.targets.container_disk import user_data

AGENT_DISK = "agent.iso"
# What an emulated systemd with cloud-init may take from its first instruction to a ready database.
PATIENCE_S = 900


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Images:
    """Return the disk, and the images that boot it and ask it."""
    names = ["container-disk", "postgres", "launcher", "guest-kernel"]
    subprocess.run([ROOT / "workloads" / "images" / "build", *names], check=True)
    into = tmp_path_factory.mktemp("images")
    found = {name: containers.unpack(name, into) for name in names}
    databases = {name: found[name] for name in ("postgres", "container-disk")}
    return Images(databases, found["launcher"], found["guest-kernel"])


class Machine(Bench):
    """What KubeVirt attaches to a virtual machine with a containerDisk, and QEMU to run it."""

    def __init__(self, folder: Path, images: Images, network: str) -> None:
        super().__init__(folder, images, network, POSTGRES)
        (folder / "cloudinit").mkdir()
        (folder / "cloudinit" / "user-data").write_text(user_data())
        (folder / "cloudinit" / "meta-data").write_text('{"local-hostname": "bench-vm"}')
        settings = {
            "user": "postgres",
            "binaries": "/usr/lib/postgresql/15/bin",
            "directories": ["/var/run/postgresql"],
            "readAheadKb": 256,
        }
        (folder / "config" / "guest.json").write_text(json.dumps(settings))
        self.configure({"coldStarts": True, "workloads": ["zachmann"]})
        self.install()

    def fresh(self) -> None:
        """Copy the disks out of their images, as they are in a pod that has just been made."""
        disk = self.images.databases["container-disk"]
        for image, source in ((disk, "/disk"), (self.images.kernel, f"/disk/{AGENT_DISK}")):
            program = ["/dbbench/bin/dbbench-driver", "agent", "install", "--to", "/dbbench/root"]
            mounts = self.volumes("bin", "root")
            copy = Container(image, [*program, "--from", source], 107, 107, self.network, mounts)
            code, output = containers.run(copy, self.bundle("copy"))
            assert code == 0, output

    def launcher(self, changes: dict) -> None:
        """A machine without a kernel of dbbench's; its disks in the order of the manifest."""
        isos = [{"serial": name, "directory": f"/dbbench/{name}"} for name in ("config", "secret")]
        cloud_init = {"serial": "cloudinit", "directory": "/dbbench/cloudinit", "label": "cidata"}
        disks = [
            {"serial": "root", "file": "/dbbench/root/disk", "containerDisk": True},
            {"serial": "agent", "file": f"/dbbench/root/{AGENT_DISK}", "containerDisk": True},
            {"serial": "data", "file": "/dbbench/data/disk.img", "sizeBytes": 1 << 30},
        ]
        own = {"memoryMiB": 768, "disks": disks, "isos": [cloud_init, *isos]}
        super().launcher(own)
        path = self.folder / "bin" / "launcher.json"
        document = json.loads(path.read_text())
        for key in ("kernel", "initrd", "cmdline"):
            del document[key]
        path.write_text(json.dumps(document | changes))

    def volumes(self, *names: str) -> dict[str, Path]:
        return super().volumes(*names, *(["cloudinit"] if "config" in names else []))

    def wait_until_ready(self, started: Running) -> None:
        containers.wait_until(self.ready, "the database is ready", started, PATIENCE_S)


@pytest.fixture
def machine(tmp_path: Path, images: Images, network: str) -> Machine:
    return Machine(tmp_path / "machine", images, network)


def test_a_disk_with_an_init_of_its_own_runs_the_database_under_the_agent(machine) -> None:
    machine.fresh()
    with machine.guest() as started:
        machine.wait_until_ready(started)
        assert machine.sql("SELECT current_user || '@' || current_database()") == "dbbench@dbbench"
        assert machine.sql("SHOW shared_buffers") == "64MB"
        assert machine.shell("id -un") == "postgres"
        assert machine.shell("stat -c '%a %U' /dbbench/secret/password") == "400 postgres"
        assert machine.shell("cat /proc/1/comm") == "systemd"
        assert machine.shell("hostname") == "bench-vm"
        facts = json.loads(machine.get("/v1/facts")[1])
        assert facts["serverExecutable"]["path"] == "/usr/lib/postgresql/15/bin/postgres"
        assert len(facts["serverLibraries"]["files"]) > 5
        assert facts["hypervisor"] == "TCG"
        assert facts["osRelease"].startswith("Debian GNU/Linux 12")
        mount = facts["dataMount"]
        assert (mount["fstype"], mount["readAheadKb"]) == ("ext4", 256)
        assert "noload" not in mount["options"]
        memory = facts["memoryBytes"]
        shared = int(machine.shell("df --output=size --block-size=1 /dev/shm | tail -n 1"))
        assert abs(shared - memory) <= 4096
        machine.sql("CREATE TABLE kept AS SELECT generate_series(1, 1000) AS number")
        before = json.loads(machine.get("/v1/counters")[1])
        assert before["cpu"]["userSeconds"] > 0
        # A cold start: the database is down in between, and its pages have left the cache.
        cold = machine.post("/v1/cold")
        assert cold["residentBytes"] <= cold["bytes"] * 0.01
        assert machine.sql("SELECT count(*) FROM kept") == "1000"
        after = json.loads(machine.get("/v1/counters")[1])
        assert after["io"]["readBytes"] > before["io"]["readBytes"]
        assert started.stop() == 0, started.output()
        assert "the database has ended with exit code 0" in started.output()
    # Another pod: what the guest wrote on its root disk is gone, and the data are there.
    machine.fresh()
    with machine.guest() as started:
        machine.wait_until_ready(started)
        assert machine.sql("SELECT count(*) FROM kept") == "1000"
        # Its end is the guest's, and the launcher says why.
        # Later, as the session that asks for it ends with the server.
        kill = "kill -QUIT $(head -n 1 /dbbench/data/pgdata/postmaster.pid)"
        machine.shell(f"(sleep 3; {kill}) > /dev/null 2>&1 &")
        assert started.process.wait(PATIENCE_S) == 1
        assert "the guest failed: the database ended by itself with exit code" in started.output()


def test_what_the_disk_lacks_is_said_before_it_powers_off(machine) -> None:
    settings = machine.folder / "config" / "guest.json"
    settings.write_text(json.dumps({"user": "mysql"}))
    machine.fresh()
    with machine.guest() as started:
        assert started.process.wait(PATIENCE_S) == 1
        assert 'the guest failed: the disk has no user "mysql"' in started.output()

"""The mariadb image with the operator's own configuration: as a container, and as a guest."""

import json
import os

from containers import wait_until

from conftest import MARIADB, Bench
from dbbench.api.resources import Resources

SETTINGS = "SHOW GLOBAL VARIABLES"
# It follows the number of CPUs, which this test's container has all of.
CPUS = {"thread_pool_size"}


def settings(bench: Bench) -> dict[str, str]:
    """What FairnessVerified compares."""
    rows = (line.partition("\t") for line in bench.sql(SETTINGS).splitlines())
    found = {name: value for name, _, value in rows}
    for name in MARIADB.unequal_settings(Resources()) | CPUS:
        found.pop(name, None)
    return found


def test_a_guest_runs_the_same_server_with_the_same_settings_as_the_pod(mariadb: Bench) -> None:
    code, output = mariadb.pack()
    assert code == 0, output
    seen = {}
    for kind, start in (("pod", mariadb.pod), ("guest", mariadb.guest)):
        with start() as started:
            mariadb.wait_until_ready(started)
            facts = json.loads(mariadb.get("/v1/facts")[1])
            assert json.loads(mariadb.get("/v1/counters")[1])["cpu"]["userSeconds"] > 0
            assert mariadb.sql("SELECT CURRENT_USER()") == "root@%"
            seen[kind] = {
                "version": mariadb.sql("SELECT VERSION()"),
                "settings": settings(mariadb),
                **{fact: facts[fact] for fact in ("serverExecutable", "limits", "osRelease")},
            }
            assert facts["serverExecutable"]["path"].endswith("/mariadbd")
            mariadb.sql("CREATE TABLE mysql.kept AS SELECT seq FROM mysql.seq_1_to_1000")
            # Readiness probes are no news.
            assert "closed normally without authentication" not in started.output()
            assert started.stop() == 0, started.output()
            assert "Shutdown complete" in started.output()
        if kind == "pod":
            # The guest gets a volume of its own.
            (mariadb.folder / "data" / "mysql").rename(mariadb.folder / "pod-data")
    assert seen["guest"] == seen["pod"]
    assert seen["pod"]["settings"]["innodb_buffer_pool_size"] == str(64 << 20)
    assert seen["pod"]["settings"]["tmpdir"] == "/dbbench/data"


def test_it_starts_as_any_user_and_again_on_its_data(mariadb: Bench) -> None:
    for _ in range(2):
        with mariadb.pod(uid=4711) as started:
            mariadb.wait_until_ready(started)
            mariadb.sql("CREATE TABLE IF NOT EXISTS mysql.kept (n INT)")
            mariadb.sql("INSERT INTO mysql.kept VALUES (1)")
            count = mariadb.sql("SELECT COUNT(*) FROM mysql.kept")
            accounts = mariadb.sql("SELECT User, Host FROM mysql.user WHERE User <> 'mariadb.sys'")
            assert sorted(accounts.splitlines()) == ["root\t%", "root\tlocalhost"]
            assert started.stop() == 0
    assert count == "2"


def test_an_unfinished_initialisation_is_started_again_and_other_files_are_kept(
    mariadb: Bench,
) -> None:
    data = mariadb.folder / "data" / "mysql"
    data.mkdir()
    (data / "precious").write_text("data")
    for path in (data, data / "precious"):
        os.chown(path, 999, 999)
    with mariadb.pod() as started:
        assert started.process.wait(60) == 1
        assert "is not empty and holds no database" in started.output()
    assert (data / "precious").read_text() == "data"
    (data / "precious").rename(data / "dbbench-initialising")
    (data / "mysql").mkdir()
    os.chown(data / "mysql", 999, 999)
    with mariadb.pod() as started:
        wait_until(lambda: "an earlier initialisation" in started.output(), "the message", started)
        mariadb.wait_until_ready(started)
        assert not (data / "dbbench-initialising").exists()
        assert started.stop() == 0


def test_an_empty_password_is_refused(mariadb: Bench) -> None:
    (mariadb.folder / "secret" / "password").write_text("")
    with mariadb.pod() as started:
        assert started.process.wait(60) == 1
        assert "no password: set MARIADB_ROOT_PASSWORD" in started.output()

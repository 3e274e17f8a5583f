"""The contract of the postgres image, with the agent as PID 1."""

from containers import wait_until


def test_it_starts_without_root_on_a_read_only_root(bench) -> None:
    with bench.pod() as started:
        bench.wait_until_ready(started)
        assert bench.sql("SELECT current_user || '@' || current_database()") == "dbbench@dbbench"
        assert (
            bench.sql("SELECT count(*) FROM pg_hba_file_rules WHERE auth_method = 'trust'") != "0"
        )
        over_tcp = "SELECT DISTINCT auth_method FROM pg_hba_file_rules WHERE type LIKE 'host%'"
        assert bench.sql(over_tcp) == "scram-sha-256"
        assert started.stop() == 0
        assert "database system is shut down" in started.output()


def test_a_uid_without_a_name_works_as_well(bench) -> None:
    with bench.pod(uid=4711) as started:
        bench.wait_until_ready(started)
        assert bench.shell("id -u") == "4711"
        assert started.stop() == 0


def test_an_unfinished_initialisation_is_started_again(bench) -> None:
    data = bench.folder / "data" / "pgdata"
    data.mkdir()
    data.chmod(0o777)
    for name in ("dbbench-initialising", "PG_VERSION"):
        (data / name).write_text("15\n")
        (data / name).chmod(0o666)
    with bench.pod() as started:
        # Its owner must be the server's user, which a directory made by another is not.
        wait_until(lambda: "an earlier initialisation" in started.output(), "the message", started)
        assert started.process.wait(60) != 0
    data.chmod(0o700)
    for path in (data, *data.iterdir()):
        import os

        os.chown(path, 999, 999)
    with bench.pod() as started:
        bench.wait_until_ready(started)
        assert not (data / "dbbench-initialising").exists()
        assert started.stop() == 0


def test_somebody_elses_files_are_not_touched(bench) -> None:
    data = bench.folder / "data" / "pgdata"
    data.mkdir()
    data.chmod(0o777)
    (data / "precious").write_text("data")
    with bench.pod() as started:
        assert started.process.wait(60) == 1
        assert "is not empty and holds no database" in started.output()
    assert (data / "precious").read_text() == "data"


def test_an_empty_password_is_refused(bench) -> None:
    (bench.folder / "secret" / "password").write_text("")
    with bench.pod() as started:
        assert started.process.wait(60) == 1
        assert "no password: set POSTGRES_PASSWORD" in started.output()


def test_the_agent_is_not_ready_before_the_database_listens_on_tcp(bench) -> None:
    bench.configure({"command": ["sleep", "600"]})
    with bench.pod() as started:
        wait_until(lambda: bench.get("/healthz")[0] == 200, "the agent answers", started)
        status, reason = bench.get("/readyz")
        assert status == 503
        assert "refused" in reason
        # sleep ends by SIGINT.
        assert started.stop() == 130

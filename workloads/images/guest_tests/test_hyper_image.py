"""The hyper image with the operator's own configuration, as a container."""

import json

from conftest import PASSWORD, Bench

DATABASE = "dbbench.hyper"


def test_it_starts_as_any_user_and_again_on_its_data(hyper: Bench) -> None:
    data = hyper.folder / "data" / "hyper"
    for _ in range(2):
        with hyper.pod(uid=4711) as started:
            hyper.wait_until_ready(started)
            facts = json.loads(hyper.get("/v1/facts")[1])
            assert facts["serverExecutable"]["path"] == "/usr/local/bin/hyperd"
            assert json.loads(hyper.get("/v1/counters")[1])["cpu"]["userSeconds"] > 0
            hyper.sql(f'CREATE DATABASE IF NOT EXISTS "{DATABASE}"')
            assert (data / DATABASE).stat().st_uid == 4711
            assert list((data / "temporary").iterdir()) == []
            # As a server leaves it that is killed with a query too large for its memory.
            (data / "temporary" / "left").write_text("spooled")
            # Readiness probes and a password are no news.
            assert "connection-error" not in started.output()
            assert PASSWORD not in started.output()
            assert started.stop() == 0, started.output()


def test_the_settings_are_those_of_the_operator(hyper: Bench) -> None:
    with hyper.pod() as started:
        hyper.wait_until_ready(started)
        rows = (line.split("|") for line in hyper.sql("SHOW ALL").splitlines())
        # Paths are shown in quotes.
        found = {row[0]: row[1].strip('"') for row in rows if len(row) > 1}
        assert started.stop() == 0
    asked = json.loads(hyper.server.settings)
    named = (
        *("log_config", "memory_limit", "network_threads", "query_timeout_max"),
        *("hyper_temp_directory_override", "soft_concurrent_query_thread_limit"),
    )
    assert {name: found[f"global.{name}"] for name in named} == {
        name: asked[name] for name in named
    }


def test_nobody_connects_without_the_password(hyper: Bench) -> None:
    with hyper.pod() as started:
        hyper.wait_until_ready(started)
        assert hyper.sql("SELECT 1") == "1"
        client = [*hyper.server.client, "SELECT 1"]
        stranger = [word.replace("user=dbbench", "user=stranger") for word in client]
        assert "no password supplied" in hyper.inside(client, password="").stderr
        for command, password in ((client, "wrong"), (stranger, PASSWORD)):
            assert "could not connect as" in hyper.inside(command, password).stderr
        assert started.stop() == 0


def test_an_empty_password_is_refused(hyper: Bench) -> None:
    (hyper.folder / "secret" / "password").write_text("")
    with hyper.pod() as started:
        assert started.process.wait(60) == 1
        assert "no password: set HYPER_PASSWORD" in started.output()


def test_an_unknown_setting_is_named_and_nothing_starts(hyper: Bench) -> None:
    settings = json.loads(hyper.server.settings) | {"shared_bufers": "1"}
    (hyper.folder / "config" / hyper.server.file).write_text(json.dumps(settings))
    with hyper.pod() as started:
        assert started.process.wait(60) != 0
        assert "No internal setting named 'shared_bufers' exists" in started.output()

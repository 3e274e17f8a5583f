"""The engine Hyper: its configuration file, its environment, its URL."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbbench.api.database import Database
from dbbench.api.resources import Resources
from dbbench.engines import Hyper, engine_of


def database(config: dict[str, str] | None = None, **storage: str) -> Database:
    return Database(
        engine="Hyper", image="hyper:1", config=config, storage={"size": "1Gi", **storage}
    )


def settings(database: Database, **resources: Any) -> dict[str, str]:
    """What the server reads from the file for a target of these resources."""
    name, text = Hyper().config_file(database, Resources.model_validate(resources))
    assert name == "hyper.json"
    found: dict[str, str] = json.loads(text)
    return found


def test_the_engine_of_the_spec_is_found() -> None:
    assert isinstance(engine_of(database()), Hyper)


def test_the_file_has_what_dbbench_sets_and_then_the_settings_by_name() -> None:
    asked = {"query_timeout_max": "1min", "disable_fsync": "1"}
    found = settings(database(asked), cpu=2, memory="1000Mi")
    assert list(found.items()) == [
        ("listen_connection", "tab.tcp://0.0.0.0:7483"),
        ("init_user", "dbbench"),
        ("log_config", "cerr,string,error"),
        ("hyper_temp_directory_override", "/dbbench/data/hyper/temporary"),
        ("grpc_threads", "1"),
        ("disable_fsync", "1"),
        ("hard_concurrent_query_thread_limit", "4"),
        ("memory_limit", "800m"),
        ("network_threads", "4"),
        ("query_timeout_max", "1min"),
        ("soft_concurrent_query_thread_limit", "2"),
    ]


@pytest.mark.parametrize(
    ("cpu", "soft", "hard", "network"), [(1, 1, 4, 4), (3, 3, 5, 4), (8, 8, 12, 8)]
)
def test_threads_follow_from_the_cpus_of_the_target_and_not_of_the_node(
    cpu: int, soft: int, hard: int, network: int
) -> None:
    found = settings(database(), cpu=cpu)
    assert found["soft_concurrent_query_thread_limit"] == str(soft)
    assert found["hard_concurrent_query_thread_limit"] == str(hard)
    assert found["network_threads"] == str(network)


def test_huge_pages_and_data_in_memory_are_no_memory_of_the_server_s_own() -> None:
    pages = {"pageSize": "2Mi", "size": "512Mi"}
    assert settings(database(), memory="2Gi")["memory_limit"] == "1638m"
    assert settings(database(), memory="2Gi", hugepages=pages)["memory_limit"] == "1228m"
    assert settings(database(medium="Memory"), memory="2Gi")["memory_limit"] == "819m"


def test_what_follows_from_the_target_gives_way_to_the_user() -> None:
    asked = {"memory_limit": "50%", "soft_concurrent_query_thread_limit": "1"}
    assert asked.items() <= settings(database(asked), cpu=8).items()


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])))
def test_the_server_reads_back_what_was_asked_for(value: str) -> None:
    assert settings(database({"language": value}))["language"] == value


@pytest.mark.parametrize("value", ["1\nport: 1", "\r", "\0", "\x7f"])
def test_control_characters_are_refused(value: str) -> None:
    asked = database().model_copy(update={"config": {"language": value}})
    with pytest.raises(ValueError, match=r"spec\.database\.config: language: .*control characters"):
        Hyper().config_file(asked, Resources())


@pytest.mark.parametrize(
    "name",
    ["listen_connection", "no_password", "init_user", "log_file_path", "database_dir_whitelist",
     "ssl_force", "storage_providers", "hyper_temp_directory_override", "grpc_threads"],
)  # fmt: skip
def test_settings_of_dbbench_are_refused_by_name(name: str) -> None:
    with pytest.raises(ValueError, match=rf"spec\.database\.config: {name} is set by dbbench"):
        Hyper().config_file(database({name: "x"}), Resources())


@pytest.mark.parametrize("name", ["log_queries", "dbcache_directory", "default_database_version"])
def test_settings_with_similar_names_are_the_user_s(name: str) -> None:
    assert settings(database({name: "1"}))[name] == "1"


def test_an_unknown_setting_keeps_the_server_from_starting() -> None:
    assert Hyper().command(database()) == [
        "docker-entrypoint.sh",
        "--config=/dbbench/config/hyper.json",
        "--strict-settings-mode",
    ]
    assert Hyper().executables == ("hyperd",)


def test_the_environment_names_the_password_s_file_and_holds_no_password() -> None:
    assert Hyper().environment(database()) == {
        "HYPER_DATA": "/dbbench/data/hyper",
        "HYPER_PASSWORD_FILE": "/dbbench/secret/password",
    }


def test_the_url_has_no_password() -> None:
    assert Hyper().driver_url("bench-vm") == "hyper://dbbench@bench-vm:7483/dbbench.hyper"


def test_every_setting_of_the_server_is_compared() -> None:
    assert Hyper().unequal_settings(Resources()) == frozenset()

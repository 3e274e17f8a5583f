"""The engine PostgreSQL: its configuration file, its environment, its URL."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbbench.api.database import Database
from dbbench.api.resources import Resources
from dbbench.engines import engine_of
from dbbench.engines.postgresql import PostgreSQL, quote


def database(config: dict[str, str] | None = None) -> Database:
    return Database(engine="PostgreSQL", image="postgres:17", config=config)


def unquote(text: str) -> str:
    """As the server's GUC_scanstr reads a quoted value, for values without control characters."""
    assert text[0] == text[-1] == "'"
    inner, found, index = text[1:-1], "", 0
    while index < len(inner):
        if inner[index] in "'\\":
            index += 1
        found += inner[index]
        index += 1
    return found


def test_the_engine_of_the_spec_is_found() -> None:
    assert isinstance(engine_of(database()), PostgreSQL)


def test_the_file_has_what_dbbench_sets_and_then_the_settings_by_name() -> None:
    name, text = PostgreSQL().config_file(
        database({"work_mem": "64MB", "max_connections": "50", "auto_explain.log_analyze": "on"}),
        Resources(),
    )
    assert name == "postgresql.conf"
    assert text.splitlines()[1:] == [
        "listen_addresses = '*'",
        "port = '5432'",
        "unix_socket_directories = '/var/run/postgresql'",
        "auto_explain.log_analyze = 'on'",
        "max_connections = '50'",
        "work_mem = '64MB'",
    ]


def test_nothing_is_tuned_without_being_asked() -> None:
    _, text = PostgreSQL().config_file(database(), Resources())
    assert len(text.splitlines()) == 4


@pytest.mark.parametrize(
    ("value", "quoted"),
    [
        ("2GB", "'2GB'"),
        ("it's", "'it''s'"),
        ("a\\b", "'a\\\\b'"),
        ("\\'", "'\\\\'''"),
        ("on # not a comment", "'on # not a comment'"),
        ("", "''"),
    ],
)
def test_values_are_quoted(value: str, quoted: str) -> None:
    assert quote(value) == quoted


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])))
def test_the_server_reads_back_what_was_asked_for(value: str) -> None:
    assert unquote(quote(value)) == value


@pytest.mark.parametrize("value", ["1\nport = 1", "\r", "\0", "\x7f", "tab\there"])
def test_control_characters_are_refused(value: str) -> None:
    with pytest.raises(ValueError, match="control characters"):
        quote(value)


@pytest.mark.parametrize("name", ["port", "listen_addresses", "include", "include_dir", "hba_file"])
def test_settings_of_dbbench_are_refused_by_name(name: str) -> None:
    with pytest.raises(ValueError, match=rf"spec\.database\.config: {name} is set by dbbench"):
        PostgreSQL().config_file(database({name: "x"}), Resources())


@pytest.mark.parametrize("name", ["work mem", "a = 1\nb", "Port", "1a", ""])
def test_what_is_no_name_of_a_setting_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="is not the name of a setting"):
        PostgreSQL().config_file(database({name: "x"}), Resources())


def test_the_message_of_a_refused_value_names_the_setting() -> None:
    bad = Database.model_construct(config={"work_mem": "1\n2"})
    with pytest.raises(ValueError, match=r"spec\.database\.config: work_mem: .*control"):
        PostgreSQL().config_file(bad, Resources())


def test_the_command_runs_the_entrypoint_without_a_shell() -> None:
    assert PostgreSQL().command(database()) == [
        "docker-entrypoint.sh",
        "postgres",
        "-c",
        "config_file=/dbbench/config/postgresql.conf",
    ]


def test_the_environment_names_the_password_s_file_and_holds_no_password() -> None:
    environment = PostgreSQL().environment(database())
    assert environment["POSTGRES_PASSWORD_FILE"] == "/dbbench/secret/password"
    assert "POSTGRES_PASSWORD" not in environment
    assert environment["PGDATA"].startswith("/dbbench/data/")


def test_the_url_has_no_password() -> None:
    assert PostgreSQL().driver_url("bench-vm") == "postgres://dbbench@bench-vm:5432/dbbench"

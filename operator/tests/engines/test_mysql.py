"""The engine MySQL, which is MariaDB too: its configuration file, its environment, its URL."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbbench.api.database import Database
from dbbench.api.resources import Resources
from dbbench.engines import MySQL, engine_of
from dbbench.engines.mysql import quote


def database(config: dict[str, str] | None = None) -> Database:
    return Database(engine="MySQL", image="mariadb:11.4", config=config)


def without_comment(line: str) -> str:
    """As the server's remove_end_comment: `#` ends a line, but not inside quotes."""
    inside, escaped = "", False
    for index, character in enumerate(line):
        if character in "'\"" and not escaped:
            inside = character if not inside else "" if inside == character else inside
        if not inside and character == "#":
            return line[:index]
        escaped = bool(inside) and character == "\\" and not escaped
    return line


def read_back(line: str) -> tuple[str, str]:
    """A line of an option file as the server's search_default_file_with_ext reads it."""
    name, _, value = without_comment(line).partition("=")
    value = value.strip(" ")
    if len(value) > 1 and value[0] in "'\"" and value[0] == value[-1]:
        value = value[1:-1]
    meant = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "s": " ", '"': '"', "'": "'", "\\": "\\"}
    found, index = "", 0
    while index < len(value):
        character = value[index]
        if character == "\\" and index < len(value) - 1:
            index += 1
            found += meant.get(value[index], "\\" + value[index])
        else:
            found += character
        index += 1
    return name.strip(" "), found


def test_the_engine_of_the_spec_is_found() -> None:
    assert isinstance(engine_of(database()), MySQL)


def test_the_file_has_what_dbbench_sets_and_then_the_settings_by_name() -> None:
    name, text = MySQL().config_file(
        database({"max_connections": "50", "innodb_buffer_pool_size": "2G", "sql_mode": ""}),
        Resources(),
    )
    assert name == "my.cnf"
    assert text.splitlines()[1:] == [
        "[mysqld]",
        'bind_address = "*"',
        'port = "3306"',
        'socket = "/tmp/mysqld.sock"',
        'pid_file = "/tmp/mysqld.pid"',
        'datadir = "/dbbench/data/mysql"',
        'tmpdir = "/dbbench/data"',
        'secure_file_priv = "/tmp"',
        'local_infile = "ON"',
        'skip_name_resolve = "ON"',
        'loose_mysqlx = "OFF"',
        'loose_log_warnings = "1"',
        'innodb_buffer_pool_size = "2G"',
        'max_connections = "50"',
        'sql_mode = ""',
    ]


@pytest.mark.parametrize(
    ("value", "quoted"),
    [
        ("2G", '"2G"'),
        ('say "hi"', '"say \\"hi\\""'),
        ("a\\", '"a\\\\"'),
        ("it's # no comment ", '"it\'s # no comment "'),
        ("", '""'),
    ],
)
def test_values_are_quoted(value: str, quoted: str) -> None:
    assert quote(value) == quoted


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])))
def test_the_server_reads_back_what_was_asked_for(value: str) -> None:
    assert read_back(f"sql_mode = {quote(value)}") == ("sql_mode", value)


@pytest.mark.parametrize("value", ["1\nport = 1", "\r", "\0", "\x7f"])
def test_control_characters_are_refused(value: str) -> None:
    with pytest.raises(ValueError, match="control characters"):
        quote(value)


@pytest.mark.parametrize(
    "name",
    [
        "port",
        "datadir",
        "tmpdir",
        "bind_address",
        "local_infile",
        "init_connect",
        "mysqlx",
        "skip_networking",
        "loose_port",
        "loose_skip_networking",
        "skip_name_resolve",
    ],
)
def test_settings_of_dbbench_are_refused_by_name(name: str) -> None:
    with pytest.raises(ValueError, match=rf"spec\.database\.config: {name} is set by dbbench"):
        MySQL().config_file(database({name: "x"}), Resources())


@pytest.mark.parametrize("name", ["report_port", "innodb_data_file_path", "skip_log_bin", "tmp"])
def test_settings_with_similar_names_are_the_user_s(name: str) -> None:
    _, text = MySQL().config_file(database({name: "1"}), Resources())
    assert f'{name} = "1"' in text.splitlines()


def test_the_command_leaves_the_server_s_name_to_the_image() -> None:
    assert MySQL().command(database()) == [
        "docker-entrypoint.sh",
        "--defaults-file=/dbbench/config/my.cnf",
    ]
    assert MySQL().executables == ("mariadbd", "mysqld")


def test_the_environment_names_the_password_s_file_and_holds_no_password() -> None:
    environment = MySQL().environment(database())
    assert environment["MYSQL_ROOT_PASSWORD_FILE"] == "/dbbench/secret/password"
    assert "MYSQL_ROOT_PASSWORD" not in environment


def test_the_url_has_no_password() -> None:
    assert MySQL().driver_url("bench-vm") == "mysql://root@bench-vm:3306"


def test_identities_of_a_server_are_no_difference_of_its_settings() -> None:
    unequal = MySQL().unequal_settings(Resources())
    assert {"hostname", "server_uuid", "server_uid", "gtid_executed"} <= unequal
    assert not {"innodb_buffer_pool_size", "version", "server_id", "tmpdir"} & unequal

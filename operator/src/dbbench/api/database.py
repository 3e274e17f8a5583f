"""The database that is measured, and which of its settings dbbench keeps to itself. No I/O."""

import re
from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field

from dbbench.api.base import DEFAULTED, ApiModel, rule, rules
from dbbench.api.resources import Storage


class Engine(StrEnum):
    POSTGRESQL = "PostgreSQL"
    MYSQL = "MySQL"
    HYPER = "Hyper"


class ImagePullPolicy(StrEnum):
    ALWAYS = "Always"
    IF_NOT_PRESENT = "IfNotPresent"
    NEVER = "Never"


# What dbbench itself sets or what the image's entrypoint decides, and directives that pull in other
# files and so make the configuration differ from what was asked for.
_RESERVED: dict[Engine, tuple[str, ...]] = {
    Engine.POSTGRESQL: (
        "listen_addresses", "port", "unix_socket_directories", "data_directory", "config_file",
        "hba_file", "ident_file", "include", "include_dir", "include_if_exists",
    ),
    Engine.MYSQL: (
        "bind_address", "port", "socket", "datadir", "tmpdir", "pid_file", "user",
        "secure_file_priv", "local_infile", "name_resolve", "networking", "mysqlx",
        # The server does not run it for the driver's user, which has all rights.
        "init_connect",
    ),
    # Options of its command line are settings, too, under their names with underscores.
    Engine.HYPER: (
        "listen_connection", "listen_addresses", "port", "socket_dir", "callback_connection",
        "whitelist", "init_user", "no_password", "skip_license", "telemetry_opt_in", "config",
        "config_dir", "strict_settings_mode", "read_settings_from_env", "placeholder_values",
        "encryption_secret", "database", "database_directory", "database_dir_.*",
        "restrict_database_directory", "storage_providers", "shared_storage",
        "hyper_temp_directory_override", "log_config", "log_dir", "log_file_.*", "crash_dump_path",
        "grpc_.*", "ssl_.*",
    ),
}  # fmt: skip
# What an option of MySQL may begin with, whatever it is called.
_PREFIX = {
    Engine.POSTGRESQL: "",
    Engine.MYSQL: "(loose_)?((skip|disable|enable)_)?",
    Engine.HYPER: "",
}
# Settings that are often meant for the other engine, and what to write instead.
_FOREIGN = {
    Engine.POSTGRESQL: ("(innodb|aria|myisam)_.*", "shared_buffers, not innodb_buffer_pool_size"),
    Engine.MYSQL: (
        "shared_buffers|work_mem|maintenance_work_mem|effective_cache_size|max_wal_size|"
        "huge_pages|max_parallel_workers.*",
        "innodb_buffer_pool_size, not shared_buffers",
    ),
    Engine.HYPER: (
        "(innodb|aria|myisam)_.*|shared_buffers|work_mem|maintenance_work_mem|"
        "effective_cache_size|max_wal_size|huge_pages|max_parallel_workers.*",
        "memory_limit, not shared_buffers or innodb_buffer_pool_size",
    ),
}


def _reserved(engine: Engine) -> str:
    """Regular expression of the reserved names, for Python and for CEL (RE2)."""
    return f"^{_PREFIX[engine]}({'|'.join(_RESERVED[engine])})$"


def is_reserved(engine: Engine, name: str) -> bool:
    """Whether a setting is dbbench's own."""
    return re.match(_reserved(engine), name) is not None


def _no_setting(engine: Engine, pattern: str, message: str) -> dict[str, str]:
    return rule(
        f"self.engine != '{engine.value}' || !has(self.config) || "
        f"!self.config.exists(k, k.matches('{pattern}'))",
        message,
        field_path=".config",
    )


_NAME_RULE = rule(
    "!has(self.config) || self.config.all(k, k.matches('^[a-z_][a-z0-9_.]{0,127}$'))",
    "names of settings consist of lower-case letters, digits, '_' and '.', at most 128 of "
    "them, for example shared_buffers or innodb_buffer_pool_size",
    field_path=".config",
)
_RESERVED_RULES = [
    _no_setting(
        engine,
        _reserved(engine),
        f"{', '.join(names).replace('.*', '*')} are set by dbbench for {engine.value}; remove them",
    )
    for engine, names in _RESERVED.items()
]
_FOREIGN_RULES = [
    _no_setting(
        engine,
        f"^({pattern})$",
        f"a setting of another engine; for {engine.value} write {instead}",
    )
    for engine, (pattern, instead) in _FOREIGN.items()
]

ConfigValue = Annotated[str, Field(max_length=256, pattern=r"^[^\x00-\x1f\x7f]*$")]


class Database(ApiModel):
    """The database that is measured; the same bits and the same configuration in every target."""

    model_config = ConfigDict(
        json_schema_extra=rules(_NAME_RULE, *_RESERVED_RULES, *_FOREIGN_RULES)
    )

    engine: Engine = Field(
        description=(
            "The database engine. MySQL is also MariaDB: results name the server that answers. "
            "Hyper runs TPC-H alone: it has no enforced keys."
        )
    )
    image: str = Field(
        min_length=1,
        max_length=512,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._/:@-]*$",
        description=(
            "Container image of the database, for example postgres:17, mysql:8.4 or mariadb:11.4; "
            "for Hyper one that you build, see docs/engines.md. "
            "The virtual machine boots this very image."
        ),
    )
    image_pull_policy: ImagePullPolicy = Field(
        ImagePullPolicy.IF_NOT_PRESENT, description="Pull policy of that image."
    )
    run_as_user: int = Field(
        999,
        ge=1,
        le=2147483647,
        description=(
            "User and group id that the image's database runs as: 999 in the official images of "
            "PostgreSQL (70 in Alpine-based ones), MySQL and MariaDB, and in dbbench's own."
        ),
    )
    config: dict[str, ConfigValue] | None = Field(
        None,
        max_length=100,
        description="Settings of the server, rendered once into the same file for every target.",
    )
    storage: Storage = Field(
        default_factory=Storage, json_schema_extra=DEFAULTED, description="Storage of the database."
    )

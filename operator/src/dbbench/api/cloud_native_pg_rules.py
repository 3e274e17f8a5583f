"""Rules between clusters of CloudNativePG and the rest of the spec. No I/O."""

from dbbench.api.base import rule

_NONE = "!self.targets.exists(t, has(t.cloudNativePG))"

# What its operator writes itself, and refuses in a Cluster (CloudNativePG's documentation,
# "Fixed parameters"). Those that spec.database.config refuses for every target are not among them.
_FIXED = (
    "allow_alter_system", "allow_system_table_mods", "archive_.*", "bonjour.*", "cluster_name",
    "external_pid_file", "hot_standby", "jit_provider", "log_destination", "log_directory",
    "log_file_mode", "log_filename", "log_rotation_.*", "log_truncate_on_rotation",
    "logging_collector", "primary_.*", "promote_trigger_file", "recovery_.*", "restore_command",
    "shared_preload_libraries", "ssl", "ssl_.*", "stats_temp_directory",
    "synchronous_standby_names", "syslog_.*", "unix_socket_.*",
)  # fmt: skip

CLOUD_NATIVE_PG_RULES = (
    rule(
        f"{_NONE} || self.database.engine == 'PostgreSQL'",
        "cloudNativePG runs PostgreSQL alone; remove the target, or write engine: PostgreSQL",
        field_path=".targets",
    ),
    rule(
        f"{_NONE} || self.database.image.matches('^[^@]*:[1-9][0-9][^/@]*(@.*)?$')",
        "CloudNativePG reads the version of PostgreSQL from the image's tag, which must begin with "
        "it, for example postgres:17",
        field_path=".database.image",
    ),
    rule(
        f"{_NONE} || self.database.storage.medium == 'Disk'",
        "cloudNativePG has its data on a volume; write medium: Disk",
        field_path=".database.storage.medium",
    ),
    rule(
        f"{_NONE} || !has(self.database.config) || "
        f"!self.database.config.exists(k, k.matches('^({'|'.join(_FIXED)})$'))",
        "a setting that CloudNativePG keeps to itself (among them archive_*, log_* of files, ssl*, "
        "recovery_*, synchronous_standby_names, shared_preload_libraries); remove it, or the "
        "target cloudNativePG",
        field_path=".database.config",
    ),
)

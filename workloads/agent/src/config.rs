//! agent.json: what to start and how to tell that it works.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nix::sys::signal::Signal;
use serde::Deserialize;

use crate::local_run::LocalWorkload;

/// The one version of agent.json that this agent reads.
const VERSION: u32 = 1;

/// The agent's configuration; the same file in the pod and in the guest.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentConfig {
    pub version: u32,
    /// Address and port of the agent's HTTP server.
    #[serde(default = "default_listen")]
    pub listen: String,
    /// Program and arguments of the database.
    pub command: Vec<String>,
    /// Added to the image's environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Whom the command runs as, where the agent runs as root (in a guest).
    pub user: Option<User>,
    /// Where the database's files are: a mount of its own.
    pub data_directory: Option<PathBuf>,
    /// Size of a tmpfs on the data directory instead of a disk. A guest makes it; a container finds it mounted.
    pub data_in_memory_bytes: Option<u64>,
    pub readiness: Option<Readiness>,
    pub server: Option<Server>,
    /// Signal that stops the database in order.
    #[serde(default = "default_stop_signal")]
    pub stop_signal: String,
    /// Seconds between the stop signal and SIGKILL.
    #[serde(default = "default_stop_grace")]
    pub stop_grace_seconds: u64,
    /// Whether the database may be restarted with cold caches by request.
    #[serde(default)]
    pub cold_starts: bool,
    /// Workloads that may be run here by request.
    #[serde(default)]
    pub workloads: Vec<LocalWorkload>,
    /// How those of them that have a database reach it.
    pub database: Option<DatabaseAccess>,
    /// Of an agent beside a hypervisor: how its guest is reached.
    #[serde(skip)]
    pub guest_network: Option<String>,
    /// Of an agent beside QEMU: which version it is.
    #[serde(skip)]
    pub qemu_version: Option<String>,
}

/// The way to the database from beside it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DatabaseAccess {
    /// As the driver's option `--url`; without a password.
    pub url: String,
    pub password_file: Option<PathBuf>,
}

/// User and group of the database's processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct User {
    pub uid: u32,
    pub gid: u32,
}

/// How to ask the database whether it accepts connections.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Readiness {
    pub protocol: Protocol,
    pub port: u16,
}

/// Wire protocol of the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Protocol {
    PostgreSQL,
    /// Also spoken by MariaDB.
    MySQL,
    /// PostgreSQL's, by a server that is ready as soon as it listens.
    Hyper,
}

/// The database server's program.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Base names that its executable has, in one image or another: `mariadbd`, `mysqld`.
    pub executables: Vec<String>,
}

fn default_listen() -> String {
    "0.0.0.0:9590".into()
}

fn default_stop_signal() -> String {
    "SIGTERM".into()
}

fn default_stop_grace() -> u64 {
    60
}

impl Default for AgentConfig {
    /// A configuration that starts nothing, for reading facts and counters without a database.
    fn default() -> Self {
        Self {
            version: VERSION,
            listen: default_listen(),
            command: Vec::new(),
            env: BTreeMap::new(),
            user: None,
            data_directory: None,
            data_in_memory_bytes: None,
            readiness: None,
            server: None,
            stop_signal: default_stop_signal(),
            stop_grace_seconds: default_stop_grace(),
            cold_starts: false,
            workloads: Vec::new(),
            database: None,
            guest_network: None,
            qemu_version: None,
        }
    }
}

impl AgentConfig {
    /// Reads and checks agent.json. The error names the file and the field.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        Self::parse(&text).map_err(|error| format!("{}: {error}", path.display()))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let config: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if config.version != VERSION {
            return Err(format!("version {} is not supported, only {VERSION}", config.version));
        }
        if config.command.is_empty() {
            return Err("command is empty".into());
        }
        config.stop_signal_number()?;
        if config.data_in_memory_bytes == Some(0) {
            return Err("dataInMemoryBytes is 0".into());
        }
        if config.cold_starts && (config.data_directory.is_none() || config.readiness.is_none()) {
            return Err("coldStarts needs dataDirectory and readiness".into());
        }
        if config.database.is_none() && config.workloads.iter().any(|workload| workload.has_database()) {
            return Err("workloads on the database need database".into());
        }
        if config.cold_starts && config.data_in_memory_bytes.is_some() {
            return Err("coldStarts: data in memory are never cold; remove dataInMemoryBytes".into());
        }
        Ok(config)
    }

    /// The signal that stops the database.
    pub fn stop_signal_number(&self) -> Result<Signal, String> {
        self.stop_signal.parse().map_err(|_| format!("stopSignal {:?} is not a signal", self.stop_signal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: &str = r#"{"version":1,"listen":"0.0.0.0:9590",
        "command":["docker-entrypoint.sh","postgres"],
        "env":{"PGDATA":"/dbbench/data/pgdata"},
        "user":{"uid":999,"gid":999},"dataDirectory":"/dbbench/data",
        "readiness":{"protocol":"PostgreSQL","port":5432},
        "server":{"executables":["postgres"]},"stopSignal":"SIGINT","stopGraceSeconds":60}"#;

    #[test]
    fn a_full_configuration_is_read() {
        let config = AgentConfig::parse(FULL).unwrap();
        assert_eq!(config.user, Some(User { uid: 999, gid: 999 }));
        assert_eq!(config.readiness, Some(Readiness { protocol: Protocol::PostgreSQL, port: 5432 }));
        assert_eq!(config.stop_signal_number(), Ok(Signal::SIGINT));
    }

    #[test]
    fn what_cannot_work_is_named() {
        for (broken, part) in [
            (FULL.replace("\"version\":1", "\"version\":2"), "version 2"),
            (FULL.replace("SIGINT", "SIGFOO"), "SIGFOO"),
            (FULL.replace("[\"docker-entrypoint.sh\",\"postgres\"]", "[]"), "command"),
            (FULL.replace("stopSignal", "stopSignals"), "stopSignals"),
            (FULL.replace("PostgreSQL", "Gopher"), "Gopher"),
            (FULL.replace("\"readiness\"", "\"dataInMemoryBytes\":0,\"readiness\""), "dataInMemoryBytes"),
            (r#"{"version":1,"command":["x"],"coldStarts":true}"#.into(), "coldStarts needs dataDirectory"),
            (r#"{"version":1,"command":["x"],"workloads":["micro","tatp"]}"#.into(), "need database"),
            (
                FULL.replace("\"readiness\"", "\"dataInMemoryBytes\":9,\"coldStarts\":true,\"readiness\""),
                "never cold",
            ),
        ] {
            let error = AgentConfig::parse(&broken).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}

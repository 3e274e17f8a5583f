//! Options that several workloads share.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::{Map, Value};

use super::connection::Protocol;
use super::together::Together;
use crate::failure::Failure;
use crate::measure::{Arrivals, Spacing};
use crate::report::progress::Mode;
use crate::report::Document;
use crate::target::{Agent, Agents};

/// Options of every command that measures: what goes into the process besides its own options, and what comes out.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Result")]
pub struct Reporting {
    /// Agent whose counters stand in the result: http://host:9590
    #[arg(long, value_name = "URL")]
    pub agent: Option<String>,

    /// Agent on the outside of a virtual machine, beside its hypervisor: http://host:9591
    #[arg(long, value_name = "URL", requires = "agent")]
    pub host_agent: Option<String>,

    /// How long each connection waits for a database, or an agent, that is not up or has none free
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = humantime::parse_duration)]
    pub connect_timeout: Duration,

    /// Seed of all random choices
    #[arg(long, default_value_t = 42, value_parser = clap::value_parser!(u64).range(0..=i64::MAX as u64))]
    pub seed: u64,

    /// Where the result goes: a file, or - for standard output
    #[arg(long, value_name = "PATH", default_value = "-")]
    pub output: String,

    /// How progress is shown on standard error
    #[arg(long, value_enum, default_value_t = Mode::Auto)]
    pub progress: Mode,
}

/// Options of every command that talks to a database.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Database")]
pub struct Common {
    /// Database: postgres://user@host:5432/database, mysql://user@host:3306/database or
    /// hyper://user@host:7483/file (no password in it); for TLS postgres://...?sslmode=verify-full&sslrootcert=FILE
    #[arg(long, required_unless_present = "connection_files")]
    pub url: Option<String>,

    /// Folder with the files host, port, user, password, database, sslmode and ca.crt, as Kubernetes mounts a
    /// Secret, in place of --url; nothing of them is shown or recorded
    #[arg(long, value_name = "DIR", conflicts_with_all = ["url", "password_file"], requires = "engine")]
    pub connection_files: Option<PathBuf>,

    /// What speaks there
    #[arg(long, value_enum, conflicts_with = "url")]
    pub engine: Option<Protocol>,

    /// Schema that holds the workload's tables [default: the workload's name]
    #[arg(long)]
    pub schema: Option<String>,

    /// File with the password; else DBBENCH_PASSWORD or PGPASSWORD is used
    #[arg(long, value_name = "PATH")]
    pub password_file: Option<PathBuf>,

    /// Started beside the database, on its CPUs: say so on standard output, and wait for a line on standard input
    #[arg(long, hide = true)]
    pub await_start: bool,

    #[command(flatten)]
    pub reporting: Reporting,
}

/// Options of every load.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Loading")]
pub struct LoadOptions {
    /// Connections that load at the same time [default: the number of CPUs]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub connections: Option<u16>,

    /// Drop tables of another scale, seed or origin that stand in the way
    #[arg(long)]
    pub replace: bool,
}

impl LoadOptions {
    pub fn connections(&self) -> usize {
        let cpus = || std::thread::available_parallelism().map_or(1, |cpus| cpus.get());
        self.connections.map_or_else(cpus, usize::from)
    }
}

/// Options of workloads whose clients run transactions.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Clients and windows")]
pub struct LoopOptions {
    /// Clients, each with a connection of its own
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub clients: u16,

    /// Time before the measured window, under the same load
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = humantime::parse_duration)]
    pub warmup: Duration,

    /// Length of the measured window
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = positive_duration)]
    pub duration: Duration,

    /// Open loop: transactions per second that are due, whether or not the database keeps up; latencies
    /// count from when a transaction was due [default: closed loop, a client's next one follows its last]
    #[arg(long, value_name = "PER_SECOND", value_parser = positive_rate)]
    pub rate: Option<f64>,

    /// How the due times of an open loop are spaced
    #[arg(long, value_enum, default_value_t = Spacing::Poisson, requires = "rate")]
    pub arrivals: Spacing,

    /// Serve live counts and latencies to Prometheus at http://HOST:PORT/metrics during the run
    #[arg(long, value_name = "HOST:PORT")]
    pub metrics_listen: Option<String>,

    #[command(flatten)]
    pub together: Together,
}

impl LoopOptions {
    pub fn arrivals(&self) -> Arrivals {
        self.rate.map_or(Arrivals::Closed, |rate| Arrivals::Open { rate, spacing: self.arrivals })
    }
}

fn positive_rate(text: &str) -> Result<f64, String> {
    match text.parse() {
        // Beyond that, times in nanoseconds are no longer apart.
        Ok(rate) if rate > 0.0 && rate <= 1e8 => Ok(rate),
        _ => Err("must be a number above 0 and at most 100000000, of transactions per second".into()),
    }
}

pub fn positive_duration(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(duration) if duration.is_zero() => Err("must be longer than zero".into()),
        Ok(duration) => Ok(duration),
        Err(error) => Err(error.to_string()),
    }
}

/// A number of bytes above zero, in decimal (300MB) or binary (300MiB) units.
pub fn positive_size(text: &str) -> Result<u64, String> {
    match text.parse::<bytesize::ByteSize>() {
        Ok(bytesize::ByteSize(0)) => Err("must be more than zero".into()),
        Ok(bytesize::ByteSize(bytes)) => Ok(bytes),
        Err(_) => Err("expected a number of bytes such as 300MB, 300MiB or 2GiB".into()),
    }
}

impl Reporting {
    /// The agents that were asked for.
    pub fn agents(&self) -> Result<Agents, Failure> {
        let read =
            |url: &Option<String>, option| url.as_deref().map(|url| Agent::new(option, url)).transpose();
        Ok(Agents { target: read(&self.agent, "--agent")?, host: read(&self.host_agent, "--host-agent")? })
    }

    /// A document without measurements yet, of a command that talks to no database. `parameters` are the
    /// workload's own.
    pub fn document(
        &self,
        workload: &'static str,
        command: &'static str,
        parameters: Map<String, Value>,
    ) -> Document {
        let mut all = Map::new();
        all.insert("agent".into(), self.agent.clone().into());
        all.insert("hostAgent".into(), self.host_agent.clone().into());
        all.insert("connectTimeoutSeconds".into(), self.connect_timeout.as_secs_f64().into());
        all.extend(parameters);
        Document::new(workload, command, all, self.seed)
    }
}

impl Common {
    /// The password from the file or the environment.
    pub fn password(&self) -> Result<Option<String>, Failure> {
        if let Some(path) = &self.password_file {
            let text = std::fs::read_to_string(path).map_err(|error| {
                Failure::arguments(format!("--password-file {}: {error}", path.display()))
            })?;
            return Ok(Some(
                text.strip_suffix('\n').map_or(text.as_str(), |t| t.trim_end_matches('\r')).into(),
            ));
        }
        Ok(["DBBENCH_PASSWORD", "PGPASSWORD"]
            .iter()
            .filter_map(|name| std::env::var(name).ok())
            .find(|value| !value.is_empty()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_decimal_or_binary_units() {
        assert_eq!(positive_size("300MB"), Ok(300_000_000));
        assert_eq!(positive_size("300MiB"), Ok(300 << 20));
        assert_eq!(positive_size("0.5GiB"), Ok(1 << 29));
        assert_eq!(positive_size("4096"), Ok(4096));
        for wrong in ["", "MB", "-1MB", "1 apple", "nan"] {
            assert!(positive_size(wrong).unwrap_err().contains("300MiB"), "{wrong}");
        }
        assert!(positive_size("0").is_err());
    }
}

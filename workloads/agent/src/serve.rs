//! The agent as PID 1 of the database's container.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use crate::cli::failed;
use crate::cold::{run_database, ColdStarts, Stop};
use crate::config::AgentConfig;
use crate::http::{self, Cold};
use crate::limits::Limits;
use crate::scope::Scope;
use crate::supervisor::{Program, Signals};

/// Starts the database, answers on HTTP, and ends with the database's exit code.
///
/// 127 means that the command could not be started.
pub fn run(config: AgentConfig) -> ExitCode {
    match serve(&config) {
        Ok(code) => ExitCode::from(code),
        Err(error) => failed(127, &error),
    }
}

fn serve(config: &AgentConfig) -> Result<u8, String> {
    let signals = Signals::take()?;
    // Without a PID namespace of its own (shareProcessNamespace) the agent is not PID 1, and what the
    // database leaves behind would become the children of another process.
    nix::sys::prctl::set_child_subreaper(true).map_err(|error| format!("cannot become a reaper: {error}"))?;
    let cold = ColdStarts::new(config)?;
    http::start(Scope::Container, config, cold.clone().map(Cold::Database))?;
    let mut env: BTreeMap<String, String> = std::env::vars().collect();
    env.extend(config.env.clone());
    let program = Program {
        command: &config.command,
        env: &env,
        directory: None,
        identity: None,
        limits: &Limits::new(),
    };
    let grace = Duration::from_secs(config.stop_grace_seconds);
    let stop = Stop { signal: config.stop_signal_number()?, grace };
    let ended = run_database(&signals, &program, stop, &[], cold.as_deref(), || ())?;
    if ended.killed {
        eprintln!(
            "dbbench-agent: killed the database: it had not ended {} s after {}",
            grace.as_secs(),
            config.stop_signal
        );
    } else if !ended.requested {
        let _ = failed(0, &format!("the database ended by itself with exit code {}", ended.code));
    }
    Ok(u8::try_from(ended.code).unwrap_or(u8::MAX))
}

//! The one binary of dbbench's workloads: the driver and the agent.

use std::process::ExitCode;

use clap::Parser;

#[derive(Parser)]
#[command(name = "dbbench-driver", version)]
enum Cli {
    /// The process beside the database.
    Agent(dbbench_agent::cli::AgentArgs),
}

fn main() -> ExitCode {
    match Cli::parse() {
        Cli::Agent(args) => dbbench_agent::run(args),
    }
}

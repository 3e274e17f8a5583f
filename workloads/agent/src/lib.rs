//! The process beside the database: PID 1 of its container or guest, and reader of its counters.

pub mod cli;

use std::process::ExitCode;

/// Runs one agent command and returns its exit code.
pub fn run(args: cli::AgentArgs) -> ExitCode {
    match args.command {
        cli::AgentCommand::Facts => {
            println!("{{}}");
            ExitCode::SUCCESS
        }
    }
}

/// Runs as PID 1 of a guest; never returns.
pub fn guest_init() -> ! {
    std::process::exit(1)
}

//! The command line: arguments in, one document (or one failure) out.

mod invocation;
mod options;
mod output;
mod redact;

use std::future::Future;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use invocation::{Invocation, Task};
pub use options::{positive_duration, positive_size, Common, LoadOptions, LoopOptions, Reporting};

use crate::failure::{Exit, Failure};
use crate::report::Document;
use crate::workload::{micro, sql, tatp, tpcc, tpch, zachmann};

/// Loads and runs database workloads, and measures them.
///
/// Exit codes: 0 measured; 2 wrong arguments; 3 the database is unreachable; 4 a consistency check failed
/// or the schema is missing, half-loaded or of another scale; 5 the measurement is invalid.
#[derive(Parser)]
#[command(name = "dbbench-driver", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// TPC-H: 22 analytical queries (specification 3.0.1)
    #[command(subcommand)]
    Tpch(tpch::Command),
    /// TPC-C: order entry, five transactions (specification 5.11)
    #[command(subcommand)]
    Tpcc(tpcc::Command),
    /// TATP: telecom subscribers, seven transactions (specification 1.0)
    #[command(subcommand)]
    Tatp(tatp::Command),
    /// Your own statements, in pgbench's script syntax
    #[command(subcommand)]
    Sql(sql::Command),
    /// Zachmann: random reads of tables in memory by several processes; needs no database
    #[command(subcommand)]
    Zachmann(zachmann::Command),
    /// Unit costs of this machine: system call, page fault, TLB miss, fsync and more; needs no database
    #[command(subcommand)]
    Micro(micro::Command),
    /// The process beside the database: counters, facts, PID 1, launcher of guests
    Agent(dbbench_agent::cli::AgentArgs),
}

/// Runs the process and returns its exit code.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    let outcome = match cli.command {
        Command::Agent(args) => return dbbench_agent::run(args),
        Command::Tpch(tpch::Command::Database(command)) => on_database(&command),
        Command::Tpch(tpch::Command::Generate(command)) => tpch::generate(&command),
        Command::Tpch(tpch::Command::Queries(command)) => tpch::write_queries(&command),
        Command::Tpcc(command) => on_database(&command),
        Command::Tatp(command) => on_database(&command),
        Command::Sql(command) => on_database(&command),
        Command::Zachmann(zachmann::Command::WorkProcess(task)) => return zachmann::work_process(&task),
        Command::Zachmann(zachmann::Command::Run(command)) => {
            conclude(&command.reporting.output, zachmann::run(&command))
        }
        Command::Micro(micro::Command::Run(command)) => {
            conclude(&command.reporting.output, micro::run(&command))
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{}", failure.to_json_line());
            ExitCode::from(failure.exit as u8)
        }
    }
}

fn refuse(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        // Help and version: a closed pipe is no failure.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let text = redact::passwords(&error.to_string());
    eprint!("{text}");
    // What is wrong stands before the first empty line, sometimes on several lines; usage and hints follow.
    let lines: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
    let message = lines.join(" ");
    eprintln!("{}", Failure::arguments(message.trim_start_matches("error: ")).to_json_line());
    ExitCode::from(Exit::Arguments as u8)
}

fn on_database(task: &impl Task) -> Result<(), Failure> {
    conclude(&task.common().reporting.output, invocation::perform(task))
}

/// Runs a command to its end, and puts its document where the user wants it.
fn conclude(output: &str, command: impl Future<Output = Result<Document, Failure>>) -> Result<(), Failure> {
    output::check(output)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::invalid(format!("cannot start the runtime: {error}")))?;
    let document = runtime.block_on(command)?;
    output::write(output, &document)?;
    verdict(&document)
}

/// What a complete document says about success.
fn verdict(document: &Document) -> Result<(), Failure> {
    let broken: Vec<String> = document
        .checks
        .iter()
        .filter(|check| !check.ok)
        .map(|check| format!("{}: {}", check.name, check.detail))
        .collect();
    if !broken.is_empty() {
        return Err(Failure::new(Exit::Inconsistent, "CheckFailed", broken.join("; ")));
    }
    if !document.valid {
        return Err(Failure::invalid(document.invalid_reasons.join("; ")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent_with_itself() {
        Cli::command().debug_assert();
    }
}

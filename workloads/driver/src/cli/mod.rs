//! The command line: arguments in, one document (or one failure) out.

mod connection;
mod invocation;
mod options;
mod output;
mod redact;
mod together;

use std::future::Future;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use invocation::{Invocation, Task};
pub use options::{positive_duration, positive_size, Common, LoadOptions, LoopOptions, Reporting};
pub use together::Together;

use crate::failure::{Exit, Failure};
use crate::merge;
use crate::report::{Check, Finished};
use crate::workload::{beside, micro, sql, tatp, tpcc, tpch, zachmann};

/// Loads and runs database workloads, and measures them.
///
/// Exit codes: 0 measured; 2 wrong arguments; 3 the database is unreachable; 4 a consistency check failed
/// or the schema is missing, half-loaded or of another scale; 5 the measurement is invalid.
#[derive(Parser)]
#[command(name = "dbbench-driver", version, max_term_width = 100)]
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
    /// Have the agent beside a database run a workload there, on the database's own CPUs
    #[command(
        after_help = "Example:\n  dbbench-driver at-target --agent http://db:9590 tatp run --clients 8 --duration 2m"
    )]
    AtTarget(beside::AtTargetCommand),
    /// Make one result out of those of several trials, or of processes that ran side by side
    Merge(merge::MergeCommand),
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
            conclude(&command.reporting.output, zachmann::perform(&command))
        }
        Command::Micro(micro::Command::Run(command)) => {
            conclude(&command.reporting.output, micro::perform(&command))
        }
        Command::AtTarget(command) => conclude(&command.reporting.output, beside::perform(&command)),
        Command::Merge(command) => merged(&command),
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
fn conclude<R: Into<Finished>>(
    output: &str,
    command: impl Future<Output = Result<R, Failure>>,
) -> Result<(), Failure> {
    output::check(output)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::invalid(format!("cannot start the runtime: {error}")))?;
    written(output, runtime.block_on(command)?.into())
}

/// Merges results; success is what it was for each of them.
fn merged(command: &merge::MergeCommand) -> Result<(), Failure> {
    output::check(&command.output)?;
    written(&command.output, merge::merge(command)?)
}

fn written(output: &str, result: Finished) -> Result<(), Failure> {
    output::write(output, result.line)?;
    verdict(&result.checks, &result.invalid_reasons)
}

/// What a complete document says about success.
fn verdict(checks: &[Check], invalid_reasons: &[String]) -> Result<(), Failure> {
    let broken: Vec<String> = checks
        .iter()
        .filter(|check| !check.ok)
        .map(|check| format!("{}: {}", check.name, check.detail))
        .collect();
    if !broken.is_empty() {
        return Err(Failure::new(Exit::Inconsistent, "CheckFailed", broken.join("; ")));
    }
    if !invalid_reasons.is_empty() {
        return Err(Failure::invalid(invalid_reasons.join("; ")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    /// Widest line of a help text.
    const COLUMNS: usize = 100;

    fn visit(command: &clap::Command, path: &str, look: &mut impl FnMut(&str, &clap::Command)) {
        look(path, command);
        let shown = |below: &&clap::Command| below.get_name() != "help" && !below.is_hide_set();
        for below in command.get_subcommands().filter(shown) {
            visit(below, &format!("{path} {}", below.get_name()), look);
        }
    }

    fn every(mut look: impl FnMut(&str, &clap::Command)) {
        let mut command = Cli::command().term_width(COLUMNS);
        command.build();
        visit(&command, "dbbench-driver", &mut look);
    }

    #[test]
    fn the_command_line_is_consistent_with_itself() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_and_option_says_what_it_is_in_lines_of_bounded_width() {
        every(|path, command| {
            assert!(command.get_about().is_some(), "{path} has no help");
            for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
                let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
                assert!(!help.is_empty(), "{path}: {} has no help", argument.get_id());
            }
            let (mut short, mut long) = (command.clone(), command.clone());
            for text in [short.render_help(), long.render_long_help()] {
                for line in text.to_string().lines() {
                    assert!(line.chars().count() <= COLUMNS, "{path} --help: {line}");
                }
            }
        });
    }

    #[test]
    fn options_stand_under_the_heading_that_they_belong_to() {
        let mut seen = 0;
        every(|path, command| {
            for argument in command.get_arguments() {
                let expected = match argument.get_id().as_str() {
                    "url" | "connection_files" | "engine" | "schema" | "password_file" => "Database",
                    "agent" | "host_agent" | "seed" | "progress" | "connect_timeout" => "Result",
                    "clients" | "rate" | "duration" if !path.contains("zachmann") => "Clients and windows",
                    "scale_factor" | "warehouses" | "subscribers" | "query_timeout" | "script" => "Workload",
                    "runs" | "cache" => "Queries in passes (--test queries)",
                    _ => continue,
                };
                // The commands without a database have a few options of their own.
                if let Some(heading) = argument.get_help_heading() {
                    assert_eq!(heading, expected, "{path}: {}", argument.get_id());
                    seen += 1;
                }
            }
        });
        assert!(seen > 50, "{seen}");
    }

    #[test]
    fn every_command_ends_with_an_example_that_can_be_given() {
        every(|path, command| {
            if command.has_subcommands() {
                return;
            }
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(text.starts_with("Example"), "{path} has no example");
            let lines: Vec<&str> =
                text.lines().map(str::trim).filter(|line| line.starts_with("dbbench-driver ")).collect();
            assert!(!lines.is_empty(), "{path}: {text}");
            for line in lines {
                assert!(line.starts_with(path), "{path}: {line}");
                if let Err(error) = Cli::try_parse_from(line.split_whitespace()) {
                    panic!("{line}: {error}");
                }
            }
        });
    }
}

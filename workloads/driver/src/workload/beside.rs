//! A workload on the database, run beside it by the agent there, on the database's own CPUs: in its container or its
//! guest. This process only asks for it.

use std::time::Duration;

use clap::{Args, ValueEnum};
use dbbench_agent::local_run::LocalRun;
use serde_json::json;

use super::at_target;
use crate::cli::{positive_duration, Reporting};
use crate::failure::Failure;
use crate::report::Finished;

#[derive(Debug, Args)]
pub struct AtTargetCommand {
    #[command(flatten)]
    pub reporting: Reporting,
    /// Port of the agent beside the hypervisor, where the target is a guest: it answers at the guest's gateway
    #[arg(long, value_name = "PORT", help_heading = "Where")]
    host_agent_port: Option<u16>,
    /// How long the run may take
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = positive_duration, help_heading = "Where")]
    limit: Duration,
    /// The workload
    #[arg(value_enum)]
    workload: Workload,
    /// What it does; only runs are measured
    #[arg(value_enum)]
    command: Command,
    /// The options of that command but for the database, the agents and the result: the agent knows these
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTION VALUE")]
    options: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Workload {
    Tpch,
    Tpcc,
    Tatp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Command {
    Run,
}

/// Asks for the run; the result is the document that was made beside the database.
pub async fn perform(command: &AtTargetCommand) -> Result<Finished, Failure> {
    let Command::Run = command.command;
    let run = command.request()?;
    let request = at_target::Request { run, warmup: Duration::ZERO, duration: command.limit };
    at_target::run(&request, &command.reporting, None).await
}

impl AtTargetCommand {
    fn request(&self) -> Result<LocalRun, Failure> {
        let refused = |why: String| Failure::arguments(format!("at-target: {why}"));
        let pairs = self.options.chunks(2);
        let mut options = pairs
            .map(|pair| match pair {
                [name, value] => Ok(json!([name, value])),
                _ => Err(refused(format!("{} has no value", pair[0]))),
            })
            .collect::<Result<Vec<_>, _>>()?;
        options.push(json!(["--seed", self.reporting.seed.to_string()]));
        let name = self.workload.to_possible_value().map(|value| value.get_name().to_string());
        let run =
            json!({ name.unwrap_or_default(): {"options": options, "hostAgentPort": self.host_agent_port} });
        serde_json::from_value(run).map_err(|error| refused(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        command: AtTargetCommand,
    }

    fn request(line: &str) -> Result<LocalRun, Failure> {
        let whole = format!("at-target --agent http://db:9590 --seed 7 {line}");
        Line::try_parse_from(whole.split_whitespace()).expect("a command line").command.request()
    }

    #[test]
    fn the_options_of_the_workload_are_passed_on_with_the_seed() {
        let run = request("--host-agent-port 9591 tatp run --clients 8 --duration 2m").unwrap();
        assert_eq!(
            json!(run),
            json!({"tatp": {
                "options": [["--clients", "8"], ["--duration", "2m"], ["--seed", "7"]],
                "hostAgentPort": 9591,
            }})
        );
    }

    #[test]
    fn an_option_that_the_agent_does_not_take_is_named() {
        for (line, named) in [
            ("tpcc run --clients", "--clients has no value"),
            ("tpcc run --url postgres://x/y", "\"--url\" is no option"),
            ("tpch run --queries /etc", "\"/etc\" is no value"),
        ] {
            let failure = request(line).unwrap_err();
            assert!(failure.message.contains(named), "{failure:?}");
        }
    }
}

//! Unit costs of the machine, by the probes of `dbbench-probes`; needs no database.

mod settings;

use std::time::Duration;

use clap::{Args, Subcommand};
use dbbench_agent::local_run::LocalRun;
use dbbench_probes::Figure;

use crate::cli::Reporting;
use crate::failure::Failure;
use crate::measure::{PhaseTimer, UsageStart};
use crate::report::{Counts, Document, Finished, Operation, Probe, Progress};
use crate::target::Observer;
use crate::workload::at_target;
use crate::workload::gate::Gate;

pub const NAME: &str = "micro";

/// How long all probes together may take inside a target.
const LONGEST: Duration = Duration::from_secs(3600);

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure the unit costs, one after the other
    #[command(after_help = "Example:\n  dbbench-driver micro run --output costs.json")]
    Run(RunCommand),
}

#[derive(Debug, Args)]
pub struct RunCommand {
    #[command(flatten)]
    pub reporting: Reporting,
    #[command(flatten)]
    options: settings::Options,
    /// Let the agent of --agent do it where it is, inside the target, with files beside the database's
    #[arg(long, requires = "agent", conflicts_with_all = ["dir", "memory"], help_heading = "Where")]
    at_target: bool,
    /// Say so on standard output when all is ready, and wait for a line on standard input
    #[arg(long, hide = true, conflicts_with = "at_target")]
    await_start: bool,
}

/// Measures this machine, or has the agent of the target measure where it is.
pub async fn perform(command: &RunCommand) -> Result<Finished, Failure> {
    if !command.at_target {
        return Ok(run(command).await?.into());
    }
    let run = LocalRun::Micro(command.options.request(command.reporting.seed));
    let request = at_target::Request { run, warmup: Duration::ZERO, duration: LONGEST };
    at_target::run(&request, &command.reporting, None).await
}

async fn run(command: &RunCommand) -> Result<Document, Failure> {
    let (reporting, options) = (&command.reporting, &command.options);
    let settings = options.settings(reporting.seed)?;
    let mut document = reporting.document(NAME, "run", options.parameters(&settings));
    let mut observer = Observer::new(reporting.agents()?, reporting.connect_timeout).await?;
    let progress = Progress::new(reporting.progress);
    let probes = options.probes();
    if command.await_start {
        Gate::Input.pass().await?;
    }
    observer.before().await?;
    let (timer, usage) = (PhaseTimer::start("measure"), UsageStart::now());
    progress.begin("measure", probes.len() as u64, "probes");
    for probe in probes {
        document.operations.extend(probe.measure(&settings).into_iter().map(operation));
        progress.advance(1);
    }
    progress.finish();
    document.phases.push(timer.end());
    document.driver_usage = usage.end();
    // The probes are the load themselves: a busy thread is what was asked for.
    document.driver_usage.saturated = false;
    observer.after().await?;
    document.target = observer.into_target();
    if document.operations.iter().all(|operation| operation.counts.ok == 0) {
        document.invalidate("nothing that was asked for is available on this machine");
    }
    Ok(document)
}

fn operation(figure: Figure) -> Operation {
    let (cost, unavailable) = match figure.outcome {
        Ok(cost) => (Some(cost), None),
        Err(reason) => (None, Some(reason)),
    };
    Operation {
        name: figure.name,
        kind: "probe",
        counts: Counts { ok: cost.as_ref().map_or(0, |cost| cost.operations), ..Counts::default() },
        probe: Some(Probe { threads: figure.threads, cost, unavailable, evidence: figure.evidence }),
        ..Operation::default()
    }
}

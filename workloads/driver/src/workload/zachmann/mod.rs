//! Zachmann: random reads of tables in memory by several work processes (Bögelsack et al. 2010); needs no database.

pub mod capacity;
mod coordinate;
mod table;
mod verdict;
mod work_process;

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use dbbench_agent::local_run::{self, LocalRun};
use dbbench_probes::region;
use serde_json::{json, Map, Value};

use crate::cli::{positive_duration, positive_size, Reporting, Together};
use crate::failure::{Exit, Failure};
use crate::report::{Counts, Document, Finished, Metric, Operation, Progress};
use crate::target::Observer;
use crate::workload::at_target;
use crate::workload::gate::Gate;

pub use work_process::{work_process, WorkProcessTask};

pub const NAME: &str = "zachmann";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Fill the tables, read records at random, and count them
    #[command(
        after_help = "Example:\n  dbbench-driver zachmann run --work-processes 4 --table-size 300MB --duration 900s"
    )]
    Run(Box<RunCommand>),
    /// One of the processes that `run` starts
    #[command(hide = true)]
    WorkProcess(WorkProcessTask),
}

#[derive(Debug, Args)]
pub struct RunCommand {
    #[command(flatten)]
    pub reporting: Reporting,
    #[command(flatten)]
    options: Options,
    /// Let the agent of --agent do the reading where it is, inside the target, and not this process
    #[arg(long, requires = "agent", help_heading = "Where")]
    at_target: bool,
    /// Fill the tables, say so on standard output, and wait for a line on standard input
    #[arg(long, hide = true, conflicts_with_all = ["at_target", "barrier", "barrier_listen"])]
    await_start: bool,
    #[command(flatten)]
    together: Together,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Workload")]
struct Options {
    /// Processes that read, each with a table of its own
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=4096))]
    work_processes: u16,
    /// Size of each table
    #[arg(long, value_name = "SIZE", default_value = "300MB", value_parser = positive_size)]
    table_size: u64,
    /// Size of a record; a multiple of 8, from 16 bytes to 1 MiB
    #[arg(long, value_name = "SIZE", default_value = "128B", value_parser = record_size)]
    record_size: u64,
    /// Pages that the tables are made of: small ones, transparent huge ones, or huge ones that were set aside
    #[arg(long, value_enum, default_value_t = Pages::Small)]
    pages: Pages,
    /// CPUs that the throughput is divided by [default: those that this process may use]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    physical_cpus: Option<u32>,
    /// Time before the measured window, under the same load
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = humantime::parse_duration)]
    warmup: Duration,
    /// Length of the measured window
    #[arg(long, value_name = "TIME", default_value = "900s", value_parser = positive_duration)]
    duration: Duration,
    /// Share of system time in the CPU time from which on a run does not count
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = percent)]
    max_system_time: f64,
}

/// Which pages a table is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Pages {
    #[value(name = "4K")]
    Small,
    #[value(name = "THP")]
    Transparent,
    #[value(name = "2M")]
    Huge,
}

impl From<Pages> for region::Pages {
    fn from(pages: Pages) -> Self {
        match pages {
            Pages::Small => region::Pages::Small,
            Pages::Transparent => region::Pages::Transparent,
            Pages::Huge => region::Pages::Huge,
        }
    }
}

fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').trim_end().parse() {
        Ok(percent) if percent > 0.0 && percent <= 100.0 => Ok(percent),
        _ => Err("must be above 0 and at most 100, for example 5%".into()),
    }
}

fn record_size(text: &str) -> Result<u64, String> {
    match positive_size(text)? {
        bytes if bytes % 8 == 0 && (16..=1 << 20).contains(&bytes) => Ok(bytes),
        _ => Err("must be a multiple of 8, from 16 bytes to 1 MiB".into()),
    }
}

/// Measures this machine, or has the agent of the target measure where it is.
pub async fn perform(command: &RunCommand) -> Result<Finished, Failure> {
    let (reporting, options) = (&command.reporting, &command.options);
    if !command.at_target {
        return Ok(run(command).await?.into());
    }
    let run = LocalRun::Zachmann(options.request(reporting.seed));
    let request = at_target::Request { run, warmup: options.warmup, duration: options.duration };
    at_target::run(&request, reporting, Some(&command.together)).await
}

async fn run(command: &RunCommand) -> Result<Document, Failure> {
    let (reporting, options) = (&command.reporting, &command.options);
    if options.table_size < 2 * options.record_size {
        let message = format!("--table-size must hold at least two records of {} bytes", options.record_size);
        return Err(Failure::arguments(message));
    }
    capacity::require(options.work_processes, options.table_size, options.pages)?;
    let cpus = options.physical_cpus.map_or_else(
        || std::thread::available_parallelism().map_or(1, |cpus| cpus.get()),
        |cpus| cpus as usize,
    );
    let mut document = reporting.document(NAME, "run", options.parameters(cpus));
    let mut observer = Observer::new(reporting.agents()?, reporting.connect_timeout).await?;
    let progress = Progress::new(reporting.progress);
    let common = json!([options.parameters(cpus), reporting.seed]);
    let mut gate = match command.await_start {
        true => Gate::Input,
        false => Gate::of(&command.together, reporting.connect_timeout, &common).await?,
    };
    let plan = coordinate::Plan {
        processes: options.work_processes.into(),
        task: WorkProcessTask::new(options.table_size, options.record_size, options.pages, reporting.seed),
        warmup: options.warmup,
        duration: options.duration,
    };
    let measured = coordinate::run(&plan, &mut gate, &mut observer, &progress).await?;
    document.target = observer.into_target();
    document.phases = measured.phases;
    document.driver_usage = measured.usage;
    report(&mut document, &measured.work_processes, cpus);
    let objections = verdict::objections(
        &measured.work_processes,
        measured.pages_swapped_in,
        options.pages,
        options.max_system_time,
    );
    for objection in objections {
        document.invalidate(objection);
    }
    document.work_processes = measured.work_processes;
    Ok(document)
}

/// T is the sum of the processes' reads per second, by the number of physical CPUs.
fn report(document: &mut Document, processes: &[crate::report::WorkProcess], cpus: usize) {
    let rates: Vec<f64> = processes.iter().map(|process| process.reads_per_second).collect();
    let total: f64 = rates.iter().sum();
    document.metrics = vec![
        Metric::new("throughput", "per_second", total),
        Metric::new("throughputPerCpu", "per_second", total / cpus as f64),
        Metric::new("fairness", "ratio", verdict::fairness(&rates)),
    ];
    let sum = |field: fn(&crate::report::WorkProcess) -> u64| processes.iter().map(field).sum::<u64>();
    let wrong = sum(|process| process.wrong_records);
    document.operations = vec![Operation {
        name: "READ_RECORD".into(),
        kind: "read",
        counts: Counts { ok: sum(|process| process.reads) - wrong, error: wrong, ..Counts::default() },
        throughput_per_second: Some(total),
        ..Operation::default()
    }];
}

impl Options {
    fn request(&self, seed: u64) -> local_run::Zachmann {
        local_run::Zachmann {
            work_processes: self.work_processes,
            table_bytes: self.table_size,
            record_bytes: self.record_size,
            pages: match self.pages {
                Pages::Small => local_run::Pages::Small,
                Pages::Transparent => local_run::Pages::Transparent,
                Pages::Huge => local_run::Pages::Huge,
            },
            physical_cpus: self.physical_cpus,
            warmup_milliseconds: self.warmup.as_millis() as u64,
            duration_milliseconds: self.duration.as_millis() as u64,
            max_system_percent: self.max_system_time,
            seed,
        }
    }

    fn parameters(&self, cpus: usize) -> Map<String, Value> {
        let mut map = Map::new();
        map.insert("workProcesses".into(), json!(self.work_processes));
        map.insert("tableBytes".into(), json!(self.table_size));
        map.insert("recordBytes".into(), json!(self.record_size));
        map.insert("pages".into(), json!(region::Pages::from(self.pages).name()));
        map.insert("physicalCpus".into(), json!(cpus));
        map.insert("warmupSeconds".into(), json!(self.warmup.as_secs_f64()));
        map.insert("durationSeconds".into(), json!(self.duration.as_secs_f64()));
        map.insert("maxSystemPercent".into(), json!(self.max_system_time));
        map
    }
}

/// The error of a machine that does not have what was asked for.
fn lacking(message: String) -> Failure {
    Failure::new(Exit::Arguments, "Unsupported", message)
}

//! TPC-H (specification 3.0.1).

mod answers;
mod cache;
mod check;
mod data;
mod execution;
mod generate;
mod ordering;
mod parameters;
mod performance;
mod queries;
mod refresh;
mod rows;
mod run;
mod scale;
mod schema;
mod texts;

use std::time::Duration;

use crate::cli::{Common, Invocation, LoadOptions, Task, Together};
use crate::engine::{Engine, ErrorKind, Session};
use crate::failure::Failure;
use crate::load;
use crate::report::Document;
use clap::{Args, Subcommand, ValueEnum};

pub use generate::generate;
pub use queries::validation as validation_query;
pub use run::median;
pub use scale::ScaleFactor;
pub use texts::write as write_queries;

pub const NAME: &str = "tpch";

#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(flatten)]
    Database(DatabaseCommand),
    /// Write the eight tables as files in dbgen's format, without a database
    #[command(
        after_help = "Example:\n  mkdir data\n  dbbench-driver tpch generate --scale-factor 1 --output-dir data"
    )]
    Generate(generate::GenerateCommand),
    /// Write the texts of the 22 queries as files, without a database
    #[command(
        after_help = "Example:\n  mkdir queries\n  dbbench-driver tpch queries --scale-factor 1 --output-dir queries"
    )]
    Queries(texts::QueriesCommand),
}

#[derive(Debug, Subcommand)]
pub enum DatabaseCommand {
    /// Generate the eight tables and load them
    #[command(
        after_help = "Example:\n  dbbench-driver tpch load --scale-factor 1 --url postgres://bench@db/bench"
    )]
    Load(LoadCommand),
    /// Run the queries and measure their runtimes
    #[command(
        after_help = "Examples:\n  dbbench-driver tpch run --runs 5 --url postgres://bench@db/bench --output result.json\n  dbbench-driver tpch run --cache cold --agent http://db:9590 --url postgres://bench@db/bench\n  dbbench-driver tpch run --test full --streams 4 --url postgres://bench@db/bench"
    )]
    Run(Box<RunCommand>),
    /// Check the loaded data against the rules of clauses 1.4 and 4.2, and the answers of the queries
    #[command(
        after_help = "Example:\n  dbbench-driver tpch check --answers --url postgres://bench@db/bench"
    )]
    Check(CheckCommand),
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Workload")]
pub struct LoadCommand {
    /// Scale factor: 1 is about 1 GB
    #[arg(long, value_name = "SF")]
    scale_factor: ScaleFactor,
    #[command(flatten)]
    load: LoadOptions,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Workload")]
pub struct RunCommand {
    /// Refuse data of another scale factor [default: what is loaded]
    #[arg(long, value_name = "SF")]
    scale_factor: Option<ScaleFactor>,
    /// What is run: the queries in passes, or the tests of clause 5.3 (full: power, then throughput)
    #[arg(long, value_enum, default_value_t = Test::Queries)]
    test: Test,
    /// Query streams of the throughput test [default: the minimum of clause 5.3.4 for the scale factor]
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u16).range(1..=500))]
    streams: Option<u16>,
    /// Refuse data that another number of pairs of refresh functions has changed
    /// [default: 0 for queries, else any]
    #[arg(long, value_name = "N")]
    refresh_pairs: Option<u32>,
    /// Whether the server may use several processes for one query [default: as the server is set]
    #[arg(long, value_enum)]
    parallel_query: Option<ParallelQuery>,
    /// A query that runs longer is ended, and the measurement is invalid
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = crate::cli::positive_duration)]
    query_timeout: Duration,
    #[command(flatten)]
    passes: Passes,
    #[command(flatten)]
    together: Together,
    #[command(flatten)]
    common: Common,
}

/// Options of the queries in passes; the other tests have no choice in these.
#[derive(Debug, Args)]
#[command(next_help_heading = "Queries in passes (--test queries)")]
struct Passes {
    /// Queries in the order in which they run: 1,6,14-19 [default: 1-22]
    #[arg(long)]
    queries: Option<queries::Selection>,
    /// Order of the queries: as they are numbered in --queries, or that of the power test (Appendix A)
    /// [default: numbered]
    #[arg(long, value_enum)]
    order: Option<Order>,
    /// Values in the queries: those of the validation (clauses 2.4.x.3) or drawn with --seed (2.4.x.2)
    /// [default: validation]
    #[arg(long, value_enum)]
    parameters: Option<parameters::Choice>,
    /// Passes before the measured ones [default: 1; 0 with --cache cold]
    #[arg(long, value_parser = clap::value_parser!(u16).range(0..=1000))]
    warmup_runs: Option<u16>,
    /// Measured passes [default: 3]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    runs: Option<u16>,
    /// One connection for all queries, or a new one for each [default: shared; per-query with --cache cold]
    #[arg(long, value_enum)]
    connection: Option<Connection>,
    /// Where the data has to be when a query begins; the result has the proof, and does not count without it
    /// [default: wherever it happens to be]
    #[arg(long, value_enum)]
    cache: Option<cache::State>,
}

/// What a run consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Test {
    Queries,
    Power,
    Throughput,
    Full,
}

/// The order of the queries in a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Order {
    Numbered,
    Stream,
}

/// Whether one query may be worked on by several processes of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ParallelQuery {
    On,
    Off,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Workload")]
pub struct CheckCommand {
    /// Refuse data of another scale factor [default: what is loaded]
    #[arg(long, value_name = "SF")]
    scale_factor: Option<ScaleFactor>,
    /// Also run the 22 queries with validation parameters and compare their answers with the reference
    /// (scale factors 0.01, 0.1 and 1) by clause 2.1.3.5
    #[arg(long)]
    answers: bool,
    #[command(flatten)]
    common: Common,
}

/// Which connection a query runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Connection {
    Shared,
    PerQuery,
}

/// The name of a choice, as it is written on the command line.
fn name_of(choice: impl ValueEnum) -> String {
    choice.to_possible_value().map(|value| value.get_name().to_string()).unwrap_or_default()
}

impl RunCommand {
    /// Refuses options that the chosen test leaves no choice in.
    fn consistent(&self) -> Result<(), Failure> {
        let passes = &self.passes;
        let of_passes = [
            ("--queries", passes.queries.is_some()),
            ("--order", passes.order.is_some()),
            ("--parameters", passes.parameters.is_some()),
            ("--warmup-runs", passes.warmup_runs.is_some()),
            ("--runs", passes.runs.is_some()),
            ("--connection", passes.connection.is_some()),
            ("--cache", passes.cache.is_some()),
        ];
        let streams = ("--streams", self.streams.is_some());
        let together = ("--processes", self.together.processes > 1);
        let unfit: Vec<(&str, bool)> = match self.test {
            Test::Queries => vec![streams],
            Test::Power => of_passes.into_iter().chain([together, streams]).collect(),
            Test::Throughput | Test::Full => of_passes.into_iter().chain([together]).collect(),
        };
        match unfit.iter().find(|(_, given)| *given) {
            Some((option, _)) => {
                Err(Failure::arguments(format!("{option} does not go with --test {}", name_of(self.test))))
            }
            None => self.cold_possible(),
        }
    }

    /// Refuses what would be warm in a cold run, and a cold run that nobody can make.
    fn cold_possible(&self) -> Result<(), Failure> {
        let passes = &self.passes;
        let refusal = match passes.cache {
            Some(cache::State::Cold) if self.common.reporting.agent.is_none() => {
                "needs --agent: the agent beside the database restarts it and drops the page cache"
            }
            Some(cache::State::Cold) if passes.connection == Some(Connection::Shared) => {
                "restarts the database before every query, which ends a connection: leave out --connection shared"
            }
            Some(cache::State::Cold) if passes.warmup_runs.is_some_and(|runs| runs > 0) => {
                "has nothing to warm up: leave out --warmup-runs"
            }
            _ => return Ok(()),
        };
        Err(Failure::arguments(format!("--cache cold {refusal}")))
    }
}

/// How often lifting a limit is asked for.
const LIFTS: usize = 1000;

/// Sets a session up for the plans that were asked for.
async fn configure<S: Session>(session: &S, command: &RunCommand) -> Result<(), Failure> {
    if let Some(choice) = command.parallel_query {
        session.allow_parallel_query(choice == ParallelQuery::On).await?;
    }
    Ok(())
}

/// Sets a session up for queries alone: whatever runs on it now is under their time limit.
async fn prepare<S: Session>(session: &S, command: &RunCommand) -> Result<(), Failure> {
    configure(session, command).await?;
    Ok(session.limit_statements(Some(command.query_timeout)).await?)
}

/// Lifts the time limit of queries. The statement that does so is under the limit itself, and with a short one
/// on a busy machine it runs into it.
async fn lift_limit<S: Session>(session: &S) -> Result<(), Failure> {
    for _ in 1..LIFTS {
        match session.limit_statements(None).await {
            Err(error) if error.kind == ErrorKind::Timeout => {}
            ended => return Ok(ended?),
        }
    }
    Ok(session.limit_statements(None).await?)
}

impl Task for DatabaseCommand {
    fn workload(&self) -> &'static str {
        NAME
    }

    fn common(&self) -> &Common {
        match self {
            DatabaseCommand::Load(command) => &command.common,
            DatabaseCommand::Run(command) => &command.common,
            DatabaseCommand::Check(command) => &command.common,
        }
    }

    async fn perform<E: Engine>(&self, invocation: &Invocation<E>) -> Result<Document, Failure> {
        match self {
            DatabaseCommand::Load(command) => {
                let dialect = invocation.engine.dialect();
                let dataset = data::TpchData::new(command.scale_factor.clone(), dialect);
                let scale = ("scaleFactor", command.scale_factor.text().into());
                load::load(invocation, &dataset, &command.load, scale).await
            }
            DatabaseCommand::Run(command) => {
                command.consistent()?;
                // Wrong arguments are no reason to wait for a database.
                command.together.member()?;
                match command.test {
                    Test::Queries => run::run(invocation, command).await,
                    _ => performance::run(invocation, command).await,
                }
            }
            DatabaseCommand::Check(command) => check::check(invocation, command).await,
        }
    }
}

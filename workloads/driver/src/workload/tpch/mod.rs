//! TPC-H (specification 3.0.1).

mod answers;
mod check;
mod data;
mod generate;
mod parameters;
mod queries;
mod run;
mod scale;
mod schema;
mod texts;

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{json, Map, Value};

use crate::cli::{Common, Invocation, LoadOptions, Task};
use crate::engine::Engine;
use crate::failure::Failure;
use crate::load;
use crate::report::Document;

pub use generate::generate;
pub use queries::validation as validation_query;
pub use scale::ScaleFactor;
pub use texts::write as write_queries;

pub const NAME: &str = "tpch";

#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(flatten)]
    Database(DatabaseCommand),
    /// Write the eight tables as files in dbgen's format, without a database
    Generate(generate::GenerateCommand),
    /// Write the texts of the 22 queries as files, without a database
    Queries(texts::QueriesCommand),
}

#[derive(Debug, Subcommand)]
pub enum DatabaseCommand {
    /// Generate the eight tables and load them
    Load(LoadCommand),
    /// Run the queries and measure their runtimes
    Run(RunCommand),
    /// Check the loaded data against the rules of clauses 1.4 and 4.2, and the answers of the queries
    Check(CheckCommand),
}

#[derive(Debug, Args)]
pub struct LoadCommand {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    load: LoadOptions,
    /// Scale factor: 1 is about 1 GB
    #[arg(long, value_name = "SF")]
    scale_factor: ScaleFactor,
}

#[derive(Debug, Args)]
pub struct RunCommand {
    #[command(flatten)]
    common: Common,
    /// Refuse data of another scale factor [default: what is loaded]
    #[arg(long, value_name = "SF")]
    scale_factor: Option<ScaleFactor>,
    /// Queries in the order in which they run: 1,6,14-19
    #[arg(long, default_value = "1-22")]
    queries: queries::Selection,
    /// Values in the queries: those of the validation (clauses 2.4.x.3) or drawn with --seed (2.4.x.2)
    #[arg(long, value_enum, default_value_t = parameters::Choice::Validation)]
    parameters: parameters::Choice,
    /// Passes before the measured ones
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(0..=1000))]
    warmup_runs: u16,
    /// Measured passes
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    runs: u16,
    /// One connection for all queries, or a new one for each
    #[arg(long, value_enum, default_value_t = Connection::Shared)]
    connection: Connection,
    /// A query that runs longer is ended, and the measurement is invalid
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = crate::cli::positive_duration)]
    query_timeout: Duration,
}

#[derive(Debug, Args)]
pub struct CheckCommand {
    #[command(flatten)]
    common: Common,
    /// Refuse data of another scale factor [default: what is loaded]
    #[arg(long, value_name = "SF")]
    scale_factor: Option<ScaleFactor>,
    /// Also run the 22 queries with validation parameters and compare their answers with the reference
    /// (scale factors 0.01, 0.1 and 1) by clause 2.1.3.5
    #[arg(long)]
    answers: bool,
}

/// Which connection a query runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Connection {
    Shared,
    PerQuery,
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
                let dataset = data::TpchData::new(command.scale_factor.clone());
                let connections = command.load.connections();
                let parameters = object(json!({
                    "scaleFactor": command.scale_factor.text(), "connections": connections, "replace": command.load.replace
                }));
                load::load(invocation, &dataset, connections, command.load.replace, parameters).await
            }
            DatabaseCommand::Run(command) => run::run(invocation, command).await,
            DatabaseCommand::Check(command) => check::check(invocation, command).await,
        }
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

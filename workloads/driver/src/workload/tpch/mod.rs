//! TPC-H (specification 3.0.1).

mod check;
mod data;
mod parameters;
mod queries;
mod run;
mod scale;
mod schema;

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{json, Map, Value};

use crate::cli::{Common, Invocation, LoadOptions, Task};
use crate::engine::Engine;
use crate::failure::Failure;
use crate::load;
use crate::report::Document;

pub use scale::ScaleFactor;

pub const NAME: &str = "tpch";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Generate the eight tables and load them
    Load(LoadCommand),
    /// Run the queries and measure their runtimes
    Run(RunCommand),
    /// Check the loaded data against the rules of clauses 1.4 and 4.2
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
}

/// Which connection a query runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Connection {
    Shared,
    PerQuery,
}

impl Task for Command {
    fn workload(&self) -> &'static str {
        NAME
    }

    fn common(&self) -> &Common {
        match self {
            Command::Load(command) => &command.common,
            Command::Run(command) => &command.common,
            Command::Check(command) => &command.common,
        }
    }

    async fn perform<E: Engine>(&self, invocation: &Invocation<E>) -> Result<Document, Failure> {
        match self {
            Command::Load(command) => {
                let dataset = data::TpchData::new(command.scale_factor.clone());
                let connections = command.load.connections();
                let parameters = object(json!({
                    "scaleFactor": command.scale_factor.text(), "connections": connections, "replace": command.load.replace
                }));
                load::load(invocation, &dataset, connections, command.load.replace, parameters).await
            }
            Command::Run(command) => run::run(invocation, command).await,
            Command::Check(command) => check::check(invocation, command.scale_factor.as_ref()).await,
        }
    }
}

/// The text of a query (1 to 22) with the parameters of the query validation (clauses 2.4.x.3).
pub fn validation_query(query: u8, scale: &ScaleFactor) -> String {
    queries::text(query, &parameters::of(query, parameters::Choice::Validation, 0, scale))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

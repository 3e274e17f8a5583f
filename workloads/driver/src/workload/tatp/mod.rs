//! TATP, the telecom application transaction processing benchmark (specification 1.0).

mod check;
mod client;
mod data;
mod inputs;
mod schema;

use clap::{Args, Subcommand};
use serde_json::{json, Map, Value};

use crate::cli::{Common, Invocation, LoadOptions, LoopOptions, Task};
use crate::engine::{Engine, Feature};
use crate::failure::Failure;
use crate::load::{self, Expectation};
use crate::report::{Counts, Document};
use crate::workload::conditions::{prefixed, refuse_broken, Moments};
use crate::workload::run;

pub const NAME: &str = "tatp";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Generate the four tables and load them
    #[command(
        after_help = "Example:\n  dbbench-driver tatp load --subscribers 1000000 --url postgres://bench@db/bench"
    )]
    Load(LoadCommand),
    /// Run the seven transactions in the standard mix
    #[command(
        after_help = "Example:\n  dbbench-driver tatp run --clients 8 --duration 2m --url postgres://bench@db/bench"
    )]
    Run(RunCommand),
    /// Check that the population follows the rules of the specification
    #[command(after_help = "Example:\n  dbbench-driver tatp check --url postgres://bench@db/bench")]
    Check(CheckCommand),
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Workload")]
pub struct LoadCommand {
    /// Number of subscribers
    #[arg(long, value_parser = subscribers_range())]
    subscribers: u32,
    #[command(flatten)]
    load: LoadOptions,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Workload")]
pub struct RunCommand {
    /// Refuse data with another number of subscribers [default: what is loaded]
    #[arg(long, value_parser = subscribers_range())]
    subscribers: Option<u32>,
    /// How subscribers are drawn
    #[arg(long, value_enum, default_value_t = inputs::Distribution::NonUniform)]
    distribution: inputs::Distribution,
    /// Check the rules of the population around the run
    #[arg(long, value_enum, default_value_t = Moments::None)]
    check: Moments,
    #[command(flatten)]
    clients: LoopOptions,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Workload")]
pub struct CheckCommand {
    /// Refuse data with another number of subscribers [default: what is loaded]
    #[arg(long, value_parser = subscribers_range())]
    subscribers: Option<u32>,
    #[command(flatten)]
    common: Common,
}

fn subscribers_range() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=1_000_000_000)
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

    /// INSERT_CALL_FORWARDING has to fail where the row exists.
    fn needs(&self) -> &'static [Feature] {
        &[Feature::Keys]
    }

    async fn perform<E: Engine>(&self, invocation: &Invocation<E>) -> Result<Document, Failure> {
        match self {
            Command::Load(command) => {
                let dataset = data::TatpData::new(command.subscribers, invocation.seed);
                let connections = command.load.connections();
                let parameters = object(json!({
                    "subscribers": command.subscribers, "connections": connections, "replace": command.load.replace
                }));
                load::load(invocation, &dataset, connections, command.load.replace, parameters).await
            }
            Command::Run(command) => {
                // Wrong arguments are no reason to wait for a database.
                command.clients.together.member()?;
                measure(invocation, command).await
            }
            Command::Check(command) => check::check(invocation, command.subscribers).await,
        }
    }
}

async fn measure<E: crate::engine::Engine>(
    invocation: &Invocation<E>,
    command: &RunCommand,
) -> Result<Document, Failure> {
    use crate::engine::Session;
    let session = invocation.connect().await?;
    let scale = command.subscribers.map(|subscribers| subscribers.to_string());
    let expected = Expectation { workload: NAME, scale: scale.as_deref() };
    let meta = load::require(&invocation.engine, &session, &invocation.schema, &expected).await?;
    let subscribers: u32 =
        meta.scale.parse().map_err(|_| Failure::invalid("dbbench_meta names no number of subscribers"))?;
    let mut parameters = object(json!({
        "subscribers": subscribers,
        "distribution": match command.distribution {
            inputs::Distribution::NonUniform => "non-uniform",
            inputs::Distribution::Uniform => "uniform",
        },
        "check": command.check.name(),
    }));
    parameters.extend(run::parameters(&command.clients));
    let mut document = invocation.document("run", parameters, session.server().await?);
    let data = meta.record.data;
    let leads = command.clients.together.member()?.0.index == 0;
    if leads && command.check.before() {
        document.checks = prefixed("before: ", check::conditions(&session, invocation, &data).await?);
        refuse_broken(&document.checks)?;
    }
    document.data = Some(data.clone());
    session.close().await;
    let workload = client::Tatp {
        engine: invocation.engine.clone(),
        seed: invocation.seed,
        population: inputs::Population::new(subscribers, command.distribution),
    };
    // The specification counts all transactions, those that fail as foreseen included.
    let all = |counts: &Counts| counts.ok + counts.expected_failure;
    run::measure(invocation, &workload, &command.clients, all, &mut document).await?;
    if leads && command.check.after() {
        let session = invocation.connect().await?;
        let checks = check::conditions(&session, invocation, &data).await?;
        document.checks.extend(prefixed("after: ", checks));
        session.close().await;
    }
    Ok(document)
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

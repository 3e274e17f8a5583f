//! TATP, the telecom application transaction processing benchmark (specification 1.0).

mod check;
mod client;
mod data;
mod inputs;
mod schema;

use clap::{Args, Subcommand};
use serde_json::json;

use crate::cli::{Common, Invocation, LoadOptions, LoopOptions, Task};
use crate::engine::{Engine, Feature, Session};
use crate::failure::Failure;
use crate::load;
use crate::report::{Counts, Document};
use crate::workload::conditions::{Around, Moments};
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
                let scale = ("subscribers", command.subscribers.into());
                load::load(invocation, &dataset, &command.load, scale).await
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

async fn measure<E: Engine>(invocation: &Invocation<E>, command: &RunCommand) -> Result<Document, Failure> {
    let scale = command.subscribers.map(|subscribers| subscribers.to_string());
    let (session, meta) = load::open(invocation, scale.as_deref()).await?;
    let subscribers: u32 =
        meta.scale.parse().map_err(|_| Failure::invalid("dbbench_meta names no number of subscribers"))?;
    let own = json!({
        "subscribers": subscribers,
        "distribution": match command.distribution {
            inputs::Distribution::NonUniform => "non-uniform",
            inputs::Distribution::Uniform => "uniform",
        },
        "check": command.check.name(),
    });
    let parameters = run::parameters(own, &command.clients);
    let mut document = invocation.document("run", parameters, session.server().await?);
    let data = meta.record.data;
    document.data = Some(data.clone());
    let around = Around {
        invocation,
        moments: command.check,
        leads: command.clients.together.leads()?,
        conditions: async |session: &E::Session| check::conditions(session, invocation, &data).await,
    };
    around.before(&session, &mut document).await?;
    session.close().await;
    let workload = client::Tatp {
        engine: invocation.engine.clone(),
        seed: invocation.seed,
        population: inputs::Population::new(subscribers, command.distribution),
    };
    // The specification counts all transactions, those that fail as foreseen included.
    let all = |counts: &Counts| counts.ok + counts.expected_failure;
    run::measure(invocation, &workload, &command.clients, all, &mut document).await?;
    around.after(&mut document).await?;
    Ok(document)
}

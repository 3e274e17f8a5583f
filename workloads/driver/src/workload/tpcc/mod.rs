//! TPC-C (specification 5.11).

mod check;
mod constants;
mod customer;
mod data;
mod deck;
mod deferred;
mod inputs;
mod names;
mod pacing;
mod schema;
mod shares;
mod terminal;
mod transaction;

use clap::{Args, Subcommand};
use serde_json::json;

use crate::cli::{Common, Invocation, LoadOptions, LoopOptions, Task};
use crate::engine::{Engine, Feature, Session};
use crate::failure::Failure;
use crate::load;
use crate::report::{Counts, Document, Limit, Metric};
use crate::workload::conditions::{Around, Moments};
use crate::workload::run;

pub const NAME: &str = "tpcc";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Generate the nine tables and load them
    #[command(
        after_help = "Example:\n  dbbench-driver tpcc load --warehouses 5 --url postgres://bench@db/bench"
    )]
    Load(LoadCommand),
    /// Run the five transactions in the specified mix
    #[command(
        after_help = "Examples:\n  dbbench-driver tpcc run --clients 8 --warmup 1m --duration 5m --url postgres://bench@db/bench\n  dbbench-driver tpcc run --clients 50 --rate 200 --url postgres://bench@db/bench"
    )]
    Run(RunCommand),
    /// Check consistency conditions 3.3.2.1 to 3.3.2.12
    #[command(after_help = "Example:\n  dbbench-driver tpcc check --url postgres://bench@db/bench")]
    Check(CheckCommand),
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Workload")]
pub struct LoadCommand {
    /// Number of warehouses
    #[arg(long, value_parser = warehouses_range())]
    warehouses: u32,
    #[command(flatten)]
    load: LoadOptions,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Workload")]
pub struct RunCommand {
    /// Refuse data with another number of warehouses [default: what is loaded]
    #[arg(long, value_parser = warehouses_range())]
    warehouses: Option<u32>,
    /// When deliveries are carried out (clause 2.7.2)
    #[arg(long, value_enum, default_value_t = deferred::Mode::Inline)]
    delivery: deferred::Mode,
    /// Keying and think times of the terminals (clause 5.2.5); not in an open loop
    #[arg(long, value_enum, default_value_t = pacing::Pacing::None, conflicts_with = "rate")]
    pacing: pacing::Pacing,
    /// What keying and think times are multiplied by
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = pacing_scale, requires = "pacing")]
    pacing_scale: f64,
    /// Check consistency conditions 3.3.2.1 to 3.3.2.12 around the run
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
    /// Refuse data with another number of warehouses [default: what is loaded]
    #[arg(long, value_parser = warehouses_range())]
    warehouses: Option<u32>,
    #[command(flatten)]
    common: Common,
}

fn warehouses_range() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=100_000)
}

fn pacing_scale(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(factor) if factor > 0.0 && factor <= 100.0 => Ok(factor),
        _ => Err("must be a number above 0 and at most 100".into()),
    }
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

    /// Lookups by key, and rows that are locked before they are changed.
    fn needs(&self) -> &'static [Feature] {
        &[Feature::Keys, Feature::RowLocks]
    }

    async fn perform<E: Engine>(&self, invocation: &Invocation<E>) -> Result<Document, Failure> {
        match self {
            Command::Load(command) => {
                let dataset = data::TpccData::new(command.warehouses, invocation.seed);
                let scale = ("warehouses", command.warehouses.into());
                load::load(invocation, &dataset, &command.load, scale).await
            }
            Command::Run(command) => {
                // Wrong arguments are no reason to wait for a database.
                command.clients.together.member()?;
                measure(invocation, command).await
            }
            Command::Check(command) => check::check(invocation, command.warehouses).await,
        }
    }
}

async fn measure<E: Engine>(invocation: &Invocation<E>, command: &RunCommand) -> Result<Document, Failure> {
    let scale = command.warehouses.map(|warehouses| warehouses.to_string());
    let (session, meta) = load::open(invocation, scale.as_deref()).await?;
    let damaged = || Failure::invalid("dbbench_meta names no warehouses or no constant of the load");
    let warehouses: i32 = meta.scale.parse().map_err(|_| damaged())?;
    let load_constant = meta.constants["cLast"].as_i64().ok_or_else(damaged)?;
    let constants = constants::Constants::for_run(invocation.seed, load_constant);
    let own = json!({
        "warehouses": warehouses,
        "nurandConstants": {"cLastLoad": load_constant, "cLast": constants.c_last, "cId": constants.c_id,
            "olIId": constants.ol_i_id},
        "delivery": match command.delivery {
            deferred::Mode::Inline => "inline",
            deferred::Mode::Deferred => "deferred",
        },
        "pacing": match command.pacing {
            pacing::Pacing::None => "none",
            pacing::Pacing::Tpcc => "tpcc",
        },
        "pacingScale": command.pacing_scale,
        "check": command.check.name(),
    });
    let parameters = run::parameters(own, &command.clients);
    let mut document = invocation.document("run", parameters, session.server().await?);
    document.data = Some(meta.record.data);
    let around = Around {
        invocation,
        moments: command.check,
        leads: command.clients.together.leads()?,
        conditions: async |session: &E::Session| check::conditions(session, invocation).await,
    };
    around.before(&session, &mut document).await?;
    session.close().await;
    let workload = terminal::Tpcc {
        engine: invocation.engine.clone(),
        seed: invocation.seed,
        warehouses,
        constants,
        delivery: command.delivery,
        pacing: (command.pacing == pacing::Pacing::Tpcc).then_some(command.pacing_scale),
        queues: deferred::Queues::default(),
    };
    let committed = |counts: &Counts| counts.ok;
    run::measure(invocation, &workload, &command.clients, committed, &mut document).await?;
    document.shares = shares::limited(document.shares);
    let new_orders = document.operations[deck::NEW_ORDER].throughput_per_second.unwrap_or_default();
    document.metrics.push(Metric::new("newOrdersPerMinute", "per_minute", new_orders * 60.0));
    let deferred = command.delivery == deferred::Mode::Deferred;
    let operations = document.operations.iter().enumerate();
    document.limits = operations
        .filter_map(|(index, operation)| Limit::of(operation, pacing::limit(index, deferred)))
        .collect();
    around.after(&mut document).await?;
    Ok(document)
}

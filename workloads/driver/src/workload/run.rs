//! The measured run of a workload whose clients run transactions.

use std::time::Duration;

use serde_json::{json, Value};

use super::gathering::gather;

use crate::cli::{Invocation, LoopOptions};
use crate::engine::Engine;
use crate::failure::Failure;
use crate::measure::clients::{self, Plan, Workload};
use crate::measure::{Arrivals, Conditions, Live, Part};
use crate::report::{Counts, Document, Metric, Process};
use crate::target::Observer;

/// A workload's own parameters, an object, and the options of its clients, as they stand in the result document.
pub fn parameters(mut own: Value, options: &LoopOptions) -> Value {
    own["clients"] = json!(options.clients);
    own["warmupSeconds"] = json!(options.warmup.as_secs_f64());
    own["durationSeconds"] = json!(options.duration.as_secs_f64());
    if let Arrivals::Open { rate, spacing } = options.arrivals() {
        own["ratePerSecond"] = json!(rate);
        own["arrivals"] = json!(spacing);
    }
    own["processes"] = json!(options.together.processes);
    own
}

/// Runs the clients and fills in what was measured. `counted` says which outcomes make up the throughput.
pub async fn measure<E: Engine, W: Workload>(
    invocation: &Invocation<E>,
    workload: &W,
    options: &LoopOptions,
    counted: fn(&Counts) -> u64,
    document: &mut Document,
) -> Result<(), Failure> {
    let live = Live::new(invocation.workload, workload.operations(), options.clients.into());
    if let Some(address) = &options.metrics_listen {
        live.serve(address)?;
    }
    let (member, mut team) = gather(invocation, &options.together, document).await?;
    let mut observer = Observer::new(invocation.agents.clone(), invocation.patience).await?;
    let plan = Plan {
        clients: options.clients.into(),
        warmup: options.warmup,
        duration: options.duration,
        arrivals: options.arrivals(),
        seed: invocation.seed,
        member,
    };
    let conditions = Conditions {
        observer: &mut observer,
        progress: &invocation.progress,
        live: &live,
        team: team.as_mut(),
    };
    let mut measured = clients::run(workload, plan, conditions).await?;
    for part in &mut measured.parts {
        part.usage = part.usage.clone().excused(invocation.beside_database);
    }
    document.target = observer.into_target();
    let (tally, usage) = measured.merged();
    document.phases = measured.phases;
    document.operations = tally.report(workload.operations(), options.duration, counted);
    document.arrivals = tally.started.summary(plan.arrivals);
    document.shares = tally.shares(workload.shares());
    let total = tally.throughput(options.duration, counted);
    document.metrics.push(Metric::new("throughput", "per_second", total));
    for operation in document.operations.clone() {
        if operation.counts.error > 0 {
            let classes: Vec<String> =
                operation.errors.iter().map(|(class, count)| format!("{class} {count} times")).collect();
            let (errors, name) = (operation.counts.error, operation.name);
            document.invalidate(format!("{errors} {name} transactions failed ({})", classes.join(", ")));
        }
    }
    if total == 0.0 {
        document.invalidate("no transaction ended inside the measured window");
    }
    for part in &measured.parts {
        if let Some(objection) = part.usage.objection() {
            match measured.parts.len() {
                1 => document.invalidate(objection),
                _ => document.invalidate(format!("process {}: {objection}", part.index)),
            }
        }
    }
    document.driver_usage = usage;
    if measured.parts.len() > 1 {
        document.processes =
            measured.parts.iter().map(|part| process(part, options.duration, counted)).collect();
    }
    Ok(())
}

fn process(part: &Part, window: Duration, counted: fn(&Counts) -> u64) -> Process {
    Process {
        index: part.index,
        clients: part.clients,
        throughput_per_second: part.tally.throughput(window, counted),
        driver_usage: part.usage.clone(),
    }
}

//! The measured run of a workload whose clients run transactions.

use serde_json::{json, Map, Value};

use crate::cli::{Invocation, LoopOptions};
use crate::engine::Engine;
use crate::failure::Failure;
use crate::measure::clients::{self, Plan, Workload};
use crate::measure::{Arrivals, Conditions, Member};
use crate::report::{Counts, Document, Metric};
use crate::target::Observer;

/// The options as they stand in the result document.
pub fn parameters(options: &LoopOptions) -> Map<String, Value> {
    let mut map = Map::new();
    map.insert("clients".into(), json!(options.clients));
    map.insert("warmupSeconds".into(), json!(options.warmup.as_secs_f64()));
    map.insert("durationSeconds".into(), json!(options.duration.as_secs_f64()));
    if let Arrivals::Open { rate, spacing } = options.arrivals() {
        map.insert("ratePerSecond".into(), json!(rate));
        map.insert("arrivals".into(), json!(spacing));
    }
    map
}

/// Runs the clients and fills in what was measured. `counted` says which outcomes make up the throughput.
pub async fn measure<E: Engine, W: Workload>(
    invocation: &Invocation<E>,
    workload: &W,
    options: &LoopOptions,
    counted: fn(&Counts) -> u64,
    document: &mut Document,
) -> Result<(), Failure> {
    let mut observer = Observer::new(invocation.agents.clone(), invocation.patience).await?;
    let plan = Plan {
        clients: options.clients.into(),
        warmup: options.warmup,
        duration: options.duration,
        arrivals: options.arrivals(),
        seed: invocation.seed,
        member: Member::ALONE,
    };
    let conditions = Conditions { observer: &mut observer, progress: &invocation.progress };
    let measured = clients::run(workload, plan, conditions).await?;
    document.target = observer.into_target();
    document.phases = measured.phases;
    document.operations = measured.tally.report(workload.operations(), options.duration, counted);
    document.arrivals = measured.tally.started.summary(plan.arrivals);
    document.shares = measured.tally.shares(workload.shares());
    let total = measured.tally.throughput(options.duration, counted);
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
    document.driver_usage = measured.usage;
    if let Some(objection) = document.driver_usage.objection() {
        document.invalidate(objection);
    }
    Ok(())
}

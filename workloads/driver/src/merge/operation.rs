//! Counts, latencies and runtimes of the parts, by the code that merges processes at a barrier.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{json, Value};

use super::agreement::Arrangement;
use super::{refuse, Part};
use crate::failure::Failure;
use crate::measure::{Arrivals, ArrivalsSummary, Latency, OperationTally, Spacing, Started, Tally};
use crate::report::Counts;

/// As many points as the series of one result has at most.
const POINTS: usize = 600;

/// What is read of an operation; the rest is taken over from the first part.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Measured {
    pub name: String,
    counts: Counts,
    errors: BTreeMap<String, u64>,
    throughput_per_second: Option<f64>,
    latency: Option<Summary>,
}

#[derive(Debug, Clone, Deserialize)]
struct Summary {
    histogram: String,
    mean: f64,
}

/// The starts of an open loop.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Starts {
    spacing: Spacing,
    offered_per_second: f64,
    started: u64,
    queued: u64,
    not_started: u64,
    start_delay: Option<Summary>,
}

/// A limit of response times.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Bound {
    operation: String,
    p90_limit_seconds: f64,
}

impl Bound {
    /// The limit, held against the merged latencies.
    pub fn of(&self, operations: &[Value]) -> Option<Value> {
        let operation = operations.iter().find(|operation| operation["name"] == self.operation)?;
        let p90 = operation["latency"]["p90"].as_f64()? / 1e6;
        let limit = self.p90_limit_seconds;
        Some(
            json!({"operation": self.operation, "p90LimitSeconds": limit, "p90Seconds": p90, "met": p90 <= limit}),
        )
    }
}

fn latency(file: &str, summary: Option<&Summary>) -> Result<Latency, Failure> {
    let Some(Summary { histogram, mean }) = summary else { return Ok(Latency::default()) };
    Latency::of_summary(histogram, *mean).map_err(|error| refuse(format!("{file}: histogram: {error}")))
}

/// The operations of all parts, as they stand in the merged result.
pub fn merge(parts: &[Part], arrangement: Arrangement) -> Result<Vec<Value>, Failure> {
    let first = &parts[0];
    let seconds = first.parameters.get("durationSeconds").and_then(Value::as_f64);
    let window = Duration::from_secs_f64(seconds.unwrap_or(1.0));
    let mut tally = Tally::new(first.operations.len(), 0);
    for part in parts {
        let mut theirs = Tally::new(first.operations.len(), 0);
        for (place, measured) in theirs.operations.iter_mut().zip(&part.operations) {
            let inside = measured.throughput_per_second.unwrap_or(0.0) * window.as_secs_f64();
            *place = OperationTally {
                counts: measured.counts,
                inside: Counts { ok: inside.round() as u64, ..Counts::default() },
                errors: measured.errors.clone(),
                latency: latency(&part.file, measured.latency.as_ref())?,
                points: Vec::new(),
            };
        }
        tally.merge(&theirs);
    }
    let whole = match arrangement {
        Arrangement::Trials => window * parts.len() as u32,
        Arrangement::Processes => window,
    };
    let names: Vec<&str> = first.operations.iter().map(|operation| operation.name.as_str()).collect();
    let reports = tally.report(&names, whole, |counts| counts.ok);
    let merged = reports.iter().enumerate().map(|(index, report)| {
        let mut operation = first.all["operations"][index].clone();
        operation["counts"] = json!(report.counts);
        operation["errors"] = json!(report.errors);
        operation["latency"] = json!(report.latency);
        if !operation["throughputPerSecond"].is_null() {
            operation["throughputPerSecond"] = json!(report.throughput_per_second);
        }
        for list in ["runtimesSeconds", "executions"] {
            let all: Vec<&Value> = of(parts, index, list).filter_map(Value::as_array).flatten().collect();
            if operation.get(list).is_some() {
                operation[list] = json!(all);
            }
        }
        let rows: Vec<&Value> = of(parts, index, "rows").collect();
        let fields = operation.as_object_mut().expect("an operation is an object");
        if rows.iter().any(|other| *other != rows[0]) {
            fields.remove("rows");
        }
        match series(parts, index, arrangement) {
            Some(series) => drop(fields.insert("series".into(), series)),
            None => drop(fields.remove("series")),
        }
        operation
    });
    Ok(merged.collect())
}

/// A field of one operation in all parts that have it.
fn of<'a>(parts: &'a [Part], index: usize, field: &str) -> impl Iterator<Item = &'a Value> {
    let field = field.to_string();
    parts.iter().filter_map(move |part| part.all["operations"][index].get(&field))
}

/// The points of trials follow each other. Side by side their quantiles cannot be added.
fn series(parts: &[Part], index: usize, arrangement: Arrangement) -> Option<Value> {
    let all: Vec<&Value> = of(parts, index, "series").collect();
    let first = *all.first()?;
    let fits = arrangement == Arrangement::Trials
        && all.len() == parts.len()
        && all.iter().all(|series| series["intervalSeconds"] == first["intervalSeconds"]);
    let length = |series: &Value| series["count"].as_array().map_or(0, Vec::len);
    if !fits || all.iter().map(|series| length(series)).sum::<usize>() > POINTS {
        return None;
    }
    let mut joined = json!({"intervalSeconds": first["intervalSeconds"]});
    for figure in ["count", "errors", "p50", "p99", "max"] {
        // Absent is none at all.
        if all.iter().all(|series| series.get(figure).is_none()) {
            continue;
        }
        let points = all.iter().flat_map(|series| match series.get(figure).and_then(Value::as_array) {
            Some(points) => points.clone(),
            None => vec![json!(0); length(series)],
        });
        joined[figure] = Value::Array(points.collect());
    }
    Some(joined)
}

/// Whether the transactions of all parts started when they were due.
pub fn arrivals(parts: &[Part], arrangement: Arrangement) -> Result<Option<ArrivalsSummary>, Failure> {
    let mut merged = Started::default();
    let mut offered = 0.0;
    for part in parts {
        let Some(starts) = &part.arrivals else { return Ok(None) };
        let delay = latency(&part.file, starts.start_delay.as_ref())?;
        merged.merge(&Started::of_summary(starts.started, starts.queued, starts.not_started, delay));
        offered += starts.offered_per_second;
    }
    let rate = arrangement.rate(offered, parts.len());
    let spacing = parts[0].arrivals.as_ref().map_or(Spacing::Poisson, |starts| starts.spacing);
    Ok(merged.summary(Arrivals::Open { rate, spacing }))
}

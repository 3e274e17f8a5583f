//! One result out of several: of trials one after the other, or of driver processes side by side.

mod agreement;
mod operation;

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Deserialize;
use serde_json::{json, Map, Value};

use self::agreement::Arrangement;
use crate::failure::{Exit, Failure};
use crate::measure::{Phase, Usage};
use crate::report::{document_line, Check, Finished, Metric, Share};
use crate::workload::tpch;

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  dbbench-driver merge first.json second.json third.json --output all.json"
)]
pub struct MergeCommand {
    /// Results of `run` with equal parameters
    #[arg(value_name = "RESULT", required = true, num_args = 2..)]
    results: Vec<PathBuf>,

    /// Where the merged result goes: a file, or - for standard output
    #[arg(long, value_name = "PATH", default_value = "-")]
    pub output: String,
}

/// What is read of a result; the rest is looked up in `all`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    #[serde(skip)]
    file: String,
    #[serde(skip)]
    all: Value,
    workload: String,
    command: String,
    parameters: Map<String, Value>,
    seed: u64,
    valid: bool,
    invalid_reasons: Vec<String>,
    phases: Vec<Phase>,
    metrics: Vec<Metric>,
    operations: Vec<operation::Measured>,
    #[serde(default)]
    arrivals: Option<operation::Starts>,
    #[serde(default)]
    shares: Vec<Share>,
    #[serde(default)]
    limits: Vec<operation::Bound>,
    blocks_read: Option<u64>,
    #[serde(default)]
    cache: Option<Value>,
    checks: Vec<Check>,
    driver_usage: Usage,
}

/// Reads the results and merges them.
pub fn merge(command: &MergeCommand) -> Result<Finished, Failure> {
    let parts: Vec<Part> = command.results.iter().map(|path| read(path)).collect::<Result<_, _>>()?;
    agreement::require(&parts)?;
    combine(&parts, agreement::arrangement(&parts)?)
}

/// Results that cannot be merged are wrong arguments.
fn refuse(message: impl Into<String>) -> Failure {
    Failure::new(Exit::Arguments, "CannotMerge", message)
}

fn read(path: &Path) -> Result<Part, Failure> {
    let file = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::arguments(format!("{file} cannot be read: {error}")))?;
    let all: Value =
        serde_json::from_str(&text).map_err(|error| refuse(format!("{file} is not a result: {error}")))?;
    if all.get("kind") != Some(&json!("Result")) {
        return Err(refuse(format!("{file} is not a result: its kind is not \"Result\"")));
    }
    let part: Part = serde_json::from_value(all.clone())
        .map_err(|error| refuse(format!("{file} is not a result that can be merged: {error}")))?;
    Ok(Part { file, all, ..part })
}

fn combine(parts: &[Part], arrangement: Arrangement) -> Result<Finished, Failure> {
    let first = &parts[0];
    let mut rest = first.all.as_object().cloned().unwrap_or_default();
    let own = ["kind", "processes", "target", "data", "arrivals", "shares", "limits", "blocksRead", "cache"];
    own.iter().for_each(|field| drop(rest.remove(*field)));
    if let Some(parameters) = rest.get_mut("parameters").and_then(Value::as_object_mut) {
        parameters.remove("processIndex");
    }
    let invalid_reasons: Vec<String> = numbered(parts, |part| &part.invalid_reasons)
        .map(|(number, why)| format!("part {number}: {why}"))
        .collect();
    let checks: Vec<Check> = numbered(parts, |part| &part.checks)
        .map(|(number, check)| Check { name: format!("part {number}: {}", check.name), ..check.clone() })
        .collect();
    let operations = operation::merge(parts, arrangement)?;
    let mut put = |name: &str, value: Value| drop(rest.insert(name.into(), value));
    put("valid", json!(invalid_reasons.is_empty()));
    put("invalidReasons", json!(invalid_reasons));
    put("checks", json!(checks));
    put("phases", json!(parts.iter().flat_map(|part| &part.phases).collect::<Vec<_>>()));
    put("metrics", json!(metrics(parts, arrangement, &operations, invalid_reasons.is_empty())));
    if let Some(arrivals) = operation::arrivals(parts, arrangement)? {
        put("arrivals", json!(arrivals));
    }
    if !first.shares.is_empty() {
        put("shares", json!(shares(parts)));
    }
    if !first.limits.is_empty() {
        put(
            "limits",
            json!(first.limits.iter().filter_map(|bound| bound.of(&operations)).collect::<Vec<_>>()),
        );
    }
    put("operations", Value::Array(operations));
    if let Some(blocks) = parts.iter().map(|part| part.blocks_read).sum::<Option<u64>>() {
        put("blocksRead", json!(blocks));
    }
    if let Some(cache) = cache(parts) {
        put("cache", cache);
    }
    if let Some(data) = first.all.get("data") {
        put("data", data.clone());
    }
    put("driverUsage", json!(usage(parts, arrangement)));
    put("target", facts(parts));
    put("merged", json!({"of": arrangement.name(), "parts": parts.iter().map(account).collect::<Vec<_>>()}));
    Ok(Finished { line: document_line(rest), checks, invalid_reasons })
}

/// Elements of all parts with the number of their part, from 1.
fn numbered<'a, T: 'a>(
    parts: &'a [Part],
    of: impl Fn(&'a Part) -> &'a Vec<T>,
) -> impl Iterator<Item = (usize, &'a T)> {
    parts.iter().enumerate().flat_map(move |(index, part)| of(part).iter().map(move |item| (index + 1, item)))
}

/// What is kept of each part.
fn account(part: &Part) -> Value {
    let window = agreement::window(part).ok();
    json!({
        "start": window.map(|window| &window.start),
        "end": window.map(|window| &window.end),
        "seed": part.seed,
        "valid": part.valid,
        "metrics": part.metrics,
        "driverUsage": part.driver_usage,
    })
}

/// The sum of the medians of all runs; rates are those of the whole time, and add up side by side.
fn metrics(parts: &[Part], arrangement: Arrangement, operations: &[Value], valid: bool) -> Vec<Metric> {
    let first = &parts[0];
    if first.workload == tpch::NAME {
        let runtimes = |operation: &Value| -> Vec<f64> {
            let all = operation["runtimesSeconds"].as_array().into_iter().flatten();
            all.filter_map(Value::as_f64).collect()
        };
        let total = operations.iter().map(|operation| tpch::median(runtimes(operation).into_iter())).sum();
        return Vec::from_iter(valid.then(|| Metric::new("totalRuntime", "seconds", total)));
    }
    let rate = |metric: &Metric| {
        let same = parts.iter().flat_map(|part| &part.metrics).filter(|other| other.name == metric.name);
        let sum: f64 = same.map(|other| other.value).sum();
        Metric { value: arrangement.rate(sum, parts.len()), ..metric.clone() }
    };
    first.metrics.iter().map(rate).collect()
}

fn shares(parts: &[Part]) -> Vec<Share> {
    let sum = |share: &Share| {
        let same = || parts.iter().flat_map(|part| &part.shares).filter(|other| other.name == share.name);
        let (count, of) = (same().map(|other| other.count).sum(), same().map(|other| other.of).sum());
        let summed = Share::new(&share.name, count, of);
        match share.limit {
            Some(limit) => summed.limited(limit),
            None => summed,
        }
    };
    parts[0].shares.iter().map(sum).collect()
}

fn cache(parts: &[Part]) -> Option<Value> {
    let state = parts[0].cache.as_ref()?.get("state")?;
    let objections: Vec<String> = parts
        .iter()
        .enumerate()
        .flat_map(|(index, part)| {
            let objections = part.cache.as_ref().and_then(|cache| cache.get("objections")?.as_array());
            let texts = objections.into_iter().flatten().filter_map(Value::as_str);
            texts.map(move |text| format!("part {}: {text}", index + 1))
        })
        .collect();
    Some(json!({"state": state, "proven": objections.is_empty(), "objections": objections}))
}

fn usage(parts: &[Part], arrangement: Arrangement) -> Usage {
    let mut usage = parts[0].driver_usage.clone();
    parts[1..].iter().for_each(|part| usage.merge(&part.driver_usage));
    if arrangement == Arrangement::Trials {
        usage.wall_seconds = parts.iter().map(|part| part.driver_usage.wall_seconds).sum();
    }
    usage
}

/// What does not change is kept where it is the same for all; counters are those of each part's own time.
fn facts(parts: &[Part]) -> Value {
    let of = |part: &Part| part.all.pointer("/target/facts").cloned();
    match of(&parts[0]) {
        Some(facts) if parts.iter().all(|part| of(part).as_ref() == Some(&facts)) => json!({"facts": facts}),
        _ => json!({}),
    }
}

//! The result document (`workloads/schema/result.schema.json`, schemaVersion 1).

use std::collections::BTreeMap;

use dbbench_probes::Cost;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::engine::Server;
use crate::measure::{ArrivalsSummary, LatencySummary, Phase, SeriesSummary, Usage};

/// Everything one invocation measured. Field order is the order in the file; `kind` stays first,
/// because readers of merged logs recognise the line by it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    pub kind: &'static str,
    pub schema_version: u32,
    pub driver: Driver,
    pub command: &'static str,
    pub workload: &'static str,
    pub parameters: Map<String, Value>,
    pub seed: u64,
    pub valid: bool,
    pub invalid_reasons: Vec<String>,
    pub phases: Vec<Phase>,
    pub metrics: Vec<Metric>,
    pub operations: Vec<Operation>,
    /// How the intended starts of an open loop were kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<ArrivalsSummary>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<Share>,
    /// Response times that the specification allows, and whether they were kept; for information.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limit>,
    /// The database that was measured; absent where the workload has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<Server>,
    /// Absent where nothing was loaded by the driver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Data>,
    /// Of the workload `zachmann`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub work_processes: Vec<WorkProcess>,
    /// Chunks that an interrupted load had left; the times do not cover them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumed_chunks: Option<u64>,
    /// Blocks that the server read from the operating system during the measured passes, where it tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks_read: Option<u64>,
    /// Whether the data was in memory, where that was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cache>,
    pub checks: Vec<Check>,
    pub driver_usage: Usage,
    /// Where several driver processes ran together: the part of each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<Process>,
    pub target: Target,
}

#[derive(Debug, Clone, Serialize)]
pub struct Driver {
    pub version: &'static str,
}

/// One figure. `unit` is `seconds`, `per_second`, `per_minute`, `queries_per_hour` or `bytes`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    pub name: String,
    pub unit: String,
    pub value: f64,
    /// What has to stand beside the figure wherever it is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

impl Metric {
    pub fn new(name: &str, unit: &str, value: f64) -> Self {
        Metric { name: name.into(), unit: unit.into(), value, label: None }
    }
}

/// One query, one type of transaction, or one figure of a probe.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    pub name: String,
    pub kind: &'static str,
    /// Of TPC-H's power test (0) and throughput test (from 1): the query stream, or the position of the
    /// pair of refresh functions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<u16>,
    pub counts: Counts,
    /// Class of error (SQLSTATE) to how often it occurred, conflicts that were tried again included.
    pub errors: BTreeMap<String, u64>,
    /// Runtimes of the measured runs of a query, in order, in seconds.
    pub runtimes_seconds: Vec<f64>,
    /// Runtime of the query's very first run, when there was a warm-up.
    pub first_runtime_seconds: Option<f64>,
    /// What was counted around each measured run, in order; where the state of the caches was chosen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub executions: Vec<Execution>,
    /// Transactions that ended inside the measured window, per second.
    pub throughput_per_second: Option<f64>,
    pub latency: Option<LatencySummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<SeriesSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_fingerprint: Option<String>,
    /// What a probe found; for operations of kind `probe`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<Probe>,
}

/// The counters around one run of a query.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Execution {
    /// Blocks that the server read from the operating system, where it tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks_read: Option<u64>,
    /// Bytes that the target fetched from storage, where that is counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<u64>,
    /// The same outside the virtual machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_read_bytes: Option<u64>,
    /// The agents' accounts of the cold start before the run, word for word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cold_start: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_cold_start: Option<Value>,
    /// Growth of the agents' counters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<Value>,
}

/// Where the data was when the queries ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cache {
    /// `warm` or `cold`, as it was asked for.
    pub state: &'static str,
    pub proven: bool,
    /// What speaks against it.
    pub objections: Vec<String>,
}

/// The unit cost of something, or why this machine does not have it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Probe {
    pub threads: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
    pub evidence: Map<String, Value>,
}

/// What one work process of `zachmann` did in the measured window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkProcess {
    pub number: usize,
    pub reads: u64,
    /// Reads that found another record than the one asked for.
    pub wrong_records: u64,
    /// Length of the window.
    pub seconds: f64,
    pub reads_per_second: f64,
    pub user_seconds: f64,
    pub system_seconds: f64,
    pub run_queue_seconds: Option<f64>,
    pub minor_faults: u64,
    pub major_faults: u64,
    /// Of its memory in swap space, at the worse end of the window.
    pub swapped_bytes: Option<u64>,
    /// Of its table, in whole pages.
    pub table_bytes: u64,
    /// Of its table in pages of 2 MiB, at the end.
    pub huge_page_bytes: u64,
    /// Of all records read, the warm-up's included: equal for an equal seed and number of reads. Hexadecimal.
    pub checksum: String,
}

/// How the executions of an operation ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    pub ok: u64,
    pub expected_failure: u64,
    pub error: u64,
}

/// A share of the inputs of successful transactions, or of these themselves: `count` of `of`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Share {
    pub name: String,
    pub count: u64,
    pub of: u64,
    /// Above this part of `of`, and above one, the specification wants it reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// Whether `count` is above the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exceeded: Option<bool>,
}

impl Share {
    pub fn new(name: &str, count: u64, of: u64) -> Self {
        Share { name: name.into(), count, of, limit: None, exceeded: None }
    }

    /// The same share held against a limit.
    pub fn limited(self, limit: f64) -> Self {
        let allowed = (limit * self.of as f64).max(1.0);
        Share { limit: Some(limit), exceeded: Some(self.count as f64 > allowed), ..self }
    }
}

/// How long 90 % of an operation's transactions may take at most, and how long they took.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Limit {
    pub operation: String,
    pub p90_limit_seconds: f64,
    pub p90_seconds: f64,
    pub met: bool,
}

impl Limit {
    /// None for an operation without latencies.
    pub fn of(operation: &Operation, limit_seconds: f64) -> Option<Self> {
        let p90_seconds = operation.latency.as_ref()?.p90 as f64 / 1e6;
        Some(Limit {
            operation: operation.name.clone(),
            p90_limit_seconds: limit_seconds,
            p90_seconds,
            met: p90_seconds <= limit_seconds,
        })
    }
}

/// One of several driver processes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Process {
    pub index: u32,
    pub clients: usize,
    pub throughput_per_second: f64,
    pub driver_usage: Usage,
}

/// The data that was loaded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Data {
    /// Table to the number of rows after the load.
    pub rows: BTreeMap<String, u64>,
    pub digest: String,
}

/// One consistency condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    pub name: String,
    pub ok: bool,
    pub detail: String,
}

/// What the agent beside the database returned, word for word.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Target {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facts: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
    /// The same from outside the virtual machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
}

/// What the agent beside the hypervisor returned, word for word.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Host {
    pub facts: Value,
    pub before: Value,
    pub after: Value,
}

impl Document {
    /// A document without measurements yet.
    pub fn new(
        workload: &'static str,
        command: &'static str,
        parameters: Map<String, Value>,
        seed: u64,
    ) -> Self {
        Document {
            kind: "Result",
            schema_version: 1,
            driver: Driver { version: env!("CARGO_PKG_VERSION") },
            command,
            workload,
            parameters,
            seed,
            valid: true,
            invalid_reasons: Vec::new(),
            phases: Vec::new(),
            metrics: Vec::new(),
            operations: Vec::new(),
            arrivals: None,
            shares: Vec::new(),
            limits: Vec::new(),
            server: None,
            data: None,
            work_processes: Vec::new(),
            resumed_chunks: None,
            blocks_read: None,
            cache: None,
            checks: Vec::new(),
            driver_usage: Usage::default(),
            processes: Vec::new(),
            target: Target::default(),
        }
    }

    /// Marks the measurement as one that does not count.
    pub fn invalidate(&mut self, reason: impl Into<String>) {
        self.valid = false;
        self.invalid_reasons.push(reason.into());
    }

    /// The one line that is printed.
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).expect("a result document has only string keys and finite numbers")
    }
}

//! One measured figure.

use std::io;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::statistics::Summary;

/// Proof and circumstances of a figure: names to numbers and texts.
pub type Evidence = Map<String, Value>;

/// The cost of one operation of some kind, with some number of threads that do the same at the same time.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Upper case; ends in `_X` and the number of threads where there are several.
    pub name: String,
    pub threads: usize,
    /// The cost, or the reason why this machine does not have the thing.
    pub outcome: Result<Cost, String>,
    pub evidence: Evidence,
}

/// Cost of one operation as the thread sees it that performs it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// What one operation is.
    pub per: &'static str,
    pub mean_seconds: f64,
    /// 95 % confidence interval of the mean.
    pub interval_seconds: Interval,
    /// Of the batches' mean costs per operation.
    pub nanoseconds: Nanoseconds,
    pub batches: u64,
    /// Operations of all batches and threads.
    pub operations: u64,
    /// What a pair of clock readings costs; it is already taken off, once a batch.
    pub clock_overhead_seconds: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Nanoseconds {
    pub minimum: f64,
    pub lower_quartile: f64,
    pub median: f64,
    pub upper_quartile: f64,
}

impl Cost {
    /// From a summary in seconds.
    pub(crate) fn new(per: &'static str, summary: Summary, batches: u64, operations: u64) -> Self {
        Cost {
            per,
            mean_seconds: summary.mean,
            interval_seconds: Interval { low: summary.low, high: summary.high },
            nanoseconds: Nanoseconds {
                minimum: summary.minimum * 1e9,
                lower_quartile: summary.lower_quartile * 1e9,
                median: summary.median * 1e9,
                upper_quartile: summary.upper_quartile * 1e9,
            },
            batches,
            operations,
            clock_overhead_seconds: crate::clock::overhead().as_secs_f64(),
        }
    }
}

impl Figure {
    pub(crate) fn new(name: &str, threads: usize, found: io::Result<(Cost, Evidence)>) -> Self {
        let name = match threads {
            1 => name.to_string(),
            several => format!("{name}_X{several}"),
        };
        match found {
            Ok((cost, evidence)) => Figure { name, threads, outcome: Ok(cost), evidence },
            Err(error) => {
                Figure { name, threads, outcome: Err(error.to_string()), evidence: Evidence::new() }
            }
        }
    }
}

/// A thing that this machine does not offer, in words for people.
pub(crate) fn unavailable(reason: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, reason.into())
}

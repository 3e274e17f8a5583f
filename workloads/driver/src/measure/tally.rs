//! What happened to the transactions of a measured window.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Latency;
use crate::report::{Counts, Operation};

/// How one transaction ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Ok,
    /// A failure that the workload's specification provides for.
    ExpectedFailure,
    /// Any other failure, with its class.
    Error(String),
}

/// One finished transaction. `conflicts` are the classes of the attempts that were tried again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    pub operation: usize,
    pub outcome: Outcome,
    pub conflicts: Vec<String>,
}

/// Counts and latencies of one operation.
#[derive(Clone, Default)]
pub struct OperationTally {
    pub counts: Counts,
    /// Like `counts`, of those that ended inside the window.
    pub inside: Counts,
    pub errors: BTreeMap<String, u64>,
    pub latency: Latency,
}

/// Counts and latencies of all operations of a workload.
#[derive(Clone)]
pub struct Tally(Vec<OperationTally>);

impl Tally {
    pub fn new(operations: usize) -> Self {
        Tally(vec![OperationTally::default(); operations])
    }

    /// Books a transaction that began inside the window. `inside`: it also ended there.
    pub fn book(&mut self, transaction: Transaction, latency: Duration, inside: bool) {
        let operation = &mut self.0[transaction.operation];
        for class in transaction.conflicts {
            *operation.errors.entry(class).or_default() += 1;
        }
        let add = |counts: &mut Counts| match &transaction.outcome {
            Outcome::Ok => counts.ok += 1,
            Outcome::ExpectedFailure => counts.expected_failure += 1,
            Outcome::Error(_) => counts.error += 1,
        };
        add(&mut operation.counts);
        if inside {
            add(&mut operation.inside);
        }
        match transaction.outcome {
            // The time until an error says nothing about the time of the transaction.
            Outcome::Error(class) => *operation.errors.entry(class).or_default() += 1,
            _ => operation.latency.record(latency),
        }
    }

    pub fn merge(&mut self, other: &Tally) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            for (mine, theirs) in [(&mut mine.counts, &theirs.counts), (&mut mine.inside, &theirs.inside)] {
                mine.ok += theirs.ok;
                mine.expected_failure += theirs.expected_failure;
                mine.error += theirs.error;
            }
            for (class, count) in &theirs.errors {
                *mine.errors.entry(class.clone()).or_default() += count;
            }
            mine.latency.merge(&theirs.latency);
        }
    }

    pub fn operations(&self) -> &[OperationTally] {
        &self.0
    }

    /// The operations as they stand in the result document. `window` is the length of the measured
    /// window; `counted` says which outcomes make up an operation's throughput.
    pub fn report(&self, names: &[&str], window: Duration, counted: fn(&Counts) -> u64) -> Vec<Operation> {
        names
            .iter()
            .zip(&self.0)
            .map(|(name, tally)| Operation {
                name: (*name).into(),
                kind: "transaction",
                counts: tally.counts,
                errors: tally.errors.clone(),
                runtimes_seconds: Vec::new(),
                first_runtime_seconds: None,
                throughput_per_second: Some(counted(&tally.inside) as f64 / window.as_secs_f64()),
                latency: tally.latency.summary(),
                rows: None,
                plan_fingerprint: None,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(outcome: Outcome) -> Transaction {
        Transaction { operation: 0, outcome, conflicts: vec!["40001".into()] }
    }

    #[test]
    fn conflicts_are_counted_beside_the_outcome_and_errors_have_no_latency() {
        let mut tally = Tally::new(1);
        tally.book(ended(Outcome::Ok), Duration::from_millis(1), true);
        tally.book(ended(Outcome::ExpectedFailure), Duration::from_millis(1), true);
        tally.book(ended(Outcome::Error("XX000".into())), Duration::from_millis(1), true);
        let operation = &tally.operations()[0];
        assert_eq!(operation.counts, Counts { ok: 1, expected_failure: 1, error: 1 });
        assert_eq!(operation.errors, BTreeMap::from([("40001".into(), 3), ("XX000".into(), 1)]));
        assert_eq!(operation.latency.summary().unwrap().count, 2);
    }

    #[test]
    fn what_ends_after_the_window_has_a_latency_and_no_throughput() {
        let mut tally = Tally::new(1);
        tally.book(ended(Outcome::Ok), Duration::from_secs(1), true);
        tally.book(ended(Outcome::Ok), Duration::from_secs(9), false);
        let report = &tally.report(&["OP"], Duration::from_secs(2), |counts| counts.ok)[0];
        assert_eq!(report.counts.ok, 2);
        assert_eq!(report.throughput_per_second, Some(0.5));
        assert_eq!(report.latency.as_ref().unwrap().count, 2);
    }

    #[test]
    fn merging_adds_counts_errors_and_latencies() {
        let mut one = Tally::new(1);
        one.book(ended(Outcome::Ok), Duration::from_secs(1), true);
        let other = one.clone();
        one.merge(&other);
        assert_eq!(one.operations()[0].counts.ok, 2);
        assert_eq!(one.operations()[0].errors["40001"], 2);
        assert_eq!(one.operations()[0].latency.summary().unwrap().count, 2);
    }
}

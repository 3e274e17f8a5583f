//! What happened to the transactions of a measured window.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::series::{self, Point};
use super::{Latency, Started};
use crate::report::{Counts, Operation, Share};

/// How one transaction ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Ok,
    /// A failure that the workload's specification provides for.
    ExpectedFailure,
    /// Any other failure, with its class.
    Error(String),
    /// Handed to a background worker; its end is booked later, as a transaction of its own.
    Deferred,
}

/// One finished transaction. `conflicts` are the classes of the attempts that were tried again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    pub operation: usize,
    pub outcome: Outcome,
    pub conflicts: Vec<String>,
    /// What it adds to shares of the workload's inputs.
    pub marks: [Mark; 2],
    /// Start and end of one that ran in the background.
    pub span: Option<(Instant, Instant)>,
}

impl Transaction {
    pub fn new(operation: usize, outcome: Outcome) -> Self {
        Transaction { operation, outcome, conflicts: Vec::new(), marks: [Mark::default(); 2], span: None }
    }
}

/// `count` of `of` inputs of a transaction belong to the share with this number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mark {
    pub share: u8,
    pub count: u16,
    pub of: u16,
}

/// Counts and latencies of one operation.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct OperationTally {
    pub counts: Counts,
    /// Like `counts`, of those that ended inside the window.
    pub inside: Counts,
    pub errors: BTreeMap<String, u64>,
    pub latency: Latency,
    /// Over time; what ended after the window is not in it.
    pub points: Vec<Point>,
}

/// Counts and latencies of all operations of a workload.
#[derive(Clone, Serialize, Deserialize)]
pub struct Tally {
    pub operations: Vec<OperationTally>,
    pub started: Started,
    /// Of the inputs of successful transactions: how many belong to a share, and of how many.
    shares: Vec<(u64, u64)>,
}

impl Tally {
    pub fn new(operations: usize, shares: usize) -> Self {
        Tally {
            operations: vec![OperationTally::default(); operations],
            started: Started::default(),
            shares: vec![(0, 0); shares],
        }
    }

    /// Books a transaction that began inside the window. `inside`: it also ended there.
    pub fn book(&mut self, transaction: Transaction, latency: Duration, inside: bool) {
        let operation = &mut self.operations[transaction.operation];
        for class in transaction.conflicts {
            *operation.errors.entry(class).or_default() += 1;
        }
        let add = |counts: &mut Counts| match &transaction.outcome {
            Outcome::Ok => counts.ok += 1,
            Outcome::ExpectedFailure => counts.expected_failure += 1,
            Outcome::Error(_) => counts.error += 1,
            Outcome::Deferred => {}
        };
        add(&mut operation.counts);
        if inside {
            add(&mut operation.inside);
        }
        if transaction.outcome == Outcome::Ok {
            for mark in transaction.marks.iter().filter(|mark| mark.of > 0) {
                let (count, of) = &mut self.shares[usize::from(mark.share)];
                *count += u64::from(mark.count);
                *of += u64::from(mark.of);
            }
        }
        match transaction.outcome {
            // The time until an error says nothing about the time of the transaction.
            Outcome::Error(class) => *operation.errors.entry(class).or_default() += 1,
            Outcome::Ok | Outcome::ExpectedFailure => operation.latency.record(latency),
            Outcome::Deferred => {}
        }
    }

    pub fn merge(&mut self, other: &Tally) {
        for (mine, theirs) in self.operations.iter_mut().zip(&other.operations) {
            for (mine, theirs) in [(&mut mine.counts, &theirs.counts), (&mut mine.inside, &theirs.inside)] {
                mine.ok += theirs.ok;
                mine.expected_failure += theirs.expected_failure;
                mine.error += theirs.error;
            }
            for (class, count) in &theirs.errors {
                *mine.errors.entry(class.clone()).or_default() += count;
            }
            mine.latency.merge(&theirs.latency);
            mine.points.resize_with(mine.points.len().max(theirs.points.len()), Point::default);
            for (mine, theirs) in mine.points.iter_mut().zip(&theirs.points) {
                mine.merge(theirs);
            }
        }
        self.started.merge(&other.started);
        for (mine, theirs) in self.shares.iter_mut().zip(&other.shares) {
            mine.0 += theirs.0;
            mine.1 += theirs.1;
        }
    }

    /// Transactions that ended inside the window, per second; `counted` says with which outcomes.
    pub fn throughput(&self, window: Duration, counted: fn(&Counts) -> u64) -> f64 {
        let ended: u64 = self.operations.iter().map(|operation| counted(&operation.inside)).sum();
        ended as f64 / window.as_secs_f64()
    }

    /// The operations as they stand in the result document. `window` is the length of the measured
    /// window; `counted` says which outcomes make up an operation's throughput.
    pub fn report(&self, names: &[&str], window: Duration, counted: fn(&Counts) -> u64) -> Vec<Operation> {
        let interval = series::interval(window);
        names
            .iter()
            .zip(&self.operations)
            .map(|(name, tally)| Operation {
                name: (*name).into(),
                kind: "transaction",
                stream: None,
                counts: tally.counts,
                errors: tally.errors.clone(),
                runtimes_seconds: Vec::new(),
                first_runtime_seconds: None,
                throughput_per_second: Some(counted(&tally.inside) as f64 / window.as_secs_f64()),
                latency: tally.latency.summary(),
                series: Some(series::summary(&tally.points, interval)),
                ..Operation::default()
            })
            .collect()
    }

    /// The shares as they stand in the result document.
    pub fn shares(&self, names: &[&str]) -> Vec<Share> {
        let named = names.iter().zip(&self.shares);
        named.map(|(name, (count, of))| Share::new(name, *count, *of)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(outcome: Outcome) -> Transaction {
        Transaction { conflicts: vec!["40001".into()], ..Transaction::new(0, outcome) }
    }

    #[test]
    fn conflicts_are_counted_beside_the_outcome_and_errors_have_no_latency() {
        let mut tally = Tally::new(1, 0);
        tally.book(ended(Outcome::Ok), Duration::from_millis(1), true);
        tally.book(ended(Outcome::ExpectedFailure), Duration::from_millis(1), true);
        tally.book(ended(Outcome::Error("XX000".into())), Duration::from_millis(1), true);
        let operation = &tally.operations[0];
        assert_eq!(operation.counts, Counts { ok: 1, expected_failure: 1, error: 1 });
        assert_eq!(operation.errors, BTreeMap::from([("40001".into(), 3), ("XX000".into(), 1)]));
        assert_eq!(operation.latency.summary().unwrap().count, 2);
    }

    #[test]
    fn what_ends_after_the_window_has_a_latency_and_no_throughput() {
        let mut tally = Tally::new(1, 0);
        tally.book(ended(Outcome::Ok), Duration::from_secs(1), true);
        tally.book(ended(Outcome::Ok), Duration::from_secs(9), false);
        let report = &tally.report(&["OP"], Duration::from_secs(2), |counts| counts.ok)[0];
        assert_eq!(report.counts.ok, 2);
        assert_eq!(report.throughput_per_second, Some(0.5));
        assert_eq!(report.latency.as_ref().unwrap().count, 2);
    }

    #[test]
    fn shares_are_those_of_successful_transactions() {
        let mut tally = Tally::new(1, 2);
        let marked = |outcome| Transaction {
            marks: [Mark { share: 1, count: 2, of: 10 }, Mark::default()],
            ..Transaction::new(0, outcome)
        };
        tally.book(marked(Outcome::Ok), Duration::from_secs(1), true);
        tally.book(marked(Outcome::ExpectedFailure), Duration::from_secs(1), true);
        let shares = tally.shares(&["none", "remote"]);
        assert_eq!((shares[0].count, shares[0].of), (0, 0));
        assert_eq!((shares[1].count, shares[1].of), (2, 10));
    }

    #[test]
    fn merging_adds_counts_errors_latencies_points_and_shares() {
        let mut one = Tally::new(1, 1);
        let marks = [Mark { share: 0, count: 1, of: 2 }, Mark::default()];
        one.book(Transaction { marks, ..ended(Outcome::Ok) }, Duration::from_secs(1), true);
        one.operations[0].points = vec![Point { count: 3, ..Point::default() }];
        let other: Tally = serde_json::from_str(&serde_json::to_string(&one).unwrap()).unwrap();
        one.merge(&other);
        assert_eq!(one.operations[0].counts.ok, 2);
        assert_eq!(one.operations[0].errors["40001"], 2);
        assert_eq!(one.operations[0].latency.summary().unwrap().count, 2);
        assert_eq!(one.operations[0].points[0].count, 6);
        assert_eq!(one.shares, [(2, 4)]);
    }
}

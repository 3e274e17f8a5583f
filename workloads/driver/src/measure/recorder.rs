//! Booking what the clients of one thread do, and passing it on second by second.

use std::time::Instant;

use tokio::sync::mpsc;

use super::clients::Event;
use super::series::{Gatherer, Point};
use super::tally::{Outcome, Tally, Transaction};

/// The number of the second of what ended after its window.
pub const AFTER: u64 = u64::MAX;

/// What one thread's transactions did in one second of a window, by operation.
pub struct Slice {
    pub second: u64,
    pub measured: bool,
    pub points: Vec<(usize, Point)>,
}

/// The books of one thread. Totals stay here until the end; seconds go to the coordinator when they are over,
/// so that memory for the course of time is taken once and not for each thread.
pub struct Recorder {
    pub tally: Tally,
    gatherers: Vec<Gatherer>,
    start: Instant,
    measured: bool,
    second: u64,
    events: mpsc::UnboundedSender<Event>,
}

impl Recorder {
    pub fn new(operations: usize, shares: usize, events: mpsc::UnboundedSender<Event>) -> Self {
        Recorder {
            tally: Tally::new(operations, shares),
            gatherers: vec![Gatherer::default(); operations],
            start: Instant::now(),
            measured: false,
            second: 0,
            events,
        }
    }

    /// Begins a window, unless another client of the thread has begun it already.
    pub fn begin(&mut self, start: Instant, measured: bool) {
        if self.start != start {
            self.pass_on();
            (self.start, self.measured, self.second) = (start, measured, 0);
        }
    }

    /// Books a transaction by the times of its (intended) start, its end, and the window's end.
    pub fn book(&mut self, transaction: Transaction, began: Instant, ended: Instant, deadline: Instant) {
        let (began, ended) = transaction.span.unwrap_or((began, ended));
        let latency = ended.saturating_duration_since(began);
        let second = match ended <= deadline {
            true => ended.saturating_duration_since(self.start).as_secs(),
            false => AFTER,
        };
        if second != self.second {
            self.pass_on();
            self.second = second;
        }
        let gatherer = &mut self.gatherers[transaction.operation];
        match &transaction.outcome {
            Outcome::Ok => gatherer.record(latency, false),
            Outcome::ExpectedFailure => gatherer.record(latency, true),
            Outcome::Error(_) => gatherer.error(),
            Outcome::Deferred => {}
        }
        if self.measured {
            self.tally.book(transaction, latency, ended <= deadline);
        }
    }

    /// Hands the second that is over to the coordinator.
    pub fn pass_on(&mut self) {
        let points: Vec<(usize, Point)> = self
            .gatherers
            .iter_mut()
            .enumerate()
            .filter_map(|(operation, gatherer)| Some((operation, gatherer.take()?)))
            .collect();
        if !points.is_empty() {
            // No receiver means that the run has been given up already.
            let _ = self.events.send(Event::Slice(Slice {
                second: self.second,
                measured: self.measured,
                points,
            }));
        }
    }
}

//! When transactions are to start: as soon as a client is free, or at times that do not ask the database.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{Latency, LatencySummary};
use crate::workload::random::Random;

/// What makes a transaction start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Arrivals {
    /// A client that has become free.
    Closed,
    /// The clock: `rate` transactions a second over all clients of all processes.
    Open { rate: f64, spacing: Spacing },
}

/// How the intended starts of an open loop lie in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Spacing {
    /// Independent of each other: exponential distances, as from many users
    Poisson,
    /// Equal distances
    Constant,
}

/// Which of several processes this one is; each takes an equal part of the rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    pub index: u32,
    pub processes: u32,
}

impl Member {
    pub const ALONE: Member = Member { index: 0, processes: 1 };
}

/// The intended starts of one window, shared by the clients of a process: each client that is free takes
/// the next one, so they are served in order, like a queue with as many servers as there are clients.
pub struct Schedule {
    spacing: Spacing,
    /// Mean distance between two starts, in nanoseconds.
    distance: f64,
    start: Instant,
    /// The next start, in nanoseconds after `start`.
    next: f64,
    random: Random,
}

impl Schedule {
    pub fn new(
        rate: f64,
        spacing: Spacing,
        start: Instant,
        member: Member,
        seed: u64,
        window: &'static str,
    ) -> Self {
        let distance = f64::from(member.processes) * 1e9 / rate;
        let mut random = Random::stream(seed, window, member.index.into());
        let next = match spacing {
            Spacing::Poisson => random.exponential(distance),
            // The processes' starts lie between each other.
            Spacing::Constant => distance * f64::from(member.index) / f64::from(member.processes),
        };
        Schedule { spacing, distance, start, next, random }
    }

    /// Takes the next intended start, unless that is not before `deadline`.
    pub fn take(&mut self, deadline: Instant) -> Option<Instant> {
        let due = self.start + Duration::from_nanos(self.next as u64);
        if due >= deadline {
            return None;
        }
        self.next += match self.spacing {
            Spacing::Poisson => self.random.exponential(self.distance),
            Spacing::Constant => self.distance,
        };
        Some(due)
    }
}

/// What became of the intended starts of an open loop's measured window.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Started {
    /// Transactions that started inside the window.
    started: u64,
    /// Those among them that found no free client when they were due.
    queued: u64,
    /// Due inside the window, and not started by its end.
    not_started: u64,
    /// From the intended to the real start; for what did not start, until the window's end.
    delay: Latency,
}

/// [`Started`] as it stands in the result document.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ArrivalsSummary {
    pub spacing: Spacing,
    pub offered_per_second: f64,
    pub due: u64,
    pub started: u64,
    pub queued: u64,
    pub not_started: u64,
    pub start_delay: Option<LatencySummary>,
}

impl Started {
    /// Those of a summary.
    pub fn of_summary(started: u64, queued: u64, not_started: u64, delay: Latency) -> Self {
        Started { started, queued, not_started, delay }
    }

    pub fn start(&mut self, delay: Duration, queued: bool) {
        self.started += 1;
        self.queued += u64::from(queued);
        self.delay.record(delay);
    }

    pub fn miss(&mut self, waited: Duration) {
        self.not_started += 1;
        self.delay.record(waited);
    }

    /// Counts what is still due when all clients have stopped at `deadline`.
    pub fn miss_rest(&mut self, schedule: &mut Schedule, deadline: Instant) {
        while let Some(due) = schedule.take(deadline) {
            self.miss(deadline - due);
        }
    }

    pub fn merge(&mut self, other: &Started) {
        self.started += other.started;
        self.queued += other.queued;
        self.not_started += other.not_started;
        self.delay.merge(&other.delay);
    }

    /// `None` in a closed loop, which intends no starts.
    pub fn summary(&self, arrivals: Arrivals) -> Option<ArrivalsSummary> {
        let Arrivals::Open { rate, spacing } = arrivals else { return None };
        Some(ArrivalsSummary {
            spacing,
            offered_per_second: rate,
            due: self.started + self.not_started,
            started: self.started,
            queued: self.queued,
            not_started: self.not_started,
            start_delay: self.delay.summary(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(spacing: Spacing, member: Member, seconds: u64) -> Vec<f64> {
        let start = Instant::now();
        let mut schedule = Schedule::new(100.0, spacing, start, member, 1, "test");
        let deadline = start + Duration::from_secs(seconds);
        std::iter::from_fn(|| schedule.take(deadline)).map(|due| (due - start).as_secs_f64()).collect()
    }

    #[test]
    fn constant_starts_have_equal_distances_from_the_window_start_on() {
        let starts = starts(Spacing::Constant, Member::ALONE, 2);
        assert_eq!(starts.len(), 200);
        for (index, start) in starts.iter().enumerate() {
            assert!((start - index as f64 * 0.01).abs() < 1e-8, "{index}: {start}");
        }
    }

    #[test]
    fn processes_share_the_rate_and_do_not_start_at_the_same_moments() {
        let mut all: Vec<f64> =
            (0..4).flat_map(|index| starts(Spacing::Constant, Member { index, processes: 4 }, 2)).collect();
        all.sort_by(f64::total_cmp);
        assert_eq!(all.len(), 200);
        assert!(all.windows(2).all(|pair| (pair[1] - pair[0] - 0.01).abs() < 1e-8));
        let poisson = |index| starts(Spacing::Poisson, Member { index, processes: 2 }, 100);
        assert_ne!(poisson(0), poisson(1));
        assert!((poisson(0).len() as f64 - 5000.0).abs() < 5.0 * 5000f64.sqrt());
    }

    #[test]
    fn poisson_starts_have_the_rate_and_the_spread_of_independent_ones() {
        let starts = starts(Spacing::Poisson, Member::ALONE, 1000);
        let count = starts.len() as f64;
        assert!((count - 100_000.0).abs() < 5.0 * 100_000f64.sqrt(), "{count}");
        let distances: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = distances.iter().sum::<f64>() / distances.len() as f64;
        let variance = distances.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / distances.len() as f64;
        // An exponential distribution deviates by its mean.
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02, "{}", variance.sqrt() / mean);
    }

    #[test]
    fn what_did_not_start_is_counted_with_the_time_that_it_waited() {
        let start = Instant::now();
        let mut schedule = Schedule::new(10.0, Spacing::Constant, start, Member::ALONE, 1, "test");
        let deadline = start + Duration::from_secs(1);
        let mut started = Started::default();
        let due = schedule.take(deadline).unwrap();
        started.start(due - start, false);
        started.miss_rest(&mut schedule, deadline);
        let summary = started.summary(Arrivals::Open { rate: 10.0, spacing: Spacing::Constant }).unwrap();
        assert_eq!((summary.due, summary.started, summary.not_started), (10, 1, 9));
        let delay = summary.start_delay.unwrap();
        assert_eq!(delay.count, 10);
        // The one due at 0.1 s waited 0.9 s.
        assert!(delay.max.abs_diff(900_000) < 1000, "{}", delay.max);
        assert!(started.summary(Arrivals::Closed).is_none());
    }
}

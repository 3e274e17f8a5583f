//! Keying and think times of terminals, and how fast they are to be answered (clauses 5.2.5.2 to 5.2.5.4).

use std::time::Duration;

use super::deck::DELIVERY;
use crate::workload::random::Random;

/// How terminals are paced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Pacing {
    /// Each transaction follows the one before at once
    None,
    /// Keying time before and think time after each transaction, as the specification has it
    Tpcc,
}

/// Minimum keying times in seconds, by operation (table of clause 5.2.5.7).
const KEYING: [f64; 5] = [18.0, 3.0, 2.0, 2.0, 2.0];
/// Minimum means of the think times in seconds.
const THINK: [f64; 5] = [12.0, 12.0, 10.0, 5.0, 5.0];
/// Within which 90 % of the transactions have to be answered, in seconds.
const LIMITS: [f64; 5] = [5.0, 5.0, 5.0, 5.0, 20.0];
/// Within which 90 % of the deferred deliveries have to be done, in seconds (clause 2.7.2.2).
const DEFERRED_LIMIT: f64 = 80.0;

/// From one transaction's answer to the next one's start: time to think about the one (none before the first),
/// time to key in the other. `factor` stretches both.
pub fn pause(factor: f64, last: Option<usize>, next: usize, random: &mut Random) -> Duration {
    // A think time is cut at ten times its mean (clause 5.2.5.4).
    let think = last.map_or(0.0, |last| random.exponential(THINK[last]).min(10.0 * THINK[last]));
    Duration::from_secs_f64((think + KEYING[next]) * factor)
}

/// The limit of an operation's 90th percentile, in seconds.
pub fn limit(operation: usize, deferred: bool) -> f64 {
    if deferred && operation == DELIVERY {
        return DEFERRED_LIMIT;
    }
    LIMITS[operation]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keying_comes_before_the_first_transaction_and_thinking_after_each() {
        let mut random = Random::stream(1, "pacing", 0);
        assert_eq!(pause(1.0, None, 0, &mut random), Duration::from_secs(18));
        assert_eq!(pause(0.5, None, 1, &mut random), Duration::from_millis(1500));
        for (last, mean) in THINK.iter().enumerate() {
            let thoughts: Vec<f64> =
                (0..50_000).map(|_| pause(1.0, Some(last), 4, &mut random).as_secs_f64() - 2.0).collect();
            let average = thoughts.iter().sum::<f64>() / 50_000.0;
            assert!((average / mean - 1.0).abs() < 0.03, "{last}: {average}");
            assert!(thoughts.iter().all(|thought| *thought <= mean * 10.0 + 1e-6));
        }
    }

    #[test]
    fn limits_are_those_of_the_table() {
        assert_eq!([0, 1, 2, 3, 4].map(|operation| limit(operation, false)), [5.0, 5.0, 5.0, 5.0, 20.0]);
        assert_eq!(limit(DELIVERY, true), 80.0);
        assert_eq!(limit(0, true), 5.0);
    }
}

//! What a client draws before each transaction.

use super::data::{subscriber_number, START_TIMES};
use crate::workload::random::Random;

/// How subscribers are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Distribution {
    /// NURand with A by population size, as the specification has it
    NonUniform,
    Uniform,
}

/// The seven transactions in the order of the specification.
pub const OPERATIONS: [&str; 7] = [
    "GET_SUBSCRIBER_DATA",
    "GET_NEW_DESTINATION",
    "GET_ACCESS_DATA",
    "UPDATE_SUBSCRIBER_DATA",
    "UPDATE_LOCATION",
    "INSERT_CALL_FORWARDING",
    "DELETE_CALL_FORWARDING",
];

/// Share of each transaction in percent.
const MIX: [i64; 7] = [35, 10, 35, 2, 14, 2, 2];

/// The subscribers that are drawn from.
#[derive(Debug, Clone, Copy)]
pub struct Population {
    subscribers: i64,
    /// The A of NURand; none draws uniformly.
    a: Option<i64>,
}

impl Population {
    pub fn new(subscribers: u32, distribution: Distribution) -> Self {
        let a = match subscribers {
            0..=1_000_000 => 65_535,
            1_000_001..=10_000_000 => 1_048_575,
            _ => 2_097_151,
        };
        let a = (distribution == Distribution::NonUniform).then_some(a);
        Population { subscribers: subscribers.into(), a }
    }

    pub fn subscriber(&self, random: &mut Random) -> i32 {
        let id = match self.a {
            Some(a) => random.nurand(a, 0, 1, self.subscribers),
            None => random.uniform(1, self.subscribers),
        };
        id as i32
    }

    pub fn number(&self, random: &mut Random) -> String {
        subscriber_number(self.subscriber(random))
    }
}

/// The index of the next transaction in [`OPERATIONS`].
pub fn operation(random: &mut Random) -> usize {
    let mut drawn = random.uniform(1, 100);
    MIX.iter()
        .position(|share| {
            drawn -= share;
            drawn <= 0
        })
        .expect("the shares add up to 100")
}

/// A type of access or facility.
pub fn kind(random: &mut Random) -> i32 {
    random.int(1, 4)
}

pub fn start_time(random: &mut Random) -> i32 {
    i32::from(*random.pick(&START_TIMES))
}

/// An end time, drawn apart from the start time.
pub fn end_time(random: &mut Random) -> i32 {
    random.int(1, 24)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grows_with_the_population() {
        let a = |subscribers| Population::new(subscribers, Distribution::NonUniform).a;
        assert_eq!(a(100_000), Some(65_535));
        assert_eq!(a(1_000_000), Some(65_535));
        assert_eq!(a(1_000_001), Some(1_048_575));
        assert_eq!(a(10_000_000), Some(1_048_575));
        assert_eq!(a(10_000_001), Some(2_097_151));
        assert_eq!(Population::new(1000, Distribution::Uniform).a, None);
    }

    #[test]
    fn drawn_subscribers_exist() {
        for distribution in [Distribution::NonUniform, Distribution::Uniform] {
            for subscribers in [1, 7, 100_000] {
                let population = Population::new(subscribers, distribution);
                let mut random = Random::stream(1, "subscribers", 0);
                for _ in 0..2000 {
                    assert!((1..=subscribers as i32).contains(&population.subscriber(&mut random)));
                }
            }
        }
    }

    #[test]
    fn the_mix_is_the_standard_one() {
        assert_eq!(MIX.iter().sum::<i64>(), 100);
        let mut random = Random::stream(1, "mix", 0);
        let mut counts = [0i64; 7];
        (0..100_000).for_each(|_| counts[operation(&mut random)] += 1);
        for (count, share) in counts.iter().zip(MIX) {
            assert!((count - share * 1000).abs() < 600, "{counts:?}");
        }
    }
}

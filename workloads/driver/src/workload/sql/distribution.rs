//! Random numbers of several distributions, and hashes.
//!
//! The hashes and the meaning of the parameters are pgbench's; the random numbers are the driver's own.

use std::f64::consts::TAU;

use crate::workload::random::Random;

type Drawn = Result<i64, String>;

/// Below this the truncated normal distribution would be nearly uniform, and drawing from it slow.
const LEAST_GAUSSIAN: f64 = 2.0;
const ZIPFIAN: std::ops::RangeInclusive<f64> = 1.001..=1000.0;

/// Each of `low..=high` equally often.
pub fn uniform(random: &mut Random, low: i64, high: i64) -> Drawn {
    check_range("random", low, high)?;
    Ok(random.uniform(low, high))
}

/// Exponential decay from `low` on, cut at `high`; `parameter` says how steep.
pub fn exponential(random: &mut Random, low: i64, high: i64, parameter: f64) -> Drawn {
    let size = check_range("random_exponential", low, high)?;
    if parameter.is_nan() || parameter <= 0.0 {
        return Err(format!("the parameter of random_exponential must be greater than 0, not {parameter}"));
    }
    let tail = (-parameter).exp();
    // In (0, 1], so that the logarithm is finite.
    let share = 1.0 - random.unit();
    Ok(place(low, high, size, -(tail + (1.0 - tail) * share).ln() / parameter))
}

/// A normal distribution around the middle of `low..=high`, cut `parameter` standard deviations from it.
pub fn gaussian(random: &mut Random, low: i64, high: i64, parameter: f64) -> Drawn {
    let size = check_range("random_gaussian", low, high)?;
    if parameter.is_nan() || parameter < LEAST_GAUSSIAN {
        return Err(format!(
            "the parameter of random_gaussian must be at least {LEAST_GAUSSIAN}, not {parameter}"
        ));
    }
    loop {
        // Box and Muller's transform of two uniform numbers.
        let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
        let deviation = radius * (TAU * random.unit()).sin();
        if (-parameter..parameter).contains(&deviation) {
            return Ok(place(low, high, size, (deviation + parameter) / (2.0 * parameter)));
        }
    }
}

/// Zipf's distribution: number k of the range with a weight of 1 / k^`parameter`.
pub fn zipfian(random: &mut Random, low: i64, high: i64, parameter: f64) -> Drawn {
    let size = check_range("random_zipfian", low, high)?;
    if !ZIPFIAN.contains(&parameter) {
        let (least, most) = (ZIPFIAN.start(), ZIPFIAN.end());
        return Err(format!(
            "the parameter of random_zipfian must be from {least} to {most}, not {parameter}"
        ));
    }
    if low == high {
        return Ok(low);
    }
    // Rejection after L. Devroye, Non-Uniform Random Variate Generation (1986), chapter X.6.1.
    let power = parameter - 1.0;
    let scale = 2f64.powf(power);
    loop {
        let candidate = (1.0 - random.unit()).powf(-1.0 / power).floor();
        let weight = (1.0 + 1.0 / candidate).powf(power);
        let accepted = random.unit() * candidate * (weight - 1.0) / (scale - 1.0) <= weight / scale;
        if accepted && candidate <= size {
            return Ok(low + (candidate as i64 - 1));
        }
    }
}

/// The size of a range as a double.
fn check_range(function: &str, low: i64, high: i64) -> Result<f64, String> {
    if low > high {
        return Err(format!("{function}: the range from {low} to {high} is empty"));
    }
    match high.checked_sub(low).and_then(|size| size.checked_add(1)) {
        Some(size) => Ok(size as f64),
        None => Err(format!("{function}: the range from {low} to {high} is too large")),
    }
}

/// The number at this share (from 0 to 1) of a range.
fn place(low: i64, high: i64, size: f64, share: f64) -> i64 {
    low.saturating_add((size * share) as i64).min(high)
}

/// FNV-1a over the eight bytes of the value, lowest first.
pub fn fnv1a(value: i64, seed: i64) -> i64 {
    let basis = 0xcbf2_9ce4_8422_2325 ^ seed as u64;
    value
        .to_le_bytes()
        .iter()
        .fold(basis, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)) as i64
}

/// MurmurHash2 (64 bits) of the eight bytes of the value.
pub fn murmur2(value: i64, seed: i64) -> i64 {
    const FACTOR: u64 = 0xc6a4_a793_5bd1_e995;
    let scatter = |word: u64| word ^ (word >> 47);
    let word = scatter((value as u64).wrapping_mul(FACTOR)).wrapping_mul(FACTOR);
    let start = seed as u64 ^ FACTOR.wrapping_mul(8);
    let hash = (start ^ word).wrapping_mul(FACTOR);
    scatter(scatter(hash).wrapping_mul(FACTOR)) as i64
}

/// The place of `value` (modulo `size`) in a permutation of `0..size` that the seed chooses.
pub fn permute(value: i64, size: i64, seed: i64) -> Drawn {
    if size <= 0 {
        return Err(format!("the size of permute must be greater than 0, not {size}"));
    }
    // Four Feistel rounds permute the next even power of two; a walk through its cycles stays in the range.
    let half = (64 - (size as u64 - 1).leading_zeros()).div_ceil(2).max(1);
    let mask = (1u64 << half) - 1;
    let mut place = value.rem_euclid(size) as u64;
    loop {
        let (mut left, mut right) = (place >> half, place & mask);
        for round in 0..4 {
            let mixed = murmur2(right as i64, seed.wrapping_add(round)) as u64;
            (left, right) = (right, left ^ (mixed & mask));
        }
        place = left << half | right;
        if place < size as u64 {
            return Ok(place as i64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(draw: impl Fn(&mut Random) -> Drawn) -> Vec<i64> {
        let mut random = Random::stream(1, "distribution", 0);
        (0..100_000).map(|_| draw(&mut random).unwrap()).collect()
    }

    fn share(values: &[i64], wanted: impl Fn(i64) -> bool) -> f64 {
        values.iter().filter(|value| wanted(**value)).count() as f64 / values.len() as f64
    }

    #[test]
    fn hashes_are_those_of_pgbench() {
        // What `pgbench` prints for `\set x debug(hash_...(value, seed))`.
        for (value, seed, fnv, murmur) in PGBENCH {
            assert_eq!((fnv1a(value, seed), murmur2(value, seed)), (fnv, murmur), "{value}, {seed}");
        }
    }

    const PGBENCH: [(i64, i64, i64, i64); 4] = [
        (0, 0, -6284781860667377211, 8217090173679840641),
        (42, 5432, 8300031466468664087, -8888550574847118926),
        (-1, 7, 923706717037857242, -837761221932631145),
        (i64::MAX, -3, 6698982667571886544, -3096203769572452470),
    ];

    #[test]
    fn every_distribution_stays_in_its_range() {
        for (low, high) in [(1, 1), (-5, 5), (0, 1000), (i64::MAX - 10, i64::MAX), (i64::MIN, i64::MIN + 3)] {
            let range = low..=high;
            assert!(drawn(|random| uniform(random, low, high)).iter().all(|value| range.contains(value)));
            assert!(drawn(|random| exponential(random, low, high, 0.1))
                .iter()
                .all(|value| range.contains(value)));
            assert!(drawn(|random| gaussian(random, low, high, 2.0))
                .iter()
                .all(|value| range.contains(value)));
            assert!(drawn(|random| zipfian(random, low, high, 1.5))
                .iter()
                .all(|value| range.contains(value)));
        }
    }

    #[test]
    fn the_exponential_distribution_decays_at_its_parameter() {
        let values = drawn(|random| exponential(random, 1, 10, 5.0));
        // P(k) = e^(-p (k-1) / n) (1 - e^(-p/n)) / (1 - e^-p)
        for k in 1..=10 {
            let expected = (-5.0 * (f64::from(k) - 1.0) / 10.0).exp() * (1.0 - (-0.5f64).exp())
                / (1.0 - (-5.0f64).exp());
            let found = share(&values, |value| value == i64::from(k));
            assert!((found - expected).abs() < 0.01, "{k}: {found} and not {expected}");
        }
    }

    #[test]
    fn the_normal_distribution_is_cut_at_its_parameter() {
        // 68.27 % within one of 2.5 standard deviations, of the 98.76 % that are left.
        let values = drawn(|random| gaussian(random, 0, 99_999, 2.5));
        let found = share(&values, |value| (30_000..70_000).contains(&value));
        assert!((found - 0.6827 / 0.9876).abs() < 0.01, "{found}");
        assert!((share(&values, |value| value < 50_000) - 0.5).abs() < 0.01);
    }

    #[test]
    fn zipfs_distribution_weighs_by_the_power_of_the_place() {
        let values = drawn(|random| zipfian(random, 1, 100, 1.5));
        let sum: f64 = (1..=100).map(|k| f64::from(k).powf(-1.5)).sum();
        for k in [1, 2, 3, 10] {
            let expected = f64::from(k).powf(-1.5) / sum;
            let found = share(&values, |value| value == i64::from(k));
            assert!((found - expected).abs() < 0.01, "{k}: {found} and not {expected}");
        }
    }

    #[test]
    fn wrong_ranges_and_parameters_are_refused() {
        let random = &mut Random::stream(1, "refused", 0);
        assert!(uniform(random, 2, 1).unwrap_err().contains("from 2 to 1 is empty"));
        assert!(uniform(random, i64::MIN, i64::MAX).unwrap_err().contains("too large"));
        assert!(exponential(random, 1, 2, 0.0).unwrap_err().contains("greater than 0"));
        assert!(gaussian(random, 1, 2, 1.9).unwrap_err().contains("at least 2"));
        assert!(zipfian(random, 1, 2, 1.0).unwrap_err().contains("1.001"));
        assert!(exponential(random, 1, 2, f64::NAN).is_err() && gaussian(random, 1, 2, f64::NAN).is_err());
        assert!(permute(1, 0, 1).is_err());
    }

    #[test]
    fn a_permutation_reaches_every_place_once() {
        for size in [1, 2, 3, 4, 5, 100, 1000, 1025] {
            let mut places: Vec<i64> = (0..size).map(|value| permute(value, size, 7).unwrap()).collect();
            places.sort_unstable();
            assert_eq!(places, (0..size).collect::<Vec<_>>());
        }
        let one: Vec<i64> = (0..100).map(|value| permute(value, 100, 1).unwrap()).collect();
        let other: Vec<i64> = (0..100).map(|value| permute(value, 100, 2).unwrap()).collect();
        assert_ne!(one, other);
        assert!(permute(i64::MAX, i64::MAX, 1).unwrap() >= 0);
        assert_eq!(permute(-1, 10, 3), permute(9, 10, 3));
    }
}

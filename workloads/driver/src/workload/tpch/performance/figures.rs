//! The figures of clauses 5.4.1 to 5.4.3. They are derived from the rules of TPC-H, and are no TPC results.

use std::time::Duration;

/// Power@Size: of the timing intervals of the 22 queries, and of the refresh functions where there are any,
/// the inverse of the geometric mean.
pub fn power(queries: &[Duration], refreshes: &[Duration], scale: f64) -> f64 {
    let longest = queries.iter().map(|interval| reported(*interval)).fold(0.0, f64::max);
    // Clause 5.4.1.4: no query counts for less than a thousandth of the longest one.
    let queries = queries.iter().map(|interval| reported(*interval).max(longest / 1000.0));
    let refreshes = refreshes.iter().map(|interval| reported(*interval));
    let logarithms: Vec<f64> = queries.chain(refreshes).map(f64::ln).collect();
    3600.0 * (-logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp() * scale
}

/// Throughput@Size: queries of `streams` streams over the measurement interval.
pub fn throughput(streams: u16, interval: Duration, scale: f64) -> f64 {
    f64::from(streams) * 22.0 * 3600.0 / interval.as_secs_f64() * scale
}

/// QphH@Size.
pub fn composite(power: f64, throughput: f64) -> f64 {
    (power * throughput).sqrt()
}

/// An interval in seconds. Clause 5.3.7.5 rounds to tenths, which at small scale factors would make all
/// queries equal: it is not done here. An interval is never zero.
fn reported(interval: Duration) -> f64 {
    interval.as_secs_f64().max(1e-6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} is not {expected}");
    }

    #[test]
    fn power_is_the_inverse_geometric_mean_of_24_intervals() {
        let second = Duration::from_secs(1);
        near(power(&[second; 22], &[second; 2], 10.0), 36_000.0);
        near(power(&[second * 4; 22], &[second * 4; 2], 1.0), 900.0);
        // 12 of 1 s and 12 of 4 s: the geometric mean is 2 s.
        let mixed: Vec<Duration> = (0..22).map(|i| second * if i < 11 { 1 } else { 4 }).collect();
        near(power(&mixed, &[second, second * 4], 1.0), 1800.0);
    }

    #[test]
    fn queries_shorter_than_a_thousandth_of_the_longest_are_raised_to_it() {
        let mut intervals = vec![Duration::from_secs(1000); 22];
        intervals[0] = Duration::from_millis(1);
        let mut raised = vec![Duration::from_secs(1000); 22];
        raised[0] = Duration::from_secs(1);
        let refresh = [Duration::from_secs(10); 2];
        near(power(&intervals, &refresh, 1.0), power(&raised, &refresh, 1.0));
    }

    #[test]
    fn throughput_and_composite_follow_their_formulas() {
        near(throughput(2, Duration::from_secs(44), 1.0), 3600.0);
        near(throughput(2, Duration::from_secs(44), 0.1), 360.0);
        near(composite(100.0, 400.0), 200.0);
    }
}

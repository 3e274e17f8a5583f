//! Counts and latencies over the time of the measured window, second by second.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// At most so many points, so that neither memory nor the document grows with the duration.
const POINTS: u64 = 600;

/// Cells in each doubling of the latency: a value is known to within 1/16.
const PER_OCTAVE: u64 = 16;
/// Latencies of 2^37 microseconds (38 hours) and more share the last cell.
const CELLS: usize = 34 * PER_OCTAVE as usize;

/// Length of one point in whole seconds, for a window of this length.
pub fn interval(window: Duration) -> u64 {
    (window.as_secs_f64() / POINTS as f64).ceil().max(1.0) as u64
}

/// What ended in one interval: of one operation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Transactions that ended without an error, expected failures included.
    pub count: u64,
    pub expected_failures: u64,
    pub errors: u64,
    /// Of the latencies, in microseconds.
    pub sum: u64,
    /// The longest latency, in microseconds.
    pub max: u64,
    /// Cell to count, in order, without empty cells.
    pub cells: Vec<(u16, u32)>,
}

impl Point {
    pub fn merge(&mut self, other: &Point) {
        self.count += other.count;
        self.expected_failures += other.expected_failures;
        self.errors += other.errors;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
        for (cell, count) in &other.cells {
            match self.cells.binary_search_by_key(cell, |entry| entry.0) {
                Ok(at) => self.cells[at].1 = self.cells[at].1.saturating_add(*count),
                Err(at) => self.cells.insert(at, (*cell, *count)),
            }
        }
    }

    /// The middle of the cell in which the quantile lies, in microseconds; none without transactions.
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        let rank = (quantile * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        self.cells.iter().find_map(|(cell, count)| {
            seen += u64::from(*count);
            (seen >= rank).then(|| middle((*cell).into()).min(self.max))
        })
    }
}

/// Gathers the point that is being lived through, in cells at fixed places.
#[derive(Clone)]
pub struct Gatherer {
    /// Without its cells, which stand below.
    point: Point,
    cells: Box<[u32; CELLS]>,
}

impl Default for Gatherer {
    fn default() -> Self {
        Gatherer { point: Point::default(), cells: Box::new([0; CELLS]) }
    }
}

impl Gatherer {
    pub fn record(&mut self, latency: Duration, expected_failure: bool) {
        let microseconds = u64::try_from(latency.as_nanos().div_ceil(1000)).unwrap_or(u64::MAX).max(1);
        self.point.count += 1;
        self.point.expected_failures += u64::from(expected_failure);
        self.point.sum += microseconds;
        self.point.max = self.point.max.max(microseconds);
        self.cells[cell(microseconds)] += 1;
    }

    pub fn error(&mut self) {
        self.point.errors += 1;
    }

    /// Hands over what was gathered, if anything, and starts again.
    pub fn take(&mut self) -> Option<Point> {
        let mut point = std::mem::take(&mut self.point);
        if point.count + point.errors == 0 {
            return None;
        }
        for (index, count) in self.cells.iter_mut().enumerate().filter(|(_, count)| **count > 0) {
            point.cells.push((index as u16, std::mem::take(count)));
        }
        Some(point)
    }
}

/// Below 16 each value has its cell; above, each doubling has sixteen.
fn cell(microseconds: u64) -> usize {
    if microseconds < PER_OCTAVE {
        return microseconds as usize;
    }
    let octave = u64::from(63 - microseconds.leading_zeros()) - 4;
    let within = (microseconds >> octave) - PER_OCTAVE;
    (((octave + 1) * PER_OCTAVE + within) as usize).min(CELLS - 1)
}

fn middle(cell: u64) -> u64 {
    let (row, within) = (cell / PER_OCTAVE, cell % PER_OCTAVE);
    match row {
        0 => within,
        _ => ((PER_OCTAVE + within) << (row - 1)) + (1 << (row - 1)) / 2,
    }
}

/// The upper end of a cell, in microseconds.
pub fn upper_end(cell: u16) -> u64 {
    let (row, within) = (u64::from(cell) / PER_OCTAVE, u64::from(cell) % PER_OCTAVE);
    match row {
        0 => within,
        _ => ((PER_OCTAVE + within + 1) << (row - 1)) - 1,
    }
}

/// The points of one operation, as they stand in the result document: one array for each figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SeriesSummary {
    pub interval_seconds: u64,
    pub count: Vec<u64>,
    /// Left out where there were none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<u64>,
    /// Microseconds; null where nothing ended.
    pub p50: Vec<Option<u64>>,
    pub p99: Vec<Option<u64>>,
    pub max: Vec<Option<u64>>,
}

/// The points of one operation over a window.
pub fn summary(points: &[Point], interval_seconds: u64) -> SeriesSummary {
    let errors: Vec<u64> = points.iter().map(|point| point.errors).collect();
    SeriesSummary {
        interval_seconds,
        count: points.iter().map(|point| point.count).collect(),
        errors: if errors.iter().all(|count| *count == 0) { Vec::new() } else { errors },
        p50: points.iter().map(|point| point.quantile(0.5)).collect(),
        p99: points.iter().map(|point| point.quantile(0.99)).collect(),
        max: points.iter().map(|point| (point.count > 0).then_some(point.max)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(microseconds: impl IntoIterator<Item = u64>) -> Point {
        let mut gatherer = Gatherer::default();
        microseconds.into_iter().for_each(|us| gatherer.record(Duration::from_micros(us), false));
        gatherer.take().unwrap_or_default()
    }

    #[test]
    fn long_windows_have_longer_intervals_and_never_more_than_600_points() {
        for (seconds, expected) in [(1, 1), (60, 1), (600, 1), (601, 2), (3600, 6), (86_400, 144)] {
            assert_eq!(interval(Duration::from_secs(seconds)), expected, "{seconds}");
            assert!(seconds.div_ceil(expected) <= POINTS);
        }
        assert_eq!(interval(Duration::from_millis(10)), 1);
    }

    #[test]
    fn cells_follow_each_other_without_gaps() {
        let mut last = 0;
        for microseconds in 1..200_000u64 {
            let found = cell(microseconds);
            assert!(found == last || found == last + 1, "{microseconds}: {last} {found}");
            assert!(upper_end(found as u16) >= microseconds);
            assert!(found == 0 || upper_end(found as u16 - 1) < microseconds);
            last = found;
        }
        assert_eq!(cell(u64::MAX), CELLS - 1);
    }

    #[test]
    fn quantiles_are_right_to_a_sixteenth() {
        let point = point(1..=100_000);
        for (quantile, expected) in [(0.5, 50_000.0), (0.99, 99_000.0), (0.0, 1.0), (1.0, 100_000.0)] {
            let found = point.quantile(quantile).unwrap() as f64;
            assert!((found / expected - 1.0).abs() <= 1.0 / 16.0, "{quantile}: {found}");
        }
        assert_eq!((point.count, point.max), (100_000, 100_000));
        assert_eq!(Point::default().quantile(0.5), None);
    }

    #[test]
    fn merging_two_points_equals_gathering_them_together() {
        let mut merged = point((1..5000).step_by(2));
        merged.merge(&point((2..5000).step_by(2)));
        assert_eq!(merged, point(1..5000));
    }

    #[test]
    fn a_second_in_which_nothing_ended_has_no_latency() {
        let series = summary(&[point([7, 7]), Point::default()], 1);
        assert_eq!(series.count, [2, 0]);
        assert_eq!(series.p99, [Some(7), None]);
        assert_eq!(series.max, [Some(7), None]);
        let text = serde_json::to_string(&series).unwrap();
        assert!(!text.contains("errors"), "{text}");
    }
}

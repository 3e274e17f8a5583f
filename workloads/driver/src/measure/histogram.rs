//! Latencies in an HdrHistogram: mergeable, of bounded size, exact to three digits.

use std::time::Duration;

use base64::Engine as _;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// What a histogram can hold at most, in microseconds; over 100 000 years.
const LONGEST: u64 = 1 << 62;

/// Latencies of one operation, in microseconds.
#[derive(Clone, Serialize, Deserialize)]
#[serde(into = "Encoded", try_from = "Encoded")]
pub struct Latency {
    histogram: Histogram<u64>,
    /// The mean is taken from here: a histogram of whole microseconds would bias short ones.
    nanoseconds: u128,
}

/// [`Latency`] on its way to another process.
#[derive(Serialize, Deserialize)]
struct Encoded {
    histogram: String,
    /// Upper and lower half.
    nanoseconds: [u64; 2],
}

/// A histogram as it stands in the result document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LatencySummary {
    pub unit: &'static str,
    /// HdrHistogram V2 with deflate, base64.
    pub histogram: String,
    pub count: u64,
    pub mean: f64,
    pub p50: u64,
    pub p90: u64,
    pub p95: u64,
    pub p99: u64,
    pub p999: u64,
    pub max: u64,
}

impl Default for Latency {
    fn default() -> Self {
        Latency { histogram: Histogram::new(3).expect("three digits are allowed"), nanoseconds: 0 }
    }
}

impl Latency {
    /// Records one latency, rounded up to whole microseconds (so that none is zero).
    pub fn record(&mut self, latency: Duration) {
        let nanoseconds = latency.as_nanos();
        self.nanoseconds += nanoseconds;
        let microseconds = u64::try_from(nanoseconds.div_ceil(1000)).unwrap_or(LONGEST).clamp(1, LONGEST);
        // The histogram grows by itself, and time since the start of the process fits into it.
        self.histogram.record(microseconds).expect("a latency is below 2^62 microseconds");
    }

    /// The latencies of a summary: its histogram, and its mean in microseconds.
    pub fn of_summary(histogram: &str, mean: f64) -> Result<Self, String> {
        let histogram = decode(histogram)?;
        let nanoseconds = (mean * 1000.0 * histogram.len() as f64).round() as u128;
        Ok(Latency { histogram, nanoseconds })
    }

    pub fn merge(&mut self, other: &Latency) {
        self.histogram.add(&other.histogram).expect("the histogram grows by itself");
        self.nanoseconds += other.nanoseconds;
    }

    /// The value that this share of the latencies does not exceed; none when there are none.
    pub fn quantile(&self, quantile: f64) -> Option<Duration> {
        let any = !self.histogram.is_empty();
        any.then(|| Duration::from_micros(self.histogram.value_at_quantile(quantile)))
    }

    pub fn summary(&self) -> Option<LatencySummary> {
        let count = self.histogram.len();
        if count == 0 {
            return None;
        }
        let at = |quantile| self.histogram.value_at_quantile(quantile);
        Some(LatencySummary {
            unit: "microseconds",
            histogram: encode(&self.histogram),
            count,
            mean: self.nanoseconds as f64 / 1000.0 / count as f64,
            p50: at(0.5),
            p90: at(0.9),
            p95: at(0.95),
            p99: at(0.99),
            p999: at(0.999),
            max: self.histogram.max(),
        })
    }
}

fn encode(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(histogram, &mut bytes).expect("writing into memory does not fail");
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

fn decode(text: &str) -> Result<Histogram<u64>, String> {
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(text)
        .map_err(|error| format!("no base64: {error}"))?;
    let read: Histogram<u64> = Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .map_err(|error| format!("no histogram: {error}"))?;
    // One that was read has a fixed range; adding to a fresh one lets it grow.
    let mut histogram = Histogram::new(3).expect("three digits are allowed");
    histogram.add(&read).map_err(|error| format!("another kind of histogram: {error}"))?;
    Ok(histogram)
}

impl From<Latency> for Encoded {
    fn from(latency: Latency) -> Self {
        let nanoseconds = [(latency.nanoseconds >> 64) as u64, latency.nanoseconds as u64];
        Encoded { histogram: encode(&latency.histogram), nanoseconds }
    }
}

impl TryFrom<Encoded> for Latency {
    type Error = String;

    fn try_from(encoded: Encoded) -> Result<Self, String> {
        let histogram = decode(&encoded.histogram)?;
        let [upper, lower] = encoded.nanoseconds.map(u128::from);
        Ok(Latency { histogram, nanoseconds: upper << 64 | lower })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(microseconds: impl IntoIterator<Item = u64>) -> Latency {
        let mut latency = Latency::default();
        microseconds.into_iter().for_each(|us| latency.record(Duration::from_micros(us)));
        latency
    }

    #[test]
    fn merging_two_histograms_equals_recording_into_one() {
        let mut merged = of(1..500);
        merged.merge(&of(500..100_000));
        let whole = of(1..100_000);
        assert_eq!(merged.histogram, whole.histogram);
        assert_eq!(merged.nanoseconds, whole.nanoseconds);
        assert_eq!(merged.summary().unwrap().p99, whole.summary().unwrap().p99);
    }

    #[test]
    fn the_encoded_histogram_decodes_to_the_same_counts() {
        let summary = of((0..1000).map(|i| 100 + i * 37)).summary().unwrap();
        let decoded = Latency::of_summary(&summary.histogram, summary.mean).unwrap();
        // The text also says how far the histogram can grow.
        let read = LatencySummary { histogram: summary.histogram.clone(), ..decoded.summary().unwrap() };
        assert_eq!(read, summary);
    }

    #[test]
    fn a_histogram_comes_back_unchanged_from_another_process() {
        let sent = of((0..1000).map(|i| 100 + i * 37));
        let mut back: Latency = serde_json::from_str(&serde_json::to_string(&sent).unwrap()).unwrap();
        assert_eq!((&back.histogram, back.nanoseconds), (&sent.histogram, sent.nanoseconds));
        back.record(Duration::from_secs(3600));
        assert!(serde_json::from_str::<Latency>(r#"{"histogram":"AAAA","nanoseconds":[0,0]}"#).is_err());
    }

    #[test]
    fn the_mean_is_exact_below_a_microsecond() {
        let mut latency = Latency::default();
        latency.record(Duration::from_nanos(1500));
        latency.record(Duration::from_nanos(2500));
        let summary = latency.summary().unwrap();
        assert_eq!(summary.mean, 2.0);
        assert_eq!((summary.p50, summary.max), (2, 3));
    }

    #[test]
    fn without_a_value_there_is_no_summary() {
        assert_eq!(Latency::default().summary(), None);
    }

    #[test]
    fn a_stall_of_hours_is_recorded() {
        let summary = of([10, 7_200_000_000]).summary().unwrap();
        assert!(summary.max.abs_diff(7_200_000_000) < 7_200_000);
    }
}

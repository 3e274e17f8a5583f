//! The course of a run, second by second.

use crate::support::Database;
use serde_json::Value;

#[test]
fn the_points_of_the_series_add_up_to_what_ended_inside_the_window() {
    let database = Database::new();
    database.measured("tatp load --subscribers 1000 --progress none");
    // The last second is a short one.
    let run = database.measured("tatp run --clients 3 --warmup 1s --duration 2500ms --progress none");
    for operation in run["operations"].as_array().unwrap() {
        let series = &operation["series"];
        assert_eq!(series["intervalSeconds"], 1);
        let numbers = |name: &str| -> Vec<Option<u64>> {
            series[name].as_array().unwrap().iter().map(Value::as_u64).collect()
        };
        let counts = numbers("count");
        assert_eq!(counts.len(), 3, "{series}");
        let inside = operation["throughputPerSecond"].as_f64().unwrap() * 2.5;
        let total: u64 = counts.iter().flatten().sum();
        assert!((total as f64 - inside).abs() < 1e-6, "{total} {inside}");
        assert_eq!(series.get("errors"), None);
        let (p50, p99, max) = (numbers("p50"), numbers("p99"), numbers("max"));
        for second in 0..3 {
            let known = [p50[second], p99[second], max[second]];
            assert_eq!(known.iter().all(Option::is_some), counts[second] > Some(0));
            assert!(known.is_sorted(), "{series}");
        }
        let longest = operation["latency"]["max"].as_u64();
        // The histogram rounds to three digits, and also has what ended after the window.
        assert!(max.iter().all(|max| max.unwrap_or(0) <= longest.unwrap_or(0)), "{operation}");
    }
}

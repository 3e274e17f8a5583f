//! What is known while the run goes on, for Prometheus to read.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use super::recorder::Slice;
use super::series::{upper_end, Point};
use super::usage;
use crate::failure::Failure;

/// Upper ends of the buckets are powers of two, from 64 microseconds to 134 seconds.
const BUCKETS: std::ops::RangeInclusive<u32> = 6..=27;

/// Totals of the process since its start, a second behind at most while transactions end.
#[derive(Clone)]
pub struct Live(Arc<Mutex<State>>);

struct State {
    workload: &'static str,
    phase: &'static str,
    clients: usize,
    operations: Vec<(&'static str, Point)>,
}

impl Live {
    pub fn new(workload: &'static str, operations: &'static [&'static str], clients: usize) -> Self {
        let operations = operations.iter().map(|name| (*name, Point::default())).collect();
        Live(Arc::new(Mutex::new(State { workload, phase: "connect", clients, operations })))
    }

    /// Answers `GET /metrics` at this address, on a thread of its own, to the end of the process.
    pub fn serve(&self, address: &str) -> Result<(), Failure> {
        let refused = |error: &dyn std::fmt::Display| {
            Failure::arguments(format!("--metrics-listen {address}: {error}"))
        };
        let server = tiny_http::Server::http(address).map_err(|error| refused(&error))?;
        let live = self.clone();
        std::thread::Builder::new()
            .name("metrics".into())
            .spawn(move || {
                for request in server.incoming_requests() {
                    // A reader that has gone needs no answer.
                    let _ = match request.url() {
                        "/metrics" => {
                            let kind = "Content-Type: text/plain; version=0.0.4; charset=utf-8";
                            let header: tiny_http::Header = kind.parse().expect("a constant header");
                            request.respond(tiny_http::Response::from_string(live.text()).with_header(header))
                        }
                        _ => request.respond(tiny_http::Response::empty(404)),
                    };
                }
            })
            .map_err(|error| refused(&error))?;
        Ok(())
    }

    pub(super) fn phase(&self, phase: &'static str) {
        self.lock().phase = phase;
    }

    pub(super) fn add(&self, slice: &Slice) {
        let mut state = self.lock();
        for (operation, point) in &slice.points {
            state.operations[*operation].1.merge(point);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().expect("no holder of this lock panics")
    }

    /// In the text format of Prometheus, version 0.0.4.
    fn text(&self) -> String {
        let state = self.lock();
        let mut text = String::new();
        let (user, system) = usage::own_cpu();
        let workload = state.workload;
        let mut family = |name: &str, kind: &str, help: &str, samples: &[String]| {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
            samples.iter().for_each(|sample| {
                let _ = writeln!(text, "{sample}");
            });
        };
        let name = "dbbench_driver_transactions_total";
        let mut samples = Vec::new();
        for (operation, point) in &state.operations {
            let ok = point.count - point.expected_failures;
            for (outcome, count) in
                [("ok", ok), ("expected_failure", point.expected_failures), ("error", point.errors)]
            {
                samples.push(format!(
                    r#"{name}{{workload="{workload}",operation="{operation}",outcome="{outcome}"}} {count}"#
                ));
            }
        }
        family(name, "counter", "Transactions that have ended, warm-up included.", &samples);
        let name = "dbbench_driver_latency_seconds";
        let latencies: Vec<String> = state
            .operations
            .iter()
            .flat_map(|(operation, point)| {
                histogram(name, &format!(r#"workload="{workload}",operation="{operation}""#), point)
            })
            .collect();
        family(
            name,
            "histogram",
            "Latencies of transactions without an error, warm-up included.",
            &latencies,
        );
        let name = "dbbench_driver_phase";
        let phase = format!(r#"{name}{{workload="{workload}",phase="{}"}} 1"#, state.phase);
        family(name, "gauge", "The phase that the run is in.", &[phase]);
        let name = "dbbench_driver_clients";
        family(name, "gauge", "Clients of this process.", &[format!("{name} {}", state.clients)]);
        let name = "dbbench_driver_cpu_seconds_total";
        let cpu = [("user", user), ("system", system)];
        let cpu = cpu.map(|(mode, seconds)| format!(r#"{name}{{mode="{mode}"}} {seconds}"#));
        family(name, "counter", "CPU time of the driver itself.", &cpu);
        let name = "dbbench_driver_run_queue_seconds_total";
        let waited = format!("{name} {}", usage::own_run_queue());
        family(name, "counter", "Time that the driver's threads waited for a CPU.", &[waited]);
        text
    }
}

fn histogram(name: &str, labels: &str, point: &Point) -> Vec<String> {
    let mut lines = Vec::new();
    for power in BUCKETS {
        let end = 1u64 << power;
        let below = point.cells.iter().filter(|(cell, _)| upper_end(*cell) <= end);
        let count: u64 = below.map(|(_, count)| u64::from(*count)).sum();
        lines.push(format!(r#"{name}_bucket{{{labels},le="{}"}} {count}"#, end as f64 / 1e6));
    }
    lines.push(format!(r#"{name}_bucket{{{labels},le="+Inf"}} {}"#, point.count));
    lines.push(format!("{name}_sum{{{labels}}} {}", point.sum as f64 / 1e6));
    lines.push(format!("{name}_count{{{labels}}} {}", point.count));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_has_counts_by_outcome_and_cumulative_buckets() {
        let live = Live::new("tatp", &["A", "B"], 3);
        let point = Point {
            count: 3,
            expected_failures: 1,
            errors: 2,
            sum: 3_000_100,
            max: 3_000_000,
            // 50 microseconds twice, and one of three seconds.
            cells: vec![(41, 2), (294, 1)],
        };
        live.add(&Slice { second: 0, measured: true, points: vec![(1, point)] });
        live.phase("measure");
        let text = live.text();
        for line in [
            r#"dbbench_driver_transactions_total{workload="tatp",operation="B",outcome="ok"} 2"#,
            r#"dbbench_driver_transactions_total{workload="tatp",operation="B",outcome="expected_failure"} 1"#,
            r#"dbbench_driver_transactions_total{workload="tatp",operation="B",outcome="error"} 2"#,
            r#"dbbench_driver_latency_seconds_bucket{workload="tatp",operation="B",le="0.000064"} 2"#,
            r#"dbbench_driver_latency_seconds_bucket{workload="tatp",operation="B",le="2.097152"} 2"#,
            r#"dbbench_driver_latency_seconds_bucket{workload="tatp",operation="B",le="4.194304"} 3"#,
            r#"dbbench_driver_latency_seconds_bucket{workload="tatp",operation="B",le="+Inf"} 3"#,
            r#"dbbench_driver_latency_seconds_sum{workload="tatp",operation="B"} 3.0001"#,
            r#"dbbench_driver_phase{workload="tatp",phase="measure"} 1"#,
            "dbbench_driver_clients 3",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
    }
}

//! Open loop against a real PostgreSQL: latencies count from when a transaction was due.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use std::time::Duration;

use crate::support::driver::{assert_valid, driver, finish, metric, operation};
use crate::support::Database;
use base64::Engine as _;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::Histogram;
use serde_json::Value;

const CLIENTS: u64 = 4;

fn histogram(latency: &Value) -> Histogram<u64> {
    let text = latency["histogram"].as_str().unwrap();
    let bytes = base64::engine::general_purpose::STANDARD.decode(text).unwrap();
    Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap()
}

/// Latencies of all operations together.
fn latencies(document: &Value) -> Histogram<u64> {
    let mut all = Histogram::new(3).unwrap();
    for operation in document["operations"].as_array().unwrap() {
        if operation["latency"] != Value::Null {
            all.add(histogram(&operation["latency"])).unwrap();
        }
    }
    all
}

/// A run in whose measured window the server stands still for a second.
fn run_with_a_stall(database: &Database, options: &str) -> Value {
    let line =
        format!("tatp run --clients {CLIENTS} --warmup 0s --duration 6s --progress json --seed 5 {options}");
    let mut child = database.command(&line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut seen = String::new();
    while !seen.contains(r#""phase":"measure""#) {
        assert_ne!(stderr.read_line(&mut seen).unwrap(), 0, "{seen}");
    }
    std::thread::sleep(Duration::from_secs(2));
    database.freeze_server(Duration::from_secs(1));
    stderr.read_to_string(&mut seen).unwrap();
    let output = child.wait_with_output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{seen}"));
    assert_valid(&document);
    document
}

#[test]
fn a_stalled_server_is_seen_by_every_transaction_that_was_due_meanwhile() {
    let database = Database::on_own_server();
    database.measured("tatp load --subscribers 1000 --progress none");
    let open = run_with_a_stall(&database, "--rate 100");
    let half = |document: &Value| {
        let all = latencies(document);
        all.len() - all.count_between(0, 499_999)
    };
    // About fifty were due in the first half of the stall, and had to wait for the second half.
    let slow = half(&open);
    assert!(slow >= 25, "{slow} of {}", latencies(&open).len());
    assert!(latencies(&open).max() >= 800_000, "{}", latencies(&open).max());
    let most = operation(&open, "GET_SUBSCRIBER_DATA");
    assert!(most["latency"]["p999"].as_u64().unwrap() >= 500_000, "{}", most["latency"]);
    let peaks = most["series"]["max"].as_array().unwrap();
    assert!(peaks.iter().any(|max| max.as_u64() >= Some(500_000)), "{peaks:?}");
    let arrivals = &open["arrivals"];
    assert!(arrivals["queued"].as_u64().unwrap() >= 25, "{arrivals}");
    assert!(arrivals["startDelay"]["max"].as_u64().unwrap() >= 500_000, "{arrivals}");

    // In a closed loop nothing is due while the clients wait: one transaction of each sees the stall.
    let closed = run_with_a_stall(&database, "");
    assert_eq!(closed.get("arrivals"), None);
    let seen = half(&closed);
    assert!(seen >= CLIENTS && seen < slow, "{seen} against {slow}");
}

#[test]
fn what_is_due_is_started_or_counted() {
    let database = Database::new();
    database.measured("tatp load --subscribers 1000 --progress none");
    for spacing in ["poisson", "constant"] {
        let line = format!(
            "tatp run --clients 2 --warmup 1s --duration 4s --rate 50 --arrivals {spacing} --progress none"
        );
        let run = database.measured(&line);
        let arrivals = &run["arrivals"];
        let count = |name: &str| arrivals[name].as_u64().unwrap();
        assert_eq!(arrivals["spacing"], spacing);
        assert_eq!(count("due"), count("started") + count("notStarted"));
        assert_eq!(arrivals["startDelay"]["count"], count("due"));
        match spacing {
            "constant" => assert_eq!(count("due"), 200),
            _ => assert!(count("due").abs_diff(200) < 5 * 15, "{arrivals}"),
        }
        let ran: u64 = run["operations"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|operation| ["ok", "expectedFailure", "error"].map(|kind| &operation["counts"][kind]))
            .map(|count| count.as_u64().unwrap())
            .sum();
        assert_eq!(ran, count("started"));
        assert_eq!(run["parameters"]["ratePerSecond"], 50.0);
        assert_eq!(run["parameters"]["arrivals"], spacing);
    }
}

#[test]
fn a_rate_that_cannot_be_reached_is_visible() {
    let database = Database::new();
    database.measured("tatp load --subscribers 1000 --progress none");
    let run =
        database.measured("tatp run --clients 1 --warmup 0s --duration 2s --rate 500000 --progress none");
    let arrivals = &run["arrivals"];
    assert!(arrivals["notStarted"].as_u64() > Some(0), "{arrivals}");
    assert_eq!(arrivals["offeredPerSecond"], 500_000.0);
    assert!(metric(&run, "throughput") < 500_000.0);
    // What has waited longest waits since the window's first moments.
    assert!(arrivals["startDelay"]["max"].as_u64() > Some(1_000_000), "{arrivals}");
}

#[test]
fn rates_that_make_no_sense_are_refused() {
    for (options, cause) in [
        ("--rate 0", "must be a number above 0"),
        ("--rate nan", "must be a number above 0"),
        ("--rate 1e9", "at most 100000000"),
        ("--arrivals constant", "--rate"),
    ] {
        let line = format!("tatp run --url postgres://u@h/d {options}");
        finish(driver(&line.split(' ').collect::<Vec<_>>())).failed(2, "InvalidArguments", cause);
    }
}

//! What Prometheus reads while a run goes on.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use crate::support::cluster::free_port;
use crate::support::Database;

/// The answer to a request, if somebody answers.
fn get(port: u16, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    write!(stream, "GET {path} HTTP/1.0\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer)
}

/// The value of the sample that begins like this.
fn sample(answer: &str, start: &str) -> Option<f64> {
    answer.lines().find(|line| line.starts_with(start))?.rsplit(' ').next()?.parse().ok()
}

#[test]
fn counts_and_latencies_can_be_read_during_the_run() {
    let database = Database::new();
    database.measured("tatp load --subscribers 1000 --progress none");
    let port = free_port();
    let line =
        format!("tatp run --warmup 0s --duration 300s --progress none --metrics-listen 127.0.0.1:{port}");
    let mut run = database.command(&line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let name =
        r#"dbbench_driver_transactions_total{workload="tatp",operation="GET_SUBSCRIBER_DATA",outcome="ok"}"#;
    let answer = loop {
        assert_eq!(run.try_wait().unwrap(), None);
        match get(port, "/metrics").filter(|answer| sample(answer, name) > Some(0.0)) {
            Some(answer) => break answer,
            None => std::thread::sleep(std::time::Duration::from_millis(100)),
        }
    };
    assert!(get(port, "/other").unwrap().contains("404"));
    run.kill().unwrap();
    run.wait().unwrap();
    assert!(answer.starts_with("HTTP/1.0 200") || answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("text/plain; version=0.0.4"), "{answer}");
    let labels = r#"workload="tatp",operation="GET_SUBSCRIBER_DATA""#;
    let count = sample(&answer, &format!("dbbench_driver_latency_seconds_count{{{labels}}}"));
    assert_eq!(count, sample(&answer, name));
    assert_eq!(
        count,
        sample(&answer, &format!("dbbench_driver_latency_seconds_bucket{{{labels},le=\"+Inf\"}}"))
    );
    assert_eq!(sample(&answer, r#"dbbench_driver_phase{workload="tatp",phase="measure"}"#), Some(1.0));
    assert!(sample(&answer, r#"dbbench_driver_cpu_seconds_total{mode="user"}"#).is_some());
}

#[test]
fn an_address_that_cannot_be_listened_at_is_named() {
    let database = Database::new();
    database.measured("tatp load --subscribers 10 --progress none");
    database.driver("tatp run --metrics-listen nowhere").failed(
        2,
        "InvalidArguments",
        "--metrics-listen nowhere",
    );
}

//! `tpch run --cache` on a PostgreSQL that the agent starts and restarts.

use std::io::{Read, Write};
use std::net::TcpListener;

use crate::support::driver::operation;
use crate::support::Database;
use serde_json::Value;

const QUERIES: &str = "--queries 1,6 --progress none";

fn executions(run: &Value) -> Vec<&Value> {
    ["Q1", "Q6"].iter().flat_map(|name| operation(run, name)["executions"].as_array().unwrap()).collect()
}

#[test]
fn cold_queries_read_from_storage_and_warm_ones_read_nothing() {
    let database = Database::under_agent();
    database.measured("tpch load --scale-factor 0.01 --progress none");
    let started = || database.sql("SELECT pg_postmaster_start_time()");
    let at_first = started();
    let agent = database.agent();

    let cold = database.measured(&format!("tpch run --cache cold --runs 2 {QUERIES} --agent {agent}"));
    assert_ne!(started(), at_first, "the server has restarted");
    assert_eq!(cold["cache"], serde_json::json!({"state": "cold", "proven": true, "objections": []}));
    assert_eq!(cold["parameters"]["cache"], "cold");
    assert_eq!(
        (&cold["parameters"]["connection"], &cold["parameters"]["warmupRuns"]),
        (&"per-query".into(), &0.into())
    );
    let runs = executions(&cold);
    assert_eq!(runs.len(), 4);
    let count = |run: &Value, name: &str| run[name].as_u64().unwrap_or_else(|| panic!("{name}: {run}"));
    for run in &runs {
        assert!(count(run, "blocksRead") > 500, "lineitem has more blocks: {run}");
        assert!(count(run, "readBytes") > 500 * 8192, "they come from storage: {run}");
        assert!(count(&run["coldStart"], "bytes") > 10 << 20, "{run}");
        assert!(run["target"]["processes"]["minorFaults"].as_u64().unwrap() > 0);
    }
    let blocks: u64 = runs.iter().map(|run| count(run, "blocksRead")).sum();
    assert_eq!(cold["blocksRead"], blocks);

    // Nothing has read the orders since the last restart.
    let outcome =
        database.driver("tpch run --cache warm --warmup-runs 0 --runs 1 --queries 13 --progress none");
    outcome.failed(5, "MeasurementInvalid", "not warm: Q13, run 1: the server read");
    assert_eq!(outcome.document()["cache"]["proven"], false);

    let warm = database.measured(&format!("tpch run --cache warm --runs 2 {QUERIES} --agent {agent}"));
    assert_eq!(warm["cache"], serde_json::json!({"state": "warm", "proven": true, "objections": []}));
    assert_eq!(warm["blocksRead"], 0);
    assert!(executions(&warm)
        .iter()
        .all(|run| count(run, "blocksRead") == 0 && run.get("coldStart").is_none()));
    assert_eq!(executions(&warm).len(), 4);
}

#[test]
fn a_cold_run_that_cannot_be_one_is_refused_with_what_is_missing() {
    let database = Database::new();
    let refused = |line: &str, missing: &str| {
        let line = format!("tpch run --cache cold --progress none {line}");
        database.driver(&line).failed(2, "InvalidArguments", missing);
    };
    refused("", "needs --agent");
    refused("--agent http://127.0.0.1:1 --connection shared", "leave out --connection shared");
    refused("--agent http://127.0.0.1:1 --warmup-runs 2", "leave out --warmup-runs");
    refused("--agent http://127.0.0.1:1 --test power", "--cache does not go with --test power");
}

#[test]
fn an_agent_that_refuses_ends_the_run_with_its_own_words() {
    let database = Database::new();
    database.measured("tpch load --scale-factor 0.01 --progress none");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let agent = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            let length = stream.read(&mut request).unwrap();
            let (status, body) = match request[..length].starts_with(b"POST /v1/cold ") {
                true => ("403 Forbidden", "cold starts are not allowed here\n"),
                false => ("200 OK", "{}"),
            };
            let head =
                format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            stream.write_all((head + body).as_bytes()).unwrap();
        }
    });
    let outcome = database.driver(&format!("tpch run --cache cold {QUERIES} --agent {agent}"));
    outcome.failed(5, "NotCold", "403 Forbidden: cold starts are not allowed here");
}

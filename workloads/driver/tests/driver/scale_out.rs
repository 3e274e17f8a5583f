//! Several driver processes against one real PostgreSQL.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use crate::support::cluster::{free_port, wait_until, PASSWORD};
use crate::support::driver::{driver, finish, metric, operation, Outcome};
use crate::support::Database;
use serde_json::Value;

const RUN: &str = "tatp run --clients 2 --warmup 1s --processes 2";

fn start(database: &Database, line: &str) -> Child {
    let mut command = database.command(line);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn end(child: Child) -> Outcome {
    Outcome::of(child.wait_with_output().unwrap())
}

/// The document of a process that measured; on a busy machine it may be one of a saturated driver.
fn document(outcome: &Outcome) -> Value {
    assert!(matches!(outcome.code, 0 | 5), "{}", outcome.stderr);
    outcome.document()
}

fn total(document: &Value, kind: &str) -> u64 {
    document["operations"].as_array().unwrap().iter().map(|o| o["counts"][kind].as_u64().unwrap()).sum()
}

#[test]
fn processes_begin_together_and_the_leader_reports_for_all() {
    let database = Database::new();
    database.measured("tatp load --subscribers 1000 --progress none");
    let (port, rate) = (free_port(), "--rate 100 --arrivals constant --duration 4s --progress none");
    let both = format!("{RUN} {rate} --barrier-listen 127.0.0.1:{port} --barrier 127.0.0.1:{port}");
    // The same command line for all processes, as in an indexed Job.
    let leader = start(&database, &format!("{both} --process-index 0"));
    // Whoever else connects does no harm. It can as long as the leader waits for somebody.
    wait_until("the leader listens", || {
        let stranger = TcpStream::connect(("127.0.0.1", port));
        stranger.and_then(|mut stream| stream.write_all(b"GET / HTTP/1.1\r\n\r\n")).is_ok()
    });
    let follower = database
        .command(&both)
        .env("JOB_COMPLETION_INDEX", "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (follower, leader) = (document(&end(follower)), document(&end(leader)));

    assert_eq!(follower.get("processes"), None);
    assert_eq!(follower["parameters"]["processIndex"], 1);
    let processes = leader["processes"].as_array().unwrap();
    assert_eq!(processes.iter().map(|p| p["index"].as_u64().unwrap()).collect::<Vec<_>>(), [0, 1]);
    assert!(processes.iter().all(|p| p["clients"] == 2));
    let throughput: f64 = processes.iter().map(|p| p["throughputPerSecond"].as_f64().unwrap()).sum();
    assert!((metric(&leader, "throughput") - throughput).abs() < 1e-6);
    assert_eq!(processes[1]["throughputPerSecond"].as_f64(), Some(metric(&follower, "throughput")));
    assert_eq!(processes[1]["driverUsage"], follower["driverUsage"]);

    // Each has half of the rate, and no transaction is counted twice or lost.
    assert_eq!(follower["arrivals"]["due"], 200);
    assert_eq!(leader["arrivals"]["due"], 400);
    assert_eq!(leader["arrivals"]["offeredPerSecond"], 100.0);
    assert_eq!(
        ["ok", "expectedFailure", "error"].map(|kind| total(&leader, kind)).iter().sum::<u64>(),
        leader["arrivals"]["started"].as_u64().unwrap()
    );
    let name = "GET_SUBSCRIBER_DATA";
    let (all, part) = (operation(&leader, name), operation(&follower, name));
    assert!(all["counts"]["ok"].as_u64() > part["counts"]["ok"].as_u64());
    assert_eq!(all["latency"]["count"], all["counts"]["ok"]);
    assert!(all["latency"]["max"].as_u64() >= part["latency"]["max"].as_u64());
    let sum = |series: &Value| -> u64 {
        series["count"].as_array().unwrap().iter().filter_map(Value::as_u64).sum()
    };
    assert!(sum(&all["series"]) > sum(&part["series"]));
}

#[test]
fn queries_on_two_databases_begin_together_and_each_process_reports_its_own() {
    let databases = [Database::new(), Database::new()];
    for database in &databases {
        database.measured("tpch load --scale-factor 0.01 --progress none");
    }
    let port = free_port();
    let line = "tpch run --queries 6,14 --runs 1 --progress none --processes 2";
    // The follower is there first, and waits.
    let [follower, leader] = [
        start(&databases[1], &format!("{line} --barrier 127.0.0.1:{port} --process-index 1")),
        start(&databases[0], &format!("{line} --barrier-listen 127.0.0.1:{port}")),
    ]
    .map(|process| document(&end(process)));
    assert_eq!(
        [&leader, &follower].map(|one| one["parameters"]["processIndex"].as_u64()),
        [Some(0), Some(1)]
    );
    let moment = |one: &Value, phase: usize, which: &str| -> String {
        one["phases"][phase][which].as_str().unwrap().into()
    };
    for (one, other) in [(&leader, &follower), (&follower, &leader)] {
        // Both had warmed up when the first of them measured. RFC 3339 in UTC has the order of its text.
        assert!(moment(one, 1, "start") >= moment(other, 0, "end"));
        assert_eq!(one.get("processes"), None);
        assert_eq!(operation(one, "Q6")["counts"]["ok"], 1);
    }
}

#[test]
fn processes_that_are_apart_begin_together_and_measure_as_if_alone() {
    let databases = [Database::new(), Database::new()];
    for database in &databases {
        database.measured("tatp load --subscribers 1000 --progress none");
    }
    let port = free_port();
    let line = format!("{RUN} --apart --rate 100 --arrivals constant --duration 2s --progress none");
    let documents = [
        start(&databases[1], &format!("{line} --barrier 127.0.0.1:{port} --process-index 1")),
        start(&databases[0], &format!("{line} --barrier-listen 127.0.0.1:{port}")),
    ]
    .map(|process| document(&end(process)));
    let moment = |one: &Value, which: &str| -> String { one["phases"][1][which].as_str().unwrap().into() };
    for (one, other) in [(&documents[0], &documents[1]), (&documents[1], &documents[0])] {
        // Both windows were open at the same time.
        assert!(moment(one, "start") < moment(other, "end"));
        // Each has the whole rate, and nothing of the other is in its result.
        assert_eq!(one["arrivals"]["due"], 200);
        assert_eq!(one["arrivals"]["offeredPerSecond"], 100.0);
        assert_eq!(one.get("processes"), None);
        assert_eq!(one["parameters"].get("processIndex"), None);
        assert_eq!(one["parameters"]["apart"], true);
        assert_eq!(one["parameters"]["clients"], 2);
    }
}

#[test]
fn a_process_that_does_not_arrive_ends_the_others_with_code_3() {
    let database = Database::new();
    database.measured("tatp load --subscribers 100 --progress none");
    let port = free_port();
    let alone = |role: &str| {
        let line = format!("{RUN} --connect-timeout 1s --url {} {role} 127.0.0.1:{port}", database.url());
        let mut command = driver(&line.split(' ').collect::<Vec<_>>());
        command.env("DBBENCH_PASSWORD", PASSWORD);
        finish(command)
    };
    alone("--barrier-listen").failed(3, "ProcessLost", "process 1 of 2 did not arrive");
    alone("--process-index 1 --barrier").failed(3, "ProcessLost", "no leader at 127.0.0.1");
}

#[test]
fn processes_that_measure_different_things_are_refused() {
    let database = Database::new();
    database.measured("tatp load --subscribers 100 --progress none");
    let port = free_port();
    let leader = start(&database, &format!("{RUN} --barrier-listen 127.0.0.1:{port}"));
    let line = format!("{RUN} --barrier 127.0.0.1:{port} --process-index 1 --duration 1s");
    let follower = end(start(&database, &line));
    for outcome in [end(leader), follower] {
        outcome.failed(2, "InvalidArguments", "process 1 measures something else");
    }
}

#[test]
fn a_process_that_dies_during_the_run_ends_the_others_with_code_3() {
    let database = Database::new();
    database.measured("tatp load --subscribers 100 --progress none");
    for victim in [0, 1] {
        let port = free_port();
        let line = format!("{RUN} --duration 300s --progress json");
        let mut processes = [
            start(&database, &format!("{line} --barrier-listen 127.0.0.1:{port}")),
            start(&database, &format!("{line} --barrier 127.0.0.1:{port} --process-index 1")),
        ];
        let mut stderr = BufReader::new(processes[victim].stderr.take().unwrap());
        let mut seen = String::new();
        while !seen.contains(r#""phase":"measure""#) {
            assert_ne!(stderr.read_line(&mut seen).unwrap(), 0, "{seen}");
        }
        processes[victim].kill().unwrap();
        stderr.read_to_string(&mut seen).unwrap();
        let mut outcomes = processes.map(end);
        let survivor = &mut outcomes[1 - victim];
        assert_eq!(survivor.stdout, "");
        survivor.failed(3, "ProcessLost", &format!("process {victim} has gone"));
    }
}

#[test]
fn options_that_do_not_fit_together_are_refused() {
    for (options, cause) in [
        ("--processes 2", "--processes needs --barrier-listen"),
        ("--barrier h:1 --processes 2", "--barrier needs --process-index"),
        ("--barrier-listen h:1", "need --processes of 2 or more"),
        ("--barrier h:1 --processes 2 --process-index 2", "the others 1 to 1"),
        ("--barrier h:1 --processes 2 --process-index 0", "the process that leads has 0"),
        ("--barrier-listen h:1 --processes 2 --process-index 1", "the process that leads has 0"),
    ] {
        for workload in ["tatp", "tpch"] {
            let line =
                format!("{workload} run --url postgres://u@127.0.0.1:1/d --connect-timeout 0s {options}");
            let mut command = driver(&line.split(' ').collect::<Vec<_>>());
            command.env_remove("JOB_COMPLETION_INDEX");
            finish(command).failed(2, "InvalidArguments", cause);
        }
    }
    let line = "tpch run --url postgres://u@127.0.0.1:1/d --test power --barrier-listen h:1 --processes 2";
    let refused = finish(driver(&line.split(' ').collect::<Vec<_>>()));
    refused.failed(2, "InvalidArguments", "--processes does not go with --test power");
}

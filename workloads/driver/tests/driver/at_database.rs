//! Workloads on a database, run beside it by the agent that has started it.

use crate::support::driver::{command_at, driver, finish, metric, operation, Outcome};
use crate::support::Database;

fn at_target(database: &Database, line: &str) -> Outcome {
    let mut command = driver(&["at-target", "--progress", "none", "--agent"]);
    command.arg(database.agent()).args(line.split_whitespace());
    finish(command)
}

fn load(database: &Database, line: &str) {
    finish(command_at(&database.agents_url(), line)).measured(line);
}

#[test]
fn transactions_run_beside_the_database_and_their_result_comes_back() {
    let database = Database::under_agent();
    load(&database, "tatp load --subscribers 100 --progress none");
    let run = at_target(&database, "--seed 5 tatp run --clients 2 --warmup 200ms --duration 1s").document();
    assert_eq!((&run["workload"], &run["seed"]), (&"tatp".into(), &5.into()));
    assert_eq!((&run["parameters"]["atTarget"], &run["parameters"]["clients"]), (&true.into(), &2.into()));
    assert!(metric(&run, "throughput") > 0.0);
    assert!(operation(&run, "GET_SUBSCRIBER_DATA")["latency"].is_object());
    for reading in ["/target/facts", "/target/before", "/target/after"] {
        assert!(run.pointer(reading).is_some_and(|found| found.is_object()), "{reading}");
    }
    // It shares the CPUs with the database on purpose.
    assert_eq!((&run["driverUsage"]["saturated"], &run["valid"]), (&false.into(), &true.into()));
}

#[test]
fn a_cold_run_restarts_the_database_and_not_the_run_beside_it() {
    let database = Database::under_agent();
    load(&database, "tpch load --scale-factor 0.01 --progress none");
    let run = at_target(&database, "tpch run --cache cold --runs 2 --queries 1,6").document();
    assert_eq!(run["cache"], serde_json::json!({"state": "cold", "proven": true, "objections": []}));
    assert_eq!(operation(&run, "Q6")["runtimesSeconds"].as_array().unwrap().len(), 2);
}

#[test]
fn what_the_configuration_does_not_name_is_not_run() {
    let database = Database::under_agent();
    at_target(&database, "tpcc run").failed(5, "MeasurementInvalid", "Tpcc is not among the workloads");
    at_target(&database, "tatp run --url postgres://x/y").failed(2, "InvalidArguments", "is no option");
    at_target(&database, "tatp run --clients 0").failed(2, "InvalidArguments", "--clients");
    // Nothing is loaded.
    at_target(&database, "tatp run --duration 1s").failed(4, "SchemaMissing", "tatp load");
}

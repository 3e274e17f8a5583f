//! `merge`: one result out of several.

use std::path::{Path, PathBuf};

use crate::support::driver::{assert_valid, driver, finish, metric, operation, Outcome};
use crate::support::Database;
use serde_json::Value;

fn merged(files: &[PathBuf]) -> Outcome {
    let mut command = driver(&["merge"]);
    command.args(files);
    finish(command)
}

fn write(folder: &Path, name: &str, document: &Value) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, document.to_string()).unwrap();
    path
}

fn ok(document: &Value, name: &str) -> u64 {
    operation(document, name)["counts"]["ok"].as_u64().unwrap()
}

/// The same as on another machine whose driver was not saturated: what is merged here are numbers.
fn valid(mut document: Value) -> Value {
    document["valid"] = true.into();
    document["invalidReasons"] = Value::Array(Vec::new());
    document
}

#[test]
fn trials_add_up_and_what_differs_is_named() {
    let database = Database::new();
    database.measured("tatp load --subscribers 100 --progress none");
    let run = |options: &str| {
        let line = format!("tatp run --warmup 0s --duration 2s --progress none --clients 2 {options}");
        valid(database.measured(&line))
    };
    let (first, second) = (run("--seed 42"), run("--seed 7"));
    let folder = tempfile::tempdir().unwrap();
    let files = [write(folder.path(), "a.json", &first), write(folder.path(), "b.json", &second)];
    let outcome = merged(&files);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let both = outcome.document();
    assert_eq!(
        (&both["merged"]["of"], both["merged"]["parts"].as_array().unwrap().len()),
        (&"trials".into(), 2)
    );
    let mean = (metric(&first, "throughput") + metric(&second, "throughput")) / 2.0;
    assert!((metric(&both, "throughput") / mean - 1.0).abs() < 1e-9);
    let name = "GET_SUBSCRIBER_DATA";
    assert_eq!(ok(&both, name), ok(&first, name) + ok(&second, name));
    let of = |document: &Value| operation(document, name).clone();
    let count = |document: &Value| of(document)["latency"]["count"].as_u64().unwrap();
    assert_eq!(count(&both), count(&first) + count(&second));
    let longest = |document: &Value| of(document)["latency"]["max"].as_u64().unwrap();
    assert_eq!(longest(&both), longest(&first).max(longest(&second)));
    assert_eq!(of(&both)["series"]["count"].as_array().unwrap().len(), 4);

    // The same two windows at one time: their rates add up.
    let mut beside = second.clone();
    beside["phases"] = first["phases"].clone();
    let beside = merged(&[files[0].clone(), write(folder.path(), "beside.json", &beside)]).document();
    assert_eq!(beside["merged"]["of"], "processes");
    assert!((metric(&beside, "throughput") / (2.0 * mean) - 1.0).abs() < 1e-9);
    assert!(operation(&beside, name).get("series").is_none());

    // A part that does not count makes the whole one not count.
    let mut broken = second.clone();
    broken["valid"] = false.into();
    broken["invalidReasons"] = serde_json::json!(["the driver was saturated"]);
    let outcome = merged(&[files[0].clone(), write(folder.path(), "broken.json", &broken)]);
    outcome.failed(5, "MeasurementInvalid", "part 2: the driver was saturated");
    assert_valid(&outcome.document());

    let refused = |change: &dyn Fn(&mut Value), cause: &str| {
        let mut other = second.clone();
        change(&mut other);
        merged(&[files[0].clone(), write(folder.path(), "other.json", &other)]).failed(
            2,
            "CannotMerge",
            cause,
        );
    };
    refused(&|other| other["parameters"]["clients"] = 3.into(), "differ in parameters.clients: 2 and 3");
    refused(&|other| other["data"]["digest"] = "x".into(), "differ in data.digest");
    refused(&|other| other["driver"]["version"] = "9.9.9".into(), "differ in driver.version");
    refused(&|other| other["server"]["version"] = "99".into(), "differ in server.version");
    refused(&|other| other["parameters"]["processIndex"] = 1.into(), "parameters.processIndex");
    refused(&|other| other["command"] = "load".into(), "command is \"load\"");
    refused(&|other| other["kind"] = "Error".into(), "is not a result");
    refused(&|other| *other = both.clone(), "merged already");
    refused(&|other| *other = first.clone(), "are the same result");
    refused(&|other| other["phases"] = serde_json::json!([]), "no measured window");
    let missing = [files[0].clone(), folder.path().join("missing.json")];
    merged(&missing).failed(2, "InvalidArguments", "missing.json cannot be read");
    merged(&files[..1]).failed(2, "InvalidArguments", "RESULT");
}

#[test]
fn the_runs_of_queries_follow_each_other() {
    // Of its own: what other tests load would push these tables out of the server's buffers.
    let database = Database::on_own_server();
    database.measured("tpch load --scale-factor 0.01 --progress none");
    let run = || valid(database.measured("tpch run --queries 1,6 --runs 2 --cache warm --progress none"));
    let (first, second) = (run(), run());
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("merged.json");
    let mut command = driver(&["merge", "--output", output.to_str().unwrap()]);
    command.args([write(folder.path(), "a.json", &first), write(folder.path(), "b.json", &second)]);
    let outcome = finish(command);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (0, ""), "{}", outcome.stderr);
    let both: Value = serde_json::from_str(&std::fs::read_to_string(output).unwrap()).unwrap();
    assert_valid(&both);
    for name in ["Q1", "Q6"] {
        let runtimes =
            |document: &Value| operation(document, name)["runtimesSeconds"].as_array().unwrap().clone();
        assert_eq!(runtimes(&both), [runtimes(&first), runtimes(&second)].concat());
        assert_eq!(operation(&both, name)["executions"].as_array().unwrap().len(), 4);
        assert_eq!(ok(&both, name), 4);
    }
    assert!(metric(&both, "totalRuntime") > 0.0);
    assert_eq!((&both["blocksRead"], &both["cache"]["proven"]), (&0.into(), &true.into()));

    // Processes that run queries report each their own, but side by side they are no trials.
    let mut beside = second.clone();
    beside["phases"] = first["phases"].clone();
    beside["parameters"]["processIndex"] = 1.into();
    let files = [write(folder.path(), "a.json", &first), write(folder.path(), "beside.json", &beside)];
    merged(&files).failed(2, "CannotMerge", "the measured windows overlap");
}

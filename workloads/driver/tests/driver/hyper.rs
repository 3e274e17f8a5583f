//! The driver on a real Hyper.

use std::process::Stdio;

use crate::support::driver::{disturbed, driver, finish, operation, read_until_phase};
use crate::support::hyper::Hyper;
use crate::support::small_disk::SmallDisk;
use crate::support::tpch::all_answers_agree;

#[test]
fn tpch_loads_answers_and_runs_all_queries() {
    let hyper = Hyper::start();
    let loaded = hyper.driver("bench.hyper", "tpch load --scale-factor 0.01 --progress none");
    assert_eq!(loaded.code, 0, "{}", loaded.stderr);
    let loaded = loaded.document();
    assert_eq!(loaded["server"]["engine"], "Hyper");
    assert!(loaded["server"]["version"].as_str().unwrap().contains("Hyper"), "{}", loaded["server"]);
    assert_eq!(loaded["data"]["rows"]["lineitem"], 60175);
    // What is there already is left alone.
    let again = hyper.driver("bench.hyper", "tpch load --scale-factor 0.01 --progress none");
    assert_eq!(again.document()["data"], loaded["data"]);

    let checked = hyper.driver("bench.hyper", "tpch check --answers --progress none");
    assert_eq!(checked.code, 0, "{}", checked.stderr);
    all_answers_agree(&checked.document());

    for line in ["--connection shared", "--connection per-query --parameters random --seed 7"] {
        let line = format!("tpch run --runs 1 --warmup-runs 0 --progress none {line}");
        let run = hyper.driver("bench.hyper", &line).document();
        for number in 1..=22 {
            let query = operation(&run, &format!("Q{number}"));
            assert_eq!(query["counts"]["ok"], 1, "{query}");
            assert_eq!(query["planFingerprint"].as_str().map(str::len), Some(16), "{query}");
        }
    }
}

#[test]
fn the_fingerprint_of_a_plan_stays_the_same_with_other_values() {
    let hyper = Hyper::start();
    assert_eq!(hyper.driver("b", "tpch load --scale-factor 0.01 --progress none").code, 0);
    let of = |seed: u32| {
        let line = format!("tpch run --queries 6 --runs 1 --parameters random --seed {seed} --progress none");
        operation(&hyper.driver("b", &line).document(), "Q6")["planFingerprint"].clone()
    };
    assert_eq!(of(1), of(2));
}

#[test]
fn what_hyper_lacks_is_refused_by_name_before_anything_is_loaded() {
    let hyper = Hyper::start();
    for (line, lacking) in [
        ("tpcc load --warehouses 1", "Hyper has no enforced keys"),
        ("tpcc load --warehouses 1", "row locks (SELECT ... FOR UPDATE)"),
        ("tpcc run", "which tpcc needs"),
        ("tatp load --subscribers 10", "Hyper has no enforced keys"),
        ("tatp check", "which tatp needs"),
    ] {
        hyper.driver("bench.hyper", line).failed(2, "Unsupported", lacking);
    }
    assert!(!hyper.file("bench.hyper").exists());
}

#[test]
fn a_missing_database_user_or_schema_is_named() {
    let hyper = Hyper::start();
    let missing = hyper.driver("bench.hyper", "tpch run");
    missing.failed(3, "DatabaseUnreachable", "there is no database \"bench.hyper\"");
    assert!(!hyper.file("bench.hyper").exists(), "a run creates nothing");
    hyper.driver("", "tpch run").failed(2, "InvalidArguments", "names no database");
    let nowhere = hyper.driver("/nonexistent/b.hyper", "tpch load --scale-factor 0.01");
    nowhere.failed(3, "DatabaseUnreachable", "directory does not exist");
    let stranger = hyper.url("bench.hyper").replace("bench@", "stranger@");
    let refused = finish(driver(&["tpch", "load", "--scale-factor", "0.01", "--url", &stranger]));
    refused.failed(3, "AuthenticationFailed", "stranger");

    assert_eq!(hyper.driver("bench.hyper", "tpch load --scale-factor 0.01 --schema one").code, 0);
    let other = hyper.driver("bench.hyper", "tpch run --schema other");
    other.failed(4, "SchemaMissing", "dbbench-driver tpch load");
    let scale = hyper.driver("bench.hyper", "tpch run --schema one --scale-factor 0.02");
    scale.failed(4, "SchemaMismatch", "0.01");
}

#[test]
fn an_interrupted_load_is_done_again_from_the_start() {
    let hyper = Hyper::start();
    let mut child = hyper
        .command("bench.hyper", "tpch load --scale-factor 0.1 --progress json")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    read_until_phase(child.stderr.as_mut().unwrap(), "load");
    child.kill().unwrap();
    child.wait().unwrap();
    hyper.driver("bench.hyper", "tpch run").failed(4, "SchemaIncomplete", "load` again");

    let redone = hyper.driver("bench.hyper", "tpch load --scale-factor 0.01 --progress none");
    assert_eq!(redone.code, 0, "{}", redone.stderr);
    assert_eq!(hyper.driver("bench.hyper", "tpch check --progress none").code, 0);
}

#[test]
fn a_scale_that_does_not_fit_on_the_disk_ends_with_code_5() {
    let hyper = Hyper::start();
    let _disk = SmallDisk::mount(&hyper.file("small"), 12);
    let outcome = hyper.driver("small/b.hyper", "tpch load --scale-factor 0.1 --progress none");
    outcome.failed(5, "DatabaseOutOfSpace", "growing the database file failed");
    assert_eq!(outcome.stdout, "");
    hyper.start_if_ended();
    hyper.driver("small/b.hyper", "tpch run").failed(4, "SchemaIncomplete", "half-loaded");
}

#[test]
fn at_a_tenth_the_answers_agree_and_a_query_that_takes_too_long_is_ended() {
    let hyper = Hyper::start();
    assert_eq!(hyper.driver("b", "tpch load --scale-factor 0.1 --progress none").code, 0);
    all_answers_agree(&hyper.driver("b", "tpch check --answers --progress none").document());
    let outcome = hyper.driver("b", "tpch run --queries 21 --query-timeout 5ms --progress none");
    outcome.failed(5, "MeasurementInvalid", "Q21: ended after the query timeout of 5ms");
}

#[test]
fn a_server_that_dies_in_the_middle_of_a_run_ends_it_with_code_3() {
    let hyper = Hyper::start();
    assert_eq!(hyper.driver("b", "tpch load --scale-factor 0.01 --progress none").code, 0);
    let command = hyper.command("b", "tpch run --runs 10000 --warmup-runs 0 --progress json");
    let outcome = disturbed(command, "measure", || hyper.kill());
    outcome.failed(3, "DatabaseLost", "the connection broke");
}

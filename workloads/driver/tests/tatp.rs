//! TATP against a real PostgreSQL.

mod support;

use support::driver::{metric, operation};
use support::Database;

#[test]
fn load_run_and_check() {
    let database = Database::new();
    let loaded = database.measured("tatp load --subscribers 20000 --connections 2 --progress none");
    assert_eq!(loaded["data"]["rows"]["subscriber"], 20_000);
    let line = "tatp run --clients 4 --warmup 1s --duration 8s --seed 11 --progress none";
    let run = database.measured(line);

    // Shares of success that the specification expects; bounds of six standard deviations.
    for (name, expected) in [
        ("GET_SUBSCRIBER_DATA", 1.0),
        ("GET_NEW_DESTINATION", 0.239),
        ("GET_ACCESS_DATA", 0.625),
        ("UPDATE_SUBSCRIBER_DATA", 0.625),
        ("UPDATE_LOCATION", 1.0),
        ("INSERT_CALL_FORWARDING", 0.3125),
        ("DELETE_CALL_FORWARDING", 0.3125),
    ] {
        let counts = &operation(&run, name)["counts"];
        let (ok, failed) = (counts["ok"].as_f64().unwrap(), counts["expectedFailure"].as_f64().unwrap());
        assert_eq!(counts["error"], 0, "{name}");
        let (total, share) = (ok + failed, ok / (ok + failed));
        // The facilities of few subscribers, drawn again and again, differ from the expectation as well.
        let deviation = (expected * (1.0f64 - expected) / total).sqrt() + 0.006;
        assert!(total > 0.0 && (share - expected).abs() <= 6.0 * deviation, "{name}: {ok} of {total}");
    }
    let total: f64 = run["operations"].as_array().unwrap().iter().map(|o| o["throughputPerSecond"].as_f64().unwrap()).sum();
    assert!((metric(&run, "throughput") - total).abs() < 1e-6);

    let uniform = database.measured("tatp run --distribution uniform --warmup 0s --duration 1s --progress none");
    assert_eq!(uniform["parameters"]["distribution"], "uniform");
    assert_eq!(uniform["phases"].as_array().unwrap().len(), 1);

    database.measured("tatp check --subscribers 20000 --progress none");
    database.sql("UPDATE tatp.subscriber SET sub_nbr = '000000000999999' WHERE s_id = 17");
    database.sql("DELETE FROM tatp.access_info WHERE s_id = 18");
    let broken = database.driver("tatp check --progress none");
    broken.failed(4, "CheckFailed", "subscriber numbers: 1 violations");
    broken.failed(4, "CheckFailed", "access types: 1 violations");
}

#[test]
fn the_data_follows_from_the_seed_alone() {
    let database = Database::new();
    let data = |line: &str| database.measured(line)["data"].clone();
    let one = data("tatp load --subscribers 12000 --seed 1 --connections 1 --progress none");
    assert_eq!(one, data("tatp load --subscribers 12000 --seed 1 --connections 4 --schema same --progress none"));
    assert_ne!(one, data("tatp load --subscribers 12000 --seed 2 --schema other --progress none"));
}

#[test]
fn one_subscriber_is_enough() {
    let database = Database::new();
    database.measured("tatp load --subscribers 1 --progress none");
    database.measured("tatp run --clients 2 --warmup 0s --duration 1s --progress none");
    database.measured("tatp check --progress none");
}

//! TATP against a real PostgreSQL.

use crate::support::driver::metric;
use crate::support::tatp::{
    forwarding_share, new_destination_share, successes_are_those_of_the_rules, START_TIMES,
};
use crate::support::Database;

#[test]
fn load_run_and_check() {
    let database = Database::new();
    let loaded = database.measured("tatp load --subscribers 20000 --connections 2 --progress none");
    assert_eq!(loaded["data"]["rows"]["subscriber"], 20_000);
    let line = "tatp run --clients 4 --warmup 1s --duration 8s --seed 11 --progress none";
    let run = database.measured(line);

    let uniform = database
        .measured("tatp run --distribution uniform --clients 4 --warmup 0s --duration 8s --progress none");
    assert_eq!(uniform["parameters"]["distribution"], "uniform");
    assert_eq!(uniform["phases"].as_array().unwrap().len(), 1);
    // Uniform draws depart from the rules' shares by chance alone; those of NURand prefer some subscribers, who may
    // have more or fewer facilities.
    successes_are_those_of_the_rules(&uniform, 20_000.0);
    successes_are_those_of_the_rules(&run, 1_500.0);
    let total: f64 = run["operations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|o| o["throughputPerSecond"].as_f64().unwrap())
        .sum();
    assert!((metric(&run, "throughput") - total).abs() < 1e-6);

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
    assert_eq!(
        one,
        data("tatp load --subscribers 12000 --seed 1 --connections 4 --schema same --progress none")
    );
    assert_ne!(one, data("tatp load --subscribers 12000 --seed 2 --schema other --progress none"));
}

#[test]
fn one_subscriber_is_enough() {
    let database = Database::new();
    database.measured("tatp load --subscribers 1 --progress none");
    database.measured("tatp run --clients 2 --warmup 0s --duration 1s --progress none");
    database.measured("tatp check --progress none");
}

#[test]
fn the_expected_share_of_new_destinations_is_that_of_the_rules() {
    let by_start: Vec<String> =
        START_TIMES.iter().map(|start| format!("{:.4}", forwarding_share(*start))).collect();
    assert_eq!(by_start, ["0.0729", "0.2639", "0.4983"]);
    assert!((new_destination_share() - 0.1479).abs() < 0.0001);
}

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

    let uniform = database
        .measured("tatp run --distribution uniform --clients 4 --warmup 0s --duration 8s --progress none");
    assert_eq!(uniform["parameters"]["distribution"], "uniform");
    assert_eq!(uniform["phases"].as_array().unwrap().len(), 1);
    // Shares of success that follow from the rules of population and inputs. Uniform draws depart from them by
    // chance alone; those of NURand prefer some subscribers, who may have more or fewer facilities.
    for (name, expected) in [
        ("GET_SUBSCRIBER_DATA", 1.0),
        ("GET_NEW_DESTINATION", new_destination_share()),
        ("GET_ACCESS_DATA", 0.625),
        ("UPDATE_SUBSCRIBER_DATA", 0.625),
        ("UPDATE_LOCATION", 1.0),
        ("INSERT_CALL_FORWARDING", 0.3125),
        ("DELETE_CALL_FORWARDING", 0.3125),
    ] {
        for (document, population) in [(&uniform, 20_000.0), (&run, 1_500.0)] {
            let counts = &operation(document, name)["counts"];
            let (ok, failed) = (counts["ok"].as_f64().unwrap(), counts["expectedFailure"].as_f64().unwrap());
            assert_eq!(counts["error"], 0, "{name}");
            let (total, share) = (ok + failed, ok / (ok + failed));
            let variance = expected * (1.0f64 - expected);
            let deviation = (variance / total + variance / population).sqrt();
            assert!(total > 0.0 && (share - expected).abs() <= 5.0 * deviation, "{name}: {ok} of {total}");
        }
    }
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

/// The exact share of GET_NEW_DESTINATION that finds a row, by going through all cases: a facility exists in 62.5 %
/// and is active in 85 %; it has zero to three of the forwardings that start at 0, 8 and 16 and last 1 to 8 hours; the
/// transaction asks for one of the three start times and for an end time from 1 to 24.
fn new_destination_share() -> f64 {
    let (mut hits, mut cases) = (0.0, 0.0);
    for rows in 0u32..8 {
        // Zero to three rows equally often, and each choice of that many.
        let weight = [1.0, 1.0 / 3.0, 1.0 / 3.0, 1.0][rows.count_ones() as usize] / 4.0;
        for start in 0..3u32 {
            for end in 1..=24u32 {
                let missed: f64 = (0..=start)
                    .filter(|row| rows & (1 << row) != 0)
                    .map(|row| (1..=8).filter(|length| end >= row * 8 + length).count() as f64 / 8.0)
                    .product();
                hits += weight * (1.0 - missed);
                cases += weight;
            }
        }
    }
    hits / cases * 0.625 * 0.85
}

#[test]
fn the_expected_share_of_new_destinations_is_that_of_the_rules() {
    assert!((new_destination_share() - 0.1479).abs() < 0.0001);
}

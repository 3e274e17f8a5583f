//! TPC-C against a real PostgreSQL.

use crate::support::driver::{metric, operation};
use crate::support::tpcc::{
    all_succeed, count, inputs_have_the_specified_shares, keying_times_fit,
    limits_are_those_of_the_specification, skipped_deliveries, the_mix_is_that_of_the_deck,
};
use crate::support::Database;
use base64::Engine as _;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::Histogram;

#[test]
fn load_run_and_check() {
    let database = Database::new();
    let loaded = database.measured("tpcc load --warehouses 2 --connections 2 --seed 5 --progress none");
    let rows = &loaded["data"]["rows"];
    for (table, count) in [
        ("warehouse", 2),
        ("district", 20),
        ("customer", 60_000),
        ("history", 60_000),
        ("orders", 60_000),
        ("new_order", 18_000),
        ("stock", 200_000),
        ("item", 100_000),
    ] {
        assert_eq!(rows[table], count, "{table}");
    }
    let all_hold = |line: &str| {
        let checked = database.measured(line);
        assert_eq!(checked["checks"].as_array().unwrap().len(), 12);
    };
    all_hold("tpcc check --warehouses 2 --progress none");
    assert_eq!(database.sql("SELECT count(*) FROM tpcc.orders WHERE o_carrier_id IS NOT NULL"), "42000");

    // More clients than warehouses, so that they meet on the same rows.
    let run = database
        .measured("tpcc run --clients 6 --warmup 1s --duration 8s --seed 3 --check both --progress none");
    let checks: Vec<&str> =
        run["checks"].as_array().unwrap().iter().map(|check| check["name"].as_str().unwrap()).collect();
    assert_eq!((checks.len(), checks[0], checks[23]), (24, "before: 3.3.2.1", "after: 3.3.2.12"));
    all_succeed(&run);
    inputs_have_the_specified_shares(&run);
    the_mix_is_that_of_the_deck(&run, 6.0);
    limits_are_those_of_the_specification(&run, false);
    let count = |name: &str, kind: &str| count(&run, name, kind);
    assert!(metric(&run, "throughput") > 0.0);
    let new_orders = operation(&run, "NEW_ORDER")["throughputPerSecond"].as_f64().unwrap();
    assert!((metric(&run, "newOrdersPerMinute") - new_orders * 60.0).abs() < 1e-6);
    let constants = &run["parameters"]["nurandConstants"];
    let delta = (constants["cLast"].as_i64().unwrap() - constants["cLastLoad"].as_i64().unwrap()).abs();
    assert!((65..=119).contains(&delta) && delta != 96 && delta != 112);

    let latency = &operation(&run, "NEW_ORDER")["latency"];
    let bytes =
        base64::engine::general_purpose::STANDARD.decode(latency["histogram"].as_str().unwrap()).unwrap();
    let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
    assert_eq!(histogram.len(), count("NEW_ORDER", "ok") + count("NEW_ORDER", "expectedFailure"));
    assert_eq!(Some(histogram.value_at_quantile(0.99)), latency["p99"].as_u64());

    // Every committed new order is in the database, those of the warm-up beside those of the window.
    let placed: u64 = database.sql("SELECT count(*) - 60000 FROM tpcc.orders").parse().unwrap();
    assert!(placed >= count("NEW_ORDER", "ok"), "{placed}");
    assert_ne!(database.sql("SELECT count(*) FROM tpcc.order_line WHERE ol_supply_w_id <> ol_w_id"), "0");
    assert_ne!(database.sql("SELECT count(*) FROM tpcc.history WHERE h_c_w_id <> h_w_id"), "0");
    all_hold("tpcc check --progress none");
    deferred_deliveries_are_all_carried_out(&database);
    terminals_keep_their_keying_times(&database);
    skipped_deliveries_are_counted(&database);
}

fn deferred_deliveries_are_all_carried_out(database: &Database) {
    let delivered = || database.sql("SELECT sum(c_delivery_cnt) FROM tpcc.customer").parse::<u64>().unwrap();
    let before = delivered();
    let line =
        "tpcc run --clients 3 --warmup 0s --duration 4s --delivery deferred --check after --progress none";
    let run = database.measured(line);
    let delivery = operation(&run, "DELIVERY");
    let carried_out = delivery["counts"]["ok"].as_u64().unwrap();
    assert!(carried_out > 0, "{delivery}");
    assert_eq!(delivery["latency"]["count"], carried_out);
    // Ten districts each, and none of these is empty yet.
    assert_eq!(delivered() - before, carried_out * 10);
    limits_are_those_of_the_specification(&run, true);
    assert_eq!(skipped_deliveries(&run).0, 0);
    assert_eq!(run["checks"].as_array().unwrap().len(), 12);
}

fn terminals_keep_their_keying_times(database: &Database) {
    let line =
        "tpcc run --clients 4 --warmup 0s --duration 5s --pacing tpcc --pacing-scale 0.01 --progress none";
    keying_times_fit(&database.measured(line), 4.0, 5.0, 0.01);
    for (options, cause) in [
        ("--pacing tpcc --rate 10", "--rate"),
        ("--pacing tpcc --pacing-scale 0", "must be a number above 0"),
    ] {
        database.driver(&format!("tpcc run {options}")).failed(2, "InvalidArguments", cause);
    }
}

/// Clause 2.7.4.2.
fn skipped_deliveries_are_counted(database: &Database) {
    database.sql("DELETE FROM tpcc.new_order");
    for mode in ["inline", "deferred"] {
        let line =
            format!("tpcc run --clients 2 --warmup 0s --duration 2s --delivery {mode} --progress none");
        let (skipped, of, exceeded) = skipped_deliveries(&database.measured(&line));
        assert_eq!(exceeded, skipped as f64 > (of as f64 * 0.01).max(1.0), "{skipped} of {of}");
        database.sql("DELETE FROM tpcc.new_order");
    }
}

#[test]
fn each_condition_finds_the_row_that_breaks_it() {
    let database = Database::new();
    database.measured("tpcc load --warehouses 1 --progress none");
    let breaking = [
        ("3.3.2.1", "UPDATE warehouse SET w_ytd = w_ytd + 1"),
        ("3.3.2.2", "UPDATE district SET d_next_o_id = 3002 WHERE d_id = 4"),
        ("3.3.2.3", "DELETE FROM new_order WHERE no_d_id = 4 AND no_o_id = 2500"),
        ("3.3.2.4", "UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE o_d_id = 4 AND o_id = 7"),
        ("3.3.2.5", "UPDATE orders SET o_carrier_id = 3 WHERE o_d_id = 4 AND o_id = 3000"),
        ("3.3.2.6", "UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE o_d_id = 4 AND o_id = 7"),
        ("3.3.2.7", "UPDATE order_line SET ol_delivery_d = NULL WHERE ol_d_id = 4 AND ol_o_id = 7"),
        ("3.3.2.8", "UPDATE history SET h_amount = 11 WHERE h_d_id = 4 AND h_c_id = 7"),
        ("3.3.2.9", "UPDATE district SET d_ytd = d_ytd + 1 WHERE d_id = 4"),
        ("3.3.2.10", "UPDATE customer SET c_balance = c_balance + 1 WHERE c_d_id = 4 AND c_id = 7"),
        ("3.3.2.11", "UPDATE customer SET c_delivery_cnt = 1 WHERE c_d_id = 4 AND c_id = 7"),
        ("3.3.2.12", "UPDATE customer SET c_ytd_payment = 11 WHERE c_d_id = 4 AND c_id = 7"),
    ];
    // Copies of the tables that are broken, to be put back.
    let tables = ["warehouse", "district", "customer", "history", "orders", "order_line", "new_order"];
    for table in tables {
        database.sql(&format!("CREATE TABLE public.{table}_kept AS TABLE tpcc.{table}"));
    }
    for (condition, statement) in breaking {
        let table = tables.iter().find(|t| statement.contains(&format!(" {t} "))).unwrap();
        database.sql(&format!("SET search_path TO tpcc; {statement}"));
        let outcome = database.driver("tpcc check --progress none");
        outcome.failed(4, "CheckFailed", &format!("{condition}: "));
        let document = outcome.document();
        let found = document["checks"].as_array().unwrap().iter().find(|c| c["name"] == condition).unwrap();
        assert_eq!(found["ok"], false);
        if condition == "3.3.2.1" {
            let refused = database.driver("tpcc run --check before --progress none");
            refused.failed(4, "CheckFailed", "before: 3.3.2.1: ");
        }
        database.sql(&format!("TRUNCATE tpcc.{table}; INSERT INTO tpcc.{table} TABLE public.{table}_kept"));
    }
    database.measured("tpcc check --progress none");
}

#[test]
fn the_data_follows_from_the_seed_alone() {
    let database = Database::new();
    let digest = |line: &str| database.measured(line)["data"]["digest"].clone();
    let one = digest("tpcc load --warehouses 1 --seed 1 --connections 1 --progress none");
    let same = digest("tpcc load --warehouses 1 --seed 1 --connections 3 --schema same --progress none");
    assert_eq!(one, same);
    let refused = database.driver("tpcc load --warehouses 1 --seed 2 --progress none");
    refused.failed(4, "SchemaMismatch", "made from seed 1, not from seed 2");
    assert_ne!(one, digest("tpcc load --warehouses 1 --seed 2 --replace --progress none"));
}

//! TPC-C against a real PostgreSQL.

mod support;

use base64::Engine as _;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::Histogram;
use support::driver::{metric, operation};
use support::Database;

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
    inputs_have_the_specified_shares(&run);
    for limit in run["limits"].as_array().unwrap() {
        let name = limit["operation"].as_str().unwrap();
        assert_eq!(limit["p90LimitSeconds"], if name == "STOCK_LEVEL" { 20.0 } else { 5.0 });
        let p90 = operation(&run, name)["latency"]["p90"].as_f64().unwrap() / 1e6;
        assert_eq!(limit["p90Seconds"], p90);
        assert_eq!(limit["met"], p90 <= limit["p90LimitSeconds"].as_f64().unwrap());
    }
    let count = |name: &str, kind: &str| operation(&run, name)["counts"][kind].as_u64().unwrap();
    let names = ["NEW_ORDER", "PAYMENT", "ORDER_STATUS", "DELIVERY", "STOCK_LEVEL"];
    assert!(names.iter().all(|name| count(name, "ok") > 0 && count(name, "error") == 0), "{run}");
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
}

/// Each share lies within five standard deviations of the one that the specification sets.
fn inputs_have_the_specified_shares(run: &serde_json::Value) {
    let counts = |name: &str| &operation(run, name)["counts"];
    let ended = |name: &str, kind: &str| counts(name)[kind].as_f64().unwrap();
    let mut shares: Vec<(String, f64, f64, f64)> = Vec::new();
    // Clauses 2.4.1.5 (remote lines), 2.5.1.2 (remote payments, customers by name) and 2.6.1.2 (by name).
    for (share, expected) in run["shares"].as_array().unwrap().iter().zip([0.01, 0.15, 0.6]) {
        let (count, of) = (share["count"].as_f64().unwrap(), share["of"].as_f64().unwrap());
        shares.push((share["name"].to_string(), count, of, expected));
    }
    assert_eq!(shares.len(), 3);
    assert_eq!(shares[1].2, ended("PAYMENT", "ok"));
    assert_eq!(shares[2].2, ended("PAYMENT", "ok") + ended("ORDER_STATUS", "ok"));
    // Clause 2.4.1.4: orders that end in an unused item.
    let orders = ended("NEW_ORDER", "ok") + ended("NEW_ORDER", "expectedFailure");
    shares.push(("rolled back".into(), ended("NEW_ORDER", "expectedFailure"), orders, 0.01));
    for (name, count, of, expected) in shares {
        let deviation = (expected * (1.0 - expected) * of).sqrt();
        assert!(
            of > 0.0 && (count - expected * of).abs() <= 5.0 * deviation + 1.0,
            "{name}: {count} of {of}"
        );
    }
    // Clause 5.2.4.2: the six terminals have drawn whole decks, and each a part of one.
    let names = [("NEW_ORDER", 0.45), ("PAYMENT", 0.43), ("ORDER_STATUS", 0.04), ("DELIVERY", 0.04)];
    let total: f64 = ["NEW_ORDER", "PAYMENT", "ORDER_STATUS", "DELIVERY", "STOCK_LEVEL"]
        .iter()
        .map(|name| ended(name, "ok") + ended(name, "expectedFailure"))
        .sum();
    for (name, share) in names {
        let count = ended(name, "ok") + ended(name, "expectedFailure");
        assert!((count - share * total).abs() <= 6.0 * 2.0 * 100.0 * share, "{name}: {count} of {total}");
    }
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
    let limits = run["limits"].as_array().unwrap();
    let limit = limits.iter().find(|limit| limit["operation"] == "DELIVERY").unwrap();
    assert_eq!(limit["p90LimitSeconds"], 80.0);
    assert_eq!(run["checks"].as_array().unwrap().len(), 12);
}

/// What was keyed in fits into the time that the terminals had.
fn terminals_keep_their_keying_times(database: &Database) {
    let (clients, scale) = (4.0, 0.01);
    let line =
        "tpcc run --clients 4 --warmup 0s --duration 5s --pacing tpcc --pacing-scale 0.01 --progress none";
    let run = database.measured(line);
    let keyed: f64 = [
        ("NEW_ORDER", 18.0),
        ("PAYMENT", 3.0),
        ("ORDER_STATUS", 2.0),
        ("DELIVERY", 2.0),
        ("STOCK_LEVEL", 2.0),
    ]
    .iter()
    .map(|(name, seconds)| {
        let counts = &operation(&run, name)["counts"];
        let count = counts["ok"].as_f64().unwrap() + counts["expectedFailure"].as_f64().unwrap();
        count * seconds * scale
    })
    .sum();
    assert!(keyed > 0.0 && keyed <= clients * 5.0, "{keyed}");
    for (options, cause) in [
        ("--pacing tpcc --rate 10", "--rate"),
        ("--pacing tpcc --pacing-scale 0", "must be a number above 0"),
    ] {
        database.driver(&format!("tpcc run {options}")).failed(2, "InvalidArguments", cause);
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

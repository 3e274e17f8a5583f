//! TPC-H's power and throughput tests and its refresh functions; those of tests/support/tpch.rs on every engine.

use crate::support::driver::metric;
use crate::support::hyper::Hyper;
use crate::support::mariadb::MariaDb;
use crate::support::tpch::{
    names, of_stream, refresh_functions_change_the_data_by_whole_sets, STREAM_0, STREAM_1,
};
use crate::support::Database;
use serde_json::Value;

#[test]
fn the_power_and_throughput_tests_run_streams_and_refresh_functions() {
    let database = Database::new();
    database.measured("tpch load --scale-factor 0.01 --progress none");
    let orders = "SELECT count(*) FROM tpch.orders";
    let span = "SELECT min(o_orderkey) FROM tpch.orders";
    assert_eq!((database.sql(orders), database.sql(span)), ("15000".into(), "1".into()));

    let power = database.measured("tpch run --test power --progress none");
    assert_eq!(names(&of_stream(&power, 0)), format!("{STREAM_0} RF1 RF2"));
    let refresh = of_stream(&power, 0)[22..].to_vec();
    let lines = "SELECT count(*) FROM tpch.lineitem WHERE l_orderkey IN (9,10,11,12,13,14,15,40,41,42,43,44,45,46,47)";
    let inserted: u64 = database.sql(lines).parse().unwrap();
    assert_eq!(refresh[0]["rows"].as_u64(), Some(15 + inserted));
    // Set 1 deletes the first 15 orders and leaves its own 15 in the holes between them.
    assert_eq!((database.sql(orders), database.sql(span)), ("15000".into(), "9".into()));
    assert_eq!(
        database.sql(
            "SELECT count(*) FROM tpch.lineitem WHERE l_orderkey IN (1,2,3,4,5,6,7,32,33,34,35,36,37,38,39)"
        ),
        "0"
    );
    if power["valid"] == true {
        let label =
            power["metrics"].as_array().unwrap().iter().find(|metric| metric["name"] == "powerAtSize");
        assert_eq!(label.unwrap()["label"], "derived, not a TPC result");
    }
    database.measured("tpch check --progress none");

    let full = database.measured("tpch run --test full --streams 3 --progress none");
    assert_eq!(full["parameters"]["refreshPairs"], 1);
    assert_eq!(names(&of_stream(&full, 0)), format!("{STREAM_0} RF1 RF2"));
    assert_eq!(names(&of_stream(&full, 1)), format!("{STREAM_1} RF1 RF2"));
    assert_eq!(full["operations"].as_array().unwrap().len(), 4 * 24);
    if full["valid"] == true {
        let (power, throughput) = (metric(&full, "powerAtSize"), metric(&full, "throughputAtSize"));
        assert!((metric(&full, "compositeAtSize") - (power * throughput).sqrt()).abs() < 1e-6 * power);
        let interval = metric(&full, "measurementInterval");
        assert!((throughput - 3.0 * 22.0 * 3600.0 / interval * 0.01).abs() < 1e-6 * throughput);
    }
    let state = "SELECT constants::json #>> '{refresh,inserted}', constants::json #>> '{refresh,deleted}' \
                 FROM tpch.dbbench_meta";
    assert_eq!(database.sql(state), "5|5");
    assert_eq!(database.sql(orders), "15000");
    database.measured("tpch check --progress none");

    // Who has not asked for refreshed data does not get it.
    database.driver("tpch run --progress none").failed(
        4,
        "RefreshMismatch",
        "by 5 pairs of refresh functions, not by 0",
    );
    database.driver("tpch check --answers --progress none").failed(4, "RefreshMismatch", "not by 0");
    database.driver("tpch load --scale-factor 0.01 --progress none").failed(
        4,
        "SchemaMismatch",
        "a run has changed",
    );
    database.measured("tpch run --refresh-pairs 5 --queries 6 --runs 1 --progress none");
}

#[test]
fn a_refresh_that_was_interrupted_is_named_and_none_is_applied_by_half() {
    let database = Database::new();
    database.measured("tpch load --scale-factor 0.01 --progress none");
    // RF2 finds an order less than it has to delete: it is undone as a whole, RF1 stays.
    database
        .sql("DELETE FROM tpch.lineitem WHERE l_orderkey = 1; DELETE FROM tpch.orders WHERE o_orderkey = 1");
    let outcome = database.driver("tpch run --test power --progress none");
    outcome.failed(5, "DatabaseError", "RF2: 14 orders");
    assert_eq!(database.sql("SELECT count(*) FROM tpch.orders"), "15014");
    for line in ["tpch run --test throughput", "tpch run", "tpch check"] {
        database.driver(line).failed(4, "RefreshIncomplete", "load the data again");
    }
    database.measured("tpch load --scale-factor 0.01 --replace --progress none");
    database.measured("tpch run --test throughput --streams 1 --progress none");
}

#[test]
fn mariadb_runs_the_tests_and_undoes_a_refresh_that_finds_too_few_rows() {
    let database = MariaDb::new();
    refresh_functions_change_the_data_by_whole_sets(|line| database.measured(line));
    database.driver("tpch run --progress none").failed(4, "RefreshMismatch", "by 4 pairs");
    let schema = &database.schema;
    // Set 5 deletes the orders from the 61st on, whose key is 229; RF1 stays, RF2 is undone as a whole.
    database.sql(&format!(
        "DELETE FROM {schema}.lineitem WHERE l_orderkey = 229; DELETE FROM {schema}.orders WHERE o_orderkey = 229"
    ));
    database.driver("tpch run --test power --progress none").failed(5, "DatabaseError", "RF2: 14 orders");
    assert_eq!(database.sql(&format!("SELECT count(*) FROM {schema}.orders")), "15014");
    database.driver("tpch check").failed(4, "RefreshIncomplete", "load the data again");
}

#[test]
fn hyper_runs_the_tests() {
    let hyper = Hyper::start();
    refresh_functions_change_the_data_by_whole_sets(|line| hyper.driver("b.hyper", line).measured(line));
    hyper.driver("b.hyper", "tpch run --progress none").failed(4, "RefreshMismatch", "by 4 pairs");
}

#[test]
fn update_sets_do_not_come_to_an_end_unnoticed() {
    let database = Database::new();
    database.measured("tpch load --scale-factor 0.01 --progress none");
    database.sql(r#"UPDATE tpch.dbbench_meta SET constants = '{"refresh":{"deleted":998,"inserted":998}}'"#);
    let outcome = database.driver("tpch run --test full --streams 2 --progress none");
    outcome.failed(4, "RefreshExhausted", "998 of the 999 update sets are used, and this run needs 3");
}

#[test]
fn options_that_a_test_leaves_no_choice_in_are_refused() {
    let database = Database::new();
    for (line, option) in [
        ("tpch run --test power --queries 1", "--queries does not go with --test power"),
        ("tpch run --test power --streams 2", "--streams does not go with --test power"),
        ("tpch run --test full --runs 2", "--runs does not go with --test full"),
        ("tpch run --streams 2", "--streams does not go with --test queries"),
    ] {
        database.driver(line).failed(2, "InvalidArguments", option);
    }
}

#[test]
fn the_order_and_the_use_of_parallel_workers_can_be_chosen() {
    let database = Database::new();
    database.measured("tpch load --scale-factor 0.01 --progress none");
    let line = "tpch run --queries 1,6,14 --order stream --parallel-query off --runs 1 --warmup-runs 0 --progress none";
    let run = database.measured(line);
    let all: Vec<&Value> = run["operations"].as_array().unwrap().iter().collect();
    assert_eq!(names(&all), "Q14 Q6 Q1");
    assert_eq!(run["server"]["settings"]["max_parallel_workers_per_gather"], "0");
    assert_eq!(run["parameters"]["parallelQuery"], "off");
    assert!(run["blocksRead"].is_u64());
}

//! TPC-H, TPC-C and TATP against a real MariaDB.

use std::process::Stdio;

use crate::support::cluster::PASSWORD;
use crate::support::driver::{disturbed, driver, finish, operation, Outcome};
use crate::support::mariadb::MariaDb;
use crate::support::tatp::successes_are_those_of_the_rules;
use crate::support::tpch::all_answers_agree;
use crate::support::{cluster, tpcc};

/// Rows of each query's answer at scale factor 0.01 with the validation parameters.
const ROWS: [u64; 22] = [4, 4, 10, 5, 5, 1, 4, 2, 173, 20, 1, 2, 33, 1, 1, 296, 1, 2, 1, 1, 1, 7];

#[test]
fn tpch_loads_answers_as_the_reference_does_and_keeps_its_plans() {
    let database = MariaDb::new();
    let loaded = database.measured("tpch load --scale-factor 0.01 --connections 2 --progress none");
    assert_eq!(loaded["data"]["rows"]["lineitem"], 60_175);
    assert_eq!(loaded["server"]["engine"], "MariaDB");
    assert_eq!(loaded["server"]["settings"]["innodb_buffer_pool_size"], "67108864");
    let keys = "SELECT count(*) FROM information_schema.referential_constraints WHERE constraint_schema =";
    assert_eq!(database.sql(&format!("{keys} '{}'", database.schema)), "8");

    let run = database.measured("tpch run --runs 2 --warmup-runs 1 --progress none");
    for (index, rows) in ROWS.iter().enumerate() {
        let query = operation(&run, &format!("Q{}", index + 1));
        assert_eq!(
            (&query["rows"], &query["counts"]["ok"]),
            (&(*rows).into(), &2.into()),
            "{}",
            query["name"]
        );
        assert!(query["planFingerprint"].is_string());
    }
    let chosen = database.measured("tpch run --queries 6,1 --runs 1 --warmup-runs 0 --connection per-query");
    for name in ["Q1", "Q6"] {
        assert_eq!(operation(&chosen, name)["planFingerprint"], operation(&run, name)["planFingerprint"]);
    }

    let checked = database.measured("tpch check --answers --progress none");
    all_answers_agree(&checked);

    let outcome = database.driver("tpch run --queries 1 --warmup-runs 0 --runs 1 --query-timeout 1ms");
    outcome.failed(5, "MeasurementInvalid", "Q1: ended after the query timeout of 1ms");
    assert_eq!(operation(&outcome.document(), "Q1")["errors"]["70100"], 1);
    database.sql(&format!("DELETE FROM {}.lineitem WHERE l_orderkey = 2", database.schema));
    database.driver("tpch check --progress none").failed(4, "CheckFailed", "60174 rows, expected 60175");
}

#[test]
fn the_conditions_of_tpcc_hold_around_a_run_with_several_clients() {
    let database = MariaDb::new();
    let schema = &database.schema;
    database.measured("tpcc load --warehouses 1 --connections 2 --seed 5 --progress none");
    // More clients than warehouses, so that they meet on the same rows.
    let run = database
        .measured("tpcc run --clients 6 --warmup 1s --duration 5s --seed 3 --check both --progress none");
    let checks: Vec<&str> =
        run["checks"].as_array().unwrap().iter().map(|check| check["name"].as_str().unwrap()).collect();
    assert_eq!((checks.len(), checks[0], checks[23]), (24, "before: 3.3.2.1", "after: 3.3.2.12"));
    tpcc::all_succeed(&run);
    tpcc::the_mix_is_that_of_the_deck(&run, 6.0);
    tpcc::limits_are_those_of_the_specification(&run, false);
    let placed = database.sql(&format!("SELECT count(*) - 30000 FROM {schema}.orders"));
    assert!(placed.parse::<u64>().unwrap() >= tpcc::count(&run, "NEW_ORDER", "ok"), "{placed}");
    conflicts_are_tried_again_and_deferred_deliveries_carried_out(&database);

    database.sql(&format!("DELETE FROM {schema}.new_order"));
    let idle = database.measured("tpcc run --clients 2 --warmup 0s --duration 2s --progress none");
    let (skipped, of, exceeded) = tpcc::skipped_deliveries(&idle);
    assert_eq!(exceeded, skipped as f64 > (of as f64 * 0.01).max(1.0), "{skipped} of {of}");

    database.sql(&format!("UPDATE {schema}.warehouse SET w_ytd = w_ytd + 1 WHERE w_id = 1"));
    let refused = database.driver("tpcc run --check before --progress none");
    refused.failed(4, "CheckFailed", "before: 3.3.2.1: 1 violations");
    database
        .sql(&format!("DELETE FROM {schema}.order_line WHERE ol_w_id = 1 AND ol_d_id = 4 AND ol_o_id = 7"));
    let outcome = database.driver("tpcc check --progress none");
    outcome.failed(4, "CheckFailed", "3.3.2.4: 1 violations");
    outcome.failed(4, "CheckFailed", "3.3.2.6: 1 violations");
}

/// A trigger ends every other payment as a deadlock would; terminals pause, and deliveries wait in a queue.
fn conflicts_are_tried_again_and_deferred_deliveries_carried_out(database: &MariaDb) {
    let schema = &database.schema;
    let mut made = database.spawn(&format!(
        "CREATE TRIGGER {schema}.conflict BEFORE INSERT ON {schema}.history FOR EACH ROW \
         IF rand() < 0.5 THEN SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213; END IF//"
    ));
    assert!(made.wait().unwrap().success());
    let delivered = || -> u64 {
        database.sql(&format!("SELECT sum(c_delivery_cnt) FROM {schema}.customer")).parse().unwrap()
    };
    let before = delivered();
    let line = "tpcc run --clients 3 --warmup 0s --duration 5s --delivery deferred --pacing tpcc \
                --pacing-scale 0.002 --check after --progress none";
    let run = database.measured(line);
    tpcc::all_succeed(&run);
    tpcc::limits_are_those_of_the_specification(&run, true);
    tpcc::keying_times_fit(&run, 3.0, 5.0, 0.002);
    // Each attempt is counted, and a payment that was tried again is one payment.
    assert!(operation(&run, "PAYMENT")["errors"]["40001"].as_u64() > Some(0), "{run}");
    assert_eq!(run["checks"].as_array().unwrap().len(), 12);
    let carried_out = tpcc::count(&run, "DELIVERY", "ok");
    // Ten districts each, and none of these is empty yet.
    assert_eq!(delivered() - before, carried_out * 10);
    assert_eq!(tpcc::skipped_deliveries(&run), (0, carried_out, false));
    database.sql(&format!("DROP TRIGGER {schema}.conflict"));
}

#[test]
fn tatp_loads_runs_and_has_the_shares_of_success_of_its_rules() {
    let database = MariaDb::new();
    let loaded = database.measured("tatp load --subscribers 20000 --connections 2 --progress none");
    assert_eq!(loaded["data"]["rows"]["subscriber"], 20_000);
    let line =
        "tatp run --distribution uniform --clients 4 --warmup 1s --duration 5s --seed 11 --check both \
                --progress none";
    let run = database.measured(line);
    successes_are_those_of_the_rules(&run, 20_000.0);
    // Three tables that keep their rows, and six rules, before and after.
    let checks = run["checks"].as_array().unwrap();
    assert_eq!((checks.len(), &checks[17]["name"]), (18, &"after: value ranges".into()));
    database.sql(&format!("DELETE FROM {}.call_forwarding WHERE s_id = 7", database.schema));
    database.sql(&format!("UPDATE {}.special_facility SET is_active = 2 WHERE s_id = 7", database.schema));
    let refused = database.driver("tatp run --check before --progress none");
    refused.failed(4, "CheckFailed", "before: value ranges: ");
    database.sql(&format!("UPDATE {}.special_facility SET is_active = 1 WHERE s_id = 7", database.schema));
    database.measured("tatp check --progress none");
    let again = database.measured("tatp load --subscribers 20000 --progress none");
    assert_eq!(again["phases"], loaded["phases"]);
    database.driver("tatp load --subscribers 200").failed(4, "SchemaMismatch", "--replace");
    // Tables that refer to each other can be dropped.
    database.measured("tatp load --subscribers 200 --replace --progress none");
}

#[test]
fn the_digest_is_that_of_any_engine_and_names_need_not_be_plain() {
    let database = MariaDb::new();
    let one = database.measured("tatp load --subscribers 12000 --seed 1 --connections 3 --progress none");
    let other = "tatp load --subscribers 12000 --seed 1 --connections 1 --schema odd`'\"name --progress none";
    assert_eq!(one["data"], database.measured(other)["data"]);
    let postgres = crate::support::Database::new();
    assert_eq!(
        one["data"],
        postgres.measured("tatp load --subscribers 12000 --seed 1 --progress none")["data"]
    );
}

#[test]
fn a_wrong_password_a_missing_database_and_missing_rights_fail_at_once() {
    let database = MariaDb::new();
    let attempt = |password: &str, url: &str| {
        let line = ["tatp", "load", "--subscribers", "10", "--schema", &database.schema, "--url", url];
        let mut command = driver(&line);
        command.args(["--connect-timeout", "300s"]).env("DBBENCH_PASSWORD", password);
        finish(command)
    };
    attempt("wrong", &database.url()).failed(3, "AuthenticationFailed", "Access denied for user 'bench'");
    attempt("", &database.url()).failed(3, "AuthenticationFailed", "--password-file");
    let nowhere = database.url_of("bench", "nowhere");
    attempt(PASSWORD, &nowhere).failed(3, "DatabaseUnreachable", "Unknown database 'nowhere'");
    let poor = format!("poor_{}", database.schema);
    database.sql(&format!("CREATE USER {poor}@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'"));
    attempt(PASSWORD, &database.url_of(&poor, "")).failed(3, "PermissionDenied", "Access denied");
    attempt(PASSWORD, "mysql://bench:secret@h/x").failed(2, "InvalidArguments", "--password-file");
    attempt(PASSWORD, "mysql://bench@h/x?ssl=1").failed(2, "InvalidArguments", "socket=PATH");
    let nobody = format!("mysql://bench@127.0.0.1:{}/x", cluster::free_port());
    let refused = finish(driver(&["tatp", "check", "--url", &nobody, "--connect-timeout", "1s"]));
    refused.failed(3, "DatabaseUnreachable", "within 1 s");
}

#[test]
fn a_server_without_local_infile_is_told_which_setting_to_change() {
    let database = MariaDb::on_own_server(&["--local-infile=0"]);
    let outcome = database.driver("tatp load --subscribers 30000 --connections 2 --progress none");
    outcome.failed(3, "PermissionDenied", "SET GLOBAL local_infile = 1");
    database.driver("tatp run").failed(4, "SchemaIncomplete", "half-loaded");
    database.sql("SET GLOBAL local_infile = 1");
    database.measured("tatp load --subscribers 30000 --progress none");
}

#[test]
fn data_that_is_missing_or_unfinished_ends_with_code_4() {
    let database = MariaDb::new();
    for command in ["run", "check"] {
        database.driver(&format!("tatp {command}")).failed(4, "SchemaMissing", "dbbench-driver tatp load");
    }
    database.sql(&format!("CREATE DATABASE {0}; CREATE TABLE {0}.subscriber (mine int)", database.schema));
    database.driver("tatp load --subscribers 10").failed(4, "SchemaMismatch", "subscriber");
    database.measured("tatp load --subscribers 10 --replace");
    database.driver("tpcc run").failed(4, "SchemaMismatch", "data of the workload tatp, not of tpcc");
}

#[test]
fn two_loads_of_one_schema_do_not_disturb_each_other() {
    let database = MariaDb::new();
    let spawn = || {
        let mut command = database.command("tatp load --subscribers 20000 --progress none");
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let outcomes: Vec<Outcome> =
        [spawn(), spawn()].into_iter().map(|child| Outcome::of(child.wait_with_output().unwrap())).collect();
    assert!(outcomes.iter().all(|outcome| outcome.code == 0), "{}{}", outcomes[0].stderr, outcomes[1].stderr);
    assert_eq!(outcomes[0].document()["data"], outcomes[1].document()["data"]);
}

#[test]
fn a_server_that_dies_in_the_middle_of_a_run_ends_it_with_code_3() {
    let database = MariaDb::on_own_server(&[]);
    database.measured("tatp load --subscribers 1000 --progress none");
    let command = database.command("tatp run --clients 2 --warmup 0s --duration 300s --progress json");
    let outcome = disturbed(command, "measure", || database.kill_server());
    outcome.failed(3, "DatabaseLost", "the connection broke");
}

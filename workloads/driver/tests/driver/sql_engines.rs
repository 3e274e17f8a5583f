//! Scripts on MariaDB and on Hyper.

use std::path::{Path, PathBuf};

use crate::support::driver::{metric, operation};
use crate::support::hyper::Hyper;
use crate::support::mariadb::MariaDb;

fn script(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("mine.sql");
    std::fs::write(&path, text).unwrap();
    path
}

/// The options of a short run of one script.
fn line(path: &Path, options: &str) -> String {
    format!("sql run --script {} --warmup 0s --duration 1s --progress none {options}", path.display())
}

#[test]
fn the_builtin_scripts_run_on_mariadb_and_keep_the_tables_consistent() {
    let mariadb = MariaDb::new();
    let loaded = mariadb.measured("sql load --scale 1 --progress none");
    assert_eq!(loaded["data"]["rows"]["pgbench_accounts"], 100_000);
    let run = mariadb.measured(
        "sql run --builtin select-only@2 --builtin tpcb-like --builtin simple-update --clients 4 --warmup 0s \
         --duration 2s --progress none",
    );
    assert_eq!((&run["server"]["engine"], &run["data"]), (&"MariaDB".into(), &loaded["data"]));
    assert!(metric(&run, "throughput") > 0.0);
    for name in ["select-only", "tpcb-like", "simple-update"] {
        let counts = &operation(&run, name)["counts"];
        assert!(counts["ok"].as_u64().unwrap() > 0, "{name}");
        assert_eq!(counts["error"], 0, "{name}");
    }
    mariadb.measured("sql check --progress none");
    mariadb.sql(&format!(
        "UPDATE {}.pgbench_accounts SET abalance = abalance + 1 WHERE aid = 1",
        mariadb.schema
    ));
    mariadb.driver("sql check --progress none").failed(4, "CheckFailed", "history: 1 violations");
}

#[test]
fn scripts_in_the_dialect_of_mysql_have_parameters_answers_and_branches() {
    let mariadb = MariaDb::new();
    let schema = &mariadb.schema;
    mariadb.sql(&format!(
        "CREATE DATABASE {schema}; CREATE TABLE {schema}.t (client int, `odd;name` text, number bigint, \
         rate double, day date, nothing int)"
    ));
    let text = "\\set one 1\n\\set half 0.5\n\\set none null\n# a comment of MySQL; it ends here\n\
        SELECT 'it\\'s :one; \\\\' AS words, \"two\\\";\" AS more, :one + 1 AS two \\gset got_\n\
        \\if :got_two = 2\nSTART TRANSACTION;\n\
        INSERT INTO t (client, `odd;name`, number, rate, day, nothing) VALUES (:client_id, concat(:got_words, :got_more), :got_two, :half, :day, :none);\n\
        COMMIT;\n\\endif";
    let folder = tempfile::tempdir().unwrap();
    let run = mariadb.measured(&line(&script(folder.path(), text), "--clients 2 --define day=2026-01-31"));
    assert!(operation(&run, "mine")["counts"]["ok"].as_u64().unwrap() > 0);
    let rows = mariadb.sql(&format!("SELECT DISTINCT * FROM {schema}.t ORDER BY client"));
    let rest = "it's :one; \\\\two\";\t2\t0.5\t2026-01-31\tNULL";
    assert_eq!(rows, format!("0\t{rest}\n1\t{rest}"));
}

#[test]
fn tables_of_the_users_own_are_made_on_mariadb_and_equal_ones_have_equal_digests() {
    let mariadb = MariaDb::new();
    let folder = tempfile::tempdir().unwrap();
    let text = "DROP VIEW IF EXISTS cheap;\nDROP TABLE IF EXISTS item;\n\
        CREATE TABLE item (id int PRIMARY KEY, price int);\n\\set first random(1, 1000000)\n\
        INSERT INTO item VALUES (1, :first), (2, 20);\nCREATE VIEW cheap AS SELECT * FROM item WHERE id < 2;";
    let path = script(folder.path(), text);
    let load = |options: &str| {
        let line = format!("sql load --script {} --progress none {options}", path.display());
        mariadb.measured(&line)["data"].clone()
    };
    let loaded = load("");
    assert_eq!(loaded["rows"], serde_json::json!({"cheap": 1, "item": 2}));
    assert_eq!(load(""), loaded);
    assert_ne!(load("--seed 7")["digest"], loaded["digest"]);
    assert_eq!(mariadb.sql(&format!("SELECT count(*) FROM {}.item", mariadb.schema)), "2");
}

#[test]
fn the_tables_of_a_mysql_url_are_those_of_its_database() {
    let mariadb = MariaDb::new();
    let schema = &mariadb.schema;
    mariadb.sql(&format!("CREATE DATABASE {schema}; CREATE TABLE {schema}.own (a int)"));
    let folder = tempfile::tempdir().unwrap();
    let path = script(folder.path(), "INSERT INTO own VALUES (:client_id);");
    let url = mariadb.url_of(crate::support::mariadb::USER, schema);
    let run = crate::support::driver::finish(crate::support::driver::command_at(&url, &line(&path, "")))
        .measured("own");
    assert_eq!(run["parameters"]["schema"], schema.as_str());
    assert_ne!(mariadb.sql(&format!("SELECT count(*) FROM {schema}.own")), "0");
}

#[test]
fn mistakes_in_scripts_for_mariadb_end_with_code_2_and_name_file_and_line() {
    let mariadb = MariaDb::new();
    let folder = tempfile::tempdir().unwrap();
    for (text, cause) in [
        ("SELECT 1;\nSELEC 2;", "mine.sql:2: You have an error in your SQL syntax"),
        ("BEGIN;\nSELECT 1;\nEND;", "mine.sql:3: MySQL has no END: write COMMIT"),
        ("SELECT ?;", "not as ?"),
    ] {
        let outcome = mariadb.driver(&line(&script(folder.path(), text), ""));
        outcome.failed(2, "InvalidScript", cause);
    }
    let path = script(folder.path(), "SELECT 1;\nSELECT * FROM absent;");
    mariadb.driver(&line(&path, "")).failed(4, "SchemaMissing", "mine.sql:2:");
}

#[test]
fn scripts_run_on_hyper_and_what_it_lacks_is_refused_by_name() {
    let hyper = Hyper::start();
    let refused = |line: &str| {
        hyper.driver("bench.hyper", line).failed(2, "Unsupported", "Hyper has no enforced keys");
    };
    refused("sql load --scale 1 --progress none");
    refused("sql run --builtin select-only --progress none");
    refused("sql check --progress none");

    let load = "tpch load --scale-factor 0.01 --progress none";
    hyper.driver("bench.hyper", load).measured(load);
    let folder = tempfile::tempdir().unwrap();
    let text = "\\set key random(1, 1500)\n\
        SELECT count(*) AS orders FROM orders WHERE o_custkey = :key \\gset\n\
        \\if :orders = 0\nSELECT 1;\n\\else\nBEGIN;\nSELECT c_name FROM customer WHERE c_custkey = :key;\nCOMMIT;\n\\endif";
    let path = script(folder.path(), text);
    let run = line(&path, "--schema tpch --clients 2");
    let run = hyper.driver("bench.hyper", &run).measured(&run);
    let mine = operation(&run, "mine");
    assert!(mine["counts"]["ok"].as_u64().unwrap() > 0, "{mine}");
    assert_eq!(mine["counts"]["error"], 0, "{mine}");

    let path = script(
        folder.path(),
        "DROP TABLE IF EXISTS item;\nCREATE TABLE item (id int);\nINSERT INTO item VALUES (1), (2);",
    );
    let load = format!("sql load --script {} --schema own --progress none", path.display());
    let loaded = hyper.driver("bench.hyper", &load).measured(&load);
    assert_eq!(loaded["data"]["rows"], serde_json::json!({"item": 2}));

    let path = script(folder.path(), "SELECT 1;\nSELEC 2;");
    let outcome = hyper.driver("bench.hyper", &line(&path, "--schema tpch"));
    outcome.failed(2, "InvalidScript", "mine.sql:2: ");
}

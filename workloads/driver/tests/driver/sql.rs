//! The user's own scripts against a real PostgreSQL.

use std::path::PathBuf;

use crate::support::driver::{metric, operation, Outcome};
use crate::support::Database;

/// A database and a folder for scripts.
struct Bench {
    database: Database,
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        Bench { database: Database::new(), folder: tempfile::tempdir().unwrap() }
    }

    fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The options of a short run of one script.
    fn line(&self, text: &str, options: &str) -> String {
        let path = self.script("mine.sql", text);
        format!("sql run --script {} --warmup 0s --duration 1s --progress none {options}", path.display())
    }

    fn measured(&self, text: &str, options: &str) -> serde_json::Value {
        self.database.measured(&self.line(text, options))
    }

    fn driver(&self, text: &str) -> Outcome {
        self.database.driver(&self.line(text, ""))
    }
}

fn ok(document: &serde_json::Value, name: &str) -> u64 {
    operation(document, name)["counts"]["ok"].as_u64().unwrap()
}

#[test]
fn the_builtin_scripts_run_on_the_loaded_tables_and_keep_them_consistent() {
    let database = Database::new();
    let loaded = database.measured("sql load --scale 1 --progress none");
    assert_eq!(loaded["data"]["rows"]["pgbench_accounts"], 100_000);
    assert_eq!(database.sql("SELECT count(*) FROM public.pgbench_tellers"), "10");
    let run = database.measured(
        "sql run --builtin select-only@2 --builtin tpcb-like --builtin simple-update --clients 4 --warmup 1s \
         --duration 3s --progress none",
    );
    assert_eq!(run["parameters"]["scale"], 1);
    assert_eq!(run["data"], loaded["data"]);
    assert!(metric(&run, "throughput") > 0.0);
    for name in ["select-only", "tpcb-like", "simple-update"] {
        assert!(ok(&run, name) > 0, "{name}");
        assert_eq!(operation(&run, name)["counts"]["error"], 0, "{name}");
    }
    let history =
        database.sql("SELECT count(*) > 0, min(aid) >= 1, max(aid) <= 100000 FROM public.pgbench_history");
    assert_eq!(history, "t|t|t");
    database.measured("sql check --progress none");
    database.sql("UPDATE public.pgbench_accounts SET abalance = abalance + 1 WHERE aid = 1");
    database.driver("sql check --progress none").failed(4, "CheckFailed", "history: 1 violations");
}

#[test]
fn parameters_have_the_types_that_the_server_expects() {
    let bench = Bench::new();
    bench.database.sql(
        "CREATE TABLE t (small smallint, normal integer, large bigint, real double precision, exact numeric, \
         words text, day date, flag boolean, nothing integer)",
    );
    let text = "\\set one 1\n\\set half 0.5\n\\set yes 1 = 1\n\\set none null\n\
        INSERT INTO t VALUES (:one, :one, :one, :one, :half, :one, :day, :yes, :none);\n\
        SELECT ':one' AS text, :one::int8 + 1 AS two, ':day'::text AS day /* :one */ -- :nothing\n \\gset got_\n\
        INSERT INTO t (words, large, exact) VALUES (:got_text, :got_two, :half);";
    let run = bench.measured(text, "--define day=2026-01-31");
    assert_eq!(run["parameters"]["define"]["day"], "2026-01-31");
    let rows = bench.database.sql("SELECT DISTINCT * FROM t ORDER BY large");
    assert_eq!(rows, "1|1|1|1|0.5|1|2026-01-31|t|\n||2||0.5|:one|||");
}

#[test]
fn branches_loops_of_values_and_client_numbers_work_as_written() {
    let bench = Bench::new();
    bench.database.sql("CREATE TABLE seen (client integer, branch text, value integer)");
    let text = "\\set r random(1, 3)\n\\if :r = 1\nINSERT INTO seen VALUES (:client_id, 'one', :r);\n\\elif :r = 2\n\
        INSERT INTO seen VALUES (:client_id, 'two', :r);\n\\else\n\\sleep 1 ms\nINSERT INTO seen VALUES (:client_id, 'more', :r);\n\
        \\endif\n";
    bench.measured(text, "--clients 3");
    let branches = bench.database.sql("SELECT DISTINCT branch, value FROM seen ORDER BY value");
    assert_eq!(branches, "one|1\ntwo|2\nmore|3");
    assert_eq!(bench.database.sql("SELECT DISTINCT client FROM seen ORDER BY 1"), "0\n1\n2");
}

#[test]
fn weights_decide_how_often_each_script_runs() {
    let bench = Bench::new();
    let (often, never) = (bench.script("a.sql", "SELECT 1;"), bench.script("never.sql", "SELECT 2;"));
    std::fs::create_dir(bench.folder.path().join("other")).unwrap();
    let same = bench.script("other/a.sql", "SELECT 3;");
    let run = bench.database.measured(&format!(
        "sql run --script {}@9 --script {}@0 --script {} --warmup 0s --duration 2s --progress none",
        often.display(),
        never.display(),
        same.display()
    ));
    let (nine, one) = (ok(&run, "a") as f64, ok(&run, "a#2") as f64);
    let total = nine + one;
    assert_eq!(ok(&run, "never"), 0);
    assert!(((nine / total - 0.9) / (0.09 / total).sqrt()).abs() < 6.0, "{nine} {one}");
    assert!(run.get("data").is_none());
}

#[test]
fn conflicts_are_tried_again_with_the_same_numbers() {
    let bench = Bench::new();
    bench
        .database
        .sql("CREATE TABLE counter (n integer); INSERT INTO counter VALUES (0); CREATE TABLE log (r bigint)");
    let text = "\\set r random(1, 1000000000000)\nBEGIN ISOLATION LEVEL REPEATABLE READ;\n\
        INSERT INTO log VALUES (:r);\nUPDATE counter SET n = n + 1;\nCOMMIT;";
    let run = bench.measured(text, "--clients 4");
    let mine = operation(&run, "mine");
    assert_eq!(mine["counts"]["error"], 0);
    assert!(mine["errors"]["40001"].as_u64().unwrap() > 0, "{mine}");
    assert_eq!(bench.database.sql("SELECT n = (SELECT count(*) FROM log), n > 0 FROM counter"), "t|t");
}

#[test]
fn a_failed_transaction_is_rolled_back_and_booked_as_error() {
    let bench = Bench::new();
    bench.database.sql("CREATE TABLE one (id integer PRIMARY KEY)");
    let outcome = bench.driver("BEGIN;\nINSERT INTO one VALUES (1);\nINSERT INTO one VALUES (1);\nCOMMIT;");
    outcome.failed(5, "MeasurementInvalid", "mine transactions failed (23505");
    assert_eq!(bench.database.sql("SELECT count(*) FROM one"), "0");
    bench.driver("BEGIN;\nSELECT 1;").failed(5, "MeasurementInvalid", "open transaction");
    bench.driver("SELECT 1 WHERE false \\gset").failed(5, "MeasurementInvalid", "gset");
}

#[test]
fn a_script_can_make_the_tables_that_it_uses() {
    let bench = Bench::new();
    let text = "CREATE TEMP TABLE IF NOT EXISTS mine (a integer);\nINSERT INTO mine VALUES (:client_id);\nTRUNCATE mine;";
    let run = bench.measured(text, "--clients 2");
    assert!(ok(&run, "mine") > 0);
}

#[test]
fn tables_of_the_users_own_are_made_once_and_equal_ones_have_equal_digests() {
    let bench = Bench::new();
    let path = bench.script(
        "tables.sql",
        "DROP TABLE IF EXISTS item CASCADE;\nCREATE TABLE item (id integer PRIMARY KEY, price integer);\n\
         \\set first random(1, 1000000)\n\
         INSERT INTO item SELECT n, n % 7 + :first FROM generate_series(1, 1000) AS n;\n\
         CREATE VIEW cheap AS SELECT * FROM item WHERE id <= 10;",
    );
    let load = |options: &str| {
        let line = format!("sql load --script {} --schema mine --progress none {options}", path.display());
        bench.database.measured(&line)["data"].clone()
    };
    let loaded = load("");
    assert_eq!(loaded["rows"], serde_json::json!({"cheap": 10, "item": 1000}));
    assert_eq!(load(""), loaded);
    let other = load("--seed 7");
    assert_eq!(other["rows"], loaded["rows"]);
    assert_ne!(other["digest"], loaded["digest"]);
    assert_eq!(
        bench.database.sql("SELECT reltuples FROM pg_class WHERE oid = 'mine.item'::regclass"),
        "1000"
    );
    let run = bench
        .measured("\\set id random(1, 1000)\nSELECT price FROM item WHERE id = :id \\gset", "--schema mine");
    assert!(ok(&run, "mine") > 0);
}

#[test]
fn a_load_by_a_script_ends_at_the_first_error_and_names_the_line() {
    let bench = Bench::new();
    for (text, exit, reason, cause) in [
        (
            "CREATE TABLE a (id integer PRIMARY KEY);\nINSERT INTO a VALUES (1), (1);",
            5,
            "DatabaseError",
            "tables.sql:2: duplicate key",
        ),
        ("BEGIN;\nCREATE TABLE b (id integer);", 5, "DatabaseError", "ends inside a transaction"),
        (
            "CREATE TABLE c (id integer);\nINSERT INTO d VALUES (1);",
            4,
            "SchemaMissing",
            "tables.sql:2: relation",
        ),
        ("CREATE TABLE e (id integer);\nSELEC 1;", 2, "InvalidScript", "tables.sql:2: syntax error"),
    ] {
        let path = bench.script("tables.sql", text);
        let line = format!("sql load --script {} --progress none", path.display());
        bench.database.driver(&line).failed(exit, reason, cause);
    }
    for more in ["--scale 1", "--replace", "--connections 2"] {
        let line = format!("sql load --script tables.sql {more}");
        bench.database.driver(&line).failed(2, "InvalidArguments", "cannot be used with");
    }
    bench.database.driver("sql load").failed(2, "InvalidArguments", "--scale");
}

#[test]
fn mistakes_in_scripts_end_with_code_2_and_name_file_and_line() {
    let bench = Bench::new();
    for (text, cause) in [
        (
            "SELECT 1;\n\\setrandom a 1 2",
            "mine.sql:2: \\setrandom is not supported: write \\set name random(",
        ),
        ("SELECT 1;\n\n\\set a 1 +\n", "mine.sql:3: the expression ends"),
        ("SELECT :aid;", "mine.sql:1: variable aid has no value"),
        ("\\set a 0\nSELECT 1;\n\\set b 1 / :a\n", "mine.sql:3: division by zero"),
        ("SELECT 1;\nSELEC 2;", "mine.sql:2: syntax error"),
        ("SELECT 'abc", "mine.sql:1: the string"),
        ("SELECT 1 AS a \\gset\nSELECT :b;", "mine.sql:2: variable b has no value"),
        ("-- nothing", "no SQL statement"),
    ] {
        let outcome = bench.driver(text);
        assert_eq!(outcome.stdout, "", "{text}");
        outcome.failed(2, "InvalidScript", cause);
    }
    bench.database.driver("sql run").failed(2, "InvalidArguments", "--builtin");
    bench.database.driver("sql run --builtin tpc").failed(2, "InvalidArguments", "select-only");
    bench.database.driver("sql run --script /nonexistent.sql").failed(
        2,
        "InvalidArguments",
        "/nonexistent.sql",
    );
    bench.database.driver("sql run --builtin tpcb-like@x").failed(2, "InvalidArguments", "\"x\"");
    bench.database.driver("sql run --builtin tpcb-like --define a").failed(
        2,
        "InvalidArguments",
        "name=value",
    );
}

#[test]
fn missing_tables_end_with_code_4_and_name_the_statement() {
    let bench = Bench::new();
    bench.driver("SELECT 1;\nSELECT * FROM absent;").failed(
        4,
        "SchemaMissing",
        "mine.sql:2: relation \"absent\"",
    );
    let outcome = bench.database.driver("sql run --builtin tpcb-like --progress none");
    outcome.failed(4, "SchemaMissing", "dbbench-driver sql load");
    bench.database.driver("sql check").failed(4, "SchemaMissing", "dbbench-driver sql load");
}

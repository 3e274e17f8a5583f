//! TPC-H's answers: the driver's check on a real PostgreSQL, and the references themselves.

use std::path::Path;
use std::process::Command;

use crate::support::tpch::all_answers_agree;
use crate::support::Database;

/// Loads a scale factor and checks the answers of all 22 queries.
fn answers_agree(scale: &str) {
    let database = Database::new();
    database.measured(&format!("tpch load --scale-factor {scale} --progress none"));
    let checked = database.measured("tpch check --answers --progress none");
    all_answers_agree(&checked);
}

#[test]
fn the_answers_agree_at_scale_factor_one_hundredth() {
    answers_agree("0.01");
}

#[test]
fn the_answers_agree_at_scale_factor_one_tenth() {
    answers_agree("0.1");
}

#[test]
fn a_wrong_answer_is_found_and_named() {
    let database = Database::new();
    database.measured("tpch load --scale-factor 0.01 --progress none");
    // Neither the number of rows nor any rule of clause 4.2.3 is broken by another comment.
    database.sql("UPDATE tpch.orders SET o_comment = 'special requests'");
    database.measured("tpch check --progress none");
    let outcome = database.driver("tpch check --answers --progress none");
    outcome.failed(4, "CheckFailed", "2.3 Q13: ");
}

#[test]
fn scale_factors_without_a_reference_are_refused() {
    let database = Database::new();
    database.measured("tpch load --scale-factor 0.02 --progress none");
    let outcome = database.driver("tpch check --answers --progress none");
    outcome.failed(
        2,
        "InvalidArguments",
        "--answers: there are reference answers for the scale factors 0.01, 0.1, 1",
    );
}

#[test]
fn the_shipped_references_are_what_duckdb_answers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let compared = Command::new(root.join(".venv/bin/python"))
        .arg(root.join("workloads/answers/reference.py"))
        .args(["compare", "--driver", env!("CARGO_BIN_EXE_dbbench-driver"), "0.01", "0.1"])
        .output()
        .expect("Python runs (make dev)");
    assert!(compared.status.success(), "{}", String::from_utf8_lossy(&compared.stderr));
}

//! TPC-H's 22 answers on every engine, at every scale factor that has a reference (`make conformance`).
//!
//! Longer than tests may take: scale factor 1 is loaded and queried on each engine. Arguments choose scale factors
//! and engines; without any, all run. The exit code is 1 when an answer differs.

#[path = "../tests/driver/support/mod.rs"]
#[allow(dead_code, unused_imports)] // the tests use all of it
mod support;

use std::process::{Command, ExitCode};
use std::time::Instant;

use serde_json::Value;
use support::driver::finish;
use support::hyper::Hyper;
use support::mariadb::MariaDb;
use support::Database;

const ENGINES: [&str; 3] = ["postgresql", "mariadb", "hyper"];
const SCALES: [&str; 3] = ["0.01", "0.1", "1"];

/// Enough for all indexes of scale factor 1: with less, MariaDB reads pages again for each row that it looks up.
const MARIADB: &[&str] = &["--innodb-buffer-pool-size=3G", "--innodb-log-file-size=1G"];

fn main() -> ExitCode {
    // Cargo adds an argument of its own.
    let asked: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let Some(unknown) =
        asked.iter().find(|a| !ENGINES.contains(&a.as_str()) && !SCALES.contains(&a.as_str()))
    {
        eprintln!(
            "{unknown}: name engines ({}) and scale factors ({})",
            ENGINES.join(", "),
            SCALES.join(", ")
        );
        return ExitCode::from(2);
    }
    let chosen = |all: [&'static str; 3]| {
        let named: Vec<&str> = all.into_iter().filter(|one| asked.iter().any(|a| a == one)).collect();
        if named.is_empty() {
            all.to_vec()
        } else {
            named
        }
    };
    println!("{:11} {:>5} {:>8} {:>8}  answers equal", "engine", "SF", "load s", "check s");
    let mut all_equal = true;
    for engine in chosen(ENGINES) {
        for scale in chosen(SCALES) {
            let row = match engine {
                "postgresql" => {
                    let database = Database::on_own_server();
                    conformance(scale, |line| database.command(line))
                }
                "mariadb" => {
                    let database = MariaDb::on_own_server(MARIADB);
                    conformance(scale, |line| database.command(line))
                }
                _ => {
                    let hyper = Hyper::start();
                    conformance(scale, |line| hyper.command("conformance.hyper", line))
                }
            };
            println!(
                "{engine:11} {scale:>5} {:8.1} {:8.1}  {}",
                row.load_seconds, row.check_seconds, row.verdict
            );
            all_equal &= row.equal;
        }
    }
    ExitCode::from(u8::from(!all_equal))
}

struct Row {
    load_seconds: f64,
    check_seconds: f64,
    verdict: String,
    equal: bool,
}

/// Loads a scale factor and compares the answers; what is not equal is named.
fn conformance(scale: &str, command: impl Fn(&str) -> Command) -> Row {
    let began = Instant::now();
    let load = format!("tpch load --scale-factor {scale} --connections 2 --progress none");
    finish(command(&load)).measured(&load);
    let load_seconds = began.elapsed().as_secs_f64();
    let began = Instant::now();
    let outcome = finish(command("tpch check --answers --progress none"));
    let check_seconds = began.elapsed().as_secs_f64();
    if ![0, 4].contains(&outcome.code) {
        return Row { load_seconds, check_seconds, verdict: outcome.stderr.trim().into(), equal: false };
    }
    let document = outcome.document();
    let checks = document["checks"].as_array().expect("checks");
    let named = |check: &&Value| check["name"].as_str().is_some_and(|name| name.starts_with("2.3 Q"));
    let answers: Vec<&Value> = checks.iter().filter(named).collect();
    let equal = answers.iter().filter(|check| check["ok"] == true).count();
    let broken: Vec<String> = checks
        .iter()
        .filter(|check| check["ok"] != true)
        .map(|check| format!("{}: {}", check["name"], check["detail"]))
        .collect();
    let verdict = format!("{equal}/{} {}", answers.len(), broken.join("; "));
    Row {
        load_seconds,
        check_seconds,
        verdict: verdict.trim_end().into(),
        equal: broken.is_empty() && equal == 22,
    }
}

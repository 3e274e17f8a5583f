//! TLS with a real PostgreSQL and real certificates: what each mode of `sslmode` lets through.

use std::path::Path;

use serde_json::Value;

use crate::support::authority::{Authority, Validity};
use crate::support::cluster::PASSWORD;
use crate::support::driver::{command_at, disturbed, driver, finish, Outcome};
use crate::support::Database;

/// The host for which the certificates are.
const NAMED: &str = "localhost";
/// The same host by a name that is in none.
const OTHER: &str = "127.0.0.1";

fn url(database: &Database, host: &str, mode: &str, root: Option<&Path>) -> String {
    let root = root.map(|file| format!("&sslrootcert={}", file.display())).unwrap_or_default();
    format!("postgres://bench@{host}:{}/{}?sslmode={mode}{root}", database.port(), database.name)
}

fn check(database: &Database, host: &str, mode: &str, root: Option<&Path>) -> Outcome {
    finish(command_at(&url(database, host, mode, root), "tatp check --progress none"))
}

/// What the connection of a command that has measured was encrypted with; null without TLS.
fn encryption(outcome: &Outcome) -> Value {
    outcome.measured("check")["server"]["tls"].clone()
}

/// A database with data, on a server of its own.
fn loaded() -> Database {
    let database = Database::on_own_server();
    database.measured("tatp load --subscribers 10 --progress none");
    database
}

#[test]
fn a_server_without_tls_is_refused_in_every_mode_that_asks_for_it() {
    let authority = Authority::new("Own Root");
    let file = authority.file();
    let database = Database::new();
    for (mode, root) in [("require", None), ("verify-ca", Some(&file)), ("verify-full", None)] {
        let outcome = check(&database, NAMED, mode, root.map(|file| file.as_path()));
        outcome.failed(3, "TLSFailed", "the server has no TLS, which sslmode asks for");
    }
}

#[test]
fn each_mode_verifies_what_libpq_says_and_says_what_is_wrong() {
    let (own, other) = (Authority::new("Own Root"), Authority::new("Other Root"));
    let (own_file, other_file) = (own.file(), other.file());
    let (own_file, other_file) = (Some(own_file.as_path()), Some(other_file.as_path()));
    let database = loaded();
    database.serve_with(&own.issue("valid", NAMED, Validity::Now));
    assert_eq!(encryption(&check(&database, OTHER, "disable", None)), Value::Null);
    for (host, mode, root) in [
        (OTHER, "require", None),
        (OTHER, "require", own_file),
        (OTHER, "verify-ca", own_file),
        (NAMED, "verify-full", own_file),
    ] {
        let found = encryption(&check(&database, host, mode, root));
        assert_eq!(found["protocol"], "TLSv1.3", "{mode}: {found}");
    }
    let stranger = "not trusted: it comes from \"Own Root\", of which sslrootcert has no certificate";
    for (host, mode, root, says) in [
        (OTHER, "require", other_file, stranger),
        (NAMED, "verify-ca", other_file, stranger),
        (NAMED, "verify-full", other_file, stranger),
        (NAMED, "verify-full", None, stranger),
        (OTHER, "verify-full", own_file, "not for the host 127.0.0.1: it is for localhost."),
    ] {
        check(&database, host, mode, root).failed(3, "TLSFailed", says);
    }

    database.serve_with(&own.issue("expired", NAMED, Validity::Past));
    assert_eq!(encryption(&check(&database, NAMED, "require", None))["protocol"], "TLSv1.3");
    for mode in ["verify-ca", "verify-full"] {
        let outcome = check(&database, NAMED, mode, own_file);
        outcome.failed(3, "TLSFailed", "expired on 2020-02-01T00:00:00Z");
    }

    database.serve_with(&own.own());
    assert_eq!(encryption(&check(&database, NAMED, "require", None))["protocol"], "TLSv1.3");
    check(&database, NAMED, "verify-ca", own_file).failed(3, "TLSFailed", "that of an authority (CA:TRUE)");
}

#[test]
fn loads_and_runs_are_encrypted_and_the_result_says_with_what() {
    let authority = Authority::new("Own Root");
    let file = authority.file();
    let database = Database::on_own_server();
    database.serve_with(&authority.issue("valid", NAMED, Validity::Now));
    database.demand_tls();
    check(&database, NAMED, "disable", None).failed(
        3,
        "AuthenticationFailed",
        "sslmode verify-full connects with TLS",
    );

    let url = url(&database, NAMED, "verify-full", Some(&file));
    for line in [
        "tatp load --subscribers 1000 --progress none",
        "tatp run --clients 2 --warmup 0s --duration 1s --progress none",
        "tpch load --scale-factor 0.01 --progress none",
        "tpch check --progress none",
    ] {
        let document = finish(command_at(&url, line)).measured(line);
        assert_eq!(document["server"]["tls"]["protocol"], "TLSv1.3", "{line}");
        assert_eq!(document["server"]["tls"]["cipher"], "TLS_AES_256_GCM_SHA384", "{line}");
    }

    database.set("ssl_max_protocol_version", "TLSv1.2");
    let older = encryption(&finish(command_at(&url, "tatp check --progress none")));
    assert_eq!(older["protocol"], "TLSv1.2");
    assert!(older["cipher"].as_str().unwrap().starts_with("TLS_ECDHE_ECDSA_WITH_"), "{older}");
}

#[test]
fn a_server_that_dies_under_tls_ends_the_run_with_code_3() {
    let authority = Authority::new("Own Root");
    let database = loaded();
    database.serve_with(&authority.issue("valid", NAMED, Validity::Now));
    let url = url(&database, NAMED, "verify-full", Some(&authority.file()));
    let command = command_at(&url, "tatp run --clients 2 --warmup 0s --duration 300s --progress json");
    let outcome = disturbed(command, "measure", || database.kill_server());
    outcome.failed(3, "DatabaseLost", "the connection broke");
}

#[test]
fn a_folder_carries_the_mode_and_the_certificates() {
    let (own, other) = (Authority::new("Own Root"), Authority::new("Other Root"));
    let database = loaded();
    database.serve_with(&own.issue("valid", NAMED, Validity::Now));
    let folder = tempfile::tempdir().unwrap();
    let port = database.port().to_string();
    for (name, value) in [
        ("host", OTHER),
        ("port", &port),
        ("user", "bench"),
        ("password", PASSWORD),
        ("database", &database.name),
        ("sslmode", "verify-full\n"),
    ] {
        std::fs::write(folder.path().join(name), value).unwrap();
    }
    let check = |host: &str, root: &Authority| {
        std::fs::write(folder.path().join("host"), host).unwrap();
        std::fs::copy(root.file(), folder.path().join("ca.crt")).unwrap();
        let path = folder.path().to_str().unwrap();
        finish(driver(&[
            "tatp",
            "check",
            "--engine",
            "postgres",
            "--progress",
            "none",
            "--connection-files",
            path,
        ]))
    };
    assert_eq!(encryption(&check(NAMED, &own))["protocol"], "TLSv1.3");
    check(NAMED, &other).failed(3, "TLSFailed", "comes from \"Own Root\"");
    let wrong = check(OTHER, &own);
    wrong.failed(3, "TLSFailed", "not for the host ***");
    assert!(!wrong.stderr.contains(OTHER), "{}", wrong.stderr);
}

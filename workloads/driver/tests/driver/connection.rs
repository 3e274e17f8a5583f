//! A database that a folder names, as Kubernetes mounts a Secret: nothing of it is shown.

use std::path::Path;

use crate::support::cluster::PASSWORD;
use crate::support::driver::{driver, finish, Outcome};
use crate::support::Database;

fn folder_of(database: &Database, password: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let port = database.port().to_string();
    let files = [
        ("host", "localhost"),
        ("port", &port),
        ("username", "bench"),
        ("password", password),
        ("dbname", &database.name),
    ];
    for (name, value) in files {
        std::fs::write(folder.path().join(name), value).unwrap();
    }
    folder
}

fn load(folder: &Path) -> Outcome {
    let line =
        "tatp load --subscribers 10 --schema own --engine postgres --connect-timeout 5s --connection-files";
    let mut arguments: Vec<&str> = line.split(' ').collect();
    arguments.push(folder.to_str().unwrap());
    finish(driver(&arguments))
}

#[test]
fn a_load_by_a_folder_records_neither_host_nor_user_nor_database() {
    let database = Database::new();
    let outcome = load(folder_of(&database, PASSWORD).path());
    let document = outcome.measured("load");
    assert_eq!(document["parameters"]["url"], "postgres://");
    for text in [&outcome.stdout, &outcome.stderr] {
        assert!(!text.contains(&database.name) && !text.contains("localhost"), "{text}");
    }
    assert_eq!(database.sql("SELECT count(*) FROM own.subscriber"), "10");
}

#[test]
fn what_the_server_says_is_told_without_the_values_of_the_folder() {
    let database = Database::new();
    let outcome = load(folder_of(&database, "wrong").path());
    outcome.failed(3, "AuthenticationFailed", "password authentication failed for user \"***\"");
    assert!(!outcome.stderr.contains(&database.name) && !outcome.stderr.contains("localhost"));
}

#[test]
fn tables_of_somebody_else_stay_as_they_are() {
    let database = Database::new();
    database.sql(
        "CREATE SCHEMA own; CREATE TABLE own.subscriber (mine int); INSERT INTO own.subscriber VALUES (1)",
    );
    let outcome = load(folder_of(&database, PASSWORD).path());
    outcome.failed(4, "SchemaMismatch", "has tables that dbbench did not load (subscriber)");
    assert_eq!(database.sql("SELECT count(mine) FROM own.subscriber"), "1");
}

#[test]
fn a_folder_and_a_url_exclude_each_other() {
    for (line, cause) in [
        ("tatp check --connection-files /x --engine mysql --url mysql://u@h", "--url"),
        ("tatp check --connection-files /x --engine mysql --password-file /y", "--password-file"),
        ("tatp check --connection-files /x", "--engine"),
        ("tatp check --engine mysql --url mysql://u@h", "--engine"),
        ("tatp check --connection-files /nonexistent --engine mysql", "/nonexistent: file host is missing"),
        ("tatp check", "--url"),
    ] {
        let arguments: Vec<&str> = line.split(' ').collect();
        finish(driver(&arguments)).failed(2, "InvalidArguments", cause);
    }
}

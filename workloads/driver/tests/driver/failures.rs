//! Bad input and bad luck: each gives its exit code and a message that names the cause, and no password.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::cluster::{free_port, wait_until_closed, PASSWORD};
use crate::support::driver::{disturbed, driver, finish, read_until_phase, Outcome};
use crate::support::small_disk::SmallDisk;
use crate::support::Database;

#[test]
fn wrong_arguments_end_with_code_2_and_name_the_argument() {
    let url = ["--url", "postgres://bench@127.0.0.1:1/x"];
    for (line, cause) in [
        ("tpch load --scale-factor 0", "scale-factor"),
        ("tpch load --scale-factor x", "scale-factor"),
        ("tpch load", "scale-factor"),
        ("tpch run --queries 23", "queries"),
        ("tpch run --runs 0", "runs"),
        ("tpch run --query-timeout 0s", "query-timeout"),
        ("tpcc load --warehouses 0", "warehouses"),
        ("tpcc run --clients 0", "clients"),
        ("tpcc run --duration 0s", "duration"),
        ("tatp load --subscribers -1", "-1"),
        ("tatp run --distribution normal", "distribution"),
        ("tatp run --agent https://x", "--agent"),
        ("tatp run --output /nonexistent/file", "/nonexistent"),
        ("tatp run --password-file /nonexistent/file", "/nonexistent/file"),
        ("tatp fly", "fly"),
        ("tpcx load", "tpcx"),
    ] {
        let mut arguments: Vec<&str> = line.split_whitespace().collect();
        arguments.extend(url);
        let outcome = finish(driver(&arguments));
        assert_eq!(outcome.stdout, "", "{line}");
        outcome.failed(2, "InvalidArguments", cause);
    }
}

#[test]
fn a_password_on_the_command_line_is_refused_and_never_repeated() {
    for url in [
        format!("postgres://bench:{PASSWORD}@127.0.0.1/x"),
        format!("postgres://bench@127.0.0.1/x?password={PASSWORD}"),
        format!("mysql://bench:{PASSWORD}@127.0.0.1/x"),
    ] {
        // Outcome itself asserts that the password is in no output.
        finish(driver(&["tatp", "run", "--url", &url])).failed(2, "InvalidArguments", "--url");
        assert_eq!(finish(driver(&["tatp", "run", &url])).code, 2);
        assert_eq!(finish(driver(&["tatp", "run", "--seed", &url])).code, 2);
    }
}

#[test]
fn an_unreachable_database_ends_with_code_3_after_the_connect_timeout() {
    let port = free_port();
    let began = Instant::now();
    for host in ["127.0.0.1", "no-such-host.invalid"] {
        let url = format!("postgres://bench@{host}:{port}/x");
        let outcome = finish(driver(&["tpcc", "check", "--url", &url, "--connect-timeout", "1s"]));
        outcome.failed(3, "DatabaseUnreachable", &format!("{host}:{port}/x within 1 s"));
    }
    assert!(began.elapsed() >= Duration::from_secs(1));
}

/// A user that may have one connection, which the load's own session takes.
#[test]
fn connections_after_the_first_wait_as_long() {
    let database = Database::new();
    let user = format!("single_{}", database.name);
    database.sql(&format!(
        "CREATE USER {user} PASSWORD '{PASSWORD}' CONNECTION LIMIT 1; GRANT CREATE ON DATABASE {} TO {user}",
        database.name
    ));
    let url = format!("postgres://{user}@127.0.0.1:{}/{}", database.port(), database.name);
    let load = |patience: &str| {
        let line = "tatp load --subscribers 100 --progress json --connect-timeout";
        let mut command = driver(&line.split(' ').chain([patience, "--url", &url]).collect::<Vec<_>>());
        command.env("DBBENCH_PASSWORD", PASSWORD);
        command
    };
    let refused = finish(load("1s"));
    refused.failed(3, "DatabaseUnreachable", "within 1 s: too many connections for role");

    let mut child = load("200s").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    read_until_phase(child.stderr.as_mut().unwrap(), "load");
    database.sql(&format!("ALTER USER {user} CONNECTION LIMIT -1"));
    let outcome = Outcome::of(child.wait_with_output().unwrap());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
}

#[test]
fn a_wrong_password_a_missing_database_and_missing_rights_fail_at_once() {
    let database = Database::new();
    let attempt = |password: &str, url: &str| {
        let mut command =
            driver(&["tatp", "load", "--subscribers", "10", "--url", url, "--connect-timeout", "300s"]);
        if !password.is_empty() {
            command.env("PGPASSWORD", password);
        }
        finish(command)
    };
    attempt("wrong", &database.url()).failed(3, "AuthenticationFailed", "password authentication failed");
    attempt("", &database.url()).failed(3, "AuthenticationFailed", "--password-file");
    let nowhere = format!("postgres://bench@127.0.0.1:{}/nowhere", database.port());
    attempt(PASSWORD, &nowhere).failed(3, "DatabaseUnreachable", "\"nowhere\" does not exist");
    let poor = format!("poor_{}", database.name);
    database.sql(&format!("CREATE USER {poor} PASSWORD '{PASSWORD}'"));
    let url = format!("postgres://{poor}@127.0.0.1:{}/{}", database.port(), database.name);
    attempt(PASSWORD, &url).failed(3, "PermissionDenied", "permission denied");
}

#[test]
fn the_password_can_come_from_a_file() {
    let database = Database::new();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), format!("{PASSWORD}\n")).unwrap();
    let path = file.path().to_str().unwrap();
    let url = database.url();
    let outcome =
        finish(driver(&["tatp", "load", "--subscribers", "10", "--url", &url, "--password-file", path]));
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    outcome.document();
}

#[test]
fn data_that_is_missing_unfinished_or_of_another_scale_ends_with_code_4() {
    let database = Database::new();
    for command in ["run", "check"] {
        let outcome = database.driver(&format!("tatp {command}"));
        outcome.failed(4, "SchemaMissing", "dbbench-driver tatp load");
        assert_eq!(outcome.stdout, "");
    }
    database.measured("tatp load --subscribers 100");
    database.driver("tatp run --subscribers 200").failed(
        4,
        "SchemaMismatch",
        "tatp at scale 100, not at scale 200",
    );
    database.driver("tpcc run --schema tatp").failed(
        4,
        "SchemaMismatch",
        "data of the workload tatp, not of tpcc",
    );
    database.driver("tatp load --subscribers 200").failed(4, "SchemaMismatch", "--replace");
    assert_eq!(database.sql("SELECT count(*) FROM tatp.subscriber"), "100");

    // What a load that was killed leaves behind.
    database.sql("UPDATE tatp.dbbench_meta SET complete = false; DELETE FROM tatp.access_info");
    database.driver("tatp run").failed(4, "SchemaIncomplete", "half-loaded");
    database.driver("tatp check").failed(4, "SchemaIncomplete", "half-loaded");
    let redone = database.measured("tatp load --subscribers 100");
    assert_eq!(redone["data"]["rows"]["subscriber"], 100);
    database.measured("tatp check");
}

#[test]
fn tables_of_somebody_else_are_not_dropped() {
    let database = Database::new();
    database
        .sql("CREATE SCHEMA tatp; CREATE TABLE tatp.subscriber (mine text); CREATE TABLE tatp.other (x int)");
    database.driver("tatp load --subscribers 10").failed(4, "SchemaMismatch", "subscriber");
    database.measured("tatp load --subscribers 10 --replace");
    assert_eq!(database.sql("SELECT count(*) FROM tatp.other"), "0");
}

#[test]
fn an_interrupted_load_is_finished_by_the_next_one() {
    let database = Database::new();
    let mut child = database
        .command("tpcc load --warehouses 2 --progress json")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The first progress of the load itself is there before its last chunk.
    read_until_phase(child.stderr.as_mut().unwrap(), "load");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(database.sql("SELECT complete FROM tpcc.dbbench_meta"), "f");
    database.driver("tpcc run").failed(4, "SchemaIncomplete", "load` again");
    database.measured("tpcc load --warehouses 2");
    database.measured("tpcc check");
}

#[test]
fn two_loads_of_one_schema_do_not_disturb_each_other() {
    let database = Database::new();
    let spawn = || {
        let mut command = database.command("tatp load --subscribers 20000 --progress none");
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let outcomes: Vec<Outcome> =
        [spawn(), spawn()].into_iter().map(|child| Outcome::of(child.wait_with_output().unwrap())).collect();
    assert!(outcomes.iter().all(|outcome| outcome.code == 0), "{}{}", outcomes[0].stderr, outcomes[1].stderr);
    assert_eq!(outcomes[0].document()["data"], outcomes[1].document()["data"]);
    database.measured("tatp check");
}

#[test]
fn a_scale_that_does_not_fit_on_the_disk_ends_with_code_5() {
    let folder = tempfile::tempdir().unwrap();
    // The server's account has to reach the folder below.
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let place = folder.path().join("small");
    let _disk = SmallDisk::mount(&place, 16);
    let database = Database::in_folder(&place);
    let outcome = database.driver("tatp load --subscribers 100000 --progress none");
    outcome.failed(5, "DatabaseOutOfSpace", "No space left on device");
    assert_eq!(outcome.stdout, "");
    database.driver("tatp run").failed(4, "SchemaIncomplete", "half-loaded");
}

#[test]
fn a_server_that_dies_in_the_middle_of_a_load_ends_it_with_code_3() {
    let database = Database::on_own_server();
    let command = database.command("tpcc load --warehouses 4 --progress json");
    let outcome = disturbed(command, "load", || database.kill_server());
    // A loading connection that was open breaks; one that was about to be opened is refused.
    let failure = outcome.failure();
    let reason = failure["reason"].as_str().unwrap();
    assert!(outcome.code == 3 && ["DatabaseLost", "DatabaseUnreachable"].contains(&reason), "{failure}");
}

#[test]
fn a_server_that_is_no_database_ends_with_code_3_and_says_so() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = std::io::Write::write_all(&mut { stream }, b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    for scheme in ["postgres", "hyper"] {
        let url = format!("{scheme}://bench@127.0.0.1:{port}/x");
        let outcome = finish(driver(&["tpch", "check", "--url", &url, "--connect-timeout", "1s"]));
        outcome.failed(3, "DatabaseUnreachable", "not of PostgreSQL's protocol");
    }
}

#[test]
fn a_server_that_dies_in_the_middle_of_a_run_ends_it_with_code_3() {
    let database = Database::on_own_server();
    database.measured("tatp load --subscribers 1000 --progress none");
    let command = database.command("tatp run --clients 2 --warmup 0s --duration 300s --progress json");
    let outcome = disturbed(command, "measure", || database.kill_server());
    outcome.failed(3, "DatabaseLost", "");
}

#[test]
fn a_server_that_comes_up_late_is_waited_for() {
    let database = Database::on_own_server();
    database.measured("tatp load --subscribers 100 --progress none");
    database.kill_server();
    wait_until_closed(database.port());
    let mut command = driver(&["tatp", "check", "--progress", "none", "--connect-timeout", "200s"]);
    command.args(["--url", &database.url()]).env("DBBENCH_PASSWORD", PASSWORD);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    database.start_server();
    let outcome = Outcome::of(child.wait_with_output().unwrap());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
}

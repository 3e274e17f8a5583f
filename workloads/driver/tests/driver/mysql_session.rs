//! What a session with MariaDB promises to the workloads.

use crate::support::cluster::PASSWORD;
use crate::support::mariadb::MariaDb;
use bytes::Bytes;
use dbbench_driver::engine::mysql::{MySql, MySqlSession};
use dbbench_driver::engine::{CopyIn, Engine, ErrorKind, Isolation, Row, RowFormat, Session, Value};

/// Does something on two sessions of a schema that exists.
fn with_sessions(test: impl AsyncFnOnce(MySqlSession, MySqlSession)) {
    let database = MariaDb::new();
    database.sql(&format!("CREATE DATABASE {}", database.schema));
    let engine = MySql::new(&database.url(), Some(PASSWORD.into()), &database.schema).expect("a URL");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        test(engine.connect().await.unwrap(), engine.connect().await.unwrap()).await;
    });
}

#[test]
fn parameters_repeat_and_an_update_counts_the_rows_it_finds() {
    with_sessions(async |session, _| {
        session.script("CREATE TABLE t (a int PRIMARY KEY, b decimal(12, 2), c varchar(9))").await.unwrap();
        let insert = session.prepare("INSERT INTO t VALUES ($2, $1, '$1?'), ($3, $1, $4)").await.unwrap();
        let price = "12345678.91".parse::<rust_decimal::Decimal>().unwrap();
        let values = [price.into(), Value::Int(1), Value::Int(2), Value::Null];
        assert_eq!(session.execute(&insert, &values).await.unwrap(), 2);
        let update = session.prepare("UPDATE t SET b = $1 WHERE a = 1").await.unwrap();
        // The same value again: found, if not changed.
        assert_eq!(session.execute(&update, &[price.into()]).await.unwrap(), 1);
        let select = session.prepare("SELECT a, b, c FROM t WHERE a = $1").await.unwrap();
        let rows = session.query(&select, &[1.into()]).await.unwrap();
        assert_eq!((rows[0].int(0).unwrap(), rows[0].decimal(1).unwrap()), (1, price));
        assert_eq!(rows[0].text(2).unwrap(), "$1?");
        let rows = session.query(&select, &[2.into()]).await.unwrap();
        assert!(rows[0].text(2).unwrap_err().message.contains("null"));
        let error = session.execute(&insert, &values).await.unwrap_err();
        assert_eq!((error.kind, error.class.as_str()), (ErrorKind::Duplicate, "23000"));
        assert!(session.execute(&update, &[]).await.unwrap_err().message.contains("no value"));
    });
}

#[test]
fn more_statements_can_be_open_than_the_library_would_keep() {
    with_sessions(async |session, _| {
        let mut statements = Vec::new();
        for number in 0..100 {
            statements.push(session.prepare(&format!("SELECT {number} + $1")).await.unwrap());
        }
        for (number, statement) in statements.iter().enumerate() {
            let rows = session.query(statement, &[Value::Long(1)]).await.unwrap();
            assert_eq!(rows[0].long(0).unwrap(), number as i64 + 1);
        }
    });
}

#[test]
fn a_snapshot_stays_and_committed_work_is_seen_elsewhere() {
    with_sessions(async |one, two| {
        one.script("CREATE TABLE t (a int PRIMARY KEY); INSERT INTO t VALUES (1)").await.unwrap();
        let count = "SELECT a FROM t";
        one.begin(Isolation::SnapshotReadOnly).await.unwrap();
        two.begin(Isolation::ReadCommitted).await.unwrap();
        assert_eq!(two.drain(count).await.unwrap(), 1);
        let third = "INSERT INTO t VALUES (2)";
        assert_eq!(one.script(third).await.unwrap_err().class, "25006");
        two.script(third).await.unwrap();
        two.commit().await.unwrap();
        assert_eq!(one.drain(count).await.unwrap(), 1);
        one.commit().await.unwrap();
        one.begin(Isolation::ReadCommitted).await.unwrap();
        assert_eq!(one.drain(count).await.unwrap(), 2);
        two.script("INSERT INTO t VALUES (3)").await.unwrap();
        assert_eq!(one.drain(count).await.unwrap(), 3);
        one.rollback().await.unwrap();
    });
}

#[test]
fn two_transactions_in_each_others_way_give_a_conflict() {
    with_sessions(async |one, two| {
        one.script("CREATE TABLE t (a int PRIMARY KEY, b int); INSERT INTO t VALUES (1, 0), (2, 0)")
            .await
            .unwrap();
        one.begin(Isolation::ReadCommitted).await.unwrap();
        two.begin(Isolation::ReadCommitted).await.unwrap();
        one.script("UPDATE t SET b = 1 WHERE a = 1").await.unwrap();
        two.script("UPDATE t SET b = 2 WHERE a = 2").await.unwrap();
        let crossed = tokio::join!(one.script("UPDATE t SET b = 1 WHERE a = 2"), async {
            let crossed = two.script("UPDATE t SET b = 2 WHERE a = 1").await;
            two.rollback().await.unwrap();
            crossed
        },);
        let errors: Vec<_> = [crossed.0, crossed.1].into_iter().filter_map(Result::err).collect();
        assert_eq!(errors.len(), 1);
        assert_eq!((errors[0].kind, errors[0].class.as_str()), (ErrorKind::Conflict, "40001"));
    });
}

#[test]
fn values_that_are_cut_off_and_rows_left_out_end_a_load() {
    with_sessions(async |session, _| {
        session.script("CREATE TABLE t (a int PRIMARY KEY, b varchar(3))").await.unwrap();
        for (rows, cause) in [
            ("1|abcd\n", "Data too long for column 'b'"),
            ("1|abc|extra\n", "was truncated"),
            ("1|\n2\n", "doesn't contain data for all columns"),
            ("7|a\n7|b\n", "Duplicate entry '7'"),
            ("x|a\n", "Incorrect integer value"),
        ] {
            session.script("DELETE FROM t").await.unwrap();
            let mut copy = session.copy_in("t", RowFormat::Text).await.unwrap();
            copy.send(Bytes::from(rows)).await.unwrap();
            let error = copy.finish().await.unwrap_err();
            let known =
                error.message.contains(cause) || (cause.starts_with("Data too") && error.class == "1265");
            assert!(known, "{rows:?}: {error}");
        }
        session.script("DELETE FROM t").await.unwrap();
        let mut copy = session.copy_in("t", RowFormat::Text).await.unwrap();
        copy.send(Bytes::from("1|a\\\\\n2|")).await.unwrap();
        copy.send(Bytes::from("\\N\n")).await.unwrap();
        assert_eq!(copy.finish().await.unwrap(), 2);
        assert_eq!(session.drain("SELECT 1 FROM t WHERE b = 'a\\\\' OR b IS NULL").await.unwrap(), 2);
    });
}

#[test]
fn a_load_that_is_given_up_leaves_no_rows() {
    with_sessions(async |one, two| {
        one.script("CREATE TABLE t (a int PRIMARY KEY)").await.unwrap();
        let mut copy = one.copy_in("t", RowFormat::Text).await.unwrap();
        copy.send(Bytes::from("1\n2\n")).await.unwrap();
        tokio::task::yield_now().await;
        drop(copy);
        drop(one);
        assert_eq!(two.drain("SELECT a FROM t LOCK IN SHARE MODE").await.unwrap(), 0);
    });
}

#[test]
fn scripts_report_the_error_of_any_of_their_statements() {
    with_sessions(async |session, _| {
        let error = session.script("SELECT 1; SELECT * FROM missing; SELECT 2").await.unwrap_err();
        assert_eq!((error.kind, error.class.as_str()), (ErrorKind::MissingObject, "42S02"));
        assert_eq!(session.drain("SELECT 1").await.unwrap(), 1);
        assert_eq!(session.settle_table("missing").await.unwrap_err().kind, ErrorKind::Other);
    });
}

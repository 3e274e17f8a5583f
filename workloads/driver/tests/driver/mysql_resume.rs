//! A load that is killed is finished by the next one from where it stopped, on a real MariaDB.

use std::process::{Child, Stdio};
use std::time::Duration;

use crate::support::driver::metric;
use crate::support::mariadb::MariaDb;

const LOAD: &str = "tpch load --scale-factor 0.02 --connections 2 --progress none";

/// Chunks of the eight tables at this scale factor.
const CHUNKS: u32 = 2 + 2 + 6;

/// Waits for the journal, which is made after all tables, does something in a transaction, and keeps that open.
fn hold(database: &MariaDb, action: &str) -> Child {
    let schema = &database.schema;
    database.sql(&format!("CREATE TABLE bench.holder_of_{schema} (id bigint)"));
    // Longer than a busy machine needs to kill the load.
    database.sql("SET GLOBAL innodb_lock_wait_timeout = 600");
    database.spawn(&format!(
        "INSERT INTO bench.holder_of_{schema} VALUES (connection_id())//
        BEGIN NOT ATOMIC
            WHILE NOT EXISTS (SELECT 1 FROM information_schema.tables
                WHERE table_schema = '{schema}' AND table_name = 'dbbench_chunks') DO DO SLEEP(0.002); END WHILE;
        END//
        START TRANSACTION// {action}// DO SLEEP(2000)//"
    ))
}

/// Starts a load, waits until it can do no more, and kills it; then what held it up goes away.
fn killed_load(action: &str, stopped_at: &str) -> MariaDb {
    let database = MariaDb::new();
    let schema = &database.schema;
    let mut holder = hold(&database, &action.replace("SCHEMA", schema));
    let mut load = database.command(LOAD).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let there = format!(
        "SELECT count(*) FROM information_schema.tables WHERE table_schema = '{schema}' \
         AND table_name = 'dbbench_chunks'"
    );
    let stopped_at = stopped_at.replace("SCHEMA", schema);
    while database.sql(&there) != "1" || database.sql(&stopped_at) != "1" {
        std::thread::sleep(Duration::from_millis(20));
        assert!(load.try_wait().unwrap().is_none(), "the load has ended before it was killed");
        assert!(holder.try_wait().unwrap().is_none(), "nothing holds the load up");
    }
    load.kill().unwrap();
    load.wait().unwrap();
    assert_eq!(database.sql(&format!("SELECT complete FROM {schema}.dbbench_meta")), "0");
    database.driver("tpch run").failed(4, "SchemaIncomplete", "load` again");
    database.sql(&format!("KILL {}", database.sql(&format!("SELECT id FROM bench.holder_of_{schema}"))));
    holder.wait().unwrap();
    database
}

#[test]
fn chunks_that_are_in_the_database_are_not_loaded_again() {
    // The entry of region's only chunk waits for another one of the same key.
    let database = killed_load(
        "INSERT INTO SCHEMA.dbbench_chunks VALUES ('region', 0, 0, 0, '')",
        &format!("SELECT count(*) = {} FROM SCHEMA.dbbench_chunks", CHUNKS - 1),
    );
    let schema = &database.schema;
    // The rows of region went with their entry.
    assert_eq!(database.sql(&format!("SELECT count(*) FROM {schema}.region LOCK IN SHARE MODE")), "0");
    // Seen again after the load, because this chunk stays as it is.
    database.sql(&format!("UPDATE {schema}.nation SET n_comment = 'kept' WHERE n_nationkey = 7"));
    let resumed = database.measured(LOAD);
    assert_eq!(resumed["resumedChunks"], CHUNKS - 1);
    let kept = format!("SELECT count(*) FROM {schema}.nation WHERE n_comment = 'kept'");
    assert_eq!(database.sql(&kept), "1");

    let whole = database.measured(&format!("{LOAD} --schema {schema}_whole"));
    assert!(whole["resumedChunks"].is_null());
    assert_eq!(resumed["data"], whole["data"]);
    assert_eq!(metric(&resumed, "copiedBytes"), metric(&whole, "copiedBytes"));
    database.measured("tpch check --progress none");
    let left = "SELECT count(*) FROM information_schema.tables WHERE table_name = 'dbbench_chunks'";
    assert_eq!(database.sql(&format!("{left} AND table_schema LIKE '{schema}%'")), "0");
}

#[test]
fn keys_that_are_made_are_not_made_again_and_one_that_the_server_still_makes_is_waited_for() {
    // Whoever has read a table keeps its definition from being changed. Six indexes are on other tables.
    let database = killed_load(
        "SELECT count(*) INTO @rows FROM SCHEMA.lineitem",
        "SELECT count(DISTINCT index_name) = 6 AND EXISTS (SELECT 1 FROM information_schema.processlist \
         WHERE db = 'SCHEMA' AND state = 'Waiting for table metadata lock') FROM information_schema.statistics \
         WHERE table_schema = 'SCHEMA' AND index_name <> 'PRIMARY' AND table_name <> 'lineitem'",
    );
    let schema = &database.schema;
    let resumed = database.measured(LOAD);
    assert_eq!(resumed["resumedChunks"], CHUNKS);
    let count = |what: &str| database.sql(&format!("SELECT count(*) FROM information_schema.{what}"));
    assert_eq!(count(&format!("referential_constraints WHERE constraint_schema = '{schema}'")), "8");
    let indexes = format!(
        "(SELECT DISTINCT table_name, index_name FROM information_schema.statistics \
         WHERE table_schema = '{schema}' AND index_name <> 'PRIMARY') AS indexes"
    );
    assert_eq!(database.sql(&format!("SELECT count(*) FROM {indexes}")), "9");
    database.measured("tpch check --progress none");
}

#[test]
fn rows_and_entries_are_in_transactions_whatever_the_server_makes_of_tables() {
    let database = MariaDb::new();
    database.sql("SET GLOBAL default_storage_engine = Aria");
    database.measured("tatp load --subscribers 10 --progress none");
    let kinds = "SELECT group_concat(DISTINCT engine) FROM information_schema.tables WHERE table_schema";
    assert_eq!(database.sql(&format!("{kinds} = '{}'", database.schema)), "InnoDB");
    database.sql("SET GLOBAL default_storage_engine = InnoDB");
}

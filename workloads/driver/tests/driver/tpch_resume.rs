//! A load that is killed is finished by the next one from where it stopped, on a real PostgreSQL.

use std::process::Stdio;

use crate::support::cluster::wait_until;
use crate::support::driver::metric;
use crate::support::Database;

const LOAD: &str = "tpch load --scale-factor 0.02 --connections 2 --progress none";

/// Chunks of the eight tables at this scale factor.
const CHUNKS: u32 = 2 + 2 + 6;

/// Statements wait as long as the table `held` has a row.
const HOLD: &str = "CREATE TABLE held AS SELECT 1 AS one;
    CREATE FUNCTION wait() RETURNS void LANGUAGE plpgsql AS
        $$ BEGIN WHILE EXISTS (SELECT FROM public.held) LOOP PERFORM pg_sleep(0.01); END LOOP; END $$;";

/// Rows of region wait.
const HOLD_REGION: &str = "CREATE FUNCTION wait_for_rows() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM public.wait(); RETURN NULL; END $$;
    CREATE FUNCTION watch_region() RETURNS event_trigger LANGUAGE plpgsql AS
        $$ BEGIN
            IF to_regclass('tpch.region') IS NOT NULL
                AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgname = 'watch') THEN
                CREATE TRIGGER watch BEFORE INSERT ON tpch.region EXECUTE FUNCTION public.wait_for_rows();
            END IF;
        END $$;
    CREATE EVENT TRIGGER watch ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION watch_region()";

/// Indexes wait.
const HOLD_INDEXES: &str = "CREATE FUNCTION watch_indexes() RETURNS event_trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM public.wait(); END $$;
    CREATE EVENT TRIGGER watch ON ddl_command_start WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION watch_indexes()";

/// Starts a load, waits until it can do no more, and kills it.
fn killed_load(hold: &str, stopped_at: &str) -> Database {
    let database = Database::new();
    database.sql(&format!("{HOLD} {hold}"));
    let mut load = database.command(LOAD).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let there = "SELECT to_regclass('tpch.dbbench_chunks') IS NOT NULL";
    wait_until("the load waits", || {
        assert!(load.try_wait().unwrap().is_none(), "the load has ended before it was killed");
        database.sql(there) == "t" && database.sql(stopped_at) == "t"
    });
    load.kill().unwrap();
    load.wait().unwrap();
    assert_eq!(database.sql("SELECT complete FROM tpch.dbbench_meta"), "f");
    database.driver("tpch run").failed(4, "SchemaIncomplete", "load` again");
    database
}

#[test]
fn chunks_that_are_in_the_database_are_not_loaded_again() {
    let done = format!("SELECT count(*) = {} FROM tpch.dbbench_chunks", CHUNKS - 1);
    let database = killed_load(HOLD_REGION, &done);
    database.sql("DELETE FROM held");
    let resumed = database.measured(LOAD);
    assert_eq!(resumed["resumedChunks"], CHUNKS - 1);

    let whole = database.measured(&format!("{LOAD} --schema whole"));
    assert!(whole["resumedChunks"].is_null());
    assert_eq!(resumed["data"], whole["data"]);
    assert_eq!(metric(&resumed, "copiedBytes"), metric(&whole, "copiedBytes"));
    database.measured("tpch check --progress none");
    assert_eq!(database.sql("SELECT count(*) FROM pg_class WHERE relname = 'dbbench_chunks'"), "0");
}

#[test]
fn keys_that_are_made_are_not_made_again_and_one_that_the_server_still_makes_is_waited_for() {
    let database = killed_load(
        HOLD_INDEXES,
        "SELECT count(*) = 8 FROM pg_constraint WHERE contype = 'p' \
        AND connamespace = 'tpch'::regnamespace AND conname NOT LIKE 'dbbench%'",
    );
    assert_eq!(
        database.sql("SELECT count(*) FROM tpch.dbbench_chunks WHERE table_name = '(statement)'"),
        "8"
    );
    // The sessions of the killed load get on with their indexes while the next load makes the same.
    database.sql("DELETE FROM held");
    let resumed = database.measured(LOAD);
    assert_eq!(resumed["resumedChunks"], CHUNKS);
    let count = |what: &str| database.sql(&format!("SELECT count(*) FROM {what}"));
    assert_eq!(count("pg_constraint WHERE contype = 'f' AND connamespace = 'tpch'::regnamespace"), "8");
    assert_eq!(count("pg_indexes WHERE schemaname = 'tpch'"), "17");
    database.measured("tpch check --progress none");
}

#[test]
fn an_interrupted_load_of_another_scale_is_dropped() {
    let done = format!("SELECT count(*) = {} FROM tpch.dbbench_chunks", CHUNKS - 1);
    let database = killed_load(HOLD_REGION, &done);
    database.sql("DELETE FROM held");
    let other = database.measured("tpch load --scale-factor 0.01 --progress none");
    assert!(other["resumedChunks"].is_null());
    assert_eq!(other["data"]["rows"]["lineitem"], 60_175);
}

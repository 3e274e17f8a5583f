//! The steps of a load, the same for every workload and engine.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::{json, Value};

use super::dataset::Dataset;
use super::definition::{self, Stage};
use super::journal::{self, Journal};
use super::meta::{self, Meta, Record};
use super::{digest, stream};
use crate::cli::{Invocation, LoadOptions};
use crate::engine::{quote_identifier, Engine, EngineError, ErrorKind, Session};
use crate::failure::Failure;
use crate::measure::{Phase, PhaseTimer, UsageStart};
use crate::report::{Data, Document, Metric};
use crate::target::Observer;

/// Loads the data, unless it is there already.
///
/// A finished load with the same parameters is left alone and its record returned. A load that was
/// interrupted goes on where it stopped, or is dropped and done again where the engine keeps no journal.
/// Anything else in the schema is an error, unless it may be replaced. `scale` is the parameter of the workload
/// that says how much data there is.
pub async fn load<E: Engine, D: Dataset>(
    invocation: &Invocation<E>,
    dataset: &D,
    options: &LoadOptions,
    scale: (&str, Value),
) -> Result<Document, Failure> {
    let (connections, replace) = (options.connections(), options.replace);
    let parameters = json!({scale.0: scale.1, "connections": connections, "replace": replace});
    let session = invocation.connect().await?;
    session.limit_statements(None).await?;
    let mut observer = Observer::new(invocation.agents.clone(), invocation.patience).await?;
    let mut document = invocation.document("load", parameters, session.server().await?);
    lock(invocation, &session).await?;
    let journal = match clear(invocation, &session, dataset, replace).await? {
        Found::Complete(record) => {
            fill(&mut document, *record);
            document.target = observer.into_target();
            session.close().await;
            return Ok(document);
        }
        Found::Interrupted(journal) => {
            document.resumed_chunks = Some(journal.len() as u64);
            Some(journal)
        }
        Found::Nothing => None,
    };
    observer.before().await?;
    let usage = UsageStart::now();
    let record = write(invocation, &session, dataset, connections, journal, &usage).await?;
    observer.after().await?;
    meta::complete(&session, &record).await?;
    session.drop_table(journal::TABLE).await?;
    invocation.progress.finish();
    fill(&mut document, record);
    document.target = observer.into_target();
    session.close().await;
    Ok(document)
}

/// Keeps other loads away from the schema until the session ends.
pub async fn lock<E: Engine>(invocation: &Invocation<E>, session: &E::Session) -> Result<(), Failure> {
    let locked = session.lock_schema(&invocation.schema, invocation.patience).await;
    locked.map_err(|error| held(invocation, error))
}

fn held<E: Engine>(invocation: &Invocation<E>, error: EngineError) -> Failure {
    let locked = error.kind == ErrorKind::Locked;
    let failure = Failure::from(error);
    if !locked {
        return failure;
    }
    let message = format!(
        "another load of schema {} at {} is running and did not end within {} s",
        quote_identifier(&invocation.schema),
        invocation.engine.address(),
        invocation.patience.as_secs_f64()
    );
    Failure { message, ..failure }
}

fn fill(document: &mut Document, record: Record) {
    document.data = Some(record.data);
    document.phases = record.phases;
    document.metrics = record.metrics;
    document.driver_usage = record.usage;
}

/// What a load begins with.
enum Found {
    Nothing,
    /// The same load, with some of it done.
    Interrupted(Journal),
    /// The same load, finished.
    Complete(Box<Record>),
}

/// Finds what can stay in the schema, and drops what cannot.
async fn clear<E: Engine, D: Dataset>(
    invocation: &Invocation<E>,
    session: &E::Session,
    dataset: &D,
    replace: bool,
) -> Result<Found, Failure> {
    let schema = &invocation.schema;
    let present = session.open_schema(schema, true).await?;
    let ours: Vec<&str> = dataset
        .tables()
        .iter()
        .map(|table| table.name)
        .filter(|name| present.iter().any(|p| p == name))
        .collect();
    let place = format!("schema {} at {}", quote_identifier(schema), invocation.engine.address());
    let way_out = "name another schema with --schema, or give --replace to drop its tables";
    match meta::read(session, schema).await? {
        Some(found) if found.complete => {
            let scale = dataset.scale();
            match meta::difference(&found, dataset.workload(), Some(&scale), Some(dataset.seed())) {
                None if !replace && found.constants == dataset.constants() => {
                    return Ok(Found::Complete(Box::new(found.record)))
                }
                None if !replace => {
                    return Err(meta::inconsistent(
                        "SchemaMismatch",
                        format!("{place} holds data that a run has changed since it was loaded; {way_out}"),
                    ));
                }
                Some(difference) if !replace => {
                    return Err(meta::inconsistent(
                        "SchemaMismatch",
                        format!("{place} holds {difference}; {way_out}"),
                    ));
                }
                _ => {}
            }
        }
        Some(found) if !replace => {
            let scale = dataset.scale();
            let same = meta::difference(&found, dataset.workload(), Some(&scale), Some(dataset.seed()))
                .is_none()
                && found.constants == dataset.constants();
            let there = ours.len() == dataset.tables().len() && present.iter().any(|p| p == journal::TABLE);
            if same && there {
                return Ok(Found::Interrupted(Journal::read(session).await?));
            }
        }
        Some(_) => {}
        None if ours.is_empty() || replace => {}
        None => {
            return Err(meta::inconsistent(
                "SchemaMismatch",
                format!("{place} has tables that dbbench did not load ({}); {way_out}", ours.join(", ")),
            ));
        }
    }
    // The meta table goes last: as long as it is there, the schema reads as half-loaded.
    let own = [journal::TABLE, meta::TABLE];
    let own = own.iter().copied().filter(|name| present.iter().any(|table| table == name));
    for table in ours.into_iter().chain(own) {
        session.drop_table(table).await?;
    }
    Ok(Found::Nothing)
}

async fn write<E: Engine, D: Dataset>(
    invocation: &Invocation<E>,
    session: &E::Session,
    dataset: &D,
    connections: usize,
    journal: Option<Journal>,
    usage: &UsageStart,
) -> Result<Record, Failure> {
    let mut phases: Vec<Phase> = Vec::new();
    let began = std::time::Instant::now();
    dataset.prepare();
    let resumed = journal.is_some();
    let journal = match journal {
        Some(journal) => journal,
        None => {
            create(invocation, session, dataset).await?;
            Journal::default()
        }
    };

    let timer = PhaseTimer::start("load");
    let sent =
        stream::stream(&invocation.engine, dataset, connections, &journal, &invocation.progress).await?;
    phases.push(timer.end());
    let loaded = began.elapsed().as_secs_f64();

    let timer = PhaseTimer::start("index");
    make_keys(invocation, dataset, connections, resumed, &journal).await?;
    phases.push(timer.end());

    let timer = PhaseTimer::start("settle");
    invocation.progress.begin("settle", dataset.tables().len() as u64, "tables");
    side_by_side(invocation, dataset.tables(), connections, async |session, table| {
        session.settle_table(table.name).await
    })
    .await?;
    session.settle_server().await?;
    let rows: BTreeMap<String, u64> = sent.rows.iter().map(|(name, rows)| ((*name).into(), *rows)).collect();
    for (table, expected, found) in meta::count_rows(session, &rows).await? {
        if expected != found {
            return Err(meta::inconsistent(
                "RowCountMismatch",
                format!("table {table} has {found} rows after the load; {expected} were generated"),
            ));
        }
    }
    phases.push(timer.end());

    let chunks = dataset.tables().iter().map(|table| (table.name, sent.digests[table.name].as_slice()));
    Ok(Record {
        data: Data { digest: digest::combine(chunks), rows },
        phases,
        metrics: vec![
            Metric::new("loadTime", "seconds", began.elapsed().as_secs_f64()),
            Metric::new("copyTime", "seconds", loaded),
            Metric::new("copiedBytes", "bytes", sent.bytes as f64),
        ],
        usage: usage.end(),
    })
}

/// Writes the header of the load and makes its tables.
async fn create<E: Engine, D: Dataset>(
    invocation: &Invocation<E>,
    session: &E::Session,
    dataset: &D,
) -> Result<(), Failure> {
    let dialect = invocation.engine.dialect();
    let header = Meta {
        workload: dataset.workload().into(),
        scale: dataset.scale(),
        seed: dataset.seed(),
        data_version: meta::DATA_VERSION,
        driver_version: env!("CARGO_PKG_VERSION").into(),
        constants: dataset.constants(),
        complete: false,
        record: Record::default(),
    };
    meta::begin(session, &header).await?;
    session.script(&definition::before_rows(dataset.create_sql(), dataset.keys(), dialect)).await?;
    // Last: without a journal an interrupted load is dropped, with one its tables are there.
    if journal::kept(dialect) {
        Journal::create(session).await?;
    }
    Ok(())
}

/// Makes keys and indexes, stage by stage; statements of a parallel stage run on as many connections as
/// the load had.
async fn make_keys<E: Engine, D: Dataset>(
    invocation: &Invocation<E>,
    dataset: &D,
    connections: usize,
    resumed: bool,
    journal: &Journal,
) -> Result<(), Failure> {
    let dialect = invocation.engine.dialect();
    let stages = definition::after_rows(dataset.keys(), dialect);
    let total = stages.iter().map(|stage| stage.statements.len()).sum::<usize>();
    invocation.progress.begin("index", total as u64, "statements");
    let mut number = 0;
    for Stage { parallel, statements } in &stages {
        let numbered: Vec<(u32, &String)> = (number..).zip(statements).collect();
        number += statements.len() as u32;
        let missing: Vec<_> =
            numbered.into_iter().filter(|(number, _)| !journal.has_statement(*number)).collect();
        let side = if *parallel { connections } else { 1 };
        side_by_side(invocation, &missing, side, async |session, (number, statement)| {
            match journal::keeps_statements(dialect) {
                true => make_key(session, *number, statement).await,
                false => match session.script(statement).await {
                    // The interrupted load has made it, or the server was still at it for that one.
                    Err(error) if resumed && error.kind == ErrorKind::Exists => Ok(()),
                    done => done,
                },
            }
        })
        .await?;
    }
    Ok(())
}

/// Runs a statement and enters it. The server may be at it still for a driver that has been killed: then
/// the entry is there once that has ended.
async fn make_key<S: Session>(session: &S, number: u32, statement: &str) -> Result<(), EngineError> {
    match session.script(&journal::with_entry(statement, number)).await {
        Err(error) if error.kind == ErrorKind::Duplicate => {
            match Journal::read(session).await?.has_statement(number) {
                true => Ok(()),
                false => Err(error),
            }
        }
        done => done,
    }
}

/// Does something for each item on several connections, all driven from this thread: the work is the server's.
async fn side_by_side<E: Engine, T>(
    invocation: &Invocation<E>,
    items: &[T],
    connections: usize,
    work: impl AsyncFn(&E::Session, &T) -> Result<(), EngineError>,
) -> Result<(), Failure> {
    let queue = RefCell::new(items.iter());
    let workers = (0..connections.min(items.len())).map(|_| async {
        let session = invocation.engine.connect().await?;
        session.limit_statements(None).await?;
        loop {
            let next = queue.borrow_mut().next();
            let Some(item) = next else { break };
            work(&session, item).await?;
            invocation.progress.advance(1);
        }
        session.close().await;
        Ok::<(), Failure>(())
    });
    futures_util::future::try_join_all(workers).await?;
    Ok(())
}

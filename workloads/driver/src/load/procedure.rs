//! The steps of a load, the same for every workload and engine.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::dataset::Dataset;
use super::definition::{self, Stage};
use super::meta::{self, Meta, Record};
use super::{digest, stream};
use crate::cli::Invocation;
use crate::engine::{quote_identifier, Engine, EngineError, ErrorKind, Session};
use crate::failure::Failure;
use crate::measure::{Phase, PhaseTimer, UsageStart};
use crate::report::{Data, Document, Metric};
use crate::target::Observer;

/// Loads the data, unless it is there already.
///
/// A finished load with the same parameters is left alone and its record returned. A load that was
/// interrupted is dropped and done again. Anything else in the schema is an error, unless `replace`.
pub async fn load<E: Engine, D: Dataset>(
    invocation: &Invocation<E>,
    dataset: &D,
    connections: usize,
    replace: bool,
    parameters: serde_json::Map<String, serde_json::Value>,
) -> Result<Document, Failure> {
    let session = invocation.connect().await?;
    session.limit_statements(None).await?;
    let mut observer = Observer::new(invocation.agents.clone(), invocation.patience).await?;
    let mut document = invocation.document("load", parameters, session.server().await?);
    session
        .lock_schema(&invocation.schema, invocation.patience)
        .await
        .map_err(|error| held(invocation, error))?;
    if let Some(record) = clear(invocation, &session, dataset, replace).await? {
        fill(&mut document, record);
        document.target = observer.into_target();
        session.close().await;
        return Ok(document);
    }
    observer.before().await?;
    let usage = UsageStart::now();
    let record = write(invocation, &session, dataset, connections, &usage).await?;
    observer.after().await?;
    meta::complete(&session, &record).await?;
    invocation.progress.finish();
    fill(&mut document, record);
    document.target = observer.into_target();
    session.close().await;
    Ok(document)
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

/// Makes room in the schema; returns the record of a finished load that can stay.
async fn clear<E: Engine, D: Dataset>(
    invocation: &Invocation<E>,
    session: &E::Session,
    dataset: &D,
    replace: bool,
) -> Result<Option<Record>, Failure> {
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
                None if !replace => return Ok(Some(found.record)),
                Some(difference) if !replace => {
                    return Err(meta::inconsistent(
                        "SchemaMismatch",
                        format!("{place} holds {difference}; {way_out}"),
                    ));
                }
                _ => {}
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
    for table in
        ours.into_iter().chain(present.iter().map(String::as_str).filter(|name| *name == meta::TABLE))
    {
        session.drop_table(table).await?;
    }
    Ok(None)
}

async fn write<E: Engine, D: Dataset>(
    invocation: &Invocation<E>,
    session: &E::Session,
    dataset: &D,
    connections: usize,
    usage: &UsageStart,
) -> Result<Record, Failure> {
    let dialect = invocation.engine.dialect();
    let mut phases: Vec<Phase> = Vec::new();
    let began = std::time::Instant::now();
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

    let timer = PhaseTimer::start("load");
    let sent = stream::stream(&invocation.engine, dataset, connections, &invocation.progress).await?;
    phases.push(timer.end());
    let loaded = began.elapsed().as_secs_f64();

    let timer = PhaseTimer::start("index");
    let stages = definition::after_rows(dataset.keys(), dialect);
    let statements = stages.iter().map(|stage| stage.statements.len()).sum::<usize>();
    invocation.progress.begin("index", statements as u64, "statements");
    for stage in &stages {
        run_stage(invocation, session, stage, connections).await?;
    }
    phases.push(timer.end());

    let timer = PhaseTimer::start("settle");
    invocation.progress.begin("settle", dataset.tables().len() as u64, "tables");
    let names: Vec<&str> = dataset.tables().iter().map(|table| table.name).collect();
    side_by_side(invocation, &names, connections, async |session, table| session.settle_table(table).await)
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

/// Runs the statements of one stage; those of a parallel one on as many connections as the load had.
async fn run_stage<E: Engine>(
    invocation: &Invocation<E>,
    session: &E::Session,
    stage: &Stage,
    connections: usize,
) -> Result<(), Failure> {
    if stage.parallel {
        let run = async |session: &E::Session, statement: &str| session.script(statement).await;
        let statements: Vec<&str> = stage.statements.iter().map(String::as_str).collect();
        return side_by_side(invocation, &statements, connections, run).await;
    }
    for statement in &stage.statements {
        session.script(statement).await?;
        invocation.progress.advance(1);
    }
    Ok(())
}

/// Does something for each item on several connections, all driven from this thread: the work is the server's.
async fn side_by_side<E: Engine>(
    invocation: &Invocation<E>,
    items: &[&str],
    connections: usize,
    work: impl AsyncFn(&E::Session, &str) -> Result<(), EngineError>,
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

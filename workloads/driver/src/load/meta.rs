//! The table `dbbench_meta`: what was loaded, and whether the load was finished.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::cli::Invocation;
use crate::engine::{quote_identifier, Engine, Row, Session, Value};
use crate::failure::{Exit, Failure};
use crate::measure::{Phase, Usage};
use crate::report::{Data, Metric};

pub const TABLE: &str = "dbbench_meta";

/// Changes whenever the same parameters begin to give other data, other tables or another digest.
pub const DATA_VERSION: i32 = 3;

const CREATE: &str = "CREATE TABLE dbbench_meta (
    workload text NOT NULL, scale text NOT NULL, seed bigint NOT NULL, data_version integer NOT NULL,
    driver_version text NOT NULL, constants text NOT NULL, complete boolean NOT NULL, record text NOT NULL)";

const READ: &str = "SELECT workload, scale, seed, data_version, driver_version, constants, complete, record
    FROM dbbench_meta";

/// The row of `dbbench_meta`.
#[derive(Debug, Clone)]
pub struct Meta {
    pub workload: String,
    pub scale: String,
    pub seed: u64,
    pub data_version: i32,
    pub driver_version: String,
    pub constants: Json,
    pub complete: bool,
    pub record: Record,
}

/// What the load measured; the repeated load of complete data returns it again.
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
pub struct Record {
    pub data: Data,
    pub phases: Vec<Phase>,
    pub metrics: Vec<Metric>,
    pub usage: Usage,
}

/// Reads the row; `None` when the schema holds no dbbench data.
pub async fn read<S: Session>(session: &S, schema: &str) -> Result<Option<Meta>, Failure> {
    if !session.open_schema(schema, false).await?.iter().any(|table| table == TABLE) {
        return Ok(None);
    }
    let statement = session.prepare(READ).await?;
    let rows = session.query(&statement, &[]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    Ok(Some(Meta {
        workload: row.text(0)?.into(),
        scale: row.text(1)?.into(),
        seed: row.long(2)? as u64,
        data_version: row.int(3)?,
        driver_version: row.text(4)?.into(),
        constants: serde_json::from_str(row.text(5)?).unwrap_or_default(),
        complete: row.boolean(6)?,
        record: serde_json::from_str(row.text(7)?).unwrap_or_default(),
    }))
}

/// Writes the row of a load that begins.
pub async fn begin<S: Session>(session: &S, meta: &Meta) -> Result<(), Failure> {
    session.script(CREATE).await?;
    let insert =
        session.prepare("INSERT INTO dbbench_meta VALUES ($1, $2, $3, $4, $5, $6, false, '{}')").await?;
    let constants = meta.constants.to_string();
    let values = [
        Value::Text(&meta.workload),
        Value::Text(&meta.scale),
        Value::Long(meta.seed as i64),
        Value::Int(meta.data_version),
        Value::Text(&meta.driver_version),
        Value::Text(&constants),
    ];
    session.execute(&insert, &values).await?;
    Ok(())
}

/// Marks the load as finished.
pub async fn complete<S: Session>(session: &S, record: &Record) -> Result<(), Failure> {
    let update = session.prepare("UPDATE dbbench_meta SET complete = true, record = $1").await?;
    let record = serde_json::to_string(record).expect("a record has only string keys and finite numbers");
    session.execute(&update, &[Value::Text(&record)]).await?;
    Ok(())
}

/// Replaces the values that a later run has to know.
pub async fn set_constants<S: Session>(session: &S, constants: &Json) -> Result<(), Failure> {
    let update = session.prepare("UPDATE dbbench_meta SET constants = $1").await?;
    session.execute(&update, &[Value::Text(&constants.to_string())]).await?;
    Ok(())
}

/// Connects to completely loaded data of the invocation's workload, at this scale if one is given, or says what
/// is wrong.
pub async fn open<E: Engine>(
    invocation: &Invocation<E>,
    scale: Option<&str>,
) -> Result<(E::Session, Meta), Failure> {
    let session = invocation.connect().await?;
    let place = format!("schema {} at {}", quote_identifier(&invocation.schema), invocation.engine.address());
    let workload = invocation.workload;
    let Some(meta) = read(&session, &invocation.schema).await? else {
        return Err(inconsistent(
            "SchemaMissing",
            format!("{place} holds no loaded data; run `dbbench-driver {workload} load` first"),
        ));
    };
    if !meta.complete {
        return Err(inconsistent(
            "SchemaIncomplete",
            format!("{place} is half-loaded; run `dbbench-driver {workload} load` again"),
        ));
    }
    if let Some(difference) = difference(&meta, workload, scale, None) {
        return Err(inconsistent("SchemaMismatch", format!("{place} holds {difference}")));
    }
    Ok((session, meta))
}

/// In what way the loaded data is not the expected one.
pub fn difference(meta: &Meta, workload: &str, scale: Option<&str>, seed: Option<u64>) -> Option<String> {
    if meta.workload != workload {
        return Some(format!("data of the workload {}, not of {workload}", meta.workload));
    }
    if let Some(scale) = scale.filter(|scale| *scale != meta.scale) {
        return Some(format!("{workload} at scale {}, not at scale {scale}", meta.scale));
    }
    if let Some(seed) = seed.filter(|seed| *seed != meta.seed) {
        return Some(format!("{workload} made from seed {}, not from seed {seed}", meta.seed));
    }
    (meta.data_version != DATA_VERSION).then(|| {
        format!(
            "{workload} in data version {} (driver {}), not {DATA_VERSION}",
            meta.data_version, meta.driver_version
        )
    })
}

/// Compares the number of rows in each table with what was generated.
pub async fn count_rows<S: Session>(
    session: &S,
    expected: &BTreeMap<String, u64>,
) -> Result<Vec<(String, u64, u64)>, Failure> {
    let mut counted = Vec::new();
    for (table, rows) in expected {
        let statement = session.prepare(&format!("SELECT count(*) FROM {}", session.quote(table))).await?;
        let found = session.query(&statement, &[]).await?;
        let found = found.first().map_or(Ok(0), |row| row.long(0))? as u64;
        counted.push((table.clone(), *rows, found));
    }
    Ok(counted)
}

pub fn inconsistent(reason: &'static str, message: String) -> Failure {
    Failure::new(Exit::Inconsistent, reason, message)
}

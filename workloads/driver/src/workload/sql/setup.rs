//! Data of the user's own: the tables that a script makes.

use std::time::Instant;

use serde_json::json;

use super::options::{self, Weighted};
use super::{compile, describe, scripts, sha256, variables};
use crate::cli::Invocation;
use crate::engine::{Engine, Session};
use crate::failure::Failure;
use crate::load;
use crate::measure::clients::Workload;
use crate::measure::{PhaseTimer, UsageStart};
use crate::report::{Data, Document, Metric};
use crate::target::Observer;

/// Runs the script from its beginning to its end, brings statistics up to date, and tells what is there then.
///
/// Nothing is dropped: what a load before it has left is for the script to remove.
pub async fn load<E: Engine>(invocation: &Invocation<E>, path: &str) -> Result<Document, Failure> {
    let sources = [options::source(&Weighted { name: path.into(), weight: 1 })?];
    let mut program = compile(&sources, &[], invocation.engine.dialect())?;
    for script in &mut program.scripts {
        // Whatever a statement needs, one before it may make.
        script.late = true;
    }
    let session = invocation.connect().await?;
    session.limit_statements(None).await?;
    let mut observer = Observer::new(invocation.agents.clone(), invocation.patience).await?;
    let parameters = json!({"script": describe(&sources[0])});
    let mut document = invocation.document("load", parameters, session.server().await?);
    load::lock(invocation, &session).await?;
    session.open_schema(&invocation.schema, true).await?;
    observer.before().await?;
    let (usage, began) = (UsageStart::now(), Instant::now());

    let timer = PhaseTimer::start("load");
    let variables = variables(&program, invocation.seed, 1, &[]);
    scripts(invocation, &sources, program, variables).client(0).await?.once(0).await?;
    document.phases.push(timer.end());

    let timer = PhaseTimer::start("settle");
    let tables = session.open_schema(&invocation.schema, false).await?;
    for table in &tables {
        session.settle_table(table).await?;
    }
    session.settle_server().await?;
    document.phases.push(timer.end());

    document.metrics.push(Metric::new("loadTime", "seconds", began.elapsed().as_secs_f64()));
    document.driver_usage = usage.end();
    observer.after().await?;
    document.data = Some(found(&session, &tables).await?);
    document.target = observer.into_target();
    session.close().await;
    Ok(document)
}

/// The rows of all tables, and a digest of them.
async fn found<S: Session>(session: &S, tables: &[String]) -> Result<Data, Failure> {
    let mut data = Data::default();
    let mut text = String::new();
    let names = tables.iter().map(|table| (table.clone(), 0)).collect();
    for (table, _, rows) in load::count_rows(session, &names).await? {
        let checksum = session.checksum(&table).await?;
        text += &json!([table, rows, checksum]).to_string();
        data.rows.insert(table, rows);
    }
    data.digest = sha256(&text);
    Ok(data)
}

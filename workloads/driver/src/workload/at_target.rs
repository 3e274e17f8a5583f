//! A workload without a database, run inside the target by the agent there; this process asks for it, lets several
//! targets begin together, and looks at the hypervisor's side meanwhile.

use std::time::Duration;

use dbbench_agent::local_run::LocalRun;
use serde_json::{json, Value};

use super::gate::Gate;
use crate::cli::{Reporting, Together};
use crate::failure::Failure;
use crate::report::{document_line, Check, Finished, Progress};
use crate::target::{Agents, Observer};

/// What is run, and how long it takes after its start.
pub struct Request {
    pub run: LocalRun,
    pub warmup: Duration,
    pub duration: Duration,
}

/// Runs it; the result is the document that was made inside the target, with this process' options and the
/// hypervisor's side in it.
pub async fn run(
    request: &Request,
    reporting: &Reporting,
    together: Option<&Together>,
) -> Result<Finished, Failure> {
    let agents = reporting.agents()?;
    let agent = agents
        .target
        .clone()
        .ok_or_else(|| Failure::arguments("--at-target needs --agent, which runs the workload"))?;
    let outside = Agents { target: None, host: agents.host.clone() };
    let mut observer = Observer::new(outside, reporting.connect_timeout).await?;
    agent.facts(reporting.connect_timeout).await?;
    let progress = Progress::new(reporting.progress);
    let mut gate = match together {
        Some(together) => Gate::of(together, reporting.connect_timeout, &json!(request.run)).await?,
        None => Gate::Open,
    };
    progress.begin("load", 1, "target");
    agent.prepare(&request.run).await?;
    progress.set(1);
    gate.pass().await?;
    let whole = request.warmup + request.duration;
    progress.begin("measure", whole.as_secs().max(1), "seconds");
    let run = agent.start(whole);
    tokio::pin!(run);
    // The hypervisor's counters are read when the window inside begins, to within a request's time.
    let mut document = tokio::select! {
        early = &mut run => early?,
        () = tokio::time::sleep(request.warmup) => {
            observer.before().await?;
            run.await?
        }
    };
    observer.after().await?;
    progress.finish();
    let host = observer.into_target().host;
    complete(&mut document, reporting, json!(host))?;
    finished(document)
}

/// Puts into the document what only this side knows.
fn complete(document: &mut Value, reporting: &Reporting, host: Value) -> Result<(), Failure> {
    let odd = || Failure::invalid("the agent's answer is no result document");
    let parameters = document.get_mut("parameters").and_then(Value::as_object_mut).ok_or_else(odd)?;
    parameters.insert("agent".into(), json!(reporting.agent));
    parameters.insert("hostAgent".into(), json!(reporting.host_agent));
    parameters.insert("connectTimeoutSeconds".into(), json!(reporting.connect_timeout.as_secs_f64()));
    parameters.insert("atTarget".into(), json!(true));
    let target = document.get_mut("target").and_then(Value::as_object_mut).ok_or_else(odd)?;
    if !host.is_null() {
        target.insert("host".into(), host);
    }
    Ok(())
}

fn finished(document: Value) -> Result<Finished, Failure> {
    let odd =
        |error: serde_json::Error| Failure::invalid(format!("the agent's answer is no result: {error}"));
    let part = |name: &str| document.get(name).cloned().unwrap_or_default();
    let checks: Vec<Check> = serde_json::from_value(part("checks")).map_err(odd)?;
    let invalid_reasons: Vec<String> = serde_json::from_value(part("invalidReasons")).map_err(odd)?;
    let Value::Object(rest) = document else {
        return Err(Failure::invalid("the agent's answer is no result"));
    };
    Ok(Finished { line: document_line(rest), checks, invalid_reasons })
}

//! Running the queries: warm-up passes, then measured passes, one query at a time.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{object, parameters, queries, Connection, RunCommand};
use crate::cli::Invocation;
use crate::engine::{Engine, EngineError, ErrorKind, Session};
use crate::failure::{Exit, Failure};
use crate::load::{self, Expectation};
use crate::measure::{Latency, PhaseTimer, UsageStart};
use crate::report::{Counts, Document, Metric, Operation};
use crate::target::Observer;

/// How much longer than the server's own limit the driver waits for an answer before it gives the
/// server up.
const SERVER_GRACE: Duration = Duration::from_secs(30);

struct Query {
    number: u8,
    text: String,
    runtimes: Vec<Duration>,
    first: Option<Duration>,
    counts: Counts,
    errors: BTreeMap<String, u64>,
    trouble: Option<String>,
    rows: Option<u64>,
    fingerprint: Option<String>,
}

pub async fn run<E: Engine>(invocation: &Invocation<E>, command: &RunCommand) -> Result<Document, Failure> {
    let session = invocation.connect().await?;
    let expected = Expectation {
        workload: super::NAME,
        scale: command.scale_factor.as_ref().map(super::ScaleFactor::text),
    };
    let meta = load::require(&invocation.engine, &session, &invocation.schema, &expected).await?;
    let scale: super::ScaleFactor = meta.scale.parse().map_err(Failure::invalid)?;
    let mut document = invocation.document(
        "run",
        object(json!({
            "scaleFactor": scale.text(),
            "queries": command.queries.0,
            "parameters": match command.parameters {
                parameters::Choice::Validation => "validation",
                parameters::Choice::Random => "random",
            },
            "warmupRuns": command.warmup_runs,
            "runs": command.runs,
            "connection": match command.connection {
                Connection::Shared => "shared",
                Connection::PerQuery => "per-query",
            },
            "queryTimeoutSeconds": command.query_timeout.as_secs_f64(),
        })),
        session.server().await?,
    );
    document.data = Some(meta.record.data);
    let mut observer = Observer::new(invocation.agents.clone(), invocation.patience).await?;
    let mut queries: Vec<Query> = command
        .queries
        .0
        .iter()
        .map(|number| Query {
            number: *number,
            text: queries::text(
                *number,
                &parameters::of(*number, command.parameters, invocation.seed, &scale),
            ),
            runtimes: Vec::new(),
            first: None,
            counts: Counts::default(),
            errors: BTreeMap::new(),
            trouble: None,
            rows: None,
            fingerprint: None,
        })
        .collect();
    let lap = Lap { invocation, shared: &session, command };
    session.limit_statements(Some(command.query_timeout)).await?;

    if command.warmup_runs > 0 {
        let timer = PhaseTimer::start("warmup");
        lap.passes("warmup", command.warmup_runs, &mut queries, false).await?;
        document.phases.push(timer.end());
    }
    observer.before().await?;
    let usage = UsageStart::now();
    let timer = PhaseTimer::start("measure");
    lap.passes("measure", command.runs, &mut queries, true).await?;
    document.phases.push(timer.end());
    document.driver_usage = usage.end();
    observer.after().await?;

    session.limit_statements(None).await?;
    for query in &mut queries {
        query.fingerprint = session.plan_fingerprint(&query.text).await?;
    }
    invocation.progress.finish();
    session.close().await;
    document.target = observer.into_target();
    conclude(&mut document, &queries);
    Ok(document)
}

struct Lap<'a, E: Engine> {
    invocation: &'a Invocation<E>,
    shared: &'a E::Session,
    command: &'a RunCommand,
}

impl<E: Engine> Lap<'_, E> {
    async fn passes(
        &self,
        phase: &'static str,
        count: u16,
        queries: &mut [Query],
        measured: bool,
    ) -> Result<(), Failure> {
        let total = queries.len() as u64 * u64::from(count);
        self.invocation.progress.begin(phase, total, "queries");
        for pass in 0..count {
            for query in queries.iter_mut() {
                // A query that failed once has no valid measurement any more; its limit is not waited for again.
                if query.trouble.is_none() {
                    self.execute(query, measured, pass).await?;
                }
                self.invocation.progress.advance(1);
            }
        }
        Ok(())
    }

    async fn execute(&self, query: &mut Query, measured: bool, pass: u16) -> Result<(), Failure> {
        let fresh = match self.command.connection {
            Connection::Shared => None,
            Connection::PerQuery => {
                let session = self.invocation.engine.connect().await?;
                session.limit_statements(Some(self.command.query_timeout)).await?;
                Some(session)
            }
        };
        let session = fresh.as_ref().unwrap_or(self.shared);
        let limit = self.command.query_timeout + SERVER_GRACE;
        let began = Instant::now();
        let answer = tokio::time::timeout(limit, session.drain(&query.text)).await;
        let runtime = began.elapsed();
        match answer {
            Ok(Ok(rows)) => {
                query.rows = Some(rows);
                if measured {
                    query.counts.ok += 1;
                    query.runtimes.push(runtime);
                } else if pass == 0 {
                    query.first = Some(runtime);
                }
            }
            Ok(Err(error)) => self.note(query, error)?,
            Err(_) => {
                return Err(Failure::new(
                    Exit::Unreachable,
                    "DatabaseLost",
                    format!("Q{}: neither an answer nor an error within {} s", query.number, limit.as_secs()),
                ))
            }
        }
        if let Some(session) = fresh {
            session.close().await;
        }
        Ok(())
    }

    fn note(&self, query: &mut Query, error: EngineError) -> Result<(), Failure> {
        let name = format!("Q{}", query.number);
        match error.kind {
            ErrorKind::ConnectionLost
            | ErrorKind::NotReady
            | ErrorKind::Permission
            | ErrorKind::MissingObject => {
                let failure = Failure::from(error);
                return Err(Failure { message: format!("{name}: {}", failure.message), ..failure });
            }
            ErrorKind::Timeout => {
                let limit = humantime::format_duration(self.command.query_timeout);
                query.trouble = Some(format!("{name}: ended after the query timeout of {limit}"));
            }
            _ => query.trouble = Some(format!("{name}: {error}")),
        }
        query.counts.error += 1;
        *query.errors.entry(error.class).or_default() += 1;
        Ok(())
    }
}

fn conclude(document: &mut Document, queries: &[Query]) {
    let mut total = 0.0;
    for query in queries {
        let mut latency = Latency::default();
        query.runtimes.iter().for_each(|runtime| latency.record(*runtime));
        total += median(&query.runtimes);
        document.operations.push(Operation {
            name: format!("Q{}", query.number),
            kind: "query",
            counts: query.counts,
            errors: query.errors.clone(),
            runtimes_seconds: query.runtimes.iter().map(Duration::as_secs_f64).collect(),
            first_runtime_seconds: query.first.map(|first| first.as_secs_f64()),
            throughput_per_second: None,
            series: None,
            latency: latency.summary(),
            rows: query.rows,
            plan_fingerprint: query.fingerprint.clone(),
            ..Operation::default()
        });
    }
    for trouble in queries.iter().filter_map(|query| query.trouble.as_ref()) {
        document.invalidate(trouble.clone());
    }
    if document.valid {
        document.metrics.push(Metric::new("totalRuntime", "seconds", total));
    }
    if let Some(objection) = document.driver_usage.objection() {
        document.invalidate(objection);
    }
}

/// The median in seconds: of an even number of runs the mean of the middle two.
fn median(runtimes: &[Duration]) -> f64 {
    let mut sorted: Vec<f64> = runtimes.iter().map(Duration::as_secs_f64).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => sorted[odd / 2],
        even => (sorted[even / 2 - 1] + sorted[even / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_run() {
        let of =
            |seconds: &[u64]| median(&seconds.iter().map(|s| Duration::from_secs(*s)).collect::<Vec<_>>());
        assert_eq!(of(&[9, 1, 2]), 2.0);
        assert_eq!(of(&[9, 1, 2, 4]), 3.0);
        assert_eq!(of(&[]), 0.0);
    }
}

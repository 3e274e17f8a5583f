//! Running the queries: warm-up passes, then measured passes, one query at a time.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;

use super::cache::{self, Watch};
use super::execution::{execute, Outcome};
use super::refresh::State;
use super::{
    configure, lift_limit, name_of, ordering, parameters, queries, Connection, Order, Passes, RunCommand,
};
use crate::cli::Invocation;
use crate::engine::{Engine, Session};
use crate::failure::Failure;
use crate::load;
use crate::measure::{Latency, PhaseTimer, Team, UsageStart};
use crate::report::{Counts, Document, Execution, Metric, Operation};
use crate::target::Observer;
use crate::workload::gathering::gather;

/// No process is waited for any longer, whatever time its warm-up may take.
const LONGEST_WARMUP: Duration = Duration::from_secs(30 * 24 * 3600);

struct Query {
    number: u8,
    text: String,
    runtimes: Vec<Duration>,
    executions: Vec<Execution>,
    first: Option<Duration>,
    counts: Counts,
    errors: BTreeMap<String, u64>,
    trouble: Option<String>,
    rows: Option<u64>,
    fingerprint: Option<String>,
}

pub async fn run<E: Engine>(invocation: &Invocation<E>, command: &RunCommand) -> Result<Document, Failure> {
    let scale = command.scale_factor.as_ref().map(super::ScaleFactor::text);
    let (session, meta) = load::open(invocation, scale).await?;
    let scale: super::ScaleFactor = meta.scale.parse().map_err(Failure::invalid)?;
    let pairs = State::of(&meta).require(Some(command.refresh_pairs.unwrap_or(0)))?;
    let plan = Plan::new(&command.passes);
    configure(&session, command).await?;
    let mut document = invocation.document(
        "run",
        json!({
            "scaleFactor": scale.text(),
            "test": name_of(command.test),
            "queries": plan.queries,
            "order": name_of(plan.order),
            "parameters": name_of(plan.parameters),
            "warmupRuns": plan.warmup_runs,
            "runs": plan.runs,
            "connection": name_of(plan.connection),
            "cache": plan.cache.map(name_of),
            "refreshPairs": pairs,
            "processes": command.together.processes,
            "parallelQuery": command.parallel_query.map(name_of),
            "queryTimeoutSeconds": command.query_timeout.as_secs_f64(),
        }),
        session.server().await?,
    );
    document.data = Some(meta.record.data);
    let (_, mut team) = gather(invocation, &command.together, &mut document).await?;
    let mut observer = Observer::new(invocation.agents.clone(), invocation.patience).await?;
    let mut queries: Vec<Query> = plan
        .queries
        .iter()
        .map(|number| Query {
            number: *number,
            text: queries::text(*number, &parameters::of(*number, plan.parameters, invocation.seed, &scale)),
            runtimes: Vec::new(),
            executions: Vec::new(),
            first: None,
            counts: Counts::default(),
            errors: BTreeMap::new(),
            trouble: None,
            rows: None,
            fingerprint: None,
        })
        .collect();
    if plan.cache == Some(cache::State::Warm)
        && invocation.agents.target.is_none()
        && session.blocks_read().await?.is_none()
    {
        return Err(Failure::arguments(
            "--cache warm has to be proven, and this server does not tell what it reads: --agent is needed",
        ));
    }
    // A server that is to restart waits for the end of its sessions.
    let session = match plan.cache {
        Some(cache::State::Cold) => {
            session.close().await;
            None
        }
        _ => Some(session),
    };
    let shared = session.as_ref().filter(|_| plan.connection == Connection::Shared);
    let lap = Lap { invocation, shared, command, cache: plan.cache };

    if plan.warmup_runs > 0 {
        begin_together(&mut team, Duration::ZERO).await?;
        let timer = PhaseTimer::start("warmup");
        lap.passes("warmup", plan.warmup_runs, &mut queries, false).await?;
        document.phases.push(timer.end());
    }
    let longest = command.query_timeout.saturating_mul(u32::from(plan.warmup_runs) * queries.len() as u32);
    begin_together(&mut team, longest.min(LONGEST_WARMUP)).await?;
    // Where the state of the caches was chosen, the blocks of each query are counted apart.
    let whole = session.as_ref().filter(|_| plan.cache.is_none());
    let blocks = match whole {
        Some(session) => session.blocks_read().await?,
        None => None,
    };
    observer.before().await?;
    let usage = UsageStart::now();
    let timer = PhaseTimer::start("measure");
    lap.passes("measure", plan.runs, &mut queries, true).await?;
    document.phases.push(timer.end());
    document.driver_usage = usage.end().excused(invocation.beside_database);
    observer.after().await?;
    document.blocks_read = match whole {
        Some(session) => {
            blocks.zip(session.blocks_read().await?).map(|(before, after)| after.saturating_sub(before))
        }
        None => {
            queries.iter().flat_map(|query| &query.executions).map(|execution| execution.blocks_read).sum()
        }
    };

    let session = match session {
        Some(session) => session,
        None => lap.session().await?,
    };
    for query in &mut queries {
        query.fingerprint = session.plan_fingerprint(&query.text).await?;
    }
    invocation.progress.finish();
    session.close().await;
    document.target = observer.into_target();
    conclude(&mut document, &queries, plan.cache);
    Ok(document)
}

/// Waits for the other processes, if there are any; `spread` as in [`Team::begin`].
async fn begin_together(team: &mut Option<Team>, spread: Duration) -> Result<(), Failure> {
    if let Some(team) = team {
        tokio::time::sleep_until(team.begin(spread).await?.into()).await;
    }
    Ok(())
}

/// The options of the passes with their defaults.
struct Plan {
    queries: Vec<u8>,
    order: Order,
    parameters: parameters::Choice,
    warmup_runs: u16,
    runs: u16,
    connection: Connection,
    cache: Option<cache::State>,
}

impl Plan {
    fn new(passes: &Passes) -> Self {
        let mut queries =
            passes.queries.as_ref().map_or_else(|| (1..=queries::COUNT).collect(), |q| q.0.clone());
        let order = passes.order.unwrap_or(Order::Numbered);
        if order == Order::Stream {
            let chosen = queries;
            queries = ordering::of_stream(0).iter().copied().filter(|query| chosen.contains(query)).collect();
        }
        let cold = passes.cache == Some(cache::State::Cold);
        Plan {
            queries,
            order,
            parameters: passes.parameters.unwrap_or(parameters::Choice::Validation),
            warmup_runs: passes.warmup_runs.unwrap_or(u16::from(!cold)),
            runs: passes.runs.unwrap_or(3),
            connection: match cold {
                true => Connection::PerQuery,
                false => passes.connection.unwrap_or(Connection::Shared),
            },
            cache: passes.cache,
        }
    }
}

struct Lap<'a, E: Engine> {
    invocation: &'a Invocation<E>,
    /// The session of all queries; without it each has one of its own.
    shared: Option<&'a E::Session>,
    command: &'a RunCommand,
    cache: Option<cache::State>,
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

    /// A session that is set up for the plans that were asked for.
    async fn session(&self) -> Result<E::Session, Failure> {
        let session = self.invocation.reach().await?;
        configure(&session, self.command).await?;
        Ok(session)
    }

    async fn execute(&self, query: &mut Query, measured: bool, pass: u16) -> Result<(), Failure> {
        let execution = match self.cache {
            Some(cache::State::Cold) => cache::make_cold(&self.invocation.agents).await?,
            _ => Execution::default(),
        };
        match self.shared {
            Some(session) => self.execute_on(session, query, execution, measured, pass).await,
            None => {
                let session = self.session().await?;
                self.execute_on(&session, query, execution, measured, pass).await?;
                session.close().await;
                Ok(())
            }
        }
    }

    async fn execute_on(
        &self,
        session: &E::Session,
        query: &mut Query,
        mut execution: Execution,
        measured: bool,
        pass: u16,
    ) -> Result<(), Failure> {
        let agents = &self.invocation.agents;
        let watch = match self.cache {
            // In the warm-up too: what asking reads is in memory after the first time.
            Some(_) => Some(Watch::begin(session, agents).await?),
            None => None,
        };
        let limit = self.command.query_timeout;
        session.limit_statements(Some(limit)).await?;
        let outcome = execute(session, query.number, &query.text, limit).await?;
        lift_limit(session).await?;
        if let Some(watch) = watch {
            watch.end(session, agents, &mut execution).await?;
        }
        match outcome {
            Outcome::Answered { rows, runtime } => {
                query.rows = Some(rows);
                if measured {
                    query.counts.ok += 1;
                    query.runtimes.push(runtime);
                    if self.cache.is_some() {
                        query.executions.push(execution);
                    }
                } else if pass == 0 {
                    query.first = Some(runtime);
                }
            }
            Outcome::Failed { class, trouble } => {
                query.trouble = Some(trouble);
                query.counts.error += 1;
                *query.errors.entry(class).or_default() += 1;
            }
        }
        Ok(())
    }
}

fn conclude(document: &mut Document, queries: &[Query], cache: Option<cache::State>) {
    if let Some(state) = cache {
        let executions = queries.iter().flat_map(|query| {
            let number = query.number;
            let runs = query.executions.iter().enumerate();
            runs.map(move |(run, execution)| (format!("Q{number}, run {}", run + 1), execution))
        });
        let found = cache::judge(state, executions);
        if !found.proven {
            document.invalidate(format!("not {}: {}", found.state, found.objections.join("; ")));
        }
        document.cache = Some(found);
    }
    let mut total = 0.0;
    for query in queries {
        let mut latency = Latency::default();
        query.runtimes.iter().for_each(|runtime| latency.record(*runtime));
        total += median(query.runtimes.iter().map(Duration::as_secs_f64));
        document.operations.push(Operation {
            name: format!("Q{}", query.number),
            kind: "query",
            stream: None,
            counts: query.counts,
            errors: query.errors.clone(),
            runtimes_seconds: query.runtimes.iter().map(Duration::as_secs_f64).collect(),
            first_runtime_seconds: query.first.map(|first| first.as_secs_f64()),
            executions: query.executions.clone(),
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
pub fn median(runtimes: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = runtimes.collect();
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
        assert_eq!(median([9.0, 1.0, 2.0].into_iter()), 2.0);
        assert_eq!(median([9.0, 1.0, 2.0, 4.0].into_iter()), 3.0);
        assert_eq!(median([].into_iter()), 0.0);
    }
}

//! The power test and the throughput test (clauses 5.3.3 and 5.3.4).

mod figures;
mod stream;

use std::time::{Duration, Instant};

use futures_util::future::{try_join, try_join_all};
use serde_json::json;

use self::stream::{Texts, Timed};
use super::refresh::{self, Executed, State, UpdateSet};
use super::{configure, lift_limit, prepare, RunCommand, ScaleFactor, Test};
use crate::cli::Invocation;
use crate::engine::{Engine, Session};
use crate::failure::Failure;
use crate::load;
use crate::measure::{PhaseTimer, UsageStart};
use crate::report::{Counts, Document, Metric, Operation};
use crate::target::Observer;

/// What every figure of this module is labelled with.
const LABEL: &str = "derived, not a TPC result";

/// What the tests need and what they have found.
struct Tests<'a, E: Engine> {
    invocation: &'a Invocation<E>,
    command: &'a RunCommand,
    scale: ScaleFactor,
    state: State,
    document: Document,
}

pub async fn run<E: Engine>(invocation: &Invocation<E>, command: &RunCommand) -> Result<Document, Failure> {
    let scale = command.scale_factor.as_ref().map(ScaleFactor::text);
    let (session, meta) = load::open(invocation, scale).await?;
    let scale: ScaleFactor = meta.scale.parse().map_err(Failure::invalid)?;
    let state = State::of(&meta);
    let pairs = state.require(command.refresh_pairs)?;
    let streams = match command.test {
        Test::Power => 0,
        _ => command.streams.unwrap_or_else(|| minimum_streams(&scale)),
    };
    let needed = pairs + u32::from(streams) + u32::from(command.test != Test::Throughput);
    if UpdateSet::new(&scale, needed).is_none() {
        return Err(load::inconsistent(
            "RefreshExhausted",
            format!(
                "{pairs} of the 999 update sets are used, and this run needs {}; load the data again with \
                 `dbbench-driver tpch load --replace`",
                needed - pairs
            ),
        ));
    }
    configure(&session, command).await?;
    let mut document = invocation.document(
        "run",
        json!({
            "scaleFactor": scale.text(),
            "test": super::name_of(command.test),
            "streams": streams,
            "refreshPairs": pairs,
            "parallelQuery": command.parallel_query.map(super::name_of),
            "queryTimeoutSeconds": command.query_timeout.as_secs_f64(),
        }),
        session.server().await?,
    );
    document.data = Some(meta.record.data);
    let mut observer = Observer::new(invocation.agents.clone(), invocation.patience).await?;
    observer.before().await?;
    let usage = UsageStart::now();
    let mut tests = Tests { invocation, command, scale, state, document };
    let mut figures = (None, None);
    if command.test != Test::Throughput {
        figures.0 = tests.power(&session).await?;
    }
    if streams > 0 {
        figures.1 = tests.throughput(streams).await?;
    }
    let mut document = tests.document;
    document.driver_usage = usage.end();
    observer.after().await?;
    invocation.progress.finish();
    session.close().await;
    document.target = observer.into_target();
    if let (true, (Some(power), Some(throughput))) = (document.valid, figures) {
        document.metrics.push(derived("compositeAtSize", figures::composite(power, throughput)));
    }
    if let Some(objection) = document.driver_usage.objection() {
        document.invalidate(objection);
    }
    Ok(document)
}

/// Table 11 of clause 5.3.4; below scale factor 1, which has no row there, as for 1.
fn minimum_streams(scale: &ScaleFactor) -> u16 {
    let rows = [(10.0, 3), (30.0, 4), (100.0, 5), (300.0, 6), (1000.0, 7), (3000.0, 8), (10_000.0, 9)];
    rows.iter().rev().find(|(from, _)| scale.value() >= *from).map_or(2, |(_, streams)| *streams)
}

fn derived(name: &str, value: f64) -> Metric {
    Metric { label: Some(LABEL.into()), ..Metric::new(name, "queries_per_hour", value) }
}

impl<E: Engine> Tests<'_, E> {
    /// RF1, the queries in the order of stream 0, RF2; the refresh functions on a session of their own.
    async fn power(&mut self, session: &E::Session) -> Result<Option<f64>, Failure> {
        self.invocation.progress.begin("power", 24, "queries and refresh functions");
        let timer = PhaseTimer::start("power");
        let refresh = self.session().await?;
        let set = self.next_set();
        let texts = Texts::new(0, self.invocation.seed, &self.scale);
        let first = refresh::insert(&refresh, &set, &mut self.state).await?;
        self.invocation.progress.advance(1);
        session.limit_statements(Some(self.command.query_timeout)).await?;
        let timed = texts.run(session, self.command.query_timeout, &self.invocation.progress).await?;
        lift_limit(session).await?;
        let second = refresh::delete(&refresh, &set, &mut self.state).await?;
        refresh.close().await;
        self.document.phases.push(timer.end());
        let fingerprints = fingerprints(session, &texts).await?;
        self.add_stream(0, &timed, fingerprints);
        self.add_pair(0, first, second);
        if !self.document.valid {
            return Ok(None);
        }
        let intervals: Vec<Duration> = timed.iter().map(|timed| timed.interval).collect();
        let power = figures::power(&intervals, &[first.runtime, second.runtime], self.scale.value());
        self.document.metrics.push(derived("powerAtSize", power));
        Ok(Some(power))
    }

    /// The query streams side by side, and beside them the refresh stream with as many pairs.
    async fn throughput(&mut self, streams: u16) -> Result<Option<f64>, Failure> {
        let (invocation, limit) = (self.invocation, self.command.query_timeout);
        invocation.progress.begin("throughput", u64::from(streams) * 24, "queries and refresh functions");
        let refresh = self.session().await?;
        let mut sessions = Vec::new();
        for stream in 1..=streams {
            sessions.push((Texts::new(stream, invocation.seed, &self.scale), self.session().await?));
        }
        let sets: Vec<UpdateSet> = (0..u32::from(streams)).map(|later| self.later_set(later)).collect();
        let mut state = self.state;
        let timer = PhaseTimer::start("throughput");
        let began = Instant::now();
        let queries = try_join_all(
            sessions.iter().map(|(texts, session)| texts.run(session, limit, &invocation.progress)),
        );
        let refreshes = async {
            let mut pairs = Vec::new();
            for set in &sets {
                let first = refresh::insert(&refresh, set, &mut state).await?;
                invocation.progress.advance(1);
                let second = refresh::delete(&refresh, set, &mut state).await?;
                invocation.progress.advance(1);
                pairs.push((first, second));
            }
            Ok::<_, Failure>(pairs)
        };
        let (timed, pairs) = try_join(queries, refreshes).await?;
        let interval = began.elapsed();
        self.document.phases.push(timer.end());
        self.state = state;
        refresh.close().await;
        for (number, ((texts, session), timed)) in (1..).zip(sessions.into_iter().zip(&timed)) {
            let fingerprints = fingerprints(&session, &texts).await?;
            session.close().await;
            self.add_stream(number, timed, fingerprints);
        }
        for (number, (first, second)) in (1..).zip(pairs) {
            self.add_pair(number, first, second);
        }
        if !self.document.valid {
            return Ok(None);
        }
        let throughput = figures::throughput(streams, interval, self.scale.value());
        self.document.metrics.push(Metric::new("measurementInterval", "seconds", interval.as_secs_f64()));
        self.document.metrics.push(derived("throughputAtSize", throughput));
        Ok(Some(throughput))
    }

    async fn session(&self) -> Result<E::Session, Failure> {
        let session = self.invocation.engine.connect().await?;
        prepare(&session, self.command).await?;
        Ok(session)
    }

    fn next_set(&self) -> UpdateSet {
        self.later_set(0)
    }

    fn later_set(&self, later: u32) -> UpdateSet {
        UpdateSet::new(&self.scale, self.state.inserted + later + 1).expect("the number of sets was checked")
    }

    fn add_stream(&mut self, stream: u16, timed: &[Timed], fingerprints: Vec<Option<String>>) {
        for (timed, fingerprint) in timed.iter().zip(fingerprints) {
            let mut operation = operation(format!("Q{}", timed.query), "query", stream, timed.interval);
            operation.rows = timed.rows;
            operation.plan_fingerprint = fingerprint;
            if let Some((class, trouble)) = &timed.trouble {
                operation.counts = Counts { error: 1, ..Counts::default() };
                operation.errors.insert(class.clone(), 1);
                operation.runtimes_seconds.clear();
                self.document.invalidate(format!("stream {stream}, {trouble}"));
            }
            self.document.operations.push(operation);
        }
    }

    fn add_pair(&mut self, stream: u16, first: Executed, second: Executed) {
        for (name, executed) in [("RF1", first), ("RF2", second)] {
            let mut operation = operation(name.into(), "refresh", stream, executed.runtime);
            operation.rows = Some(executed.rows);
            self.document.operations.push(operation);
        }
    }
}

async fn fingerprints<S: Session>(session: &S, texts: &Texts) -> Result<Vec<Option<String>>, Failure> {
    let mut all = Vec::new();
    for text in texts.iter() {
        all.push(session.plan_fingerprint(text).await?);
    }
    Ok(all)
}

fn operation(name: String, kind: &'static str, stream: u16, interval: Duration) -> Operation {
    Operation {
        name,
        kind,
        stream: Some(stream),
        counts: Counts { ok: 1, ..Counts::default() },
        runtimes_seconds: vec![interval.as_secs_f64()],
        ..Operation::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_streams_follows_table_11() {
        for (scale, streams) in [("0.01", 2), ("1", 2), ("10", 3), ("99", 4), ("100", 5), ("10000", 9)] {
            assert_eq!(minimum_streams(&scale.parse().unwrap()), streams, "{scale}");
        }
    }
}

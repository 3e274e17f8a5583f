//! Leads the clients through the windows, and keeps the books of what happened when.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, watch};

use super::arrivals::{Arrivals, Schedule};
use super::clients::{Event, Plan, Signal, Window};
use super::recorder::Slice;
use super::series::{self, Point};
use super::tally::Tally;
use super::{Live, Phase, PhaseTimer, Started, Team, Usage, UsageStart};
use crate::failure::{Exit, Failure};
use crate::report::Progress;
use crate::target::Observer;

/// A transaction that has not ended this long after the window is given up.
const STRAGGLER_LIMIT: Duration = Duration::from_secs(120);

/// The clients are told a moment ahead, so that they begin together.
const LEAD: Duration = Duration::from_millis(10);

/// What surrounds the clients.
pub struct Conditions<'a> {
    /// Looks at the target around the measured window.
    pub observer: &'a mut Observer,
    pub progress: &'a Progress,
    pub live: &'a Live,
    /// The other processes, if there are any.
    pub team: Option<&'a mut Team>,
}

pub(super) struct Coordinator<'a, 'b> {
    plan: Plan,
    signal: &'a watch::Sender<Signal>,
    inbox: mpsc::UnboundedReceiver<Event>,
    conditions: &'a mut Conditions<'b>,
    books: Books,
}

impl<'a, 'b> Coordinator<'a, 'b> {
    pub fn new(
        plan: Plan,
        operations: usize,
        signal: &'a watch::Sender<Signal>,
        inbox: mpsc::UnboundedReceiver<Event>,
        conditions: &'a mut Conditions<'b>,
    ) -> Self {
        let interval = series::interval(plan.duration);
        let points = (plan.duration.as_secs_f64().ceil() as u64).div_ceil(interval) as usize;
        let books = Books {
            live: conditions.live.clone(),
            interval,
            series: vec![vec![Point::default(); points]; operations],
            missed: Started::default(),
        };
        Coordinator { plan, signal, inbox, conditions, books }
    }

    pub async fn run(&mut self) -> Result<(Vec<Phase>, Usage), Failure> {
        let clients = self.plan.clients as u64;
        self.conditions.progress.begin("connect", clients, "clients");
        for connected in 0..clients {
            tokio::select! {
                next = next(&mut self.inbox, &mut self.books) => next?,
                failure = lost(&mut self.conditions.team) => return Err(failure),
            }
            self.conditions.progress.set(connected + 1);
        }
        let mut phases = Vec::new();
        if !self.plan.warmup.is_zero() {
            phases.push(self.window("warmup", self.plan.warmup, false).await?.0);
        }
        self.conditions.observer.before().await?;
        let (phase, usage) = self.window("measure", self.plan.duration, true).await?;
        phases.push(phase);
        self.conditions.observer.after().await?;
        self.conditions.live.phase("end");
        self.conditions.progress.finish();
        Ok((phases, usage))
    }

    /// Adds what the clients' own books do not have.
    pub fn complete(self, tally: &mut Tally) {
        for (operation, points) in tally.operations.iter_mut().zip(self.books.series) {
            operation.points = points;
        }
        tally.started.merge(&self.books.missed);
    }

    /// Lets all clients run for `length` and waits until each has ended its last transaction.
    async fn window(
        &mut self,
        name: &'static str,
        length: Duration,
        measured: bool,
    ) -> Result<(Phase, Usage), Failure> {
        let start = match &mut self.conditions.team {
            Some(team) => team.begin(Duration::ZERO).await?,
            None => Instant::now() + LEAD,
        };
        let usage = UsageStart::now();
        let deadline = start + length;
        let schedule = match self.plan.arrivals {
            Arrivals::Closed => None,
            Arrivals::Open { rate, spacing } => {
                let Plan { member, seed, .. } = self.plan;
                Some(Mutex::new(Schedule::new(rate, spacing, start, member, seed, name)))
            }
        };
        let seconds = length.as_secs_f64().ceil() as u64;
        let progress = self.conditions.progress;
        progress.begin(name, seconds, "seconds");
        self.conditions.live.phase(name);
        let window = Arc::new(Window { start, deadline, measured, schedule });
        self.signal.send_replace(Signal::Run(window.clone()));
        tokio::time::sleep_until(start.into()).await;
        let timer = PhaseTimer::start(name);
        let mut tick = tokio::time::interval(Duration::from_secs(1));
        let mut running = self.plan.clients;
        while running > 0 {
            tokio::select! {
                next = next(&mut self.inbox, &mut self.books) => { next?; running -= 1; }
                failure = lost(&mut self.conditions.team) => return Err(failure),
                _ = tick.tick() => progress.set(start.elapsed().as_secs().min(length.as_secs())),
                _ = tokio::time::sleep_until((deadline + STRAGGLER_LIMIT).into()) => {
                    return Err(Failure::new(Exit::Unreachable, "DatabaseLost", format!(
                        "{running} transactions did not end within {} s after the {name} phase",
                        STRAGGLER_LIMIT.as_secs()
                    )));
                }
            }
        }
        progress.set(seconds);
        if let (true, Some(schedule)) = (measured, &window.schedule) {
            let mut schedule = schedule.lock().expect("no holder of this lock panics");
            self.books.missed.miss_rest(&mut schedule, deadline);
        }
        Ok((timer.end(), usage.end()))
    }
}

/// Waits until a client is ready or done; keeps the books meanwhile.
async fn next(inbox: &mut mpsc::UnboundedReceiver<Event>, books: &mut Books) -> Result<(), Failure> {
    loop {
        match inbox.recv().await {
            Some(Event::Ready | Event::Done) => return Ok(()),
            Some(Event::Slice(slice)) => books.enter(&slice),
            Some(Event::Failed(failure)) => return Err(failure),
            None => return Err(Failure::invalid("all client threads ended early")),
        }
    }
}

/// Ends only with the loss of another process.
async fn lost(team: &mut Option<&mut Team>) -> Failure {
    match team {
        Some(team) => team.lost().await,
        None => std::future::pending().await,
    }
}

/// What happened when.
struct Books {
    live: Live,
    interval: u64,
    /// Of each operation, the points of the measured window.
    series: Vec<Vec<Point>>,
    /// What was due in the measured window and found no client.
    missed: Started,
}

impl Books {
    fn enter(&mut self, slice: &Slice) {
        self.live.add(slice);
        let point = (slice.second / self.interval) as usize;
        for (operation, gathered) in slice.points.iter().filter(|_| slice.measured) {
            // What ended after the window is in none.
            if let Some(mine) = self.series[*operation].get_mut(point) {
                mine.merge(gathered);
            }
        }
    }
}

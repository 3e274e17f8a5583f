//! Clients that run transactions one after the other.
//!
//! They are spread over as many threads as the process has CPUs, each with a runtime of its own, so that a
//! client and its connection never change threads. All wait at a barrier before the warm-up and again before
//! the measured window.
#![allow(async_fn_in_trait)] // clients never leave their single-threaded runtime, so no bound is wanted

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot, watch};

use super::arrivals::{Arrivals, Member, Schedule};
use super::coordinator::{Conditions, Coordinator};
use super::recorder::{Recorder, Slice};
use super::tally::{Tally, Transaction};
use super::timer::Timer;
use super::{Part, Phase, Usage};
use crate::engine::EngineError;
use crate::failure::Failure;

/// A workload whose clients run transactions one after the other.
pub trait Workload: Clone + Send + 'static {
    type Client: Client;

    fn operations(&self) -> &'static [&'static str];

    /// Names of the shares that transactions add to by their marks.
    fn shares(&self) -> &'static [&'static str] {
        &[]
    }

    /// Connects client number `index` and prepares its statements.
    async fn client(&self, index: usize) -> Result<Self::Client, EngineError>;
}

/// One client (TPC-C: terminal) with its connection.
pub trait Client {
    /// How long the client waits before its next transaction in a closed loop; belongs to no latency.
    fn pause(&mut self) -> Duration {
        Duration::ZERO
    }

    /// Runs one transaction to its end, retries included. An error ends the whole run.
    async fn transact(&mut self) -> Result<Transaction, EngineError>;

    /// The next transaction that has ended in the background, if any.
    fn ended(&mut self) -> Result<Option<Transaction>, EngineError> {
        Ok(None)
    }

    /// Waits for the next transaction that is to end in the background; none when all have.
    async fn settle(&mut self) -> Result<Option<Transaction>, EngineError> {
        Ok(None)
    }

    async fn close(self);
}

/// How the clients run.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// In this process.
    pub clients: usize,
    pub warmup: Duration,
    pub duration: Duration,
    pub arrivals: Arrivals,
    /// Of the intended starts of an open loop.
    pub seed: u64,
    pub member: Member,
}

/// The measured window.
pub struct Measured {
    pub phases: Vec<Phase>,
    /// Of this process; where it leads, of all processes.
    pub parts: Vec<Part>,
}

impl Measured {
    /// All parts as one.
    pub fn merged(&self) -> (Tally, Usage) {
        let mut parts = self.parts.iter();
        let first = parts.next().expect("a process has a part of its own");
        let (mut tally, mut usage) = (first.tally.clone(), first.usage.clone());
        for part in parts {
            tally.merge(&part.tally);
            usage.merge(&part.usage);
        }
        (tally, usage)
    }
}

/// A warm-up or measured window that the clients share.
pub(super) struct Window {
    pub start: Instant,
    pub deadline: Instant,
    pub measured: bool,
    /// None in a closed loop.
    pub schedule: Option<Mutex<Schedule>>,
}

#[derive(Clone)]
pub(super) enum Signal {
    Wait,
    Run(Arc<Window>),
    Stop,
}

/// What a thread tells the coordinator.
pub(super) enum Event {
    Ready,
    Done,
    Slice(Slice),
    Failed(Failure),
}

/// Runs the clients through warm-up and measured window.
pub async fn run<W: Workload>(
    workload: &W,
    plan: Plan,
    mut conditions: Conditions<'_>,
) -> Result<Measured, Failure> {
    let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get());
    let threads = cpus.min(plan.clients);
    let (signal, _) = watch::channel(Signal::Wait);
    let (events, inbox) = mpsc::unbounded_channel();
    let first = plan.member.index as usize * plan.clients;
    let mut tallies = Vec::new();
    for thread in 0..threads {
        let (workload, signal, events) = (workload.clone(), signal.subscribe(), events.clone());
        let mine: Vec<usize> = (thread..plan.clients).step_by(threads).map(|index| first + index).collect();
        let (deliver, tally) = oneshot::channel();
        std::thread::Builder::new()
            .name(format!("clients-{thread}"))
            // The receiver is gone only when the run has failed already.
            .spawn(move || drop(deliver.send(run_thread(workload, mine, signal, events))))
            .map_err(|error| Failure::invalid(format!("cannot start a thread: {error}")))?;
        tallies.push(tally);
    }
    drop(events);
    let operations = workload.operations().len();
    let mut coordinator = Coordinator::new(plan, operations, &signal, inbox, &mut conditions);
    let outcome = coordinator.run().await;
    signal.send_replace(Signal::Stop);
    // After a failure the threads, which may hang in a dead connection, are left to the end of the process.
    let (phases, usage) = outcome?;
    let mut tally = Tally::new(operations, workload.shares().len());
    for one in tallies {
        tally.merge(&one.await.map_err(|_| Failure::invalid("a client thread ended early"))?);
    }
    coordinator.complete(&mut tally);
    let own = Part { index: plan.member.index, clients: plan.clients, usage, tally };
    let mut parts = vec![own.clone()];
    if let Some(team) = &mut conditions.team {
        let others = team.merge(own).await?;
        // Processes that only begin together have been told of each other's end, and nothing more.
        if plan.member != Member::ALONE {
            parts.extend(others);
        }
    }
    parts.sort_by_key(|part| part.index);
    Ok(Measured { phases, parts })
}

fn run_thread<W: Workload>(
    workload: W,
    clients: Vec<usize>,
    signal: watch::Receiver<Signal>,
    events: mpsc::UnboundedSender<Event>,
) -> Tally {
    let recorder = Recorder::new(workload.operations().len(), workload.shares().len(), events.clone());
    let recorder = Rc::new(RefCell::new(recorder));
    let local = tokio::task::LocalSet::new();
    for index in clients {
        let (workload, signal, events, recorder) =
            (workload.clone(), signal.clone(), events.clone(), recorder.clone());
        local.spawn_local(async move {
            if let Err(failure) = run_client(workload, index, signal, &events, &recorder).await {
                // No receiver means that the run has been given up already.
                let _ = events.send(Event::Failed(failure));
            }
        });
    }
    drop(events);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime needs only epoll").block_on(local);
    let tally = recorder.borrow().tally.clone();
    tally
}

async fn run_client<W: Workload>(
    workload: W,
    index: usize,
    mut signal: watch::Receiver<Signal>,
    events: &mpsc::UnboundedSender<Event>,
    recorder: &RefCell<Recorder>,
) -> Result<(), Failure> {
    let mut client = workload.client(index).await?;
    let timer = Timer::new().map_err(|error| Failure::invalid(format!("cannot make a timer: {error}")))?;
    let _ = events.send(Event::Ready);
    while signal.changed().await.is_ok() {
        let current = signal.borrow_and_update().clone();
        let Signal::Run(window) = current else { break };
        recorder.borrow_mut().begin(window.start, window.measured);
        tokio::time::sleep_until(window.start.into()).await;
        match &window.schedule {
            None => closed_loop(&mut client, &window, &signal, recorder).await?,
            Some(schedule) => open_loop(&mut client, &window, schedule, &timer, &signal, recorder).await?,
        }
        while let Some(transaction) = client.settle().await? {
            let now = Instant::now();
            recorder.borrow_mut().book(transaction, now, now, window.deadline);
        }
        recorder.borrow_mut().pass_on();
        let _ = events.send(Event::Done);
    }
    client.close().await;
    Ok(())
}

/// The client's next transaction starts when the one before has ended, or after a pause.
async fn closed_loop<C: Client>(
    client: &mut C,
    window: &Window,
    signal: &watch::Receiver<Signal>,
    recorder: &RefCell<Recorder>,
) -> Result<(), Failure> {
    let mut began = Instant::now();
    while began < window.deadline && !given_up(signal) {
        let pause = client.pause();
        if !pause.is_zero() {
            let end = began + pause;
            tokio::time::sleep_until(end.min(window.deadline).into()).await;
            if end >= window.deadline {
                break;
            }
            began = Instant::now();
        }
        let transaction = client.transact().await?;
        let ended = Instant::now();
        book(client, window, recorder, transaction, began, ended)?;
        began = ended;
    }
    Ok(())
}

/// The client takes the next due transaction; its latency counts from when it was due.
async fn open_loop<C: Client>(
    client: &mut C,
    window: &Window,
    schedule: &Mutex<Schedule>,
    timer: &Timer,
    signal: &watch::Receiver<Signal>,
    recorder: &RefCell<Recorder>,
) -> Result<(), Failure> {
    let lost = |error| Failure::invalid(format!("a timer failed: {error}"));
    while !given_up(signal) {
        let due = schedule.lock().expect("no holder of this lock panics").take(window.deadline);
        let Some(due) = due else { break };
        let queued = due < Instant::now();
        timer.until(due).await.map_err(lost)?;
        let started = Instant::now();
        if started >= window.deadline {
            if window.measured {
                recorder.borrow_mut().tally.started.miss(window.deadline - due);
            }
            break;
        }
        if window.measured {
            recorder.borrow_mut().tally.started.start(started - due, queued);
        }
        let transaction = client.transact().await?;
        book(client, window, recorder, transaction, due, Instant::now())?;
    }
    Ok(())
}

fn book<C: Client>(
    client: &mut C,
    window: &Window,
    recorder: &RefCell<Recorder>,
    transaction: Transaction,
    began: Instant,
    ended: Instant,
) -> Result<(), EngineError> {
    let mut recorder = recorder.borrow_mut();
    recorder.book(transaction, began, ended, window.deadline);
    while let Some(transaction) = client.ended()? {
        recorder.book(transaction, began, ended, window.deadline);
    }
    Ok(())
}

/// Whether the coordinator has said something since it started the window, which it does only to end the run.
fn given_up(signal: &watch::Receiver<Signal>) -> bool {
    signal.has_changed().unwrap_or(true)
}

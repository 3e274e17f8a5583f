//! Closed loop: each client sends its next transaction when the one before has ended.
//!
//! Clients are spread over as many threads as the process has CPUs, each with a runtime of its own,
//! so that a client and its connection never change threads. All wait at a barrier before the
//! warm-up and again before the measured window.
#![allow(async_fn_in_trait)] // clients never leave their single-threaded runtime, so no bound is wanted

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot, watch};

use super::tally::{Tally, Transaction};
use super::{Phase, PhaseTimer, Usage, UsageStart};
use crate::engine::EngineError;
use crate::failure::{Exit, Failure};
use crate::report::Progress;
use crate::target::Observer;

/// A transaction that has not ended this long after the window is given up.
const STRAGGLER_LIMIT: Duration = Duration::from_secs(120);

/// The clients are told a moment ahead, so that they begin together.
const LEAD: Duration = Duration::from_millis(10);

/// A workload whose clients run transactions one after the other.
pub trait Workload: Clone + Send + 'static {
    type Client: Client;

    fn operations(&self) -> &'static [&'static str];

    /// Connects client number `index` and prepares its statements.
    async fn client(&self, index: usize) -> Result<Self::Client, EngineError>;
}

/// One client (TPC-C: terminal) with its connection.
pub trait Client {
    /// Runs one transaction to its end, retries included. An error ends the whole run.
    async fn transact(&mut self) -> Result<Transaction, EngineError>;

    async fn close(self);
}

/// Length of the phases.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub clients: usize,
    pub warmup: Duration,
    pub duration: Duration,
}

/// The measured window.
pub struct Measured {
    pub tally: Tally,
    pub phases: Vec<Phase>,
    pub usage: Usage,
}

#[derive(Clone, Copy)]
enum Signal {
    Wait,
    Run { start: Instant, deadline: Instant, measured: bool },
    Stop,
}

enum Event {
    Ready,
    Done,
    Failed(EngineError),
}

/// Runs the clients through warm-up and measured window; `observer` looks at the target around the latter.
pub async fn run<W: Workload>(
    workload: &W,
    plan: Plan,
    observer: &mut Observer,
    progress: &Progress,
) -> Result<Measured, Failure> {
    let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get());
    let threads = cpus.min(plan.clients);
    let (signal, _) = watch::channel(Signal::Wait);
    let (events, inbox) = mpsc::unbounded_channel();
    let mut tallies = Vec::new();
    for thread in 0..threads {
        let (workload, signal, events) = (workload.clone(), signal.subscribe(), events.clone());
        let mine: Vec<usize> = (thread..plan.clients).step_by(threads).collect();
        let (deliver, tally) = oneshot::channel();
        std::thread::Builder::new()
            .name(format!("clients-{thread}"))
            // The receiver is gone only when the run has failed already.
            .spawn(move || drop(deliver.send(run_thread(workload, mine, signal, events))))
            .map_err(|error| Failure::invalid(format!("cannot start a thread: {error}")))?;
        tallies.push(tally);
    }
    drop(events);
    let outcome = coordinate(plan, &signal, inbox, observer, progress).await;
    signal.send_replace(Signal::Stop);
    // After a failure the threads, which may hang in a dead connection, are left to the end of the process.
    let (phases, usage) = outcome?;
    let mut tally = Tally::new(workload.operations().len());
    for one in tallies {
        tally.merge(&one.await.map_err(|_| Failure::invalid("a client thread ended early"))?);
    }
    Ok(Measured { tally, phases, usage })
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime needs only epoll")
}

async fn coordinate(
    plan: Plan,
    signal: &watch::Sender<Signal>,
    mut inbox: mpsc::UnboundedReceiver<Event>,
    observer: &mut Observer,
    progress: &Progress,
) -> Result<(Vec<Phase>, Usage), Failure> {
    progress.begin("connect", plan.clients as u64, "clients");
    for connected in 0..plan.clients {
        next(&mut inbox).await?;
        progress.set(connected as u64 + 1);
    }
    let mut phases = Vec::new();
    if !plan.warmup.is_zero() {
        phases.push(window("warmup", plan.warmup, plan.clients, false, signal, &mut inbox, progress).await?);
    }
    observer.before().await?;
    let start = UsageStart::now();
    phases.push(window("measure", plan.duration, plan.clients, true, signal, &mut inbox, progress).await?);
    let usage = start.end();
    observer.after().await?;
    progress.finish();
    Ok((phases, usage))
}

/// Lets all clients run for `length` and waits until each has ended its last transaction.
async fn window(
    name: &'static str,
    length: Duration,
    clients: usize,
    measured: bool,
    signal: &watch::Sender<Signal>,
    inbox: &mut mpsc::UnboundedReceiver<Event>,
    progress: &Progress,
) -> Result<Phase, Failure> {
    let start = Instant::now() + LEAD;
    let deadline = start + length;
    progress.begin(name, length.as_secs_f64().ceil() as u64, "seconds");
    signal.send_replace(Signal::Run { start, deadline, measured });
    tokio::time::sleep_until(start.into()).await;
    let timer = PhaseTimer::start(name);
    let mut tick = tokio::time::interval(Duration::from_secs(1));
    let mut running = clients;
    while running > 0 {
        tokio::select! {
            event = next(inbox) => { event?; running -= 1; }
            _ = tick.tick() => progress.set(start.elapsed().as_secs().min(length.as_secs())),
            _ = tokio::time::sleep_until((deadline + STRAGGLER_LIMIT).into()) => {
                return Err(Failure::new(Exit::Unreachable, "DatabaseLost", format!(
                    "{running} transactions did not end within {} s after the {name} phase",
                    STRAGGLER_LIMIT.as_secs()
                )));
            }
        }
    }
    progress.set(length.as_secs_f64().ceil() as u64);
    Ok(timer.end())
}

async fn next(inbox: &mut mpsc::UnboundedReceiver<Event>) -> Result<(), Failure> {
    match inbox.recv().await {
        Some(Event::Ready | Event::Done) => Ok(()),
        Some(Event::Failed(error)) => Err(error.into()),
        None => Err(Failure::invalid("all client threads ended early")),
    }
}

fn run_thread<W: Workload>(
    workload: W,
    clients: Vec<usize>,
    signal: watch::Receiver<Signal>,
    events: mpsc::UnboundedSender<Event>,
) -> Tally {
    let tally = Rc::new(RefCell::new(Tally::new(workload.operations().len())));
    let local = tokio::task::LocalSet::new();
    for index in clients {
        let (workload, signal, events, tally) =
            (workload.clone(), signal.clone(), events.clone(), tally.clone());
        local.spawn_local(async move {
            if let Err(error) = run_client(workload, index, signal, &events, &tally).await {
                // No receiver means that the run has been given up already.
                let _ = events.send(Event::Failed(error));
            }
        });
    }
    drop(events);
    runtime().block_on(local);
    let tally = tally.borrow().clone();
    tally
}

async fn run_client<W: Workload>(
    workload: W,
    index: usize,
    mut signal: watch::Receiver<Signal>,
    events: &mpsc::UnboundedSender<Event>,
    tally: &RefCell<Tally>,
) -> Result<(), EngineError> {
    let mut client = workload.client(index).await?;
    let _ = events.send(Event::Ready);
    while signal.changed().await.is_ok() {
        let current = *signal.borrow_and_update();
        let Signal::Run { start, deadline, measured } = current else { break };
        tokio::time::sleep_until(start.into()).await;
        let mut began = Instant::now();
        while began < deadline {
            let transaction = client.transact().await?;
            let ended = Instant::now();
            if measured {
                tally.borrow_mut().book(transaction, ended - began, ended <= deadline);
            }
            began = ended;
            if signal.has_changed().unwrap_or(true) {
                break;
            }
        }
        let _ = events.send(Event::Done);
    }
    client.close().await;
    Ok(())
}

//! Cold starts: on request the database is stopped, its files leave the page cache, and it is started again.
//!
//! The request comes in by HTTP, in a thread; the database is stopped and started by PID 1's own loop, which
//! alone waits for processes.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::signal::Signal;
use serde::Serialize;

use crate::config::{AgentConfig, Readiness};
use crate::page_cache::{drop_directory, Dropped};
use crate::readiness;
use crate::supervisor::{supervise, Ended, Program, Signals};

/// How long a database may take to answer again, and the page cache to be written back and dropped.
const PATIENCE: Duration = Duration::from_secs(300);
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// What a cold start did.
#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ColdStart {
    #[serde(flatten)]
    pub dropped: Dropped,
    /// From the stop signal to the end of the database's first process.
    pub stop_seconds: f64,
    /// From the start to the first answer.
    pub start_seconds: f64,
}

/// Why there was no cold start.
#[derive(Debug, PartialEq)]
pub enum Refusal {
    /// Another one is under way.
    Busy,
    Failed(String),
}

type Stopped = Result<(Dropped, f64), String>;

/// Passes requests for cold starts to the loop that runs the database.
#[derive(Debug)]
pub struct ColdStarts {
    data: PathBuf,
    readiness: Readiness,
    grace: Duration,
    wake: EventFd,
    order: Mutex<Option<Sender<Stopped>>>,
    under_way: AtomicBool,
}

impl ColdStarts {
    /// None where the configuration does not allow cold starts.
    pub fn new(config: &AgentConfig) -> Result<Option<Arc<Self>>, String> {
        if !config.cold_starts {
            return Ok(None);
        }
        let (data, readiness) = (config.data_directory.clone(), config.readiness.clone());
        let (data, readiness) = data.zip(readiness).ok_or("coldStarts needs dataDirectory and readiness")?;
        let flags = EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC;
        let wake = EventFd::from_flags(flags).map_err(|error| format!("cannot make an event: {error}"))?;
        Ok(Some(Arc::new(Self {
            data,
            readiness,
            grace: Duration::from_secs(config.stop_grace_seconds),
            wake,
            order: Mutex::new(None),
            under_way: AtomicBool::new(false),
        })))
    }

    /// Whether the database is down because it was asked to be, and will be back.
    pub fn under_way(&self) -> bool {
        self.under_way.load(Ordering::SeqCst)
    }

    /// Makes one cold start; returns when the database answers again.
    pub fn perform(&self) -> Result<ColdStart, Refusal> {
        if self.under_way.swap(true, Ordering::SeqCst) {
            return Err(Refusal::Busy);
        }
        let outcome = self.order_and_wait();
        self.under_way.store(false, Ordering::SeqCst);
        outcome.map_err(Refusal::Failed)
    }

    fn order_and_wait(&self) -> Result<ColdStart, String> {
        let (sender, stopped) = channel();
        *self.order.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(sender);
        self.wake.write(1).map_err(|error| format!("cannot wake PID 1: {error}"))?;
        let (dropped, stop_seconds) = stopped
            .recv_timeout(self.grace + PATIENCE)
            .map_err(|_| "the database did not stop, or its pages were not dropped, in time".to_string())??;
        let started = Instant::now();
        while let Err(reason) = readiness::check(&self.readiness) {
            if started.elapsed() > PATIENCE {
                return Err(format!(
                    "the database does not answer {} s after it was started: {reason}",
                    PATIENCE.as_secs()
                ));
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        Ok(ColdStart { dropped, stop_seconds, start_seconds: started.elapsed().as_secs_f64() })
    }

    /// Between the end of the database and its next start.
    fn fulfil(&self, ended: &Ended) {
        let _ = self.wake.read();
        let order = self.order.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        let stopped = self.drop_pages(ended);
        // Whoever asked may have lost patience.
        order.and_then(|order| order.send(stopped).ok());
    }

    fn drop_pages(&self, ended: &Ended) -> Stopped {
        if ended.killed {
            return Err(format!(
                "the database had to be killed: it had not ended {} s after it was asked to",
                self.grace.as_secs()
            ));
        }
        let dropped = drop_directory(&self.data)?;
        Ok((dropped, ended.stopping.as_secs_f64()))
    }
}

impl AsFd for ColdStarts {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}

/// How a database is stopped.
#[derive(Debug, Clone, Copy)]
pub struct Stop {
    pub signal: Signal,
    pub grace: Duration,
}

/// Runs the database until it ends by itself or is asked to stop; in between it starts anew for each cold start.
/// `started` is told of every start.
pub fn run_database(
    signals: &Signals,
    program: &Program<'_>,
    stop: Stop,
    buttons: &[BorrowedFd<'_>],
    cold: Option<&ColdStarts>,
    mut started: impl FnMut(),
) -> Result<Ended, String> {
    loop {
        let main = program.start()?;
        started();
        let ended = supervise(signals, main, stop.signal, stop.grace, buttons, cold.map(AsFd::as_fd))?;
        match cold {
            Some(cold) if ended.restart && !ended.requested => cold.fulfil(&ended),
            _ => return Ok(ended),
        }
    }
}

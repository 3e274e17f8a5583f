//! Starts the work processes, lets them begin together, and collects what they measured.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use dbbench_probes::clock::monotonic_nanoseconds;
use dbbench_probes::kernel;

use super::work_process::{Message, WorkProcessTask};
use crate::failure::Failure;
use crate::measure::{Phase, PhaseTimer, Usage, UsageStart};
use crate::report::{Progress, WorkProcess};
use crate::target::Observer;
use crate::workload::gate::Gate;

/// The processes are told a moment ahead, so that they begin together.
const LEAD: Duration = Duration::from_millis(50);

pub struct Plan {
    pub processes: usize,
    pub task: WorkProcessTask,
    pub warmup: Duration,
    pub duration: Duration,
}

pub struct Measured {
    pub work_processes: Vec<WorkProcess>,
    pub phases: Vec<Phase>,
    pub usage: Usage,
    /// By the machine during the measured window.
    pub pages_swapped_in: Option<u64>,
}

pub async fn run(
    plan: &Plan,
    gate: &mut Gate,
    observer: &mut Observer,
    progress: &Progress,
) -> Result<Measured, Failure> {
    progress.begin("load", plan.processes as u64, "tables");
    let mut phases = Vec::new();
    let timer = PhaseTimer::start("load");
    // All start at once: filling a table takes a CPU, and the machine may have several.
    let mut processes =
        (0..plan.processes).map(|number| Process::start(plan, number + 1)).collect::<Result<Vec<_>, _>>()?;
    for process in &mut processes {
        match process.hear()? {
            Message::Ready => progress.advance(1),
            _ => return Err(process.odd()),
        }
    }
    phases.push(timer.end());
    gate.pass().await?;

    let start = monotonic_nanoseconds() + (LEAD + plan.warmup).as_nanos() as u64;
    let end = start + plan.duration.as_nanos() as u64;
    for process in &mut processes {
        process.tell(start, end)?;
    }
    if !plan.warmup.is_zero() {
        let timer = PhaseTimer::start("warmup");
        wait(start, "warmup", &mut processes, progress).await?;
        phases.push(timer.end());
    } else {
        tokio::time::sleep(LEAD).await;
    }
    observer.before().await?;
    let (timer, usage, swapped) =
        (PhaseTimer::start("measure"), UsageStart::now(), kernel::pages_swapped_in());
    wait(end, "measure", &mut processes, progress).await?;
    let work_processes = processes
        .iter_mut()
        .map(|process| match process.hear()? {
            Message::Measured(measured) => Ok(measured),
            _ => Err(process.odd()),
        })
        .collect::<Result<Vec<_>, _>>()?;
    let swapped_after = kernel::pages_swapped_in();
    phases.push(timer.end());
    let mut usage = usage.end();
    // The work processes are the load, not the driver: this is the cost of the one that waited for them.
    usage.saturated = false;
    observer.after().await?;
    progress.finish();
    let pages_swapped_in = swapped_after.zip(swapped).map(|(after, before)| after - before);
    Ok(Measured { work_processes, phases, usage, pages_swapped_in })
}

/// Until a moment of CLOCK_MONOTONIC, with progress in seconds. A work process that ends before it is not waited for.
async fn wait(
    until: u64,
    phase: &'static str,
    processes: &mut [Process],
    progress: &Progress,
) -> Result<(), Failure> {
    let left = || Duration::from_nanos(until.saturating_sub(monotonic_nanoseconds()));
    let total = left();
    progress.begin(phase, total.as_secs().max(1), "seconds");
    while !left().is_zero() {
        tokio::time::sleep(left().min(Duration::from_millis(500))).await;
        progress.set(total.saturating_sub(left()).as_secs());
        for process in processes.iter_mut() {
            if !left().is_zero() && matches!(process.child.try_wait(), Ok(Some(_))) {
                return Err(process.odd());
            }
        }
    }
    Ok(())
}

/// A running work process; killed when it is dropped before its end.
struct Process {
    number: usize,
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Process {
    fn start(plan: &Plan, number: usize) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| {
            Failure::invalid(format!("work process {number} cannot be started: {error}"))
        };
        let mut child = Command::new("/proc/self/exe")
            .args(plan.task.arguments(number))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let output = BufReader::new(child.stdout.take().expect("piped above"));
        Ok(Process { number, child, output })
    }

    fn tell(&mut self, start: u64, end: u64) -> Result<(), Failure> {
        let input = self.child.stdin.as_mut().expect("piped at the start");
        match writeln!(input, "{start} {end}") {
            Ok(()) => Ok(()),
            Err(_) => Err(self.odd()),
        }
    }

    /// The next message; a process that says why it failed, or nothing, ends the run.
    fn hear(&mut self) -> Result<Message, Failure> {
        let mut line = String::new();
        let message = match self.output.read_line(&mut line) {
            Ok(1..) => serde_json::from_str(&line).ok(),
            _ => None,
        };
        match message {
            Some(Message::Failed(reason)) => {
                Err(Failure::invalid(format!("work process {} failed: {reason}", self.number)))
            }
            Some(message) => Ok(message),
            None => Err(self.odd()),
        }
    }

    /// What became of a process that did not say what it should have said.
    fn odd(&mut self) -> Failure {
        let number = self.number;
        // Its output is closed, or is not what is expected: it has ended, or is ended here.
        let _ = self.child.kill();
        let end = match self.child.wait() {
            Ok(status) => match status.signal() {
                Some(signal) => format!("was ended by signal {signal} (9: out of memory, or killed)"),
                None => format!("ended with {status}"),
            },
            Err(error) => format!("is lost: {error}"),
        };
        Failure::invalid(format!("work process {number} {end} before it had measured"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail where the process has been waited for already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

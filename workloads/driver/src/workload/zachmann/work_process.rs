//! A work process: a process of its own with a table of its own, told by its parent when to measure.
//!
//! It writes one line when its table is filled, reads one line (`START END`, nanoseconds of CLOCK_MONOTONIC),
//! writes one line with what it measured, and stays until it is ended.

use std::io::{BufRead, Write};
use std::process::ExitCode;

use clap::Args;
use dbbench_probes::clock::monotonic_nanoseconds;
use dbbench_probes::kernel::{self, Counters};
use serde::{Deserialize, Serialize};

use super::table::Table;
use super::Pages;
use crate::report::WorkProcess;

/// Bytes read between two looks at the clock: takes less than a millisecond.
const CHUNK_BYTES: u64 = 512 << 10;

/// What a work process is told on its command line.
#[derive(Debug, Clone, Args)]
pub struct WorkProcessTask {
    #[arg(long, default_value_t = 0)]
    number: usize,
    #[arg(long)]
    table_bytes: u64,
    #[arg(long)]
    record_bytes: u64,
    #[arg(long, value_enum)]
    pages: Pages,
    #[arg(long)]
    seed: u64,
}

/// What a work process writes, one line each.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Message {
    Ready,
    Measured(WorkProcess),
    Failed(String),
}

impl WorkProcessTask {
    /// For the process with number 0; [`WorkProcessTask::arguments`] makes those of the others.
    pub fn new(table_bytes: u64, record_bytes: u64, pages: Pages, seed: u64) -> Self {
        WorkProcessTask { number: 0, table_bytes, record_bytes, pages, seed }
    }

    /// The command line of process `number`. Every process has a seed of its own.
    pub fn arguments(&self, number: usize) -> Vec<String> {
        let pages = dbbench_probes::region::Pages::from(self.pages).name();
        let mut line: Vec<String> = vec![super::NAME.into(), "work-process".into()];
        for (option, value) in [
            ("--number", number.to_string()),
            ("--table-bytes", self.table_bytes.to_string()),
            ("--record-bytes", self.record_bytes.to_string()),
            ("--pages", pages.to_string()),
            ("--seed", self.seed.wrapping_add(number as u64).to_string()),
        ] {
            line.extend([option.into(), value]);
        }
        line
    }
}

/// The whole life of a work process.
pub fn work_process(task: &WorkProcessTask) -> ExitCode {
    // SAFETY: prctl with this option only asks for a signal. A parent that is killed takes its processes along.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    match serve(task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The parent may be gone; there is nobody else to tell.
            let _ = say(&Message::Failed(error.to_string()));
            ExitCode::FAILURE
        }
    }
}

fn serve(task: &WorkProcessTask) -> std::io::Result<()> {
    let mut table =
        Table::new(task.table_bytes as usize, task.record_bytes as usize, task.pages.into(), task.seed)?;
    say(&Message::Ready)?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    let mut times = line.split_whitespace().map(str::parse::<u64>);
    let (Some(Ok(start)), Some(Ok(end))) = (times.next(), times.next()) else {
        return Err(std::io::Error::other("no times to measure between"));
    };
    say(&Message::Measured(measure(task, &mut table, start, end)?))?;
    // Counters of the machine are read after the window, and are to have this process among them: its parent ends it.
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(())
}

/// Counts the reads between the two moments: chunks count by the time of their end. The window is the same for all
/// processes, so that one that gets no CPU at its beginning or end is not the faster for it.
fn measure(task: &WorkProcessTask, table: &mut Table, start: u64, end: u64) -> std::io::Result<WorkProcess> {
    let chunk = (CHUNK_BYTES / task.record_bytes).max(1);
    while monotonic_nanoseconds() < start {
        table.read(chunk);
    }
    let swapped = kernel::swapped_bytes();
    let waited = kernel::run_queue_seconds();
    let (wrong, before) = (table.wrong_records, Counters::of_process());
    let mut reads = 0;
    loop {
        table.read(chunk);
        if monotonic_nanoseconds() > end {
            break;
        }
        reads += chunk;
    }
    let used = Counters::of_process().since(&before);
    let seconds = (end - start) as f64 / 1e9;
    Ok(WorkProcess {
        number: task.number,
        reads,
        wrong_records: table.wrong_records - wrong,
        seconds,
        reads_per_second: reads as f64 / seconds,
        user_seconds: used.user_seconds,
        system_seconds: used.system_seconds,
        run_queue_seconds: kernel::run_queue_seconds().zip(waited).map(|(after, before)| after - before),
        minor_faults: used.minor_faults,
        major_faults: used.major_faults,
        swapped_bytes: kernel::swapped_bytes().max(swapped),
        table_bytes: table.region().bytes() as u64,
        huge_page_bytes: table.region().huge_bytes()?,
        checksum: format!("{:016x}", table.checksum),
    })
}

fn say(message: &Message) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string(message).map_err(std::io::Error::other)?)?;
    out.flush()
}

//! What the driver itself costs, and whether it was the bottleneck.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// A thread that wants the CPU for more than this share of the time makes its clients wait for the
/// driver, not for the database.
const SATURATED: f64 = 0.9;

/// The driver's own use of the machine during a phase, in seconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    pub user_seconds: f64,
    pub system_seconds: f64,
    /// Time that the driver's threads were ready to run and waited for a CPU.
    pub run_queue_seconds: f64,
    pub wall_seconds: f64,
    /// Largest share of the wall time that one thread was running or waiting for a CPU.
    pub busiest_thread_share: f64,
    pub saturated: bool,
}

/// The state at the start of a phase.
pub struct UsageStart {
    at: Instant,
    cpu: (f64, f64),
    threads: HashMap<String, (Duration, Duration)>,
}

impl UsageStart {
    pub fn now() -> Self {
        UsageStart { at: Instant::now(), cpu: own_cpu(), threads: own_threads() }
    }

    /// What was used since. Threads that came in between are counted, those that ended are not.
    pub fn end(&self) -> Usage {
        let wall = self.at.elapsed().as_secs_f64();
        let cpu = own_cpu();
        let mut run_queue = 0.0;
        let mut busiest: f64 = 0.0;
        for (thread, (ran, waited)) in own_threads() {
            let (ran0, waited0) = self.threads.get(&thread).copied().unwrap_or_default();
            let waited = waited.saturating_sub(waited0).as_secs_f64();
            let ran = ran.saturating_sub(ran0).as_secs_f64();
            run_queue += waited;
            busiest = busiest.max(ran + waited);
        }
        let share = if wall > 0.0 { (busiest / wall).min(1.0) } else { 0.0 };
        Usage {
            user_seconds: cpu.0 - self.cpu.0,
            system_seconds: cpu.1 - self.cpu.1,
            run_queue_seconds: run_queue,
            wall_seconds: wall,
            busiest_thread_share: share,
            saturated: share > SATURATED,
        }
    }
}

impl Usage {
    /// Adds what another process used meanwhile.
    pub fn merge(&mut self, other: &Usage) {
        self.user_seconds += other.user_seconds;
        self.system_seconds += other.system_seconds;
        self.run_queue_seconds += other.run_queue_seconds;
        self.wall_seconds = self.wall_seconds.max(other.wall_seconds);
        self.busiest_thread_share = self.busiest_thread_share.max(other.busiest_thread_share);
        self.saturated |= other.saturated;
    }

    /// Of a driver that is meant to share its CPUs with what it measures: that it waits for them is no objection.
    pub fn excused(mut self, beside_database: bool) -> Self {
        self.saturated &= !beside_database;
        self
    }

    /// Why a measurement with this usage does not count, if so.
    pub fn objection(&self) -> Option<String> {
        self.saturated.then(|| {
            format!(
                "the driver was saturated: one of its threads was running or waiting for a CPU during {:.0} % of \
                 the measured window (limit {:.0} %); give the driver more CPUs or fewer clients",
                self.busiest_thread_share * 100.0,
                SATURATED * 100.0
            )
        })
    }
}

/// User and system time of this process, in seconds.
pub(super) fn own_cpu() -> (f64, f64) {
    // SAFETY: all-zero bytes are a valid rusage, and getrusage only writes into it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    (seconds(usage.ru_utime), seconds(usage.ru_stime))
}

/// Time that the threads of this process have waited for a CPU, in seconds.
pub(super) fn own_run_queue() -> f64 {
    own_threads().values().map(|(_, waited)| waited.as_secs_f64()).sum()
}

/// Thread id to (time on a CPU, time waiting for one). Empty where the kernel keeps no such statistics.
fn own_threads() -> HashMap<String, (Duration, Duration)> {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return HashMap::new() };
    tasks
        .flatten()
        .filter_map(|task| {
            let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
            Some((task.file_name().to_string_lossy().into_owned(), parse_schedstat(&text)?))
        })
        .collect()
}

/// The first two of schedstat's three numbers are nanoseconds on the CPU and on the run queue.
fn parse_schedstat(text: &str) -> Option<(Duration, Duration)> {
    let mut numbers = text.split_whitespace().map(|number| number.parse().ok().map(Duration::from_nanos));
    Some((numbers.next()??, numbers.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedstat_gives_running_and_waiting_time() {
        let parsed = parse_schedstat("1500000000 250000000 42\n").unwrap();
        assert_eq!(parsed, (Duration::from_millis(1500), Duration::from_millis(250)));
        assert_eq!(parse_schedstat("garbage"), None);
        assert_eq!(parse_schedstat(""), None);
    }

    #[test]
    fn work_shows_up_as_user_time_of_one_thread() {
        let start = UsageStart::now();
        let mut sum = 0u64;
        while start.end().user_seconds <= 0.0 {
            sum = (0..1_000_000u64).fold(sum, |a, b| std::hint::black_box(a ^ b.wrapping_mul(31)));
        }
        let usage = start.end();
        assert!(usage.user_seconds > 0.0 && usage.wall_seconds > 0.0);
        assert!((0.0..=1.0).contains(&usage.busiest_thread_share));
    }

    #[test]
    fn only_a_saturated_driver_is_objected_to() {
        assert_eq!(Usage::default().objection(), None);
        let usage = Usage { busiest_thread_share: 0.97, saturated: true, ..Usage::default() };
        assert!(usage.objection().unwrap().contains("97 %"));
    }
}

//! Counters of the database's container or guest: what has been used up to now.

mod cgroup;
mod guest;

pub use cgroup::Cgroup;

use std::path::Path;
use std::time::SystemTime;

use serde::Serialize;

use crate::process_table::{self, ProcessCounters};
use crate::scope::Scope;

/// All counters, at one time. Absent means that this kernel does not tell.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counters {
    /// RFC 3339, UTC.
    pub taken_at: String,
    /// Since the kernel started: of the node, or of the guest.
    pub uptime_seconds: f64,
    pub cpu: Cpu,
    pub processes: ProcessCounters,
    pub io: Io,
    pub memory: Memory,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pressure: Option<Pressure>,
}

/// CPU time of everything in the scope.
#[derive(Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cpu {
    pub user_seconds: Option<f64>,
    pub system_seconds: Option<f64>,
    /// Time that the hypervisor gave to others, on the CPUs that this scope may use.
    pub steal_seconds: Option<f64>,
    /// Time in which the CFS quota was used up.
    pub throttled_seconds: Option<f64>,
    pub throttled_periods: Option<u64>,
}

/// Bytes that went to and came from block devices.
#[derive(Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Io {
    pub read_bytes: Option<u64>,
    pub write_bytes: Option<u64>,
}

/// Memory in use, and how much of it is page cache (with shared memory).
#[derive(Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    pub used_bytes: Option<u64>,
    pub file_bytes: Option<u64>,
}

/// Time in which tasks waited for a resource (PSI).
#[derive(Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pressure {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Stall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Stall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io: Option<Stall>,
}

/// Time in which some, and in which all, tasks waited.
#[derive(Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stall {
    pub some_seconds: f64,
    pub full_seconds: f64,
}

/// Reads all counters of the scope.
pub fn read(scope: Scope) -> Counters {
    let root = Path::new("/");
    let (mut cpu, io, memory, pressure) = match scope {
        Scope::Container => {
            let cgroup = Cgroup::of_this_process(root);
            (cgroup.cpu(), cgroup.io(), cgroup.memory(), cgroup.pressure())
        }
        Scope::Guest => (guest::cpu(root), guest::io(root), guest::memory(root), guest::pressure(root)),
    };
    if cpu.steal_seconds.is_none() {
        cpu.steal_seconds = guest::steal_on(root, &allowed_cpus(root));
    }
    Counters {
        taken_at: humantime::format_rfc3339_millis(SystemTime::now()).to_string(),
        uptime_seconds: uptime(root).unwrap_or(0.0),
        cpu,
        processes: process_table::sum(&root.join("proc"), std::process::id()),
        io,
        memory,
        pressure,
    }
}

/// Numbers of the CPUs that this process may run on.
pub fn allowed_cpus(root: &Path) -> Vec<u32> {
    let status = std::fs::read_to_string(root.join("proc/self/status")).unwrap_or_default();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    parse_cpu_list(list.unwrap_or_default().trim())
}

/// Reads a list such as `0-3,8`.
pub fn parse_cpu_list(list: &str) -> Vec<u32> {
    let mut cpus = Vec::new();
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) {
            cpus.extend(first..=last);
        }
    }
    cpus
}

fn uptime(root: &Path) -> Option<f64> {
    std::fs::read_to_string(root.join("proc/uptime")).ok()?.split_whitespace().next()?.parse().ok()
}

fn ticks_to_seconds(ticks: u64) -> f64 {
    let rate = nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK).ok().flatten().unwrap_or(100);
    ticks as f64 / rate as f64
}

/// Reads a PSI file: `some avg10=0.00 avg60=0.00 avg300=0.00 total=1234` (microseconds), and `full` alike.
fn parse_pressure(text: &str) -> Option<Stall> {
    let total = |kind: &str| {
        let line = text.lines().find(|line| line.starts_with(kind))?;
        let total = line.split_whitespace().find_map(|word| word.strip_prefix("total="))?;
        Some(total.parse::<u64>().ok()? as f64 / 1e6)
    };
    // Old kernels have no `full` for the CPU.
    Some(Stall { some_seconds: total("some")?, full_seconds: total("full").unwrap_or(0.0) })
}

/// Returns the value of `key value` lines, as in memory.stat and cpu.stat.
fn keyed(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(char::is_whitespace)?;
        (name.trim_end_matches(':') == key).then(|| value.split_whitespace().next()?.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_lists_are_read() {
        assert_eq!(parse_cpu_list("0-2,5"), [0, 1, 2, 5]);
        assert_eq!(parse_cpu_list("7"), [7]);
        assert!(parse_cpu_list("").is_empty());
    }

    #[test]
    fn pressure_is_in_seconds() {
        let text = "some avg10=0.00 avg60=0.10 avg300=0.00 total=2500000\nfull avg10=0.00 total=1000000\n";
        assert_eq!(parse_pressure(text), Some(Stall { some_seconds: 2.5, full_seconds: 1.0 }));
        assert_eq!(parse_pressure("some total=1000000").unwrap().full_seconds, 0.0);
        assert_eq!(parse_pressure(""), None);
    }

    #[test]
    fn this_process_has_counters() {
        let counters = read(Scope::Guest);
        assert!(counters.uptime_seconds > 0.0);
        assert!(counters.cpu.user_seconds.unwrap() > 0.0);
        assert!(counters.memory.used_bytes.unwrap() > 0);
    }
}

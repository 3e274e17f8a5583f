//! The processes that descend from the agent, as /proc shows them (proc(5)).
//!
//! The agent starts the database and is the reaper of what that leaves behind, so its descendants are the
//! database's processes and no others: not a guest's kernel threads, and not the node's processes where the
//! container has no PID namespace of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Serialize;

/// Sums over the database's processes: the agent's descendants.
///
/// Times and faults include those of processes that have ended and were waited for. Context switches and
/// run queue time are only known of threads that still live.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProcessCounters {
    pub user_seconds: f64,
    pub system_seconds: f64,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub voluntary_context_switches: u64,
    pub involuntary_context_switches: u64,
    /// Time in which a thread could run and had no CPU.
    pub run_queue_seconds: f64,
    /// Bytes fetched from storage (not from the page cache), and those that the agent fetched itself: the
    /// kernel adds to its parent's what a process that has ended had read. None without the right to know.
    pub read_bytes: Option<u64>,
    /// Processes alive.
    pub count: u64,
}

/// What /proc/PID/stat says of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    pub parent: u32,
    pub minor_faults: u64,
    pub children_minor_faults: u64,
    pub major_faults: u64,
    pub children_major_faults: u64,
    /// Clock ticks.
    pub user: u64,
    pub system: u64,
    pub children_user: u64,
    pub children_system: u64,
}

/// Reads one line of /proc/PID/stat. The name, in parentheses, may hold spaces and parentheses.
pub fn parse_stat(text: &str) -> Option<Stat> {
    let fields: Vec<&str> = text[text.rfind(')')? + 1..].split_whitespace().collect();
    // proc(5) counts from 1, with the state as field 3.
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    Some(Stat {
        parent: field(4)? as u32,
        minor_faults: field(10)?,
        children_minor_faults: field(11)?,
        major_faults: field(12)?,
        children_major_faults: field(13)?,
        user: field(14)?,
        system: field(15)?,
        children_user: field(16)?,
        children_system: field(17)?,
    })
}

/// Sums the counters of the descendants of `agent`, and of its children that it has waited for.
pub fn sum(proc: &Path, agent: u32) -> ProcessCounters {
    let ticks = nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK).ok().flatten().unwrap_or(100) as f64;
    let mut total = ProcessCounters { read_bytes: Some(0), ..ProcessCounters::default() };
    let mut user = 0;
    let mut system = 0;
    for (process, (directory, stat)) in family(proc, agent) {
        match read(&directory, "io").and_then(|text| fetched_bytes(&text)) {
            Some(fetched) => total.read_bytes = total.read_bytes.map(|sum| sum + fetched),
            None if directory.join("stat").exists() => total.read_bytes = None,
            // It has ended meanwhile.
            None => {}
        }
        user += stat.children_user;
        system += stat.children_system;
        total.minor_faults += stat.children_minor_faults;
        total.major_faults += stat.children_major_faults;
        if process == agent {
            continue;
        }
        user += stat.user;
        system += stat.system;
        total.minor_faults += stat.minor_faults;
        total.major_faults += stat.major_faults;
        total.count += 1;
        // Unlike times and faults, the kernel does not sum these over the threads of a process.
        for (_, thread) in processes(&directory.join("task")) {
            for line in read(&thread, "status").unwrap_or_default().lines() {
                let value = || line.split_whitespace().nth(1).and_then(|text| text.parse::<u64>().ok());
                if line.starts_with("voluntary_ctxt_switches:") {
                    total.voluntary_context_switches += value().unwrap_or(0);
                } else if line.starts_with("nonvoluntary_ctxt_switches:") {
                    total.involuntary_context_switches += value().unwrap_or(0);
                }
            }
            // Time on a CPU, time waiting for one (both nanoseconds), number of time slices.
            let waited = read(&thread, "schedstat").unwrap_or_default();
            let waited = waited.split_whitespace().nth(1).and_then(|text| text.parse::<u64>().ok());
            total.run_queue_seconds += waited.unwrap_or(0) as f64 / 1e9;
        }
    }
    total.user_seconds = user as f64 / ticks;
    total.system_seconds = system as f64 / ticks;
    total
}

/// Reads `read_bytes` of /proc/PID/io.
fn fetched_bytes(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("read_bytes:"))?.trim().parse().ok()
}

/// Returns the directory below `proc` of the agent's oldest descendant whose executable has one of these base names.
pub fn running(proc: &Path, agent: u32, executables: &[impl AsRef<str>]) -> Option<PathBuf> {
    let found = family(proc, agent).into_values().find(|(directory, _)| {
        std::fs::read_link(directory.join("exe")).is_ok_and(|path| {
            path.file_name().is_some_and(|name| executables.iter().any(|one| name == one.as_ref()))
        })
    });
    found.map(|(directory, _)| directory)
}

/// The agent and its descendants by number: directory and figures.
fn family(proc: &Path, agent: u32) -> BTreeMap<u32, (PathBuf, Stat)> {
    let all: BTreeMap<u32, (PathBuf, Stat)> = processes(proc)
        .filter_map(|(process, directory)| {
            let stat = parse_stat(&read(&directory, "stat")?)?;
            Some((process, (directory, stat)))
        })
        .collect();
    let mut members = BTreeSet::from([agent]);
    // Numbers are given anew some day, so that a child's may be less than its parent's.
    loop {
        let before = members.len();
        members.extend(
            all.iter()
                .filter(|(_, (_, stat))| members.contains(&stat.parent))
                .map(|(id, _)| *id)
                .collect::<Vec<_>>(),
        );
        if members.len() == before {
            break;
        }
    }
    all.into_iter().filter(|(process, _)| members.contains(process)).collect()
}

/// Processes below /proc, and threads below /proc/PID/task: number and directory.
fn processes(proc: &Path) -> impl Iterator<Item = (u32, PathBuf)> {
    std::fs::read_dir(proc).into_iter().flatten().flatten().filter_map(|entry| {
        let process = entry.file_name().to_str()?.parse().ok()?;
        Some((process, entry.path()))
    })
}

/// A process may end between being listed and being read.
fn read(directory: &Path, name: &str) -> Option<String> {
    std::fs::read_to_string(directory.join(name)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(proc: &Path, id: u32, stat: &str) {
        let directory = proc.join(id.to_string());
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("stat"), format!("{id} {stat}")).unwrap();
        std::fs::write(directory.join("io"), "rchar: 9\nread_bytes: 4096\nwrite_bytes: 8192\n").unwrap();
        for thread in [id, id + 1000] {
            let thread = directory.join(format!("task/{thread}"));
            std::fs::create_dir_all(&thread).unwrap();
            let status = "Name:\tx\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t3\n";
            std::fs::write(thread.join("status"), status).unwrap();
            std::fs::write(thread.join("schedstat"), "900 2000000000 4\n").unwrap();
        }
        std::os::unix::fs::symlink(format!("/usr/bin/program{id}"), directory.join("exe")).unwrap();
    }

    fn proc_with_three_processes() -> tempfile::TempDir {
        let proc = tempfile::tempdir().unwrap();
        process(proc.path(), 1, "(agent) S 0 1 1 0 -1 0 11 100 12 10 500 600 300 200 20 0");
        process(proc.path(), 2, "(kthreadd) S 0 0 0 0 -1 0 1 1 1 1 9 9 9 9 20 0");
        process(proc.path(), 3, "(kworker) S 2 0 0 0 -1 0 1 1 1 1 9 9 9 9 20 0");
        process(proc.path(), 30, "(other) S 9 1 1 0 -1 0 1 1 1 1 9 9 9 9 20 0");
        process(proc.path(), 9, "(shell) S 0 1 1 0 -1 0 1 1 1 1 9 9 9 9 20 0");
        process(proc.path(), 40, "(post (gres) 1) S 1 1 1 0 -1 0 5 50 2 20 100 200 30 40 20 0");
        std::fs::write(proc.path().join("uptime"), "1 1").unwrap();
        proc
    }

    #[test]
    fn the_agent_counts_only_through_the_children_it_waited_for() {
        let proc = proc_with_three_processes();
        let total = sum(proc.path(), 1);
        assert_eq!(total.count, 1);
        assert_eq!(total.user_seconds, 4.3);
        assert_eq!(total.system_seconds, 4.4);
        assert_eq!((total.minor_faults, total.major_faults), (155, 32));
    }

    #[test]
    fn switches_and_waits_are_summed_over_all_threads() {
        let proc = proc_with_three_processes();
        let total = sum(proc.path(), 1);
        assert_eq!((total.voluntary_context_switches, total.involuntary_context_switches), (14, 6));
        assert_eq!(total.run_queue_seconds, 4.0);
    }

    #[test]
    fn bytes_fetched_from_storage_are_known_of_all_processes_or_not_at_all() {
        let proc = proc_with_three_processes();
        assert_eq!(sum(proc.path(), 1).read_bytes, Some(8192));
        std::fs::remove_file(proc.path().join("40/io")).unwrap();
        assert_eq!(sum(proc.path(), 1).read_bytes, None);
    }

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        assert_eq!(parse_stat("9 (a) b) c) R 4 0 0 0 0 0 1 2 3 4 5 6 7 8").unwrap().parent, 4);
        assert_eq!(parse_stat("no process"), None);
    }

    #[test]
    fn the_server_is_found_by_its_executable() {
        let proc = proc_with_three_processes();
        assert_eq!(running(proc.path(), 1, &["other", "program40"]), Some(proc.path().join("40")));
        assert_eq!(running(proc.path(), 1, &["program"]), None);
    }

    #[test]
    fn processes_of_the_node_are_not_the_databases() {
        let proc = proc_with_three_processes();
        assert_eq!(running(proc.path(), 1, &["program30"]), None);
        process(proc.path(), 35, "(grandchild) S 40 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0");
        assert_eq!(sum(proc.path(), 1).count, 2);
        assert_eq!(running(proc.path(), 1, &["program35"]), Some(proc.path().join("35")));
    }
}

//! Whether memory suffices, asked before any is taken.

use std::fmt;
use std::path::Path;

use dbbench_agent::counters::Cgroup;
use dbbench_probes::kernel;

use super::{lacking, Pages};
use crate::failure::{Exit, Failure};

const MIB: u64 = 1 << 20;

/// What a process needs beside its table: program, stack, page tables (a 512th of the table comes on top).
const PROCESS: u64 = 8 * MIB;

/// Memory that can be had, and what it is limited by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Free {
    pub bytes: u64,
    limited_by: &'static str,
}

impl fmt::Display for Free {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} leaves {} MiB", self.limited_by, self.bytes / MIB)
    }
}

/// The smaller of what the machine has and what the cgroup (version 1 or 2) allows. None where neither is known.
pub fn free_memory() -> Option<Free> {
    let cgroup = Cgroup::of_this_process(Path::new("/"));
    let memory = cgroup.memory();
    smaller(kernel::available_memory(), cgroup.memory_limit(), memory.used_bytes, memory.file_bytes)
}

fn smaller(machine: Option<u64>, limit: Option<u64>, used: Option<u64>, file: Option<u64>) -> Option<Free> {
    let machine = machine.map(|bytes| Free { bytes, limited_by: "the machine" });
    let cgroup = limit.map(|limit| {
        // The page cache makes room.
        let taken = used.unwrap_or(0).saturating_sub(file.unwrap_or(0));
        Free { bytes: limit.saturating_sub(taken), limited_by: "the memory limit of the cgroup" }
    });
    machine.into_iter().chain(cgroup).min_by_key(|free| free.bytes)
}

/// Refuses tables that do not fit, and pages that the machine does not have.
pub fn require(processes: u16, table_bytes: u64, pages: Pages) -> Result<(), Failure> {
    if pages == Pages::Transparent {
        let path = "/sys/kernel/mm/transparent_hugepage/enabled";
        let enabled = std::fs::read_to_string(path).unwrap_or_default();
        if enabled.is_empty() || enabled.contains("[never]") {
            return Err(lacking(format!("--pages THP: transparent huge pages are switched off ({path})")));
        }
    }
    let processes = u64::from(processes);
    if pages == Pages::Huge {
        let (needed, free) =
            (processes.saturating_mul(table_bytes.div_ceil(2 * MIB)), kernel::free_huge_pages());
        if needed > free {
            return Err(lacking(format!(
                "--pages 2M: {needed} huge pages of 2 MiB are needed and {free} are free; set more aside \
                 (vm.nr_hugepages), or use --pages THP"
            )));
        }
        // Huge pages are no longer part of the memory that is available.
        return fits(processes, 0, free_memory());
    }
    fits(processes, table_bytes, free_memory())
}

fn fits(processes: u64, table_bytes: u64, free: Option<Free>) -> Result<(), Failure> {
    let each = table_bytes.saturating_add(table_bytes / 512).saturating_add(PROCESS);
    let needed = processes.saturating_mul(each);
    match free {
        Some(free) if needed > free.bytes => Err(Failure::new(
            Exit::Arguments,
            "InsufficientMemory",
            format!(
                "{processes} work processes with tables of {} MB need {} MiB, and {free}; give fewer --work-processes or a \
                 smaller --table-size",
                table_bytes / 1_000_000,
                needed.div_ceil(MIB)
            ),
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smaller_limit_counts_and_page_cache_makes_room() {
        let found = smaller(Some(100), Some(80), Some(50), Some(20)).unwrap();
        assert_eq!((found.bytes, found.limited_by), (50, "the memory limit of the cgroup"));
        assert_eq!(smaller(Some(40), Some(80), Some(30), None).unwrap().limited_by, "the machine");
        assert_eq!(smaller(Some(40), None, Some(30), None).unwrap().bytes, 40);
        assert_eq!(smaller(None, Some(10), Some(30), None).unwrap().bytes, 0);
        assert_eq!(smaller(None, None, None, None), None);
    }

    #[test]
    fn tables_that_do_not_fit_are_refused_with_the_numbers() {
        let free = Some(Free { bytes: 1 << 30, limited_by: "the memory limit of the cgroup" });
        assert!(fits(3, 300_000_000, free).is_ok());
        let error = fits(4, 300_000_000, free).unwrap_err();
        assert_eq!((error.exit as u8, error.reason), (2, "InsufficientMemory"));
        for part in ["4 work processes", "300 MB", "1024 MiB", "cgroup", "--work-processes"] {
            assert!(error.message.contains(part), "{}", error.message);
        }
        assert!(fits(4096, u64::MAX, free).is_err(), "no overflow");
    }
}

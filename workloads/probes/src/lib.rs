//! Unit costs of the machine as a process sees it: of a system call, a page fault, a TLB miss, a switch between
//! processes, a write to stable storage, memory traffic, sorting, and reading a file that no cache holds.
//!
//! The same binary runs in a pod and in a guest; counts of such events, times the difference of their unit costs,
//! explain a slowdown. There is no command line and no report in here: a caller asks for [`Probe`]s and gets
//! [`Figure`]s. Everything is Linux; what a kernel or a container does not allow is returned as such, with the reason.

mod bandwidth;
mod calls;
pub mod clock;
pub mod cpu;
mod faults;
mod figure;
pub mod kernel;
pub mod permutation;
pub mod region;
mod sampling;
mod sort;
pub mod statistics;
mod storage;
mod tlb;

use std::path::PathBuf;
use std::time::Duration;

pub use figure::{Cost, Evidence, Figure};

/// A group of figures that are measured together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Probe {
    Clock,
    SystemCall,
    PageFault,
    TlbMiss,
    ContextSwitch,
    Fsync,
    Memory,
    Sort,
    Read,
}

impl Probe {
    pub const ALL: [Probe; 9] = [
        Probe::Clock,
        Probe::SystemCall,
        Probe::PageFault,
        Probe::TlbMiss,
        Probe::ContextSwitch,
        Probe::Fsync,
        Probe::Memory,
        Probe::Sort,
        Probe::Read,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Probe::Clock => "clock",
            Probe::SystemCall => "system-call",
            Probe::PageFault => "page-fault",
            Probe::TlbMiss => "tlb-miss",
            Probe::ContextSwitch => "context-switch",
            Probe::Fsync => "fsync",
            Probe::Memory => "memory",
            Probe::Sort => "sort",
            Probe::Read => "read",
        }
    }

    pub fn named(name: &str) -> Option<Probe> {
        Probe::ALL.into_iter().find(|probe| probe.name() == name)
    }

    /// Measures. One figure for each thing and number of threads, in a fixed order.
    pub fn measure(self, settings: &Settings) -> Vec<Figure> {
        match self {
            Probe::Clock => calls::clock(settings),
            Probe::SystemCall => calls::system_call(settings),
            Probe::PageFault => faults::page_faults(settings),
            Probe::TlbMiss => tlb::misses(settings),
            Probe::ContextSwitch => calls::context_switch(settings),
            Probe::Fsync => storage::fsync(settings),
            Probe::Memory => bandwidth::memory(settings),
            Probe::Sort => sort::sort(settings),
            Probe::Read => storage::reads(settings),
        }
    }
}

/// The events that a kernel counts for every process, and calls of it: `SYSTEM_CALL`, `PAGE_FAULT_4K`,
/// `PAGE_FAULT_SHARED` and `CONTEXT_SWITCH`, with one thread each. Uses 16 MiB of memory at a time and no file.
pub fn event_costs(settings: &Settings) -> Vec<Figure> {
    let one = Settings { threads: vec![1], ..settings.clone() };
    let mut figures = calls::system_call(&one);
    figures.extend(faults::in_memory(&one));
    figures.extend(calls::context_switch(&one));
    figures
}

/// What the caller chooses.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How long each figure is measured, after a warm-up of a fifth of it. A figure whose batches are long takes longer.
    pub time: Duration,
    /// CPUs that threads are pinned to, one each, in this order; not empty.
    pub cpus: Vec<usize>,
    /// Numbers of threads for what is measured against threads; each from 1 to the number of `cpus`.
    pub threads: Vec<usize>,
    /// Most memory that a probe may take, in bytes.
    pub memory: u64,
    /// Existing, writable folder for the files of `fsync`, `read` and file-backed page faults.
    pub directory: PathBuf,
    /// Size of the file that `read` reads, in bytes: a multiple of 1 MiB.
    pub file_bytes: u64,
    /// Numbers of integers to sort.
    pub sort_sizes: Vec<usize>,
    pub seed: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    pub fn settings() -> Settings {
        let cpus = cpu::allowed().expect("this process may run somewhere");
        Settings {
            time: Duration::from_millis(20),
            threads: vec![1, cpus.len()],
            cpus,
            memory: 256 << 20,
            directory: std::env::temp_dir(),
            file_bytes: 4 << 20,
            sort_sizes: vec![10, 1000],
            seed: 1,
        }
    }

    #[test]
    fn events_have_one_figure_each() {
        let figures = event_costs(&settings());
        let names: Vec<&str> = figures.iter().map(|figure| figure.name.as_str()).collect();
        assert_eq!(names, ["SYSTEM_CALL", "PAGE_FAULT_4K", "PAGE_FAULT_SHARED", "CONTEXT_SWITCH"]);
        assert!(figures[1].outcome.as_ref().unwrap().mean_seconds > 0.0);
    }

    #[test]
    fn names_and_probes_belong_together() {
        for probe in Probe::ALL {
            assert_eq!(Probe::named(probe.name()), Some(probe));
        }
        assert_eq!(Probe::named("nothing"), None);
    }
}

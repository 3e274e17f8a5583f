//! What the probes are told, from the command line and from the machine.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueHint};
use dbbench_agent::local_run;
use dbbench_probes::{cpu, kernel, Probe, Settings};
use serde_json::{json, Map, Value};

use crate::cli::{positive_duration, positive_size};
use crate::failure::Failure;
use crate::workload::zachmann::capacity;

const MIB: u64 = 1 << 20;

/// Most memory that is taken without being asked for: enough for huge pages beyond every usual TLB.
const DEFAULT_MEMORY: u64 = 4100 * MIB;

/// Files of the probes besides the one that is read.
const OTHER_FILES: u64 = 32 * MIB;

#[derive(Debug, Args)]
#[command(next_help_heading = "Workload")]
pub struct Options {
    /// What is measured, in any order [default: all]
    #[arg(long, value_name = "PROBE", value_delimiter = ',',
        value_parser = PossibleValuesParser::new(Probe::ALL.map(Probe::name)))]
    probes: Vec<String>,
    /// How long each figure is measured, after a warm-up of a fifth of this
    #[arg(long, value_name = "TIME", default_value = "300ms", value_parser = positive_duration)]
    time: Duration,
    /// Numbers of threads for what is measured against threads [default: powers of two up to the CPUs, and the CPUs]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..))]
    threads: Vec<u16>,
    /// Most memory that a probe may take [default: a quarter of what is free, at most 4100MiB]
    #[arg(long, value_name = "SIZE", value_parser = positive_size)]
    memory: Option<u64>,
    /// Folder for the files of fsync, read and page-fault [default: the folder for temporary files]
    #[arg(long, value_name = "PATH", value_hint = ValueHint::DirPath)]
    dir: Option<PathBuf>,
    /// Size of the file that read reads; whole MiB
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = positive_size)]
    file_size: u64,
    /// Numbers of integers to sort
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1000,100000,1000000",
        value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    sort_sizes: Vec<u32>,
}

impl Options {
    pub fn request(&self, seed: u64) -> local_run::Micro {
        let named = |probe: Probe| probe.name().to_string().try_into().expect("a probe's own name");
        local_run::Micro {
            probes: self.probes().into_iter().map(named).collect(),
            time_milliseconds: self.time.as_millis() as u64,
            threads: (!self.threads.is_empty()).then(|| self.threads.clone()),
            sort_sizes: self.sort_sizes.clone(),
            file_bytes: self.file_size,
            seed,
        }
    }

    /// The probes in their own order, each once.
    pub fn probes(&self) -> Vec<Probe> {
        let asked =
            |probe: &Probe| self.probes.is_empty() || self.probes.iter().any(|name| name == probe.name());
        Probe::ALL.into_iter().filter(asked).collect()
    }

    /// Refuses what cannot work before anything is measured.
    pub fn settings(&self, seed: u64) -> Result<Settings, Failure> {
        let cpus = cpu::allowed()
            .map_err(|error| Failure::invalid(format!("the CPUs that may be used are not known: {error}")))?;
        let threads = self.threads(cpus.len())?;
        let free = capacity::free_memory();
        let memory = match self.memory {
            Some(memory) if free.as_ref().is_some_and(|free| memory > free.bytes) => {
                let free = free.expect("just looked at");
                return Err(Failure::arguments(format!("--memory {} MiB: {free}", memory / MIB)));
            }
            Some(memory) => memory,
            None => free.map_or(DEFAULT_MEMORY, |free| free.bytes / 4).clamp(MIB, DEFAULT_MEMORY),
        };
        if !self.file_size.is_multiple_of(MIB) {
            return Err(Failure::arguments(format!(
                "--file-size {} is not a whole number of MiB",
                self.file_size
            )));
        }
        let sort = self.sort_sizes.iter().map(|size| 16 * u64::from(*size)).max().unwrap_or(0);
        if self.probes().contains(&Probe::Sort) && sort > memory {
            let (needed, memory) = (sort.div_ceil(MIB), memory / MIB);
            return Err(Failure::arguments(format!(
                "--sort-sizes need {needed} MiB, more than --memory, {memory} MiB"
            )));
        }
        let directory = self.dir.clone().unwrap_or_else(std::env::temp_dir);
        if self.probes().iter().any(|probe| matches!(probe, Probe::Fsync | Probe::Read | Probe::PageFault)) {
            self.check_directory(&directory)?;
        }
        Ok(Settings {
            time: self.time,
            // The last ones first: the first CPU is the one that serves most interrupts.
            cpus: cpus.into_iter().rev().collect(),
            threads,
            memory,
            directory,
            file_bytes: self.file_size,
            sort_sizes: self.sort_sizes.iter().map(|size| *size as usize).collect(),
            seed,
        })
    }

    fn threads(&self, cpus: usize) -> Result<Vec<usize>, Failure> {
        if self.threads.is_empty() {
            return Ok(powers_of_two(cpus));
        }
        let mut threads: Vec<usize> = self.threads.iter().map(|number| usize::from(*number)).collect();
        threads.sort_unstable();
        threads.dedup();
        match threads.iter().find(|number| **number > cpus) {
            Some(number) => Err(Failure::arguments(format!(
                "--threads {number}: each thread needs a CPU of its own, and this process may use {cpus}"
            ))),
            None => Ok(threads),
        }
    }

    fn check_directory(&self, directory: &std::path::Path) -> Result<(), Failure> {
        let refuse = |why: String| {
            Failure::arguments(format!(
                "--dir {}: {why}; name a folder that can be written to, or leave fsync, read and page-fault out of \
                 --probes",
                directory.display()
            ))
        };
        kernel::writable(directory).map_err(|error| refuse(error.to_string()))?;
        let free = kernel::free_space(directory).map_err(|error| refuse(error.to_string()))?;
        let needed = self.file_size + OTHER_FILES;
        if free < needed {
            return Err(refuse(format!(
                "{} MiB are free and {} MiB are needed",
                free / MIB,
                needed.div_ceil(MIB)
            )));
        }
        Ok(())
    }

    pub fn parameters(&self, settings: &Settings) -> Map<String, Value> {
        let probes: Vec<&str> = self.probes().into_iter().map(Probe::name).collect();
        let mut map = Map::new();
        map.insert("probes".into(), json!(probes));
        map.insert("timeSeconds".into(), json!(settings.time.as_secs_f64()));
        map.insert("threads".into(), json!(settings.threads));
        map.insert("cpus".into(), json!(settings.cpus));
        map.insert("memoryBytes".into(), json!(settings.memory));
        map.insert("directory".into(), json!(settings.directory.display().to_string()));
        map.insert("fileBytes".into(), json!(settings.file_bytes));
        map.insert("sortSizes".into(), json!(settings.sort_sizes));
        map
    }
}

/// 1, 2, 4, ... up to `most`, and `most` itself.
fn powers_of_two(most: usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = std::iter::successors(Some(1), |number| Some(number * 2))
        .take_while(|number| *number < most)
        .collect();
    numbers.push(most);
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_double_up_to_the_number_of_cpus() {
        assert_eq!(powers_of_two(1), [1]);
        assert_eq!(powers_of_two(2), [1, 2]);
        assert_eq!(powers_of_two(6), [1, 2, 4, 6]);
        assert_eq!(powers_of_two(8), [1, 2, 4, 8]);
    }
}

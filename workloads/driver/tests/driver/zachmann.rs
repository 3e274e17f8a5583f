//! Zachmann with real work processes.

use crate::support::cluster::wait_until;
use crate::support::driver::{driver, finish, metric, operation, Outcome};

fn zachmann(line: &str) -> Outcome {
    let mut command = driver(&["zachmann", "run", "--progress", "none"]);
    command.args(line.split_whitespace());
    finish(command)
}

#[test]
fn the_figures_follow_from_the_work_processes() {
    let outcome = zachmann(
        "--work-processes 3 --table-size 8MB --warmup 200ms --duration 1s --physical-cpus 4 --seed 5",
    );
    let run = outcome.document();
    // A machine that spends its time in the kernel makes the run invalid; nothing else may.
    let system_time = |reason: &serde_json::Value| reason.as_str().unwrap().starts_with("system time is");
    assert!(run["invalidReasons"].as_array().unwrap().iter().all(system_time), "{}", run["invalidReasons"]);
    assert!(run.get("server").is_none() && run.get("data").is_none());
    assert_eq!(run["parameters"]["workProcesses"], 3);
    let processes = run["workProcesses"].as_array().unwrap();
    let numbers: Vec<u64> = processes.iter().map(|process| process["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [1, 2, 3]);
    let rates: Vec<f64> =
        processes.iter().map(|process| process["readsPerSecond"].as_f64().unwrap()).collect();
    for (process, rate) in processes.iter().zip(&rates) {
        let (reads, seconds) = (process["reads"].as_f64().unwrap(), process["seconds"].as_f64().unwrap());
        assert!(reads > 0.0 && seconds == 1.0 && (reads / seconds - rate).abs() < 1e-6 * rate, "{process}");
        assert_eq!((&process["wrongRecords"], &process["hugePageBytes"]), (&0.into(), &0.into()));
        assert!(process["tableBytes"].as_u64().unwrap() >= 8_000_000 - 128);
    }
    let total: f64 = rates.iter().sum();
    assert!((metric(&run, "throughput") - total).abs() < 1e-6 * total);
    assert!((metric(&run, "throughputPerCpu") - total / 4.0).abs() < 1e-6 * total);
    let jain = total * total / (3.0 * rates.iter().map(|rate| rate * rate).sum::<f64>());
    assert!((metric(&run, "fairness") - jain).abs() < 1e-9 && jain <= 1.0);
    let reads: u64 = processes.iter().map(|process| process["reads"].as_u64().unwrap()).sum();
    assert_eq!(operation(&run, "READ_RECORD")["counts"]["ok"], reads);
    let checksums: std::collections::HashSet<&str> =
        processes.iter().map(|process| process["checksum"].as_str().unwrap()).collect();
    assert_eq!(checksums.len(), 3, "each process has a walk of its own");
}

#[test]
fn memory_that_does_not_fit_is_refused_before_it_is_taken() {
    let outcome = zachmann("--work-processes 4096 --table-size 1TiB --duration 1s");
    outcome.failed(2, "InsufficientMemory", "4096 work processes");
    assert_eq!(outcome.stdout, "");
    // More huge pages than any machine sets aside.
    zachmann("--pages 2M --table-size 1PiB --duration 1s").failed(2, "Unsupported", "vm.nr_hugepages");
}

#[test]
fn transparent_huge_pages_are_there_or_the_run_says_why_not() {
    let outcome = zachmann("--pages THP --table-size 16MiB --warmup 0s --duration 300ms");
    if outcome.code == 2 {
        outcome.failed(2, "Unsupported", "transparent_hugepage");
        return;
    }
    let run = outcome.document();
    let huge = run["workProcesses"][0]["hugePageBytes"].as_u64().unwrap();
    let share = huge as f64 / run["workProcesses"][0]["tableBytes"].as_f64().unwrap();
    let objected = run["invalidReasons"].to_string().contains("huge pages");
    assert_eq!(share < 0.95, objected, "{run}");
}

#[test]
fn sizes_that_make_no_sense_are_refused_by_their_option() {
    zachmann("--record-size 12B").failed(2, "InvalidArguments", "--record-size");
    zachmann("--record-size 4KiB --table-size 4KiB").failed(2, "InvalidArguments", "--table-size");
    zachmann("--table-size lots").failed(2, "InvalidArguments", "300MiB");
    zachmann("--work-processes 0").failed(2, "InvalidArguments", "--work-processes");
    zachmann("--duration 0s").failed(2, "InvalidArguments", "--duration");
}

#[test]
fn a_work_process_that_is_killed_ends_the_run_at_once() {
    let mut command = driver(&["zachmann", "run", "--progress", "json", "--work-processes", "2"]);
    command.args(["--table-size", "4MB", "--warmup", "0s", "--duration", "10m"]);
    let driver = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the driver starts");
    let victim = child_that_reads(driver.id());
    assert!(std::process::Command::new("kill").args(["-9", &victim.to_string()]).status().unwrap().success());
    let outcome = Outcome::of(driver.wait_with_output().unwrap());
    outcome.failed(5, "MeasurementInvalid", "signal 9");
    assert_eq!(outcome.stdout, "");
}

/// Waits for a child of the driver that has filled its table and uses the CPU.
fn child_that_reads(parent: u32) -> u32 {
    let mut found = None;
    wait_until("a work process has filled its table", || {
        let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"))
            .expect("the driver runs");
        found = children
            .split_whitespace()
            .find(|child| resident_kilobytes(child) > Some(4000))
            .map(String::from);
        found.is_some()
    });
    found.expect("found").parse().expect("a process id")
}

fn resident_kilobytes(process: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    resident.split_whitespace().next()?.parse().ok()
}

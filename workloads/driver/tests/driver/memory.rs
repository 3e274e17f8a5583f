//! The memory that the driver takes: no more of it for a longer run or more data. With 64 clients it is measured by
//! `workloads/bench/memory.py`.

use std::process::Stdio;
use std::time::Duration;

use crate::support::driver::Outcome;
use crate::support::Database;

const MIB: u64 = 1 << 20;
const LIMIT: u64 = 64 * MIB;

/// Runs a command line and returns the largest resident set that was seen, in bytes.
///
/// Not from `wait4`: that figure begins with the memory of the process that started the driver.
fn peak(database: &Database, line: &str) -> u64 {
    let mut command = database.command(line);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the driver starts");
    let mut peak = 0;
    while child.try_wait().expect("a child").is_none() {
        // Empty once the process has ended.
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let found = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.strip_suffix("kB"));
        peak = peak.max(found.map_or(0, |kib| kib.trim().parse::<u64>().expect("a number") * 1024));
        std::thread::sleep(Duration::from_millis(5));
    }
    Outcome::of(child.wait_with_output().expect("output")).measured(line);
    assert!(peak > 0, "{line}: no figure was read");
    peak
}

/// What is less than a quarter more, and a few pages, is the allocator's and no growth.
fn assert_no_growth(small: u64, large: u64, what: &str) {
    assert!(large <= small + small / 4 + MIB, "{what}: {small} bytes became {large}");
    assert!(large < LIMIT, "{what}: {large} bytes");
}

#[test]
fn memory_grows_neither_with_the_data_nor_with_the_duration() {
    let database = Database::new();
    let load =
        |size: u32| peak(&database, &format!("tatp load --subscribers {size} --connections 2 --replace"));
    let run = |seconds: u32| {
        let line = format!("tatp run --clients 16 --warmup 0s --duration {seconds}s --progress none");
        peak(&database, &line)
    };
    let small = load(10_000);
    let short = run(1);
    assert_no_growth(short, run(4), "four times the duration");
    assert_no_growth(small, load(60_000), "a load of six times the data");
    assert_no_growth(short, run(1), "a run on six times the data");
}

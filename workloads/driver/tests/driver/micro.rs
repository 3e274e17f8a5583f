//! The probes of unit costs, on this machine.

use std::collections::BTreeMap;

use crate::support::driver::{driver, finish, Outcome};
use serde_json::Value;

fn micro(line: &str) -> Outcome {
    let mut command = driver(&["micro", "run", "--progress", "none"]);
    command.args(line.split_whitespace());
    finish(command)
}

/// Name to probe of every operation.
fn probes(document: &Value) -> BTreeMap<String, Value> {
    let operations = document["operations"].as_array().unwrap();
    let found: BTreeMap<String, Value> = operations
        .iter()
        .map(|operation| (operation["name"].as_str().unwrap().to_string(), operation["probe"].clone()))
        .collect();
    assert_eq!(found.len(), operations.len(), "names are unique");
    found
}

#[test]
fn every_probe_gives_positive_costs_or_a_reason() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let outcome = micro(&format!(
        "--time 50ms --file-size 4MiB --sort-sizes 100,5000 --memory 64MiB --dir {}",
        folder.path().display()
    ));
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let run = outcome.document();
    assert!(run.get("server").is_none() && run.get("data").is_none());
    let probes = probes(&run);
    for name in [
        "CLOCK_READ",
        "SYSTEM_CALL",
        "PAGE_FAULT_4K",
        "PAGE_FAULT_THP",
        "PAGE_FAULT_2M",
        "PAGE_FAULT_SHARED",
        "PAGE_FAULT_FILE",
        "TLB_MISS_4K",
        "TLB_MISS_2M",
        "CONTEXT_SWITCH",
        "FSYNC",
        "MEMORY_READ",
        "MEMORY_WRITE",
        "MEMORY_COPY",
        "SORT_100",
        "SORT_5000",
        "READ_SEQUENTIAL",
        "READ_OFFSET",
        "READ_STRIDED",
        "READ_RANDOM",
    ] {
        let probe = probes.get(name).unwrap_or_else(|| panic!("no {name}"));
        let Some(cost) = probe.get("cost") else {
            assert!(may_be_absent(name), "{name}: {probe}");
            assert!(probe["unavailable"].as_str().unwrap().len() > 20, "{name}: {probe}");
            continue;
        };
        let mean = cost["meanSeconds"].as_f64().unwrap();
        let (low, high) = (cost["intervalSeconds"]["low"].as_f64(), cost["intervalSeconds"]["high"].as_f64());
        let (low, high) = (low.unwrap(), high.unwrap());
        // A difference of two costs can be lost in the noise of a busy machine, and then its interval says so.
        let in_noise = name.starts_with("TLB_MISS") && low <= 0.0;
        assert!((mean > 0.0 || in_noise) && low <= mean && mean <= high, "{name}: {cost}");
        let quantile = |which: &str| cost["nanoseconds"][which].as_f64().unwrap();
        let ordered = ["minimum", "lowerQuartile", "median", "upperQuartile"].map(quantile);
        assert!(ordered.is_sorted() && (ordered[2] > 0.0 || in_noise), "{name}: {cost}");
        assert!(
            cost["batches"].as_u64() >= Some(5) && cost["operations"].as_u64() >= cost["batches"].as_u64()
        );
    }
    let cpus = std::thread::available_parallelism().unwrap().get();
    for name in ["SYSTEM_CALL", "PAGE_FAULT_4K", "MEMORY_READ", "MEMORY_WRITE", "MEMORY_COPY"] {
        let most = run["parameters"]["threads"].as_array().unwrap().last().unwrap().as_u64().unwrap();
        assert!(most >= cpus as u64);
        assert!(most == 1 || probes.contains_key(&format!("{name}_X{most}")), "{name}");
    }
    faults_are_pages(&probes);
    reads_are_cold(&probes, 4 << 20);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no file is left behind");
}

/// What depends on the machine's settings, devices and privileges.
fn may_be_absent(name: &str) -> bool {
    name.ends_with("_2M") || name.ends_with("_THP") || name.starts_with("READ_")
}

/// The kernel counted one fault for each page that was touched. It may take a page back meanwhile, and count
/// another: of many pages, of a few.
fn faults_are_pages(probes: &BTreeMap<String, Value>) {
    for name in ["PAGE_FAULT_4K", "PAGE_FAULT_THP", "PAGE_FAULT_2M"] {
        let evidence = &probes[name]["evidence"];
        if probes[name].get("cost").is_some() {
            let [faults, pages] = ["minorFaults", "pagesTouched"].map(|key| evidence[key].as_u64().unwrap());
            assert!((pages..=pages + pages / 100).contains(&faults), "{name}: {evidence}");
        }
    }
    let file = &probes["PAGE_FAULT_FILE"]["evidence"];
    let faults = file["minorFaults"].as_u64().unwrap();
    assert!(faults >= 1 && faults <= file["pagesTouched"].as_u64().unwrap(), "{file}");
}

/// Each read program fetched at least what it asked for from a device, and never more than the file.
fn reads_are_cold(probes: &BTreeMap<String, Value>, file: u64) {
    for name in ["READ_SEQUENTIAL", "READ_OFFSET", "READ_STRIDED", "READ_RANDOM"] {
        if probes[name].get("cost").is_some() {
            let evidence = &probes[name]["evidence"];
            let (asked, read) =
                (evidence["bytesRequested"].as_u64().unwrap(), evidence["bytesFromDevice"].as_u64().unwrap());
            assert!(asked <= read && read <= file + (1 << 20), "{name}: {evidence}");
            let ratio = evidence["magnification"].as_f64().unwrap();
            assert!((ratio - read as f64 / asked as f64).abs() < 0.001, "{name}: {evidence}");
        }
    }
}

#[test]
fn files_in_memory_are_never_called_cold() {
    let run = micro("--probes read --time 20ms --file-size 1MiB --dir /dev/shm");
    // Nothing was measured, and so nothing counts.
    run.failed(5, "MeasurementInvalid", "nothing that was asked for is available");
    for (name, probe) in probes(&run.document()) {
        assert!(probe["unavailable"].as_str().unwrap().contains("tmpfs"), "{name}: {probe}");
    }
}

#[test]
fn huge_pages_are_measured_or_refused_by_name() {
    let document = micro("--probes page-fault,tlb-miss --time 20ms --memory 8MiB").document();
    for (name, probe) in probes(&document) {
        if let Some(reason) = probe["unavailable"].as_str() {
            assert!(may_be_absent(&name) && reason.contains("huge pages"), "{name}: {reason}");
        } else if name.ends_with("_2M") && name.starts_with("TLB") {
            let evidence = &probe["evidence"];
            let mapped = evidence["pages"].as_u64().unwrap() * evidence["pageBytes"].as_u64().unwrap();
            assert!(evidence["hugePageBytes"].as_u64().unwrap() >= mapped, "{evidence}");
        }
    }
}

#[test]
fn probes_can_be_chosen_and_run_in_their_own_order() {
    let document = micro("--probes sort,clock --time 10ms --sort-sizes 10 --threads 1").document();
    assert_eq!(document["parameters"]["probes"], serde_json::json!(["clock", "sort"]));
    let names: Vec<&str> =
        document["operations"].as_array().unwrap().iter().map(|o| o["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["CLOCK_READ", "SORT_10"]);
}

#[test]
fn bad_input_is_refused_by_its_option() {
    micro("--probes speed").failed(2, "InvalidArguments", "--probes");
    micro("--threads 60000").failed(2, "InvalidArguments", "--threads 60000");
    micro("--memory 1EiB").failed(2, "InvalidArguments", "--memory");
    micro("--dir /nonexistent").failed(2, "InvalidArguments", "--dir /nonexistent");
    micro("--file-size 1MB").failed(2, "InvalidArguments", "--file-size");
    micro("--file-size 1EiB").failed(2, "InvalidArguments", "needed");
    micro("--time 0s").failed(2, "InvalidArguments", "--time");
    micro("--sort-sizes 100000000 --memory 1MiB").failed(2, "InvalidArguments", "--sort-sizes");
}

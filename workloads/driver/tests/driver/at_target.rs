//! Workloads without a database, run by a real agent where it is.

use std::process::{Child, Stdio};

use crate::support::cluster::{free_port, wait_until};
use crate::support::driver::{driver, finish, metric, Outcome};

/// An agent beside a program that does nothing; ended when dropped.
struct Agent {
    process: Child,
    url: String,
    _folder: tempfile::TempDir,
}

impl Agent {
    fn with(workloads: &str) -> Agent {
        let folder = tempfile::tempdir().unwrap();
        let (config, port) = (folder.path().join("agent.json"), free_port());
        let text = format!(
            r#"{{"version":1,"listen":"127.0.0.1:{port}","command":["sleep","600"],"workloads":{workloads}}}"#
        );
        std::fs::write(&config, text).unwrap();
        let process = driver(&["agent", "serve", "--config", config.to_str().unwrap()])
            .stderr(Stdio::null())
            .spawn()
            .expect("the agent starts");
        wait_until("the agent answers", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        Agent { process, url: format!("http://127.0.0.1:{port}"), _folder: folder }
    }

    fn command(&self, line: &str) -> std::process::Command {
        let mut command = driver(&["zachmann", "run", "--at-target", "--agent"]);
        command.arg(&self.url).args(line.split_whitespace());
        command
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // SIGTERM: the agent ends its program too.
        let _ = std::process::Command::new("kill").arg(self.process.id().to_string()).status();
        let _ = self.process.wait();
    }
}

#[test]
fn unit_costs_are_those_of_the_target() {
    let agent = Agent::with(r#"["micro"]"#);
    let mut command = driver(&["micro", "run", "--at-target", "--progress", "none", "--agent"]);
    command.arg(&agent.url).args(["--probes", "clock,sort", "--time", "20ms", "--sort-sizes", "1000"]);
    let run = finish(command).document();
    let names: Vec<&str> =
        run["operations"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["CLOCK_READ", "SORT_1000"]);
    assert_eq!(run["parameters"]["agent"], agent.url);
    assert!(run["target"]["facts"].is_object());
    finish(agent.command(SMALL)).failed(5, "MeasurementInvalid", "Zachmann is not among the workloads");
}

const SMALL: &str = "--work-processes 2 --table-size 4MB --warmup 200ms --duration 500ms --physical-cpus 4";

#[test]
fn the_result_is_that_of_the_target_with_both_sides_in_it() {
    let (inner, outer) = (Agent::with(r#"["zachmann"]"#), Agent::with("[]"));
    let run = finish(inner.command(&format!("{SMALL} --seed 5 --host-agent {}", outer.url))).document();
    assert_eq!(
        (&run["workload"], &run["command"], &run["seed"]),
        (&"zachmann".into(), &"run".into(), &5.into())
    );
    assert_eq!(run["workProcesses"].as_array().unwrap().len(), 2);
    assert!((metric(&run, "throughput") / metric(&run, "throughputPerCpu") - 4.0).abs() < 1e-6);
    assert_eq!(run["parameters"]["tableBytes"], 4_000_000);
    assert_eq!(run["parameters"]["agent"], inner.url);
    assert_eq!(run["parameters"]["hostAgent"], outer.url);
    let phases: Vec<&str> =
        run["phases"].as_array().unwrap().iter().map(|phase| phase["name"].as_str().unwrap()).collect();
    assert_eq!(phases, ["load", "warmup", "measure"]);
    for reading in
        ["/target/facts", "/target/before", "/target/after", "/target/host/before", "/target/host/after"]
    {
        assert!(run.pointer(reading).is_some_and(|found| found.is_object()), "{reading}");
    }
}

#[test]
fn an_agent_runs_only_what_its_configuration_names() {
    let agent = Agent::with("[]");
    finish(agent.command(SMALL)).failed(5, "MeasurementInvalid", "Zachmann is not among the workloads");
}

#[test]
fn a_failure_inside_the_target_is_that_of_the_driver() {
    let agent = Agent::with(r#"["zachmann"]"#);
    let outcome = finish(agent.command("--work-processes 4096 --table-size 1TiB --duration 1s"));
    outcome.failed(2, "InsufficientMemory", "4096 work processes");
    finish(agent.command(SMALL)).document();
}

#[test]
fn runs_in_several_targets_begin_together() {
    let agents = [Agent::with(r#"["zachmann"]"#), Agent::with(r#"["zachmann"]"#)];
    let barrier = format!("127.0.0.1:{}", free_port());
    let running: Vec<Child> = agents
        .iter()
        .zip(["--barrier-listen", "--barrier"])
        .enumerate()
        .map(|(index, (agent, role))| {
            agent
                .command("--table-size 4MB --warmup 300ms --duration 700ms --processes 2")
                .args([role, &barrier, "--process-index", &index.to_string()])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("the driver starts")
        })
        .collect();
    let runs: Vec<_> =
        running.into_iter().map(|child| Outcome::of(child.wait_with_output().unwrap()).document()).collect();
    let window = |run: &serde_json::Value| {
        let phase = run["phases"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(phase["name"], "measure");
        (phase["start"].as_str().unwrap().to_string(), phase["end"].as_str().unwrap().to_string())
    };
    let (first, second) = (window(&runs[0]), window(&runs[1]));
    assert!(first.0 < second.1 && second.0 < first.1, "{first:?} {second:?}");
}

#[test]
fn a_new_request_ends_the_run_before_it() {
    let agent = Agent::with(r#"["zachmann"]"#);
    let long = agent
        .command("--table-size 4MB --warmup 0s --duration 10m")
        .args(["--progress", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut long = long.expect("the driver starts");
    let mut stderr = long.stderr.take().unwrap();
    crate::support::driver::read_until_phase(&mut stderr, "measure");
    finish(agent.command(SMALL)).document();
    let mut said = String::new();
    std::io::Read::read_to_string(&mut stderr, &mut said).unwrap();
    assert_eq!(long.wait().unwrap().code(), Some(5));
    assert!(said.contains("another request"), "{said}");
}

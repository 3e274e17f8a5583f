//! Runs of the driver's binary.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::cluster::{Database, PASSWORD};

/// What a run left behind.
pub struct Outcome {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// A command line of the driver without a database, and without a password in the environment.
pub fn driver(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dbbench-driver"));
    command.args(arguments).env_remove("PGPASSWORD").env_remove("DBBENCH_PASSWORD").stdin(Stdio::null());
    command
}

pub fn finish(mut command: Command) -> Outcome {
    Outcome::of(command.output().expect("the driver starts"))
}

/// A command line of the driver for a database, with the right password.
pub fn command_at(url: &str, line: &str) -> Command {
    let mut command = driver(&line.split_whitespace().collect::<Vec<_>>());
    command.args(["--url", url, "--connect-timeout", "60s"]).env("DBBENCH_PASSWORD", PASSWORD);
    command
}

impl Database {
    /// Runs `dbbench-driver WORKLOAD COMMAND ...` against this database with the right password.
    pub fn driver(&self, line: &str) -> Outcome {
        finish(self.command(line))
    }

    pub fn command(&self, line: &str) -> Command {
        command_at(&self.url(), line)
    }

    /// Like [`Database::driver`]; the run has to measure.
    pub fn measured(&self, line: &str) -> Value {
        self.driver(line).measured(line)
    }
}

/// Reads progress in JSON until it names the phase; returns what was read.
pub fn read_until_phase(progress: &mut impl Read, phase: &str) -> String {
    let (mark, mut seen, mut byte) = (format!(r#""phase":"{phase}""#), String::new(), [0]);
    while !seen.contains(&mark) {
        assert_eq!(progress.read(&mut byte).unwrap(), 1, "{seen}");
        seen.push(byte[0] as char);
    }
    seen
}

/// Starts the command, does something once its progress names the phase, and waits for the end. There must be no result.
pub fn disturbed(mut command: Command, phase: &str, disturb: impl FnOnce()) -> Outcome {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the driver starts");
    let mut stderr = child.stderr.take().expect("piped");
    let mut seen = read_until_phase(&mut stderr, phase);
    disturb();
    stderr.read_to_string(&mut seen).unwrap();
    let outcome = Outcome { stderr: seen, ..Outcome::of(child.wait_with_output().unwrap()) };
    assert_eq!(outcome.stdout, "");
    outcome
}

impl Outcome {
    pub fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        let outcome = Outcome {
            code: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        };
        assert!(
            !outcome.stdout.contains(PASSWORD) && !outcome.stderr.contains(PASSWORD),
            "the password leaks"
        );
        outcome
    }

    /// The document of a run that has to measure.
    ///
    /// On a busy machine the driver rightly finds itself saturated, and says so with exit code 5:
    /// that is a verdict on the machine's speed, which no test asserts. Nothing else is let through.
    pub fn measured(&self, line: &str) -> Value {
        if self.code == 5 {
            let document = self.document();
            let reasons = document["invalidReasons"].as_array().expect("reasons of an invalid result");
            let of_speed =
                |reason: &Value| reason.as_str().unwrap_or("").starts_with("the driver was saturated");
            assert!(reasons.iter().all(of_speed), "{line}: {reasons:?}");
            return document;
        }
        assert_eq!(self.code, 0, "{line}: {}{}", self.stdout, self.stderr);
        self.document()
    }

    /// The one line on standard output, checked against the schema.
    pub fn document(&self) -> Value {
        assert!(self.stdout.starts_with(r#"{"kind":"Result","#), "{}{}", self.stdout, self.stderr);
        assert_eq!(self.stdout.lines().count(), 1);
        let document: Value = serde_json::from_str(&self.stdout).expect("JSON");
        assert_valid(&document);
        document
    }

    /// The failure, which has to be the last line on standard error, and the exit code that it names.
    pub fn failure(&self) -> Value {
        let last = self.stderr.lines().last().unwrap_or_default();
        assert!(last.starts_with(r#"{"kind":"Error","exitCode":"#), "{}", self.stderr);
        let failure: Value = serde_json::from_str(last).expect("JSON");
        assert_eq!(failure["exitCode"], self.code);
        failure
    }

    /// Asserts how the run failed, and that its message names the cause.
    pub fn failed(&self, code: i32, reason: &str, cause: &str) {
        let failure = self.failure();
        assert_eq!((self.code, failure["reason"].as_str()), (code, Some(reason)), "{failure}");
        let message = failure["message"].as_str().expect("a message");
        assert!(message.contains(cause), "{message:?} does not name {cause:?}");
    }
}

/// Checks a document against `workloads/schema/result.schema.json`.
pub fn assert_valid(document: &Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema/result.schema.json");
    let schema: Value =
        serde_json::from_str(&std::fs::read_to_string(path).expect("the schema")).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let errors: Vec<String> =
        validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

/// The operation with this name.
pub fn operation<'a>(document: &'a Value, name: &str) -> &'a Value {
    let all = document["operations"].as_array().expect("operations");
    all.iter().find(|operation| operation["name"] == name).unwrap_or_else(|| panic!("no operation {name}"))
}

/// The value of the metric with this name.
pub fn metric(document: &Value, name: &str) -> f64 {
    let all = document["metrics"].as_array().expect("metrics");
    all.iter()
        .find(|metric| metric["name"] == name)
        .and_then(|metric| metric["value"].as_f64())
        .expect("a metric")
}

//! Why the driver ends without (or with an invalid) measurement, and the exit code that says so.

use std::fmt;

/// Classes of failure; the number is the exit code of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Wrong arguments.
    Arguments = 2,
    /// The database (or the agent that was asked for) cannot be reached or used.
    Unreachable = 3,
    /// A consistency check failed, or the schema is missing, unfinished or of another scale.
    Inconsistent = 4,
    /// The measurement was made, or begun, and does not count.
    Invalid = 5,
}

/// Reasons that a run beside the database may end with, besides those of each exit code.
const OF_RUNS: [&str; 14] = [
    "AgentUnreachable",
    "AuthenticationFailed",
    "DatabaseError",
    "DatabaseLost",
    "DatabaseOutOfSpace",
    "InsufficientMemory",
    "NotCold",
    "PermissionDenied",
    "ProcessLost",
    "SchemaIncomplete",
    "SchemaMismatch",
    "SchemaMissing",
    "StatementTimeout",
    "Unsupported",
];

/// A failure with its exit code, a stable CamelCase reason and one sentence for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub exit: Exit,
    pub reason: &'static str,
    pub message: String,
}

impl Failure {
    pub fn new(exit: Exit, reason: &'static str, message: impl Into<String>) -> Self {
        Failure { exit, reason, message: message.into() }
    }

    pub fn arguments(message: impl Into<String>) -> Self {
        Failure::new(Exit::Arguments, "InvalidArguments", message)
    }

    pub fn unreachable(message: impl Into<String>) -> Self {
        Failure::new(Exit::Unreachable, "DatabaseUnreachable", message)
    }

    pub fn invalid(message: impl Into<String>) -> Self {
        Failure::new(Exit::Invalid, "MeasurementInvalid", message)
    }

    /// The failure of another driver, from [`Failure::to_json_line`]; None for anything else.
    pub fn of_json(line: &serde_json::Value) -> Option<Self> {
        let exit = [Exit::Arguments, Exit::Unreachable, Exit::Inconsistent, Exit::Invalid]
            .into_iter()
            .find(|exit| line.get("exitCode") == Some(&(*exit as u8).into()))?;
        let reason = OF_RUNS.into_iter().find(|reason| line.get("reason").is_some_and(|said| said == reason));
        let other = match exit {
            Exit::Arguments => Failure::arguments(""),
            Exit::Unreachable => Failure::unreachable(""),
            Exit::Inconsistent => Failure::new(exit, "CheckFailed", ""),
            Exit::Invalid => Failure::invalid(""),
        };
        let message = line.get("message")?.as_str()?;
        Some(Failure::new(exit, reason.unwrap_or(other.reason), message))
    }

    /// The line that ends stderr when the driver fails.
    pub fn to_json_line(&self) -> String {
        // Built by hand: readers of merged logs know the line by its beginning.
        let quote = |text: &str| serde_json::Value::from(text).to_string();
        format!(
            r#"{{"kind":"Error","exitCode":{},"reason":{},"message":{}}}"#,
            self.exit as u8,
            quote(self.reason),
            quote(&self.message)
        )
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reason, self.message)
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_survives_its_line() {
        for failure in [
            Failure::new(Exit::Arguments, "InsufficientMemory", "4 MiB"),
            Failure::new(Exit::Inconsistent, "SchemaMissing", "nothing is loaded"),
            Failure::arguments("wrong"),
            Failure::invalid("swapped"),
        ] {
            let line = serde_json::from_str(&failure.to_json_line()).unwrap();
            assert_eq!(Failure::of_json(&line), Some(failure));
        }
        assert_eq!(Failure::of_json(&serde_json::json!({"error": "x"})), None);
    }

    #[test]
    fn the_error_line_starts_with_its_kind_and_carries_the_exit_code() {
        let line = Failure::unreachable("no \"route\"").to_json_line();
        assert!(line.starts_with(r#"{"kind":"Error","#), "{line}");
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value["kind"], "Error");
        assert_eq!(value["exitCode"], 3);
        assert_eq!(value["reason"], "DatabaseUnreachable");
        assert_eq!(value["message"], "no \"route\"");
    }
}

//! Consistency conditions as queries that count violations.

use crate::engine::{Isolation, Row, Session};
use crate::failure::{Exit, Failure};
use crate::report::{Check, Progress};

/// A condition holds when its query, which returns one number, returns zero.
pub struct Condition {
    pub name: &'static str,
    /// What has to hold, for the message when it does not.
    pub rule: &'static str,
    pub violations: &'static str,
}

/// When conditions are checked around a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Moments {
    None,
    Before,
    After,
    Both,
}

impl Moments {
    pub fn name(self) -> &'static str {
        match self {
            Moments::None => "none",
            Moments::Before => "before",
            Moments::After => "after",
            Moments::Both => "both",
        }
    }

    pub fn before(self) -> bool {
        matches!(self, Moments::Before | Moments::Both)
    }

    pub fn after(self) -> bool {
        matches!(self, Moments::After | Moments::Both)
    }
}

/// The checks under names that say when they were made.
pub fn prefixed(moment: &str, checks: Vec<Check>) -> Vec<Check> {
    checks.into_iter().map(|check| Check { name: format!("{moment}{}", check.name), ..check }).collect()
}

/// Data that is broken before a run is not worth measuring.
pub fn refuse_broken(checks: &[Check]) -> Result<(), Failure> {
    let broken: Vec<String> = checks
        .iter()
        .filter(|check| !check.ok)
        .map(|check| format!("{}: {}", check.name, check.detail))
        .collect();
    match broken.is_empty() {
        true => Ok(()),
        false => Err(Failure::new(Exit::Inconsistent, "CheckFailed", broken.join("; "))),
    }
}

/// Evaluates the conditions in one snapshot, so that running transactions do not disturb them.
pub async fn evaluate<S: Session>(
    session: &S,
    conditions: &[Condition],
    progress: &Progress,
) -> Result<Vec<Check>, Failure> {
    progress.begin("check", conditions.len() as u64, "conditions");
    session.begin(Isolation::SnapshotReadOnly).await?;
    let mut checks = Vec::new();
    for condition in conditions {
        let statement = session.prepare(condition.violations).await?;
        let rows = session.query(&statement, &[]).await?;
        let violations = rows.first().map_or(Ok(0), |row| row.long(0))?;
        let detail = match violations {
            0 => String::new(),
            count => format!("{count} violations of: {}", condition.rule),
        };
        checks.push(Check { name: condition.name.into(), ok: violations == 0, detail });
        progress.advance(1);
    }
    session.commit().await?;
    progress.finish();
    Ok(checks)
}

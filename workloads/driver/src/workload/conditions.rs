//! Consistency conditions as queries that count violations.

use crate::cli::Invocation;
use crate::engine::{Engine, Isolation, Row, Session};
use crate::failure::{Exit, Failure};
use crate::report::{Check, Document, Progress};

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
}

/// What holds of the data before and after a run.
pub struct Around<'a, E: Engine, C> {
    pub invocation: &'a Invocation<E>,
    pub moments: Moments,
    /// Of several processes the one that leads checks for all.
    pub leads: bool,
    /// Evaluates the conditions on a session.
    pub conditions: C,
}

impl<E: Engine, C: AsyncFn(&E::Session) -> Result<Vec<Check>, Failure>> Around<'_, E, C> {
    /// Adds the checks to the document; refuses broken data, which is not worth measuring.
    pub async fn before(&self, session: &E::Session, document: &mut Document) -> Result<(), Failure> {
        if !self.leads || !matches!(self.moments, Moments::Before | Moments::Both) {
            return Ok(());
        }
        document.checks = prefixed("before: ", (self.conditions)(session).await?);
        refuse_broken(&document.checks)
    }

    /// Adds the checks to the document.
    pub async fn after(&self, document: &mut Document) -> Result<(), Failure> {
        if !self.leads || !matches!(self.moments, Moments::After | Moments::Both) {
            return Ok(());
        }
        let session = self.invocation.connect().await?;
        let checks = (self.conditions)(&session).await?;
        document.checks.extend(prefixed("after: ", checks));
        session.close().await;
        Ok(())
    }
}

/// The checks under names that say when they were made.
fn prefixed(moment: &str, checks: Vec<Check>) -> Vec<Check> {
    checks.into_iter().map(|check| Check { name: format!("{moment}{}", check.name), ..check }).collect()
}

fn refuse_broken(checks: &[Check]) -> Result<(), Failure> {
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

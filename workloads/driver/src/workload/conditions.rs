//! Consistency conditions as queries that count violations.

use crate::engine::{Isolation, Row, Session};
use crate::failure::Failure;
use crate::report::{Check, Progress};

/// A condition holds when its query, which returns one number, returns zero.
pub struct Condition {
    pub name: &'static str,
    /// What has to hold, for the message when it does not.
    pub rule: &'static str,
    pub violations: &'static str,
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

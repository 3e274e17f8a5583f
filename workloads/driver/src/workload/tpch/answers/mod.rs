//! The answer check (clause 2.3): each query with its validation parameters against reference answers.
//!
//! The references are DuckDB's answers over the same data (`workloads/answers`), for the scale factors
//! that they are shipped for.

mod compare;
mod reference;
mod rules;

use super::{queries, ScaleFactor};
use crate::engine::Session;
use crate::failure::Failure;
use crate::report::{Check, Progress};

pub use reference::Reference;

/// Runs the 22 queries and compares each answer with the reference.
pub async fn check<S: Session>(
    session: &S,
    scale: &ScaleFactor,
    reference: &Reference,
    progress: &Progress,
) -> Result<Vec<Check>, Failure> {
    progress.begin("answers", 22, "queries");
    let mut checks = Vec::new();
    for query in 1..=queries::COUNT {
        let answer = session.answer(&queries::validation(query, scale)).await?;
        let difference = compare::difference(rules::of(query), reference.expected(query), &answer);
        checks.push(Check {
            name: format!("2.3 Q{query}"),
            ok: difference.is_none(),
            detail: difference.unwrap_or_default(),
        });
        progress.advance(1);
    }
    progress.finish();
    Ok(checks)
}

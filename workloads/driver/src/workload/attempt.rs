//! A transaction and its further attempts.

use crate::engine::{EngineError, ErrorKind, Isolation, Session};
use crate::measure::{Outcome, Transaction};

/// After so many conflicts in a row a transaction counts as an error.
pub const ATTEMPTS: usize = 100;

/// What the body of a transaction asks for when it has run through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Commit,
    /// The specification wants this one undone (or counts it as failed).
    Rollback,
}

/// Runs `body` inside a transaction. Serialization failures and deadlocks are tried again with the same
/// inputs; the time of all attempts is the transaction's. Constraint violations are expected failures
/// where `violations_expected`. A lost connection is the caller's to handle.
pub async fn attempt<S: Session>(
    session: &S,
    operation: usize,
    isolation: Isolation,
    violations_expected: bool,
    mut body: impl AsyncFnMut(&S) -> Result<Ending, EngineError>,
) -> Result<Transaction, EngineError> {
    let mut conflicts = Vec::new();
    loop {
        let ended = match once(session, isolation, &mut body).await {
            Ok(Ending::Commit) => Outcome::Ok,
            Ok(Ending::Rollback) => Outcome::ExpectedFailure,
            Err(error) => match error.kind {
                ErrorKind::ConnectionLost | ErrorKind::NotReady => return Err(error),
                ErrorKind::Conflict if conflicts.len() + 1 < ATTEMPTS => {
                    conflicts.push(error.class);
                    continue;
                }
                ErrorKind::Duplicate | ErrorKind::ForeignKey if violations_expected => {
                    Outcome::ExpectedFailure
                }
                _ => Outcome::Error(error.class),
            },
        };
        return Ok(Transaction { conflicts, ..Transaction::new(operation, ended) });
    }
}

async fn once<S: Session>(
    session: &S,
    isolation: Isolation,
    body: &mut impl AsyncFnMut(&S) -> Result<Ending, EngineError>,
) -> Result<Ending, EngineError> {
    session.begin(isolation).await?;
    match body(session).await {
        Ok(Ending::Commit) => session.commit().await.map(|()| Ending::Commit),
        Ok(Ending::Rollback) => session.rollback().await.map(|()| Ending::Rollback),
        Err(error) => {
            if error.kind != ErrorKind::ConnectionLost {
                session.rollback().await?;
            }
            Err(error)
        }
    }
}

/// Books a transaction of a single statement, which is one by itself.
pub fn single(operation: usize, outcome: Result<bool, EngineError>) -> Result<Transaction, EngineError> {
    let outcome = match outcome {
        Ok(true) => Outcome::Ok,
        Ok(false) => Outcome::ExpectedFailure,
        Err(error) if matches!(error.kind, ErrorKind::ConnectionLost | ErrorKind::NotReady) => {
            return Err(error)
        }
        Err(error) => Outcome::Error(error.class),
    };
    Ok(Transaction::new(operation, outcome))
}

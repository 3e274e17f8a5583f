//! One execution of one query, and how it ended.

use std::time::{Duration, Instant};

use crate::engine::{ErrorKind, Session};
use crate::failure::{Exit, Failure};

/// How much longer than the server's own limit the driver waits for an answer before it gives the
/// server up.
const SERVER_GRACE: Duration = Duration::from_secs(30);

/// How an execution ended.
pub enum Outcome {
    Answered {
        rows: u64,
        runtime: Duration,
    },
    /// The class of the error, and a sentence that names the query.
    Failed {
        class: String,
        trouble: String,
    },
}

/// Runs a query and reads its answer to the end; `limit` is the server's own, for messages. A server that
/// is lost, or that lacks what the query needs, is a failure of the whole run.
pub async fn execute<S: Session>(
    session: &S,
    number: u8,
    text: &str,
    limit: Duration,
) -> Result<Outcome, Failure> {
    let patience = limit + SERVER_GRACE;
    let began = Instant::now();
    let answer = tokio::time::timeout(patience, session.drain(text)).await;
    let runtime = began.elapsed();
    let error = match answer {
        Ok(Ok(rows)) => return Ok(Outcome::Answered { rows, runtime }),
        Ok(Err(error)) => error,
        Err(_) => {
            return Err(Failure::new(
                Exit::Unreachable,
                "DatabaseLost",
                format!("Q{number}: neither an answer nor an error within {} s", patience.as_secs()),
            ))
        }
    };
    let trouble = match error.kind {
        ErrorKind::ConnectionLost
        | ErrorKind::NotReady
        | ErrorKind::Permission
        | ErrorKind::MissingObject => {
            let failure = Failure::from(error);
            return Err(Failure { message: format!("Q{number}: {}", failure.message), ..failure });
        }
        ErrorKind::Timeout => {
            format!("Q{number}: ended after the query timeout of {}", humantime::format_duration(limit))
        }
        _ => format!("Q{number}: {error}"),
    };
    Ok(Outcome::Failed { class: error.class, trouble })
}

//! RF1 and RF2 on a database: each is one transaction that also records what it has done, so that no set
//! is applied twice and none by half (clauses 2.5.2 and 2.8).

use std::time::{Duration, Instant};

use bytes::Bytes;

use super::{State, UpdateSet};
use crate::engine::{CopyIn, EngineError, ErrorKind, Isolation, RowFormat, Session};
use crate::failure::Failure;
use crate::load;

/// Keys in one DELETE.
const KEYS: usize = 500;

/// Bytes in one message of rows.
const MESSAGE: usize = 64 * 1024;

/// What a refresh function did.
#[derive(Debug, Clone, Copy)]
pub struct Executed {
    /// From the request to the confirmation of the commit (clause 5.3.7.3).
    pub runtime: Duration,
    /// Rows of orders and lineitem.
    pub rows: u64,
}

/// New Sales (clause 2.6): inserts the orders of a set and their lines. The rows are generated before the
/// clock starts (clause 5.3.7.10).
pub async fn insert<S: Session>(
    session: &S,
    set: &UpdateSet,
    state: &mut State,
) -> Result<Executed, Failure> {
    let (orders, lines) = (generate(set.new_orders()), generate(set.new_lineitems()));
    let after = State { inserted: state.inserted + 1, ..*state };
    let began = Instant::now();
    let rows = atomically(session, "RF1", after, async || {
        Ok(copy(session, "orders", &orders).await? + copy(session, "lineitem", &lines).await?)
    })
    .await?;
    *state = after;
    Ok(Executed { runtime: began.elapsed(), rows })
}

/// Old Sales (clause 2.7): deletes the orders of a set and their lines.
pub async fn delete<S: Session>(
    session: &S,
    set: &UpdateSet,
    state: &mut State,
) -> Result<Executed, Failure> {
    let keys: Vec<String> = set.old_keys().map(|key| key.to_string()).collect();
    let expected = (set.orders(), set.old_lines());
    let after = State { deleted: state.deleted + 1, ..*state };
    let began = Instant::now();
    let rows = atomically(session, "RF2", after, async || {
        let (mut orders, mut lines) = (0, 0);
        for keys in keys.chunks(KEYS) {
            let keys = keys.join(", ");
            // Lines first: they refer to their order.
            lines += remove(session, &format!("DELETE FROM lineitem WHERE l_orderkey IN ({keys})")).await?;
            orders += remove(session, &format!("DELETE FROM orders WHERE o_orderkey IN ({keys})")).await?;
        }
        let found = (orders, lines);
        (found == expected).then_some(orders + lines).ok_or_else(|| {
            wrong(format!("{orders} orders and {lines} lines, expected {} and {}", expected.0, expected.1))
        })
    })
    .await?;
    *state = after;
    Ok(Executed { runtime: began.elapsed(), rows })
}

async fn atomically<S: Session>(
    session: &S,
    name: &str,
    after: State,
    work: impl AsyncFnOnce() -> Result<u64, EngineError>,
) -> Result<u64, Failure> {
    session.begin(Isolation::ReadCommitted).await?;
    let done = match work().await {
        Ok(rows) => load::set_constants(session, &after.to_json()).await.map(|()| rows),
        Err(error) => Err(error.into()),
    };
    match done {
        Ok(rows) => {
            session.commit().await?;
            Ok(rows)
        }
        Err(failure) => {
            // The first error is the one to report; a broken connection cannot be rolled back.
            let _ = session.rollback().await;
            Err(Failure { message: format!("{name}: {}", failure.message), ..failure })
        }
    }
}

fn wrong(message: String) -> EngineError {
    EngineError::new(ErrorKind::Other, "rows", message)
}

async fn remove<S: Session>(session: &S, sql: &str) -> Result<u64, EngineError> {
    let statement = session.prepare(sql).await?;
    session.execute(&statement, &[]).await
}

/// Messages of rows and their number.
fn generate(mut rows: Box<dyn crate::load::Rows>) -> (Vec<Bytes>, u64) {
    let (mut messages, mut count) = (Vec::new(), 0);
    loop {
        let mut message = Vec::with_capacity(MESSAGE + 1024);
        match rows.fill(&mut message, MESSAGE) {
            0 => return (messages, count),
            added => count += added,
        }
        messages.push(Bytes::from(message));
    }
}

async fn copy<S: Session>(
    session: &S,
    table: &str,
    (messages, rows): &(Vec<Bytes>, u64),
) -> Result<u64, EngineError> {
    let mut copy = session.copy_in(table, RowFormat::Text).await?;
    for message in messages {
        copy.send(message.clone()).await?;
    }
    let taken = copy.finish().await?;
    (taken == *rows)
        .then_some(taken)
        .ok_or_else(|| wrong(format!("{table}: {rows} rows were sent and {taken} taken")))
}

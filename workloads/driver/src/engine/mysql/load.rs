//! `LOAD DATA LOCAL INFILE` from memory: there is no file, the rows come through a channel.

use bytes::Bytes;
use futures_util::{stream, StreamExt};
use mysql_async::prelude::Queryable;
use mysql_async::Conn;
use tokio::sync::{mpsc, OwnedMutexGuard};
use tokio::task::JoinHandle;

use super::{error, quote};
use crate::engine::{CopyIn, EngineError, ErrorKind};

/// Messages that wait for the connection to take them: enough to keep it busy, too few to need memory.
const WAITING: usize = 4;

/// A running load. Dropped before [`CopyIn::finish`], it breaks the connection, and the server undoes it.
pub struct MySqlCopy {
    rows: Option<mpsc::Sender<Bytes>>,
    task: JoinHandle<Result<u64, EngineError>>,
}

impl MySqlCopy {
    pub(super) fn start(conn: OwnedMutexGuard<Conn>, table: &str) -> Self {
        let (rows, taken) = mpsc::channel(WAITING);
        let task = tokio::spawn(load(conn, table.to_string(), taken));
        MySqlCopy { rows: Some(rows), task }
    }
}

impl CopyIn for MySqlCopy {
    async fn send(&mut self, rows: Bytes) -> Result<(), EngineError> {
        let Some(sender) = &self.rows else { return Ok(()) };
        let ended = tokio::select! {
            place = sender.reserve() => match place {
                Ok(place) => {
                    place.send(rows);
                    return Ok(());
                }
                Err(_) => (&mut self.task).await,
            },
            // The server refuses a load at once, while the library keeps its end of the channel open.
            ended = &mut self.task => ended,
        };
        match ended {
            Ok(Err(error)) => Err(error),
            _ => Err(EngineError::new(ErrorKind::Other, "driver", "the load ended before its data")),
        }
    }

    async fn finish(mut self) -> Result<u64, EngineError> {
        self.rows = None; // the end of the data
        let ended = (&mut self.task).await;
        ended.unwrap_or_else(|_| {
            Err(EngineError::new(ErrorKind::Other, "driver", "the load's task was ended"))
        })
    }
}

impl Drop for MySqlCopy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn load(
    mut conn: OwnedMutexGuard<Conn>,
    table: String,
    mut rows: mpsc::Receiver<Bytes>,
) -> Result<u64, EngineError> {
    conn.set_infile_handler(async move { Ok(stream::poll_fn(move |cx| rows.poll_recv(cx)).map(Ok).boxed()) });
    let sql = format!(
        "LOAD DATA LOCAL INFILE 'memory' INTO TABLE {} CHARACTER SET utf8mb4 \
         FIELDS TERMINATED BY '|' ESCAPED BY '\\\\' LINES TERMINATED BY '\\n'",
        quote(&table)
    );
    conn.query_drop(sql).await.map_err(|e| error::of_statement(&e))?;
    let (taken, warnings) = (conn.affected_rows(), conn.get_warnings());
    if warnings == 0 {
        return Ok(taken);
    }
    // LOCAL makes warnings of what would be errors: values cut off, rows left out.
    let first: Option<(String, u16, String)> =
        conn.query_first("SHOW WARNINGS LIMIT 1").await.map_err(|e| error::of_statement(&e))?;
    let (_, code, message) = first.unwrap_or_default();
    Err(EngineError::new(
        ErrorKind::Other,
        code.to_string(),
        format!("{table}: the load gave {warnings} warnings, the first one: {message} (error {code})"),
    ))
}

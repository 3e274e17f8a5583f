//! What a database must offer so that the workloads can run on it.
//!
//! The workloads are generic over [`Engine`] and know no wire protocol. Sessions live on the thread
//! that opened them, so their futures need not be `Send`.
#![allow(async_fn_in_trait)] // sessions are used on single-threaded runtimes, where no bound is wanted

mod any;
mod dialect;
mod error;
mod fingerprint;
pub mod hyper;
pub mod mysql;
mod patient;
mod pgwire;
pub mod postgres;
mod settings;
mod tls;
mod value;

use std::collections::BTreeMap;

pub use any::AnyEngine;
pub use dialect::{Dialect, Feature};
pub use error::{EngineError, ErrorKind};
pub use patient::Patient;
pub use tls::{Encryption, SslMode};
pub use value::{Cell, Row, Value};

/// A database server that sessions can be opened on.
pub trait Engine: Clone + Send + Sync + 'static {
    type Session: Session;

    /// Opens one session with the workload's schema as its default. No retry.
    async fn connect(&self) -> Result<Self::Session, EngineError>;

    /// Where the server is, for messages: no user, no password.
    fn address(&self) -> String;

    /// Which SQL the server speaks, for the statements that have no common form.
    fn dialect(&self) -> Dialect;
}

/// How a transaction sees the work of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// Each statement sees what was committed before it; rows to be changed are locked first.
    ReadCommitted,
    /// One snapshot for the whole transaction, which changes nothing.
    SnapshotReadOnly,
}

/// One connection to the database.
pub trait Session: Sized {
    type Statement;
    type Row: Row;
    type Copy: CopyIn;

    /// Quotes a name for use in SQL.
    fn quote(&self, name: &str) -> String {
        quote_identifier(name)
    }

    /// Runs statements that return nothing.
    async fn script(&self, sql: &str) -> Result<(), EngineError>;

    /// Prepares a statement with parameters `$1`, `$2`, ...
    async fn prepare(&self, sql: &str) -> Result<Self::Statement, EngineError>;

    /// Runs a prepared statement and collects its rows.
    async fn query(
        &self,
        statement: &Self::Statement,
        values: &[Value<'_>],
    ) -> Result<Vec<Self::Row>, EngineError>;

    /// Runs a prepared statement; returns how many rows it changed.
    async fn execute(&self, statement: &Self::Statement, values: &[Value<'_>]) -> Result<u64, EngineError>;

    /// Runs one query given as text, reads its answer to the end, and returns the number of rows.
    async fn drain(&self, sql: &str) -> Result<u64, EngineError>;

    /// Runs one query given as text and collects its whole answer, in order.
    async fn answer(&self, sql: &str) -> Result<Answer, EngineError>;

    async fn begin(&self, isolation: Isolation) -> Result<(), EngineError>;
    async fn commit(&self) -> Result<(), EngineError>;
    async fn rollback(&self) -> Result<(), EngineError>;

    /// Starts a bulk load of rows in a format that [`Dialect::takes`].
    async fn copy_in(&self, table: &str, format: RowFormat) -> Result<Self::Copy, EngineError>;

    /// Version and settings of the server.
    async fn server(&self) -> Result<Server, EngineError>;

    /// Waits up to `patience` until no other session holds the schema for loading; held until the
    /// session ends. [`ErrorKind::Locked`] when the time is over.
    async fn lock_schema(&self, schema: &str, patience: std::time::Duration) -> Result<(), EngineError>;

    /// Creates the schema unless it exists; returns the names of the tables in it.
    async fn open_schema(&self, schema: &str, create: bool) -> Result<Vec<String>, EngineError>;

    /// Drops a table, if it exists, with everything that depends on it.
    async fn drop_table(&self, table: &str) -> Result<(), EngineError> {
        self.script(&format!("DROP TABLE IF EXISTS {} CASCADE", self.quote(table))).await
    }

    /// Brings visibility information and optimiser statistics of a table up to date.
    async fn settle_table(&self, table: &str) -> Result<(), EngineError>;

    /// Writes what the load left in memory to the disk, where the user may ask for that.
    async fn settle_server(&self) -> Result<(), EngineError>;

    /// Ends statements that run longer than this; none means never.
    async fn limit_statements(&self, limit: Option<std::time::Duration>) -> Result<(), EngineError>;

    /// Lets the server work on one query with several processes, as far as it is set up for that, or not.
    async fn allow_parallel_query(&self, _: bool) -> Result<(), EngineError> {
        Err(EngineError::new(
            ErrorKind::Unsupported,
            "unsupported",
            "--parallel-query: this engine has no setting for it in a session",
        ))
    }

    /// Blocks of the database that the server has read from the operating system since it counts, where it
    /// tells; what this session has read is in the number.
    async fn blocks_read(&self) -> Result<Option<u64>, EngineError> {
        Ok(None)
    }

    /// A checksum over the rows of a table in whatever order, where the engine has one. Equal rows on equal
    /// servers have equal ones.
    async fn checksum(&self, _table: &str) -> Result<Option<String>, EngineError> {
        Ok(None)
    }

    /// A digest of the plan's shape that does not change with parameter values, where there is one.
    async fn plan_fingerprint(&self, sql: &str) -> Result<Option<String>, EngineError>;

    /// Ends the session and waits until the server has been told.
    async fn close(self);
}

/// Rows of an answer as text, `None` for null: numbers in decimal notation and not rounded, dates as
/// `YYYY-MM-DD`, no blanks at the end (so that CHAR and VARCHAR read the same).
pub type Answer = Vec<Vec<Option<String>>>;

/// How the rows of a bulk load are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowFormat {
    /// The driver's exchange format: text, `|` between the columns, `\N` for null, a newline after each row.
    Text,
    /// The tuples of PostgreSQL's binary COPY, without what stands before the first and after the last one.
    Binary,
}

/// A running bulk load.
pub trait CopyIn {
    async fn send(&mut self, rows: bytes::Bytes) -> Result<(), EngineError>;

    /// Ends the load and returns the number of rows that the server took.
    async fn finish(self) -> Result<u64, EngineError>;
}

/// What a server says about itself.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Server {
    pub engine: &'static str,
    pub version: String,
    /// Setting to value; those that carry secrets are left out.
    pub settings: BTreeMap<String, String>,
    /// Of the session that asked; none without TLS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<Encryption>,
}

/// Quotes a name as the standard says.
pub fn quote_identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

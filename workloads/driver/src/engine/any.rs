//! The engine that a URL names, as one type: the workloads are compiled once instead of once for each engine,
//! which would make up most of the driver's build. A call is one branch away from the engine's own.

use std::time::Duration;

use bytes::Bytes;
use rust_decimal::Decimal;

use super::hyper::{self, Hyper, HyperSession};
use super::mysql::{self, MySql, MySqlSession};
use super::pgwire;
use super::postgres::{Postgres, PostgresSession};
use super::{
    Answer, Cell, CopyIn, Dialect, Engine, EngineError, Isolation, Row, RowFormat, Server, Session, Value,
};
use crate::failure::Failure;

/// A server of any engine.
#[derive(Clone)]
pub enum AnyEngine {
    Postgres(Postgres),
    MySql(MySql),
    Hyper(Hyper),
}

pub enum AnySession {
    Postgres(PostgresSession),
    MySql(MySqlSession),
    Hyper(HyperSession),
}

pub enum AnyStatement {
    Postgres(pgwire::Statement),
    MySql(mysql::MySqlStatement),
    Hyper(hyper::Statement),
}

pub enum AnyRow {
    Wire(pgwire::Row),
    MySql(mysql_async::Row),
}

pub enum AnyCopy {
    Wire(pgwire::Copy),
    MySql(mysql::MySqlCopy),
}

/// The same call on whichever engine it is.
macro_rules! each {
    ($self:expr, $one:ident => $call:expr) => {
        match $self {
            Self::Postgres($one) => $call,
            Self::MySql($one) => $call,
            Self::Hyper($one) => $call,
        }
    };
}

/// The same call on whichever protocol it is.
macro_rules! either {
    ($self:expr, $one:ident => $call:expr) => {
        match $self {
            Self::Wire($one) => $call,
            Self::MySql($one) => $call,
        }
    };
}

impl AnyEngine {
    /// The engine that the scheme of the URL names. A password in the URL is refused.
    pub fn new(url: &str, password: Option<String>, schema: &str) -> Result<Self, Failure> {
        match url.split_once("://").map(|(scheme, _)| scheme) {
            Some("postgres" | "postgresql") => Ok(Self::Postgres(Postgres::new(url, password, schema)?)),
            Some("hyper") => Ok(Self::Hyper(Hyper::new(url, password, schema)?)),
            Some("mysql") => Ok(Self::MySql(MySql::new(url, password, schema)?)),
            _ => Err(Failure::arguments("--url must begin with postgres://, mysql:// or hyper://")),
        }
    }
}

impl Engine for AnyEngine {
    type Session = AnySession;

    async fn connect(&self) -> Result<AnySession, EngineError> {
        Ok(match self {
            Self::Postgres(engine) => AnySession::Postgres(engine.connect().await?),
            Self::MySql(engine) => AnySession::MySql(engine.connect().await?),
            Self::Hyper(engine) => AnySession::Hyper(engine.connect().await?),
        })
    }

    fn address(&self) -> String {
        each!(self, engine => engine.address())
    }

    fn dialect(&self) -> Dialect {
        each!(self, engine => engine.dialect())
    }
}

/// A statement belongs to the session that prepared it.
const STRANGER: &str = "a statement of another engine's session";

impl Session for AnySession {
    type Statement = AnyStatement;
    type Row = AnyRow;
    type Copy = AnyCopy;

    fn quote(&self, name: &str) -> String {
        each!(self, session => session.quote(name))
    }

    async fn script(&self, sql: &str) -> Result<(), EngineError> {
        each!(self, session => session.script(sql).await)
    }

    async fn prepare(&self, sql: &str) -> Result<AnyStatement, EngineError> {
        Ok(match self {
            Self::Postgres(session) => AnyStatement::Postgres(session.prepare(sql).await?),
            Self::MySql(session) => AnyStatement::MySql(session.prepare(sql).await?),
            Self::Hyper(session) => AnyStatement::Hyper(session.prepare(sql).await?),
        })
    }

    async fn query(
        &self,
        statement: &AnyStatement,
        values: &[Value<'_>],
    ) -> Result<Vec<AnyRow>, EngineError> {
        let rows = match (self, statement) {
            (Self::Postgres(session), AnyStatement::Postgres(statement)) => {
                session.query(statement, values).await?
            }
            (Self::Hyper(session), AnyStatement::Hyper(statement)) => {
                session.query(statement, values).await?
            }
            (Self::MySql(session), AnyStatement::MySql(statement)) => {
                let rows = session.query(statement, values).await?;
                return Ok(rows.into_iter().map(AnyRow::MySql).collect());
            }
            _ => unreachable!("{STRANGER}"),
        };
        Ok(rows.into_iter().map(AnyRow::Wire).collect())
    }

    async fn execute(&self, statement: &AnyStatement, values: &[Value<'_>]) -> Result<u64, EngineError> {
        match (self, statement) {
            (Self::Postgres(session), AnyStatement::Postgres(statement)) => {
                session.execute(statement, values).await
            }
            (Self::MySql(session), AnyStatement::MySql(statement)) => {
                session.execute(statement, values).await
            }
            (Self::Hyper(session), AnyStatement::Hyper(statement)) => {
                session.execute(statement, values).await
            }
            _ => unreachable!("{STRANGER}"),
        }
    }

    async fn drain(&self, sql: &str) -> Result<u64, EngineError> {
        each!(self, session => session.drain(sql).await)
    }

    async fn answer(&self, sql: &str) -> Result<Answer, EngineError> {
        each!(self, session => session.answer(sql).await)
    }

    async fn begin(&self, isolation: Isolation) -> Result<(), EngineError> {
        each!(self, session => session.begin(isolation).await)
    }

    async fn commit(&self) -> Result<(), EngineError> {
        each!(self, session => session.commit().await)
    }

    async fn rollback(&self) -> Result<(), EngineError> {
        each!(self, session => session.rollback().await)
    }

    async fn copy_in(&self, table: &str, format: RowFormat) -> Result<AnyCopy, EngineError> {
        Ok(match self {
            Self::Postgres(session) => AnyCopy::Wire(session.copy_in(table, format).await?),
            Self::MySql(session) => AnyCopy::MySql(session.copy_in(table, format).await?),
            Self::Hyper(session) => AnyCopy::Wire(session.copy_in(table, format).await?),
        })
    }

    async fn server(&self) -> Result<Server, EngineError> {
        each!(self, session => session.server().await)
    }

    async fn lock_schema(&self, schema: &str, patience: Duration) -> Result<(), EngineError> {
        each!(self, session => session.lock_schema(schema, patience).await)
    }

    async fn open_schema(&self, schema: &str, create: bool) -> Result<Vec<String>, EngineError> {
        each!(self, session => session.open_schema(schema, create).await)
    }

    async fn drop_table(&self, table: &str) -> Result<(), EngineError> {
        each!(self, session => session.drop_table(table).await)
    }

    async fn settle_table(&self, table: &str) -> Result<(), EngineError> {
        each!(self, session => session.settle_table(table).await)
    }

    async fn settle_server(&self) -> Result<(), EngineError> {
        each!(self, session => session.settle_server().await)
    }

    async fn limit_statements(&self, limit: Option<Duration>) -> Result<(), EngineError> {
        each!(self, session => session.limit_statements(limit).await)
    }

    async fn allow_parallel_query(&self, allowed: bool) -> Result<(), EngineError> {
        each!(self, session => session.allow_parallel_query(allowed).await)
    }

    async fn blocks_read(&self) -> Result<Option<u64>, EngineError> {
        each!(self, session => session.blocks_read().await)
    }

    async fn checksum(&self, table: &str) -> Result<Option<String>, EngineError> {
        each!(self, session => session.checksum(table).await)
    }

    async fn plan_fingerprint(&self, sql: &str) -> Result<Option<String>, EngineError> {
        each!(self, session => session.plan_fingerprint(sql).await)
    }

    async fn close(self) {
        each!(self, session => session.close().await)
    }
}

impl CopyIn for AnyCopy {
    async fn send(&mut self, rows: Bytes) -> Result<(), EngineError> {
        either!(self, copy => copy.send(rows).await)
    }

    async fn finish(self) -> Result<u64, EngineError> {
        either!(self, copy => copy.finish().await)
    }
}

impl Row for AnyRow {
    fn int(&self, column: usize) -> Result<i32, EngineError> {
        either!(self, row => row.int(column))
    }

    fn long(&self, column: usize) -> Result<i64, EngineError> {
        either!(self, row => row.long(column))
    }

    fn decimal(&self, column: usize) -> Result<Decimal, EngineError> {
        either!(self, row => row.decimal(column))
    }

    fn text(&self, column: usize) -> Result<&str, EngineError> {
        either!(self, row => row.text(column))
    }

    fn boolean(&self, column: usize) -> Result<bool, EngineError> {
        either!(self, row => row.boolean(column))
    }

    fn columns(&self) -> usize {
        either!(self, row => Row::columns(row))
    }

    fn name(&self, column: usize) -> &str {
        either!(self, row => Row::name(row, column))
    }

    fn cell(&self, column: usize) -> Result<Cell<'_>, EngineError> {
        either!(self, row => row.cell(column))
    }
}

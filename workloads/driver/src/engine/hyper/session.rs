//! One connection to Hyper.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use postgres_types::Type;

use super::{in_hyper, plan, split, Hyper};
use crate::engine::pgwire::{self, Copy, Line, Row};
use crate::engine::{
    quote_identifier, settings, Answer, Dialect, EngineError, ErrorKind, Isolation, RowFormat, Server,
    Session, Value,
};

/// For so long Hyper may hold on to a table whose bulk load was broken off.
const HELD: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(100);

/// SQLSTATE of a statement in a transaction that has failed.
const ABORTED: &str = "25P02";

/// A session, and whether the database was there when it began.
pub struct HyperSession {
    engine: Hyper,
    line: Line,
    attached: Cell<bool>,
}

/// A statement with parameters is prepared when their types are known: Hyper wants them declared.
pub struct Statement {
    sql: String,
    prepared: RefCell<Option<(Vec<Type>, pgwire::Statement)>>,
}

impl HyperSession {
    pub(super) fn new(engine: Hyper, line: Line, attached: bool) -> Self {
        HyperSession { engine, line, attached: Cell::new(attached) }
    }

    fn attached(&self) -> Result<&Line, EngineError> {
        match self.attached.get() {
            true => Ok(&self.line),
            false => Err(EngineError::new(
                ErrorKind::Rejected,
                super::NO_DATABASE,
                format!(
                    "there is no database {} at {}; a load creates it",
                    quote_identifier(&self.engine.database),
                    self.engine.address.describe()
                ),
            )),
        }
    }

    /// Does what is a transaction of its own, again where Hyper says that this has been aborted before it began: so it
    /// does of a table whose bulk load was broken off and is still being given up.
    async fn persistent<T>(
        &self,
        work: impl AsyncFn(&Line) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let deadline = Instant::now() + HELD;
        loop {
            let error = match work(&self.line).await {
                Ok(done) => return Ok(done),
                Err(error) => in_hyper(error),
            };
            if error.class != ABORTED || self.line.lease()?.in_transaction() || Instant::now() >= deadline {
                return Err(error);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Prepares the statement for values of these types, unless that is done.
    async fn typed(&self, statement: &Statement, values: &[Value<'_>]) -> Result<(), EngineError> {
        let types: Vec<Type> = values.iter().map(type_of).collect();
        if statement.prepared.borrow().as_ref().is_some_and(|(prepared, _)| *prepared == types) {
            return Ok(());
        }
        let prepared = self.attached()?.lease()?.prepare(&statement.sql, &types).await.map_err(in_hyper)?;
        statement.prepared.replace(Some((types, prepared)));
        Ok(())
    }
}

fn type_of(value: &Value<'_>) -> Type {
    match value {
        Value::Boolean(_) => Type::BOOL,
        Value::Int(_) => Type::INT4,
        Value::Long(_) => Type::INT8,
        Value::Double(_) => Type::FLOAT8,
        Value::Decimal(_) => Type::NUMERIC,
        Value::Time(_) => Type::TIMESTAMP,
        Value::Text(_) | Value::Null => Type::TEXT,
    }
}

impl Session for HyperSession {
    type Statement = Statement;
    type Row = Row;
    type Copy = Copy;

    async fn script(&self, sql: &str) -> Result<(), EngineError> {
        for statement in split::statements(sql) {
            self.attached()?;
            self.persistent(async |line| line.script(statement).await).await?;
        }
        Ok(())
    }

    async fn prepare(&self, sql: &str) -> Result<Statement, EngineError> {
        Ok(Statement { sql: sql.to_string(), prepared: RefCell::new(None) })
    }

    async fn query(&self, statement: &Statement, values: &[Value<'_>]) -> Result<Vec<Row>, EngineError> {
        self.typed(statement, values).await?;
        let (types, prepared) = statement.prepared.take().expect("prepared just now");
        let rows = self.line.lease()?.query(&prepared, values).await.map_err(in_hyper);
        statement.prepared.replace(Some((types, prepared)));
        rows
    }

    async fn execute(&self, statement: &Statement, values: &[Value<'_>]) -> Result<u64, EngineError> {
        self.typed(statement, values).await?;
        let (types, prepared) = statement.prepared.take().expect("prepared just now");
        let rows = self.line.lease()?.execute(&prepared, values).await.map_err(in_hyper);
        statement.prepared.replace(Some((types, prepared)));
        rows
    }

    async fn drain(&self, sql: &str) -> Result<u64, EngineError> {
        self.attached()?.drain(sql).await.map_err(in_hyper)
    }

    async fn answer(&self, sql: &str) -> Result<Answer, EngineError> {
        self.attached()?.answer(sql).await.map_err(in_hyper)
    }

    async fn begin(&self, isolation: Isolation) -> Result<(), EngineError> {
        self.script(match isolation {
            Isolation::ReadCommitted => "BEGIN ISOLATION LEVEL READ COMMITTED",
            Isolation::SnapshotReadOnly => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        })
        .await
    }

    async fn commit(&self) -> Result<(), EngineError> {
        self.script("COMMIT").await
    }

    async fn rollback(&self) -> Result<(), EngineError> {
        self.script("ROLLBACK").await
    }

    async fn copy_in(&self, table: &str, format: RowFormat) -> Result<Copy, EngineError> {
        Dialect::Hyper.require_format(format)?;
        self.attached()?;
        self.persistent(async |line| Copy::start(line, table, format).await).await
    }

    async fn server(&self) -> Result<Server, EngineError> {
        let version = self.line.text_rows("SELECT version()").await?;
        // Settings of the whole server begin with "global."; those of PostgreSQL that Hyper only plays are
        // part of the answer, too.
        let all = self.line.text_rows("SHOW ALL").await?;
        Ok(Server {
            engine: "Hyper",
            version: version.into_iter().flatten().next().unwrap_or_default(),
            settings: settings::recorded(all, self.engine.password.as_deref()),
            tls: None,
        })
    }

    /// Creates the database unless it is there. Hyper has no advisory locks, and does not notice that a
    /// client with an open transaction has died, so that nothing else can stand for one: of two loads at the
    /// same time, at least one ends with an error or with wrong row counts, which are checked.
    async fn lock_schema(&self, _: &str, _: Duration) -> Result<(), EngineError> {
        self.engine.create(&self.line).await?;
        if !self.attached.get() {
            self.attached.set(self.engine.attach(&self.line).await?);
        }
        Ok(())
    }

    async fn open_schema(&self, schema: &str, create: bool) -> Result<Vec<String>, EngineError> {
        if create {
            self.script(&format!("CREATE SCHEMA IF NOT EXISTS {}", quote_identifier(schema))).await?;
        }
        let sql = format!(
            "SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             WHERE n.nspname = '{}' AND c.relkind IN ('r', 'v') ORDER BY 1",
            schema.replace('\'', "''")
        );
        let rows = self.attached()?.text_rows(&sql).await.map_err(in_hyper)?;
        Ok(rows.into_iter().flatten().collect())
    }

    async fn settle_table(&self, table: &str) -> Result<(), EngineError> {
        self.script(&format!("ANALYZE {}", quote_identifier(table))).await
    }

    async fn settle_server(&self) -> Result<(), EngineError> {
        // A commit is on the disk when it returns; there is nothing to ask for.
        Ok(())
    }

    async fn limit_statements(&self, limit: Option<Duration>) -> Result<(), EngineError> {
        let sql = match limit {
            // Zero would end every statement, the next SET among them.
            Some(limit) => format!("SET query_timeout_max = '{}ms'", limit.as_millis().max(1)),
            None => "RESET query_timeout_max".to_string(),
        };
        self.line.script(&sql).await.map_err(in_hyper)
    }

    async fn plan_fingerprint(&self, sql: &str) -> Result<Option<String>, EngineError> {
        let rows = self.attached()?.text_rows(&format!("EXPLAIN {sql}")).await.map_err(in_hyper)?;
        let text: Vec<String> = rows.into_iter().flatten().collect();
        Ok(plan::fingerprint(&text.join("\n")))
    }

    async fn close(self) {
        self.line.close().await;
    }
}

//! One connection to MySQL or MariaDB.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Params, Row, Value as Wire};
use sha2::{Digest, Sha256};
use tokio::sync::Mutex;

use super::load::MySqlCopy;
use super::{error, literal, placeholder, plan, quote, settings, value};
use crate::engine::{Answer, Dialect, EngineError, ErrorKind, Isolation, RowFormat, Server, Session, Value};

/// A session. The connection is shared with the task that feeds a load.
pub struct MySqlSession {
    conn: Arc<Mutex<Conn>>,
    /// Whether transactions of this session read what is committed, unless they say otherwise.
    read_committed: Cell<bool>,
    /// Whether the server is MariaDB, once that has been asked.
    mariadb: Cell<Option<bool>>,
    secret: Option<String>,
}

/// A prepared statement, and which value goes to which of its places.
pub struct MySqlStatement {
    statement: mysql_async::Statement,
    order: Vec<usize>,
}

impl MySqlStatement {
    fn parameters(&self, values: &[Value<'_>]) -> Result<Params, EngineError> {
        if self.order.is_empty() {
            return Ok(Params::Empty);
        }
        let value = |place: &usize| values.get(*place).map(value::encode);
        let all: Option<Vec<Wire>> = self.order.iter().map(value).collect();
        let missing =
            || EngineError::new(ErrorKind::Other, "driver", "a parameter of the statement has no value");
        all.map(Params::Positional).ok_or_else(missing)
    }
}

impl MySqlSession {
    pub(super) fn new(conn: Conn, secret: Option<String>) -> Self {
        MySqlSession {
            conn: Arc::new(Mutex::new(conn)),
            read_committed: Cell::new(false),
            mariadb: Cell::new(None),
            secret,
        }
    }

    async fn rows(&self, sql: &str) -> Result<Vec<Row>, EngineError> {
        self.conn.lock().await.query(sql).await.map_err(|e| error::of_statement(&e))
    }

    /// The answer of a query given as text; every value comes as text.
    async fn text_rows(&self, sql: &str) -> Result<Vec<Vec<Option<String>>>, EngineError> {
        let text = |value: Wire| match value {
            Wire::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            _ => None,
        };
        Ok(self
            .rows(sql)
            .await?
            .into_iter()
            .map(|row| row.unwrap().into_iter().map(text).collect())
            .collect())
    }

    async fn first_text(&self, sql: &str) -> Result<Option<String>, EngineError> {
        Ok(self.text_rows(sql).await?.into_iter().flatten().next().flatten())
    }

    /// Asked once: the question itself could run into a limit that is about to be lifted.
    async fn is_mariadb(&self) -> Result<bool, EngineError> {
        if let Some(known) = self.mariadb.get() {
            return Ok(known);
        }
        let version = self.first_text("SELECT version()").await?.unwrap_or_default();
        let found = version.contains("MariaDB");
        self.mariadb.set(Some(found));
        Ok(found)
    }
}

impl Session for MySqlSession {
    type Statement = MySqlStatement;
    type Row = Row;
    type Copy = MySqlCopy;

    fn quote(&self, name: &str) -> String {
        quote(name)
    }

    async fn script(&self, sql: &str) -> Result<(), EngineError> {
        self.conn.lock().await.query_drop(sql).await.map_err(|e| error::of_statement(&e))
    }

    async fn prepare(&self, sql: &str) -> Result<Self::Statement, EngineError> {
        let (sql, order) = placeholder::translate(sql);
        let statement = self.conn.lock().await.prep(sql).await.map_err(|e| error::of_statement(&e))?;
        Ok(MySqlStatement { statement, order })
    }

    async fn query(
        &self,
        statement: &Self::Statement,
        values: &[Value<'_>],
    ) -> Result<Vec<Self::Row>, EngineError> {
        let parameters = statement.parameters(values)?;
        let mut conn = self.conn.lock().await;
        conn.exec(&statement.statement, parameters).await.map_err(|e| error::of_statement(&e))
    }

    async fn execute(&self, statement: &Self::Statement, values: &[Value<'_>]) -> Result<u64, EngineError> {
        let parameters = statement.parameters(values)?;
        let mut conn = self.conn.lock().await;
        conn.exec_drop(&statement.statement, parameters).await.map_err(|e| error::of_statement(&e))?;
        Ok(conn.affected_rows())
    }

    async fn drain(&self, sql: &str) -> Result<u64, EngineError> {
        let mut conn = self.conn.lock().await;
        let mut answer = conn.query_iter(sql).await.map_err(|e| error::of_statement(&e))?;
        let mut rows = 0;
        answer.for_each(|_| rows += 1).await.map_err(|e| error::of_statement(&e))?;
        answer.drop_result().await.map_err(|e| error::of_statement(&e))?;
        Ok(rows)
    }

    async fn answer(&self, sql: &str) -> Result<Answer, EngineError> {
        let mut rows = self.text_rows(sql).await?;
        rows.iter_mut().flatten().flatten().for_each(|text| text.truncate(text.trim_end().len()));
        Ok(rows)
    }

    async fn begin(&self, isolation: Isolation) -> Result<(), EngineError> {
        match isolation {
            Isolation::ReadCommitted if self.read_committed.get() => self.script("START TRANSACTION").await,
            Isolation::ReadCommitted => {
                self.script("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION")
                    .await?;
                self.read_committed.set(true);
                Ok(())
            }
            // The level holds for this transaction alone.
            Isolation::SnapshotReadOnly => {
                self.script(
                    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; \
                     START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
                )
                .await
            }
        }
    }

    async fn commit(&self) -> Result<(), EngineError> {
        self.script("COMMIT").await
    }

    async fn rollback(&self) -> Result<(), EngineError> {
        self.script("ROLLBACK").await
    }

    async fn copy_in(&self, table: &str, format: RowFormat) -> Result<MySqlCopy, EngineError> {
        Dialect::MySql.require_format(format)?;
        Ok(MySqlCopy::start(self.conn.clone().lock_owned().await, table))
    }

    async fn server(&self) -> Result<Server, EngineError> {
        let version = self.first_text("SELECT version()").await?.unwrap_or_default();
        // Those of the server: a session's own hold the time of day and the like.
        let all = self.text_rows("SHOW GLOBAL VARIABLES").await?;
        Ok(Server {
            engine: if version.contains("MariaDB") { "MariaDB" } else { "MySQL" },
            version,
            settings: all
                .into_iter()
                .filter_map(|row| <[Option<String>; 2]>::try_from(row).ok())
                .map(|[name, value]| (name.unwrap_or_default(), value.unwrap_or_default()))
                .filter(|(name, value)| settings::recordable(name, value, self.secret.as_deref()))
                .collect(),
            tls: None,
        })
    }

    async fn lock_schema(&self, schema: &str, patience: Duration) -> Result<(), EngineError> {
        // Names of locks have at most 64 characters, so the schema's is shortened.
        let digest = Sha256::digest(schema.as_bytes());
        let name: String = digest[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        let seconds = patience.as_secs_f64().ceil().max(1.0);
        let locked = self.first_text(&format!("SELECT GET_LOCK('dbbench load {name}', {seconds})")).await?;
        match locked.as_deref() {
            Some("1") => Ok(()),
            _ => Err(EngineError::new(ErrorKind::Locked, "lock", "another session holds the schema")),
        }
    }

    async fn open_schema(&self, schema: &str, create: bool) -> Result<Vec<String>, EngineError> {
        let name = literal(schema);
        let exists = format!("SELECT 1 FROM information_schema.schemata WHERE schema_name = {name}");
        if self.rows(&exists).await?.is_empty() {
            if !create {
                return Ok(Vec::new());
            }
            self.script(&format!(
                "CREATE DATABASE IF NOT EXISTS {} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
                quote(schema)
            ))
            .await?;
        }
        self.script(&format!("USE {}", quote(schema))).await?;
        let sql = format!(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = {name} ORDER BY 1"
        );
        Ok(self.text_rows(&sql).await?.into_iter().flatten().flatten().collect())
    }

    async fn drop_table(&self, table: &str) -> Result<(), EngineError> {
        // A table that others refer to stays otherwise.
        self.script(&format!(
            "SET SESSION foreign_key_checks = 0; DROP TABLE IF EXISTS {}; SET SESSION foreign_key_checks = 1",
            quote(table)
        ))
        .await
    }

    async fn settle_table(&self, table: &str) -> Result<(), EngineError> {
        // MariaDB keeps statistics of columns, with histograms, only where they are asked for.
        let columns = if self.is_mariadb().await? { " PERSISTENT FOR ALL" } else { "" };
        let report = self.text_rows(&format!("ANALYZE TABLE {}{columns}", quote(table))).await?;
        // What went wrong is told in rows: table, operation, type and text of the message.
        let failed =
            report.into_iter().find(|row| row.get(2).is_some_and(|kind| kind.as_deref() == Some("Error")));
        match failed.map(|row| row.into_iter().flatten().next_back().unwrap_or_default()) {
            // A view has no statistics of its own; MySQL and MariaDB say so.
            Some(message)
                if !message.ends_with("is not BASE TABLE")
                    && !message.ends_with("is not of type 'BASE TABLE'") =>
            {
                Err(EngineError::new(
                    ErrorKind::Other,
                    "analyze",
                    format!("ANALYZE TABLE {table}: {message}"),
                ))
            }
            _ => Ok(()),
        }
    }

    async fn settle_server(&self) -> Result<(), EngineError> {
        // InnoDB writes dirty pages at its own pace; there is no statement that asks for all of them.
        Ok(())
    }

    async fn limit_statements(&self, limit: Option<Duration>) -> Result<(), EngineError> {
        let limit = limit.map(|limit| limit.max(Duration::from_millis(1))).unwrap_or_default();
        let setting = match self.is_mariadb().await? {
            true => format!("max_statement_time = {:.6}", limit.as_secs_f64()),
            // Holds for SELECT alone.
            false => format!("max_execution_time = {}", limit.as_millis()),
        };
        self.script(&format!("SET SESSION {setting}")).await
    }

    async fn blocks_read(&self) -> Result<Option<u64>, EngineError> {
        // Pages of InnoDB, of all databases and sessions; shown as a row of name and value.
        let rows = self.text_rows("SHOW GLOBAL STATUS LIKE 'Innodb_pages_read'").await?;
        Ok(rows.into_iter().flatten().flatten().nth(1).and_then(|text| text.parse().ok()))
    }

    async fn checksum(&self, table: &str) -> Result<Option<String>, EngineError> {
        // One row: the table and its checksum, which a view has not.
        let rows = self.text_rows(&format!("CHECKSUM TABLE {}", quote(table))).await?;
        Ok(rows.into_iter().flatten().nth(1).flatten())
    }

    async fn plan_fingerprint(&self, sql: &str) -> Result<Option<String>, EngineError> {
        let text = self.first_text(&format!("EXPLAIN FORMAT=JSON {sql}")).await?;
        Ok(text.and_then(|text| plan::fingerprint(&text)))
    }

    async fn close(self) {
        if let Ok(conn) = Arc::try_unwrap(self.conn) {
            let _ = tokio::time::timeout(Duration::from_secs(5), conn.into_inner().disconnect()).await;
        }
    }
}

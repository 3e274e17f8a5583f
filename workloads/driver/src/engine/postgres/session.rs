//! One connection to PostgreSQL.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt, TryStreamExt};
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Connection, CopyInSink, SimpleQueryMessage, Socket};

use super::{error, plan, settings};
use crate::engine::{quote_identifier, CopyIn, EngineError, Isolation, Server, Session, Value};

/// A session and the task that moves its bytes.
pub struct PostgresSession {
    client: Client,
    pump: JoinHandle<()>,
    secret: Option<String>,
}

impl PostgresSession {
    pub(super) fn new<T>(client: Client, connection: Connection<Socket, T>, secret: Option<String>) -> Self
    where
        T: tokio_postgres::tls::TlsStream + Unpin + Send + 'static,
    {
        // An error of the connection reaches whoever waits for an answer on it.
        let pump = tokio::spawn(async move { drop(connection.await) });
        PostgresSession { client, pump, secret }
    }

    async fn text_rows(&self, sql: &str) -> Result<Vec<Vec<String>>, EngineError> {
        let messages = self.client.simple_query(sql).await.map_err(|e| error::of_statement(&e))?;
        Ok(messages
            .iter()
            .filter_map(|message| match message {
                SimpleQueryMessage::Row(row) => {
                    Some((0..row.len()).map(|i| row.get(i).unwrap_or_default().to_string()).collect())
                }
                _ => None,
            })
            .collect())
    }
}

impl Session for PostgresSession {
    type Statement = tokio_postgres::Statement;
    type Row = tokio_postgres::Row;
    type Copy = PostgresCopy;

    async fn script(&self, sql: &str) -> Result<(), EngineError> {
        self.client.batch_execute(sql).await.map_err(|e| error::of_statement(&e))
    }

    async fn prepare(&self, sql: &str) -> Result<Self::Statement, EngineError> {
        self.client.prepare(sql).await.map_err(|e| error::of_statement(&e))
    }

    async fn query(
        &self,
        statement: &Self::Statement,
        values: &[Value<'_>],
    ) -> Result<Vec<Self::Row>, EngineError> {
        let rows = self.client.query_raw(statement, values).await.map_err(|e| error::of_statement(&e))?;
        rows.try_collect().await.map_err(|e| error::of_statement(&e))
    }

    async fn execute(&self, statement: &Self::Statement, values: &[Value<'_>]) -> Result<u64, EngineError> {
        self.client.execute_raw(statement, values).await.map_err(|e| error::of_statement(&e))
    }

    async fn drain(&self, sql: &str) -> Result<u64, EngineError> {
        let stream = self.client.simple_query_raw(sql).await.map_err(|e| error::of_statement(&e))?;
        let mut stream = std::pin::pin!(stream);
        let mut rows = 0;
        while let Some(message) = stream.next().await {
            if let SimpleQueryMessage::Row(_) = message.map_err(|e| error::of_statement(&e))? {
                rows += 1;
            }
        }
        Ok(rows)
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

    async fn copy_in(&self, table: &str) -> Result<PostgresCopy, EngineError> {
        let sql = format!("COPY {} FROM STDIN WITH (FORMAT text, DELIMITER '|')", quote_identifier(table));
        let sink = self.client.copy_in(&sql).await.map_err(|e| error::of_statement(&e))?;
        Ok(PostgresCopy { sink: Box::pin(sink) })
    }

    async fn server(&self) -> Result<Server, EngineError> {
        let version = self.text_rows("SELECT version()").await?;
        let all = self.text_rows("SELECT name, setting FROM pg_catalog.pg_settings").await?;
        Ok(Server {
            engine: "PostgreSQL",
            version: version.into_iter().flatten().next().unwrap_or_default(),
            settings: all
                .into_iter()
                .filter_map(|row| <[String; 2]>::try_from(row).ok())
                .filter(|[name, value]| settings::recordable(name, value, self.secret.as_deref()))
                .map(|[name, value]| (name, value))
                .collect(),
        })
    }

    async fn lock_schema(&self, schema: &str, patience: Duration) -> Result<(), EngineError> {
        let name = format!("dbbench load {schema}").replace('\'', "''");
        // The limit is for this lock alone; zero would mean to wait for ever.
        let limit = patience.as_millis().clamp(1, i32::MAX as u128);
        self.script(&format!("SET lock_timeout TO {limit}")).await?;
        let locked = self.script(&format!("SELECT pg_advisory_lock(hashtext('{name}'))")).await;
        self.script("RESET lock_timeout").await?;
        locked
    }

    async fn open_schema(&self, schema: &str, create: bool) -> Result<Vec<String>, EngineError> {
        let literal = schema.replace('\'', "''");
        let exists = format!("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = '{literal}'");
        // Asked first, because IF NOT EXISTS needs the right to create even where nothing is created.
        if create && self.text_rows(&exists).await?.is_empty() {
            self.script(&format!("CREATE SCHEMA IF NOT EXISTS {}", quote_identifier(schema))).await?;
        }
        let sql = format!(
            "SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             WHERE n.nspname = '{literal}' AND c.relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY 1"
        );
        Ok(self.text_rows(&sql).await?.into_iter().flatten().collect())
    }

    async fn settle_table(&self, table: &str) -> Result<(), EngineError> {
        // Freezing now keeps a later anti-wraparound pass, and hint bits set by the first readers,
        // out of the measurement.
        self.script(&format!("VACUUM (FREEZE, ANALYZE) {}", quote_identifier(table))).await
    }

    async fn settle_server(&self) -> Result<(), EngineError> {
        // pg_checkpoint exists from version 15 on.
        let allowed = "SELECT 1 FROM pg_catalog.pg_roles r WHERE (r.rolname = current_user AND r.rolsuper) \
                       OR (r.rolname = 'pg_checkpoint' AND pg_has_role(current_user, r.oid, 'USAGE'))";
        if self.text_rows(allowed).await?.is_empty() {
            return Ok(());
        }
        self.script("CHECKPOINT").await
    }

    async fn limit_statements(&self, limit: Option<Duration>) -> Result<(), EngineError> {
        let milliseconds = limit.map_or(0, |limit| limit.as_millis().clamp(1, i32::MAX as u128));
        self.script(&format!("SET statement_timeout TO {milliseconds}")).await
    }

    async fn plan_fingerprint(&self, sql: &str) -> Result<Option<String>, EngineError> {
        let rows = self.text_rows(&format!("EXPLAIN (FORMAT JSON, COSTS OFF) {sql}")).await?;
        let text: Vec<String> = rows.into_iter().flatten().collect();
        Ok(plan::fingerprint(&text.join("\n")))
    }

    async fn close(self) {
        drop(self.client);
        // Dropping the client sends the farewell; the pump ends once it is out.
        let _ = tokio::time::timeout(Duration::from_secs(5), self.pump).await;
    }
}

/// A running `COPY ... FROM STDIN`.
pub struct PostgresCopy {
    sink: std::pin::Pin<Box<CopyInSink<Bytes>>>,
}

impl CopyIn for PostgresCopy {
    async fn send(&mut self, rows: Bytes) -> Result<(), EngineError> {
        self.sink.send(rows).await.map_err(|e| error::of_statement(&e))
    }

    async fn finish(mut self) -> Result<u64, EngineError> {
        self.sink.as_mut().finish().await.map_err(|e| error::of_statement(&e))
    }
}

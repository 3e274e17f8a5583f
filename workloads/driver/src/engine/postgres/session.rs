//! One connection to PostgreSQL.

use std::time::Duration;

use super::plan;
use crate::engine::pgwire::{Copy, Line, Row, Statement};
use crate::engine::{
    quote_identifier, settings, Answer, EngineError, Isolation, RowFormat, Server, Session, Value,
};

/// A session, and the password that must not be repeated.
pub struct PostgresSession {
    line: Line,
    secret: Option<String>,
}

impl PostgresSession {
    pub(super) fn new(line: Line, secret: Option<String>) -> Self {
        PostgresSession { line, secret }
    }
}

impl Session for PostgresSession {
    type Statement = Statement;
    type Row = Row;
    type Copy = Copy;

    async fn script(&self, sql: &str) -> Result<(), EngineError> {
        self.line.script(sql).await
    }

    async fn prepare(&self, sql: &str) -> Result<Statement, EngineError> {
        self.line.lease()?.prepare(sql, &[]).await
    }

    async fn query(&self, statement: &Statement, values: &[Value<'_>]) -> Result<Vec<Row>, EngineError> {
        self.line.lease()?.query(statement, values).await
    }

    async fn execute(&self, statement: &Statement, values: &[Value<'_>]) -> Result<u64, EngineError> {
        self.line.lease()?.execute(statement, values).await
    }

    async fn drain(&self, sql: &str) -> Result<u64, EngineError> {
        self.line.drain(sql).await
    }

    async fn answer(&self, sql: &str) -> Result<Answer, EngineError> {
        self.line.answer(sql).await
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
        Copy::start(&self.line, table, format).await
    }

    async fn server(&self) -> Result<Server, EngineError> {
        let version = self.line.text_rows("SELECT version()").await?;
        let all = self.line.text_rows("SELECT name, setting FROM pg_catalog.pg_settings").await?;
        Ok(Server {
            engine: "PostgreSQL",
            version: version.into_iter().flatten().next().unwrap_or_default(),
            settings: settings::recorded(all, self.secret.as_deref()),
            tls: self.line.lease()?.encryption(),
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
        if create && self.line.text_rows(&exists).await?.is_empty() {
            self.script(&format!("CREATE SCHEMA IF NOT EXISTS {}", quote_identifier(schema))).await?;
        }
        let sql = format!(
            "SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             WHERE n.nspname = '{literal}' AND c.relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY 1"
        );
        Ok(self.line.text_rows(&sql).await?.into_iter().flatten().collect())
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
        if self.line.text_rows(allowed).await?.is_empty() {
            return Ok(());
        }
        self.script("CHECKPOINT").await
    }

    async fn limit_statements(&self, limit: Option<Duration>) -> Result<(), EngineError> {
        let milliseconds = limit.map_or(0, |limit| limit.as_millis().clamp(1, i32::MAX as u128));
        self.script(&format!("SET statement_timeout TO {milliseconds}")).await
    }

    async fn allow_parallel_query(&self, allowed: bool) -> Result<(), EngineError> {
        self.script(match allowed {
            true => "RESET max_parallel_workers_per_gather",
            false => "SET max_parallel_workers_per_gather TO 0",
        })
        .await
    }

    async fn blocks_read(&self) -> Result<Option<u64>, EngineError> {
        // Before version 15 a session cannot say when its counters become visible.
        let flush = "SELECT 1 FROM pg_catalog.pg_proc WHERE proname = 'pg_stat_force_next_flush'";
        if self.line.text_rows(flush).await?.is_empty() {
            return Ok(None);
        }
        self.script("SELECT pg_stat_force_next_flush()").await?;
        let read = "SELECT blks_read FROM pg_catalog.pg_stat_database WHERE datname = current_database()";
        Ok(self.line.text_rows(read).await?.into_iter().flatten().next().and_then(|text| text.parse().ok()))
    }

    async fn checksum(&self, table: &str) -> Result<Option<String>, EngineError> {
        let sql = format!(
            "SELECT coalesce(sum(hashtextextended(dbbench_row::text, 0)), 0) FROM {} AS dbbench_row",
            quote_identifier(table)
        );
        Ok(self.line.text_rows(&sql).await?.into_iter().flatten().next())
    }

    async fn plan_fingerprint(&self, sql: &str) -> Result<Option<String>, EngineError> {
        let rows = self.line.text_rows(&format!("EXPLAIN (FORMAT JSON, COSTS OFF) {sql}")).await?;
        let text: Vec<String> = rows.into_iter().flatten().collect();
        Ok(plan::fingerprint(&text.join("\n")))
    }

    async fn close(self) {
        self.line.close().await;
    }
}

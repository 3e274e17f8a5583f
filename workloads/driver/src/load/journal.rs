//! The table `dbbench_chunks`: what an unfinished load has done, so that the next one goes on from there.
//!
//! A chunk's entry is written in the transaction of its rows: either both are there or neither.

use std::collections::HashMap;

use super::digest::ChunkDigest;
use crate::engine::{Dialect, EngineError, Row, Session, Value};

pub const TABLE: &str = "dbbench_chunks";

const CREATE: &str = "CREATE TABLE dbbench_chunks (
    table_name varchar(64) NOT NULL, chunk integer NOT NULL, row_count bigint NOT NULL, byte_count bigint NOT NULL,
    digest varchar(32) NOT NULL, PRIMARY KEY (table_name, chunk))";

const READ: &str = "SELECT table_name, chunk, row_count, byte_count, digest FROM dbbench_chunks";

const INSERT: &str = "INSERT INTO dbbench_chunks VALUES ($1, $2, $3, $4, $5)";

/// Name of the entries for statements that make keys and indexes; no table of a workload has it.
const STATEMENT: &str = "(statement)";

/// A chunk that is in the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    pub rows: u64,
    pub bytes: u64,
    pub digest: ChunkDigest,
}

/// What has been done.
#[derive(Debug, Default)]
pub struct Journal {
    chunks: HashMap<(String, u32), Chunk>,
    statements: Vec<u32>,
}

/// Whether an engine keeps a journal; elsewhere an interrupted load is dropped and done again. Hyper has no key
/// that would refuse a chunk's second entry.
pub fn kept(dialect: Dialect) -> bool {
    dialect != Dialect::Hyper
}

/// Whether statements that make keys can be entered in their own transaction. Elsewhere each one ends the
/// transaction that it is in; that a key is there already shows when it is made again under its name.
pub fn keeps_statements(dialect: Dialect) -> bool {
    dialect == Dialect::PostgreSql
}

impl Journal {
    pub async fn create<S: Session>(session: &S) -> Result<(), EngineError> {
        session.script(CREATE).await
    }

    pub async fn read<S: Session>(session: &S) -> Result<Self, EngineError> {
        let statement = session.prepare(READ).await?;
        let mut journal = Journal::default();
        for row in session.query(&statement, &[]).await? {
            let (name, number) = (row.text(0)?, row.int(1)? as u32);
            if name == STATEMENT {
                journal.statements.push(number);
                continue;
            }
            let Some(digest) = from_hex(row.text(4)?) else { continue };
            let chunk = Chunk { rows: row.long(2)? as u64, bytes: row.long(3)? as u64, digest };
            journal.chunks.insert((name.to_string(), number), chunk);
        }
        Ok(journal)
    }

    pub fn chunk(&self, table: &str, number: u32) -> Option<&Chunk> {
        self.chunks.get(&(table.to_string(), number))
    }

    pub fn has_statement(&self, number: u32) -> bool {
        self.statements.contains(&number)
    }

    /// Chunks that need not be loaded again.
    pub fn len(&self) -> usize {
        self.chunks.len()
    }
}

/// The statement that enters chunks, prepared once for a session.
pub struct Entry<S: Session>(S::Statement);

impl<S: Session> Entry<S> {
    pub async fn prepare(session: &S) -> Result<Self, EngineError> {
        Ok(Entry(session.prepare(INSERT).await?))
    }

    /// Enters a chunk; to be called in the transaction of its rows.
    pub async fn write(
        &self,
        session: &S,
        table: &str,
        number: u32,
        chunk: &Chunk,
    ) -> Result<(), EngineError> {
        let digest = hex(&chunk.digest);
        let values = [
            Value::Text(table),
            Value::Int(number as i32),
            Value::Long(chunk.rows as i64),
            Value::Long(chunk.bytes as i64),
            Value::Text(&digest),
        ];
        session.execute(&self.0, &values).await?;
        Ok(())
    }
}

/// A statement together with its entry, to be sent as one text: PostgreSQL makes them one transaction.
/// The entry comes first, so that whoever runs the same statement at the same time waits for its end.
pub fn with_entry(statement: &str, number: u32) -> String {
    format!("INSERT INTO dbbench_chunks VALUES ('{STATEMENT}', {number}, 0, 0, ''); {statement}")
}

fn hex(digest: &ChunkDigest) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<ChunkDigest> {
    let byte = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..text.len()).step_by(2).map(byte).collect();
    bytes?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_survive_their_way_through_text() {
        let digest: ChunkDigest = std::array::from_fn(|index| (index * 37) as u8);
        assert_eq!(from_hex(&hex(&digest)), Some(digest));
        for wrong in ["", "00", &"g".repeat(32), &"0".repeat(31)] {
            assert_eq!(from_hex(wrong), None, "{wrong}");
        }
    }
}

//! A running `COPY ... FROM STDIN`.

use bytes::Bytes;

use super::line::Line;
use crate::engine::{quote_identifier, CopyIn, EngineError};

/// A bulk load. One that is dropped halfway is undone by the server.
pub struct Copy(Line);

impl Copy {
    /// Starts to load rows in the driver's exchange format.
    pub async fn start(line: &Line, table: &str) -> Result<Self, EngineError> {
        let sql = format!("COPY {} FROM STDIN WITH (FORMAT text, DELIMITER '|')", quote_identifier(table));
        line.lease()?.start_copy(&sql).await?;
        Ok(Copy(line.clone()))
    }
}

impl CopyIn for Copy {
    async fn send(&mut self, rows: Bytes) -> Result<(), EngineError> {
        self.0.lease()?.send_copy(&rows).await
    }

    async fn finish(self) -> Result<u64, EngineError> {
        self.0.lease()?.end_copy().await
    }
}

//! A running `COPY ... FROM STDIN`.

use bytes::Bytes;

use super::line::Line;
use crate::engine::{quote_identifier, CopyIn, EngineError, RowFormat};

/// What comes before the first binary tuple: a signature, flags, and an extension of no length.
const BEFORE: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// What comes after the last one: a tuple of -1 columns.
const AFTER: &[u8] = b"\xff\xff";

/// A bulk load. One that is dropped halfway is undone by the server.
pub struct Copy {
    line: Line,
    format: RowFormat,
}

impl Copy {
    /// Starts to load rows.
    pub async fn start(line: &Line, table: &str, format: RowFormat) -> Result<Self, EngineError> {
        let options = match format {
            RowFormat::Text => "FORMAT text, DELIMITER '|'",
            RowFormat::Binary => "FORMAT binary",
        };
        let sql = format!("COPY {} FROM STDIN WITH ({options})", quote_identifier(table));
        let mut connection = line.lease()?;
        connection.start_copy(&sql).await?;
        if format == RowFormat::Binary {
            connection.send_copy(BEFORE).await?;
        }
        Ok(Copy { line: line.clone(), format })
    }
}

impl CopyIn for Copy {
    async fn send(&mut self, rows: Bytes) -> Result<(), EngineError> {
        self.line.lease()?.send_copy(&rows).await
    }

    async fn finish(self) -> Result<u64, EngineError> {
        let mut connection = self.line.lease()?;
        if self.format == RowFormat::Binary {
            connection.send_copy(AFTER).await?;
        }
        connection.end_copy().await
    }
}

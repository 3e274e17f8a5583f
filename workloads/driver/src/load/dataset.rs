//! Data that can be made in chunks.

use super::Key;
use crate::engine::RowFormat;

/// The data of a workload at one scale. Chunks depend on scale and seed alone, never on how many
/// connections load them, so that the digest is the same for the same parameters.
pub trait Dataset: Clone + Send + 'static {
    fn workload(&self) -> &'static str;

    /// The scale as text in one form only: `1`, `0.01`, `100000`.
    fn scale(&self) -> String;

    /// The seed that the data depends on; 0 when it depends on none.
    fn seed(&self) -> u64;

    /// Tables in the order in which their chunks are loaded.
    fn tables(&self) -> &'static [Table];

    /// Statements that create the tables, without keys, in SQL that all engines have; the type of a moment is
    /// `timestamp`, and each statement ends in a line of its own.
    fn create_sql(&self) -> &'static str;

    fn chunks(&self, table: &Table) -> u32;

    /// Begins to make what all rows need; returns at once. Called when it is certain that rows will be made.
    fn prepare(&self) {}

    /// The format of the rows.
    fn format(&self) -> RowFormat {
        RowFormat::Text
    }

    /// The rows of one chunk.
    fn open(&self, table: &Table, chunk: u32) -> Box<dyn Rows>;

    /// Keys and indexes; a table that others refer to comes before them.
    fn keys(&self) -> &'static [Key];

    /// Values that a later run has to know, as JSON.
    fn constants(&self) -> serde_json::Value;
}

/// A table of a workload.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    pub name: &'static str,
}

/// Rows of one chunk in the data's format.
pub trait Rows {
    /// Appends rows until `out` holds `enough` bytes or the chunk ends; returns how many. Zero is the end.
    fn fill(&mut self, out: &mut Vec<u8>, enough: usize) -> u64;

    /// The rows that the last call of `fill` has `written`, as they go into the digest: in one form for every
    /// engine.
    fn digested<'a>(&'a self, written: &'a [u8]) -> &'a [u8] {
        written
    }
}

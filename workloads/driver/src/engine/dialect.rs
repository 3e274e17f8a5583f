//! What SQL an engine speaks, and what it lacks.

use std::fmt;

use super::{EngineError, ErrorKind, RowFormat};

/// SQL in which the engines differ. A workload asks for it only where no common form exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    PostgreSql,
    MySql,
    Hyper,
}

/// What a workload may need of an engine beyond tables and queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// Primary keys with an index that refuse a second row of the same key.
    Keys,
    /// Rows that a transaction locks before it changes them.
    RowLocks,
}

impl Dialect {
    /// What engines of this dialect have not.
    pub fn lacks(self) -> &'static [Feature] {
        match self {
            Dialect::PostgreSql | Dialect::MySql => &[],
            Dialect::Hyper => &[Feature::Keys, Feature::RowLocks],
        }
    }

    /// Whether a bulk load can be in this format.
    pub fn takes(self, format: RowFormat) -> bool {
        // Hyper has a binary format of its own.
        format == RowFormat::Text || self == Dialect::PostgreSql
    }

    /// [`ErrorKind::Unsupported`] for a format that it does not take.
    pub fn require_format(self, format: RowFormat) -> Result<(), EngineError> {
        if self.takes(format) {
            return Ok(());
        }
        let message = format!("{self} takes no rows in PostgreSQL's binary format");
        Err(EngineError::new(ErrorKind::Unsupported, "unsupported", message))
    }

    /// [`ErrorKind::Unsupported`] when the engine lacks something that the workload needs.
    pub fn require(self, workload: &str, needs: &[Feature]) -> Result<(), EngineError> {
        let lacking: Vec<String> =
            needs.iter().filter(|need| self.lacks().contains(need)).map(Feature::to_string).collect();
        if lacking.is_empty() {
            return Ok(());
        }
        let message = format!("{self} has no {}, which {workload} needs", lacking.join(" and no "));
        Err(EngineError::new(ErrorKind::Unsupported, "unsupported", message))
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Dialect::PostgreSql => "PostgreSQL",
            Dialect::MySql => "MySQL",
            Dialect::Hyper => "Hyper",
        })
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Feature::Keys => "enforced keys and indexes (PRIMARY KEY, CREATE INDEX)",
            Feature::RowLocks => "row locks (SELECT ... FOR UPDATE)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lacking_is_named_with_the_engine_and_the_workload() {
        assert!(Dialect::PostgreSql.require("tpcc", &[Feature::Keys, Feature::RowLocks]).is_ok());
        assert!(Dialect::Hyper.require("tpch", &[]).is_ok());
        let error = Dialect::Hyper.require("tpcc", &[Feature::RowLocks]).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unsupported);
        assert_eq!(error.message, "Hyper has no row locks (SELECT ... FOR UPDATE), which tpcc needs");
    }
}

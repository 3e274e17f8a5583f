//! The refresh functions RF1 and RF2 (clauses 2.5 to 2.8) and the state that they leave.

mod function;
mod rows;

use serde_json::{json, Value};

use super::ScaleFactor;
use crate::failure::Failure;
use crate::load::{self, Meta};

pub use function::{delete, insert, Executed};
pub use rows::UpdateSet;

/// Which update sets have been applied (clause 2.8): each pair of functions uses the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// Sets inserted by RF1.
    pub inserted: u32,
    /// Sets deleted by RF2.
    pub deleted: u32,
}

/// Key of the state among the constants of the loaded data.
const KEY: &str = "refresh";

impl State {
    pub fn of(meta: &Meta) -> Self {
        let number = |name: &str| meta.constants[KEY][name].as_u64().unwrap_or(0) as u32;
        State { inserted: number("inserted"), deleted: number("deleted") }
    }

    fn to_json(self) -> Value {
        json!({KEY: {"inserted": self.inserted, "deleted": self.deleted}})
    }

    /// The number of complete pairs; an error when RF1 has run without RF2.
    pub fn pairs(self) -> Result<u32, Failure> {
        if self.inserted == self.deleted {
            return Ok(self.inserted);
        }
        Err(load::inconsistent(
            "RefreshIncomplete",
            format!(
                "RF1 has inserted update set {} and RF2 has not deleted its rows: a refresh was interrupted; \
                 load the data again with `dbbench-driver tpch load --replace`",
                self.inserted
            ),
        ))
    }

    /// Refuses data that another number of pairs than expected has changed.
    pub fn require(self, expected: Option<u32>) -> Result<u32, Failure> {
        let pairs = self.pairs()?;
        if expected.is_none_or(|expected| expected == pairs) {
            return Ok(pairs);
        }
        Err(load::inconsistent(
            "RefreshMismatch",
            format!(
                "the data has been changed by {pairs} pairs of refresh functions, not by {}; load it again with \
                 `dbbench-driver tpch load --replace`, or say --refresh-pairs {pairs}",
                expected.unwrap_or_default()
            ),
        ))
    }
}

/// How many rows of lineitem there are after some pairs; those of orders stay the same.
pub fn lines_after(scale: &ScaleFactor, loaded: u64, pairs: u32) -> u64 {
    (1..=pairs).fold(loaded, |lines, number| {
        let set = UpdateSet::new(scale, number).expect("an applied set exists");
        lines + set.new_lines() - set.old_lines()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_half_applied_pair_and_an_unexpected_state_are_refused() {
        let state = State { inserted: 2, deleted: 2 };
        assert_eq!(state.require(None), Ok(2));
        assert_eq!(state.require(Some(2)), Ok(2));
        assert_eq!(state.require(Some(0)).unwrap_err().reason, "RefreshMismatch");
        assert_eq!(State { inserted: 3, deleted: 2 }.require(None).unwrap_err().reason, "RefreshIncomplete");
    }
}

//! Loading: generated data streamed into the database on several connections, then keys, indexes and
//! statistics, then proof that what arrived is what was generated.

mod columns;
mod dataset;
mod definition;
mod digest;
mod journal;
mod meta;
mod procedure;
mod queue;
mod stream;

pub use columns::{Columns, NULL};
pub use dataset::{Dataset, Rows, Table};
pub use definition::Key;
#[cfg(test)]
pub use digest::of as digest_of;
pub use meta::{count_rows, inconsistent, open, read, set_constants, Meta};
pub use procedure::{load, lock};

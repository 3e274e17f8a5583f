//! Loading: generated data streamed into the database on several connections, then keys, indexes and
//! statistics, then proof that what arrived is what was generated.

mod dataset;
mod definition;
mod digest;
mod journal;
mod meta;
mod procedure;
mod stream;

pub use dataset::{Dataset, Rows, Table};
pub use definition::Key;
pub use meta::{count_rows, inconsistent, read, require, set_constants, Expectation, Meta};
pub use procedure::load;

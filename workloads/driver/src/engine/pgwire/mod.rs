//! PostgreSQL's protocol (version 3), as PostgreSQL and Hyper speak it.
//!
//! A connection has no task of its own: whoever runs a statement writes its messages with one system call
//! and reads the answer from the socket into a buffer that is used again. `workloads/bench/pgbench.py` compares
//! what that costs with `pgbench`. All futures belong to the thread of their runtime.

mod address;
mod connection;
mod copy;
mod error;
mod line;
mod startup;
mod statement;
mod stream;
mod value;

pub use address::Address;
pub use copy::Copy;
pub use line::Line;
pub use statement::{Row, Statement};

pub(super) use startup::open;

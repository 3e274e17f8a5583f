//! Driver of dbbench: loads TPC-H, TPC-C and TATP data into a database, runs the workloads against it, measures
//! the machine without one, and reports what it measured in one document.

pub mod cli;
pub mod engine;
pub mod failure;
pub mod load;
pub mod measure;
pub mod merge;
pub mod report;
pub mod target;
pub mod workload;

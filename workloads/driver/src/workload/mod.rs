//! The workloads. Each one knows its data, its operations and its consistency conditions, and no engine.

pub mod attempt;
pub mod conditions;
pub mod micro;
pub mod random;
pub mod run;
pub mod sql;
pub mod tatp;
pub mod tpcc;
pub mod tpch;
pub mod zachmann;

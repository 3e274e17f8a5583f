//! Measuring: phases and their times, latency histograms, closed-loop clients, the driver's own cost.

pub mod clients;
mod histogram;
mod phases;
mod tally;
mod usage;

pub use histogram::{Latency, LatencySummary};
pub use phases::{Phase, PhaseTimer};
pub use tally::{OperationTally, Outcome, Tally, Transaction};
pub use usage::{Usage, UsageStart};

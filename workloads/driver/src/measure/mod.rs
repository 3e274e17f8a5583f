//! Measuring: phases and their times, latency histograms, clients in closed and open loops, the driver's own cost.

mod arrivals;
pub mod clients;
mod coordinator;
mod histogram;
mod phases;
mod recorder;
mod series;
mod tally;
mod timer;
mod usage;

pub use arrivals::{Arrivals, ArrivalsSummary, Member, Spacing, Started};
pub use coordinator::Conditions;
pub use histogram::{Latency, LatencySummary};
pub use phases::{Phase, PhaseTimer};
pub use series::SeriesSummary;
pub use tally::{Mark, OperationTally, Outcome, Tally, Transaction};
pub use usage::{Usage, UsageStart};

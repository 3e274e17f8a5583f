//! Measuring: phases and their times, latency histograms, clients in closed and open loops, the driver's own cost.

mod arrivals;
pub mod clients;
mod coordinator;
mod histogram;
mod live;
mod phases;
mod recorder;
mod series;
mod tally;
mod team;
mod timer;
mod usage;

pub use arrivals::{Arrivals, ArrivalsSummary, Member, Spacing, Started};
pub use coordinator::Conditions;
pub use histogram::{Latency, LatencySummary};
pub use live::Live;
pub use phases::{Phase, PhaseTimer};
pub use series::SeriesSummary;
pub use tally::{Mark, OperationTally, Outcome, Tally, Transaction};
pub use team::{Muster, Part, Role, Team};
pub use usage::{Usage, UsageStart};

//! What a run leaves behind: the result document, and progress on the way there.

pub mod document;
#[cfg(test)]
mod examples;
mod finished;
pub mod progress;

pub use document::{
    Cache, Check, Counts, Data, Document, Execution, Host, Limit, Metric, Operation, Probe, Process, Share,
    Target, WorkProcess,
};
pub use finished::{document_line, Finished};
pub use progress::Progress;

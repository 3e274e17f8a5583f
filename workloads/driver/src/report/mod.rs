//! What a run leaves behind: the result document, and progress on the way there.

pub mod document;
pub mod progress;

pub use document::{Check, Counts, Data, Document, Host, Metric, Operation, Process, Share, Target};
pub use progress::Progress;

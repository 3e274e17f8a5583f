//! Whose figures are read.

/// Files such as /proc/stat describe the machine whose kernel runs. Inside a pod that is the node, with
/// all its other pods; inside a guest it is the guest, which runs nothing but the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Scope {
    /// This container's cgroup.
    Container,
    /// The whole guest.
    Guest,
}

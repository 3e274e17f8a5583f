//! Command line of `dbbench-driver agent`.

/// Arguments of the agent.
#[derive(Debug, clap::Args)]
pub struct AgentArgs {
    #[command(subcommand)]
    pub command: AgentCommand,
}

/// What the agent is asked to do.
#[derive(Debug, clap::Subcommand)]
pub enum AgentCommand {
    /// Print the facts of this machine.
    Facts,
}

//! Options of several driver processes that start together.

use clap::Args;

use crate::failure::Failure;
use crate::measure::{Member, Role};

/// How this process finds the others; all alone without any of them.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Several driver processes")]
pub struct Together {
    /// Driver processes that start together, this one included, on one database or on one each (--url); where there
    /// are --clients, each has that many, and a --rate is shared by all
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub processes: u32,

    /// Lead the processes: wait for the others at this address; what the clients of all measured is in the result
    #[arg(long, value_name = "HOST:PORT")]
    pub barrier_listen: Option<String>,

    /// Join the processes that are led at this address; with --barrier-listen as well, process 0 leads
    #[arg(long, value_name = "HOST:PORT")]
    pub barrier: Option<String>,

    /// Number of this process, from 0 [default: JOB_COMPLETION_INDEX; 0 for the one that leads]
    #[arg(long, value_name = "I")]
    pub process_index: Option<u32>,

    /// Begin each window together, and nothing more: clients, random choices, checks and the result are those of a
    /// process that is alone
    #[arg(long)]
    pub apart: bool,
}

impl Together {
    /// Whether this process does what is to be done once: of several that measure one thing, the one that leads.
    pub fn leads(&self) -> Result<bool, Failure> {
        Ok(self.apart || self.member()?.0.index == 0)
    }

    /// This process among the others, and how it finds them; no role when it is alone.
    pub fn member(&self) -> Result<(Member, Option<Role>), Failure> {
        let processes = self.processes;
        let set = std::env::var("JOB_COMPLETION_INDEX").ok().and_then(|text| text.parse().ok());
        let index = self.process_index.or(set).or(self.barrier.is_none().then_some(0));
        let role = match (&self.barrier_listen, &self.barrier, index) {
            (None, None, _) if processes > 1 => {
                return Err(Failure::arguments(
                    "--processes needs --barrier-listen (for the process that leads) or --barrier (for the others)",
                ));
            }
            (None, None, _) => return Ok((Member::ALONE, None)),
            (_, Some(_), None) => {
                return Err(Failure::arguments(
                    "--barrier needs --process-index, from 1 to --processes less 1",
                ));
            }
            (Some(listen), None, _) | (Some(listen), Some(_), Some(0)) => Role::Lead(listen.clone()),
            (_, Some(leader), _) => Role::Follow(leader.clone()),
        };
        let index = index.unwrap_or(0);
        if processes < 2 {
            return Err(Failure::arguments("--barrier-listen and --barrier need --processes of 2 or more"));
        }
        let leads = matches!(role, Role::Lead(_));
        if index >= processes || leads != (index == 0) {
            return Err(Failure::arguments(format!(
                "--process-index {index}: the process that leads has 0, the others 1 to {}",
                processes - 1
            )));
        }
        Ok((Member { index, processes }, Some(role)))
    }
}

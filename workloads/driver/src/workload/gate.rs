//! What lets a window begin, when everything before it is done.

use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cli::Together;
use crate::failure::Failure;
use crate::measure::{Muster, Team};

/// The line that says that a run waits for its start.
pub const READY: &str = r#"{"kind":"Ready"}"#;

/// Some processes may take this much longer to get ready than others.
const SPREAD: Duration = Duration::from_secs(600);

pub enum Gate {
    Open,
    /// A line on standard input, after [`READY`] on standard output.
    Input,
    /// The other processes are ready too.
    Team(Box<Team>),
}

impl Gate {
    /// Of processes that start together; open for one that is alone. `common` is what they must agree on.
    pub async fn of(options: &Together, patience: Duration, common: &Value) -> Result<Gate, Failure> {
        let (member, role) = options.member()?;
        let Some(role) = role else { return Ok(Gate::Open) };
        let muster = Muster { role, member, patience, parameters: common.to_string() };
        Ok(Gate::Team(Box::new(Team::assemble(&muster).await?)))
    }

    /// Waits until the window may begin.
    pub async fn pass(&mut self) -> Result<(), Failure> {
        match self {
            Gate::Open => Ok(()),
            Gate::Input => {
                let unheard = |why: String| Failure::invalid(format!("the run was not started: {why}"));
                let mut stdout = std::io::stdout().lock();
                writeln!(stdout, "{READY}")
                    .and_then(|()| stdout.flush())
                    .map_err(|error| unheard(error.to_string()))?;
                let mut line = String::new();
                match std::io::stdin().lock().read_line(&mut line) {
                    Ok(1..) => Ok(()),
                    Ok(0) => Err(unheard("standard input has ended".into())),
                    Err(error) => Err(unheard(error.to_string())),
                }
            }
            Gate::Team(team) => {
                let start = team.begin(SPREAD).await?;
                tokio::time::sleep_until(tokio::time::Instant::from_std(start.max(Instant::now()))).await;
                Ok(())
            }
        }
    }
}

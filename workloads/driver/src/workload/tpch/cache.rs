//! Whether the data is in memory when a query begins, and the proof that it was so.

use clap::ValueEnum;
use serde_json::Value;

use crate::engine::{EngineError, Session};
use crate::failure::Failure;
use crate::report::{Cache, Execution};
use crate::target::{bytes_read, growth, Agents};

/// Where the data is when a query begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum State {
    /// In the server's own memory: no block is read
    Warm,
    /// On storage: the agent restarts the server and drops the page cache before every query
    Cold,
}

/// Objections that are listed one by one.
const LISTED: usize = 10;
/// Of its data, what may stay in the page cache of a cold target: 1/100. A page can be in use by others.
const RESIDENT_SHARE: u64 = 100;

/// Restarts the server with nothing of its data in memory; outside a virtual machine, the guest's disks follow.
/// No session may be open: a server waits for their end.
pub async fn make_cold(agents: &Agents) -> Result<Execution, Failure> {
    let mut execution = Execution::default();
    if let Some(agent) = &agents.target {
        execution.cold_start = Some(agent.make_cold().await?);
    }
    if let Some(agent) = &agents.host {
        execution.host_cold_start = Some(agent.make_cold().await?);
    }
    Ok(execution)
}

/// Counters at the beginning of a query.
pub struct Watch {
    blocks: Option<u64>,
    target: Option<Value>,
    host: Option<Value>,
}

impl Watch {
    /// To be called right before the query, on its session.
    pub async fn begin<S: Session>(session: &S, agents: &Agents) -> Result<Self, Failure> {
        let blocks = session.blocks_read().await?;
        let (target, host) = read(agents).await?;
        Ok(Watch { blocks, target, host })
    }

    /// Right after the query, on its session: fills in what was counted since.
    pub async fn end<S: Session>(
        self,
        session: &S,
        agents: &Agents,
        execution: &mut Execution,
    ) -> Result<(), Failure> {
        let (target, host) = read(agents).await?;
        let since = |before: &Option<Value>, after: &Option<Value>| {
            let (before, after) = before.as_ref().zip(after.as_ref())?;
            Some((bytes_read(before, after), growth(before, after)))
        };
        if let Some((bytes, counters)) = since(&self.target, &target) {
            (execution.read_bytes, execution.target) = (bytes, Some(counters));
        }
        if let Some((bytes, counters)) = since(&self.host, &host) {
            (execution.host_read_bytes, execution.host) = (bytes, Some(counters));
        }
        let blocks: Result<Option<u64>, EngineError> = session.blocks_read().await;
        execution.blocks_read = self.blocks.zip(blocks?).map(|(before, after)| after.saturating_sub(before));
        Ok(())
    }
}

/// The agents' counters: the host's around the target's.
async fn read(agents: &Agents) -> Result<(Option<Value>, Option<Value>), Failure> {
    let mut counters = (None, None);
    if let Some(agent) = &agents.target {
        counters.0 = Some(agent.counters().await?);
    }
    if let Some(agent) = &agents.host {
        counters.1 = Some(agent.counters().await?);
    }
    Ok(counters)
}

/// Judges all executions, given with words that say which each was.
pub fn judge<'a>(state: State, executions: impl Iterator<Item = (String, &'a Execution)>) -> Cache {
    let mut objections: Vec<String> = executions
        .filter_map(|(which, execution)| {
            let objection = match state {
                State::Warm => not_warm(execution),
                State::Cold => not_cold(execution),
            };
            Some(format!("{which}: {}", objection?))
        })
        .collect();
    if objections.len() > LISTED {
        let more = objections.len() - LISTED;
        objections.truncate(LISTED);
        objections.push(format!("and {more} more"));
    }
    let state = match state {
        State::Warm => "warm",
        State::Cold => "cold",
    };
    Cache { state, proven: objections.is_empty(), objections }
}

fn not_warm(execution: &Execution) -> Option<String> {
    match (execution.blocks_read, execution.read_bytes) {
        (Some(0), _) | (None, Some(0)) => None,
        (Some(blocks), _) => Some(format!("the server read {blocks} blocks from the operating system")),
        (None, Some(bytes)) => Some(format!("{bytes} bytes were read from storage")),
        (None, None) => Some("nothing counts what was read".into()),
    }
}

fn not_cold(execution: &Execution) -> Option<String> {
    let accounts = [("target", &execution.cold_start), ("host", &execution.host_cold_start)];
    for (where_, account) in
        accounts.into_iter().filter_map(|(where_, account)| Some((where_, account.as_ref()?)))
    {
        let figure = |name: &str| account.get(name).and_then(Value::as_u64);
        let Some((bytes, resident)) = figure("bytes").zip(figure("residentBytes")) else {
            return Some(format!("the agent of the {where_} does not say what stayed in memory"));
        };
        if resident > bytes / RESIDENT_SHARE {
            return Some(format!("{resident} of {bytes} bytes stayed in the page cache of the {where_}"));
        }
    }
    let needed = execution.blocks_read.unwrap_or(0) > 0;
    for (where_, bytes) in [("target", execution.read_bytes), ("host", execution.host_read_bytes)] {
        if needed && bytes == Some(0) {
            return Some(format!("the server read blocks, and the {where_} none from storage"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn cold(bytes: u64, resident: u64) -> Execution {
        Execution {
            blocks_read: Some(10),
            read_bytes: Some(81_920),
            cold_start: Some(json!({"bytes": bytes, "residentBytes": resident})),
            ..Execution::default()
        }
    }

    fn verdict(state: State, execution: &Execution) -> Cache {
        judge(state, [("Q1, run 1".to_string(), execution)].into_iter())
    }

    #[test]
    fn a_run_that_read_blocks_was_not_warm() {
        let read = |blocks_read, read_bytes| Execution { blocks_read, read_bytes, ..Execution::default() };
        assert!(verdict(State::Warm, &read(Some(0), Some(8192))).proven, "others may read");
        assert!(verdict(State::Warm, &read(None, Some(0))).proven);
        let found = verdict(State::Warm, &read(Some(7), None));
        assert_eq!(found.objections, ["Q1, run 1: the server read 7 blocks from the operating system"]);
        assert!(!verdict(State::Warm, &read(None, Some(1))).proven);
        assert!(!verdict(State::Warm, &read(None, None)).proven);
    }

    #[test]
    fn a_run_is_cold_when_its_data_was_on_storage_alone() {
        assert!(verdict(State::Cold, &cold(1000, 10)).proven);
        let found = verdict(State::Cold, &cold(1000, 11));
        assert_eq!(found.objections, ["Q1, run 1: 11 of 1000 bytes stayed in the page cache of the target"]);
        let unread = Execution { read_bytes: Some(0), ..cold(1000, 0) };
        assert!(verdict(State::Cold, &unread).objections[0].contains("none from storage"));
        let host =
            Execution { host_cold_start: Some(json!({"bytes": 10, "residentBytes": 10})), ..cold(1000, 0) };
        assert!(verdict(State::Cold, &host).objections[0].contains("of the host"));
        let silent = Execution { cold_start: Some(json!({})), ..cold(1, 0) };
        assert!(!verdict(State::Cold, &silent).proven);
    }

    #[test]
    fn a_long_list_is_cut() {
        let execution = cold(1, 1);
        let many = (0..15).map(|run| (format!("Q1, run {run}"), &execution));
        let found = judge(State::Cold, many);
        assert_eq!((found.objections.len(), found.objections[10].as_str()), (11, "and 5 more"));
    }
}

//! What an agent's counters say about the time between two readings.

use serde_json::{Map, Number, Value};

/// The groups of counters that only grow. What is in use at one time (memory) has no growth.
const GROUPS: [&str; 4] = ["cpu", "processes", "io", "pressure"];
/// Within them: how many there are at one time.
const STATES: [&str; 1] = ["count"];

/// The growth of every counter, in the shape of the agent's answer. Without those that are unknown and those
/// that shrank: these were sums over processes, of which one has ended.
pub fn growth(before: &Value, after: &Value) -> Value {
    let groups = GROUPS
        .iter()
        .filter_map(|group| Some(((*group).to_string(), difference(before.get(group)?, after.get(group)?)?)));
    Value::Object(groups.collect())
}

/// Bytes that were fetched from storage: by the cgroup or the guest where that is counted, else by the
/// processes. A kernel that does not count for a cgroup says 0 at all times; one that tells of a process's
/// transfers counts them.
pub fn bytes_read(before: &Value, after: &Value) -> Option<u64> {
    let counted =
        |counter: &str| Some((before.pointer(counter)?.as_u64()?, after.pointer(counter)?.as_u64()?));
    let (begin, end) =
        counted("/io/readBytes").filter(|(_, end)| *end > 0).or_else(|| counted("/processes/readBytes"))?;
    end.checked_sub(begin)
}

fn difference(before: &Value, after: &Value) -> Option<Value> {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let grown: Map<String, Value> = after
                .iter()
                .filter(|(name, _)| !STATES.contains(&name.as_str()))
                .filter_map(|(name, value)| Some((name.clone(), difference(before.get(name)?, value)?)))
                .collect();
            Some(Value::Object(grown))
        }
        (Value::Number(before), Value::Number(after)) => match (before.as_u64(), after.as_u64()) {
            (Some(before), Some(after)) => after.checked_sub(before).map(Value::from),
            _ => {
                let grown = after.as_f64()? - before.as_f64()?;
                // The readings are exact to a microsecond at best.
                let rounded = Number::from_f64((grown * 1e6).round() / 1e6)?;
                (grown >= 0.0).then_some(Value::Number(rounded))
            }
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counters_grow_and_states_do_not() {
        let before = json!({"takenAt": "a", "memory": {"usedBytes": 1}, "cpu": {"userSeconds": 1.1, "stealSeconds": null},
            "processes": {"minorFaults": 5, "count": 2, "voluntaryContextSwitches": 9}, "pressure": {"io": {"someSeconds": 0.5}}});
        let after = json!({"takenAt": "b", "memory": {"usedBytes": 9}, "cpu": {"userSeconds": 1.3, "stealSeconds": null},
            "processes": {"minorFaults": 7, "count": 1, "voluntaryContextSwitches": 3}, "pressure": {"io": {"someSeconds": 0.75}}});
        let expected = json!({"cpu": {"userSeconds": 0.2}, "processes": {"minorFaults": 2},
            "pressure": {"io": {"someSeconds": 0.25}}});
        assert_eq!(growth(&before, &after), expected);
    }

    #[test]
    fn a_counter_of_a_cgroup_that_never_counts_is_no_evidence() {
        let reading =
            |io: u64, processes: u64| json!({"io": {"readBytes": io}, "processes": {"readBytes": processes}});
        assert_eq!(bytes_read(&reading(0, 4096), &reading(0, 8192)), Some(4096));
        assert_eq!(bytes_read(&reading(512, 0), &reading(512, 8192)), Some(0));
        assert_eq!(bytes_read(&reading(0, 0), &reading(0, 0)), Some(0), "nothing was read since the start");
        assert_eq!(bytes_read(&json!({"io": {"readBytes": 0}}), &json!({"io": {"readBytes": 0}})), None);
        assert_eq!(bytes_read(&json!({}), &json!({"io": {"readBytes": null}})), None);
    }
}

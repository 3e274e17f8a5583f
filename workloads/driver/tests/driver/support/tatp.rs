//! What TATP's results have to show, whatever the engine.

use serde_json::Value;

use super::driver::operation;

/// The share of each transaction that succeeds on fresh data, as it follows from the rules of population and inputs.
fn shares_of_success() -> [(&'static str, f64); 7] {
    [
        ("GET_SUBSCRIBER_DATA", 1.0),
        ("GET_NEW_DESTINATION", new_destination_share()),
        ("GET_ACCESS_DATA", 0.625),
        ("UPDATE_SUBSCRIBER_DATA", 0.625),
        ("UPDATE_LOCATION", 1.0),
        ("INSERT_CALL_FORWARDING", 0.3125),
        ("DELETE_CALL_FORWARDING", 0.3125),
    ]
}

/// Asserts that no transaction failed in a way that is not provided for, and that as many succeeded as the rules
/// let succeed. `population` is how many subscribers the draws are spread over: who they are is a matter of chance, too.
pub fn successes_are_those_of_the_rules(run: &Value, population: f64) {
    for (name, expected) in shares_of_success() {
        let counts = &operation(run, name)["counts"];
        let (ok, failed) = (counts["ok"].as_f64().unwrap(), counts["expectedFailure"].as_f64().unwrap());
        assert_eq!(counts["error"], 0, "{name}: {run}");
        let (total, share) = (ok + failed, ok / (ok + failed));
        if total == 0.0 {
            // On a starved machine the rarest two of a hundred may not have come up.
            continue;
        }
        let variance = expected * (1.0f64 - expected);
        let deviation = (variance / total + variance / population).sqrt();
        assert!((share - expected).abs() <= 5.0 * deviation, "{name}: {ok} of {total}");
    }
}

/// The exact share of GET_NEW_DESTINATION that finds a row: of the facilities asked for, 62.5 % exist (one to four
/// out of four, each number equally often) and 85 % of these are active.
pub fn new_destination_share() -> f64 {
    let share = START_TIMES.iter().map(|start| forwarding_share(*start)).sum::<f64>() / 3.0;
    share * 0.625 * 0.85
}

pub const START_TIMES: [u32; 3] = [0, 8, 16];

/// How often a facility has a forwarding with `start_time <= start AND end < end_time`, by going through all cases:
/// zero to three rows equally often, every choice of that many start times, all lengths from 1 to 8 hours of each,
/// and all end times from 1 to 24 that can be asked for.
pub fn forwarding_share(start: u32) -> f64 {
    let (mut hits, mut cases) = (0.0, 0.0);
    for rows in 0u32..8 {
        let chosen: Vec<u32> = (0..3).filter(|row| rows & (1 << row) != 0).collect();
        // One choice of none, three of one, three of two, one of three.
        let weight = [1.0, 1.0 / 3.0, 1.0 / 3.0, 1.0][chosen.len()] / 4.0;
        for lengths in 0..8u32.pow(3) {
            let length = |row: u32| lengths / 8u32.pow(row) % 8 + 1;
            for end in 1..=24 {
                let found = chosen.iter().any(|row| row * 8 <= start && end < row * 8 + length(*row));
                hits += if found { weight } else { 0.0 };
                cases += weight;
            }
        }
    }
    hits / cases
}

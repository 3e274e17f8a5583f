//! What TPC-C's results have to show, whatever the engine.

use serde_json::Value;

use super::driver::operation;

pub const TRANSACTIONS: [&str; 5] = ["NEW_ORDER", "PAYMENT", "ORDER_STATUS", "DELIVERY", "STOCK_LEVEL"];

/// How often an operation ended in this way.
pub fn count(run: &Value, name: &str, kind: &str) -> u64 {
    operation(run, name)["counts"][kind].as_u64().unwrap()
}

fn ended(run: &Value, name: &str) -> f64 {
    (count(run, name, "ok") + count(run, name, "expectedFailure")) as f64
}

/// Asserts that each transaction has committed and none has failed in a way that is not provided for.
pub fn all_succeed(run: &Value) {
    for name in TRANSACTIONS {
        assert!(count(run, name, "ok") > 0 && count(run, name, "error") == 0, "{name}: {run}");
    }
}

/// Each share lies within five standard deviations of the one that the specification sets.
pub fn inputs_have_the_specified_shares(run: &Value) {
    let mut shares: Vec<(String, f64, f64, f64)> = Vec::new();
    // Clauses 2.4.1.5 (remote lines), 2.5.1.2 (remote payments, customers by name) and 2.6.1.2 (by name).
    for (share, expected) in run["shares"].as_array().unwrap().iter().zip([0.01, 0.15, 0.6]) {
        let (count, of) = (share["count"].as_f64().unwrap(), share["of"].as_f64().unwrap());
        shares.push((share["name"].to_string(), count, of, expected));
    }
    assert_eq!(shares.len(), 3);
    let committed = |name| count(run, name, "ok") as f64;
    assert_eq!(shares[1].2, committed("PAYMENT"));
    assert_eq!(shares[2].2, committed("PAYMENT") + committed("ORDER_STATUS"));
    // Clause 2.4.1.4: orders that end in an unused item.
    let undone = count(run, "NEW_ORDER", "expectedFailure") as f64;
    shares.push(("rolled back".into(), undone, ended(run, "NEW_ORDER"), 0.01));
    for (name, count, of, expected) in shares {
        let deviation = (expected * (1.0 - expected) * of).sqrt();
        assert!(
            of > 0.0 && (count - expected * of).abs() <= 5.0 * deviation + 1.0,
            "{name}: {count} of {of}"
        );
    }
}

/// Clause 5.2.4.2: the terminals have drawn whole decks, and each a part of one.
pub fn the_mix_is_that_of_the_deck(run: &Value, terminals: f64) {
    let total: f64 = TRANSACTIONS.iter().map(|name| ended(run, name)).sum();
    for (name, share) in [("NEW_ORDER", 0.45), ("PAYMENT", 0.43), ("ORDER_STATUS", 0.04), ("DELIVERY", 0.04)]
    {
        let count = ended(run, name);
        assert!(
            (count - share * total).abs() <= terminals * 2.0 * 100.0 * share,
            "{name}: {count} of {total}"
        );
    }
}

/// Limits of the response times, and whether they were kept (clauses 5.2.5.3 and 2.7.2.2).
pub fn limits_are_those_of_the_specification(run: &Value, deferred: bool) {
    let limits = run["limits"].as_array().unwrap();
    assert_eq!(limits.len(), 5);
    for limit in limits {
        let name = limit["operation"].as_str().unwrap();
        let expected = match name {
            "STOCK_LEVEL" => 20.0,
            "DELIVERY" if deferred => 80.0,
            _ => 5.0,
        };
        assert_eq!(limit["p90LimitSeconds"], expected);
        let p90 = operation(run, name)["latency"]["p90"].as_f64().unwrap() / 1e6;
        assert_eq!(limit["p90Seconds"], p90);
        assert_eq!(limit["met"], p90 <= expected);
    }
}

/// Clause 2.7.4.2: deliveries that found a district without an open order.
pub fn skipped_deliveries(run: &Value) -> (u64, u64, bool) {
    let share = &run["shares"][3];
    assert_eq!((&share["name"], &share["limit"]), (&"skippedDeliveries".into(), &0.01.into()));
    let number = |name: &str| share[name].as_u64().unwrap();
    assert_eq!(number("of"), count(run, "DELIVERY", "ok"));
    (number("count"), number("of"), share["exceeded"] == true)
}

/// What was keyed in (clause 5.2.5.7) fits into the time that the terminals had.
pub fn keying_times_fit(run: &Value, clients: f64, seconds: f64, scale: f64) {
    let keying = [18.0, 3.0, 2.0, 2.0, 2.0];
    let keyed: f64 =
        TRANSACTIONS.iter().zip(keying).map(|(name, time)| ended(run, name) * time * scale).sum();
    assert!(keyed > 0.0 && keyed <= clients * seconds, "{keyed}");
}

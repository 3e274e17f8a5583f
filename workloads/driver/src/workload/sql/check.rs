//! What holds in pgbench's tables whichever of pgbench's scripts ran (TPC-B clause 2.1, consistency).

use serde_json::json;

use crate::cli::Invocation;
use crate::engine::{Engine, Session};
use crate::failure::Failure;
use crate::load;
use crate::report::{Check, Document};
use crate::workload::conditions::{evaluate, Condition};

const CONDITIONS: [Condition; 2] = [
    Condition {
        name: "history",
        rule: "the balances of all accounts add up to the deltas in the history",
        violations: "SELECT count(*) FROM (SELECT sum(abalance) AS balance FROM pgbench_accounts) AS a, \
                     (SELECT coalesce(sum(delta), 0) AS delta FROM pgbench_history) AS h \
                     WHERE a.balance <> h.delta",
    },
    Condition {
        name: "branches",
        rule: "the balances of all tellers add up to those of all branches",
        violations: "SELECT count(*) FROM (SELECT sum(tbalance) AS balance FROM pgbench_tellers) AS t, \
                     (SELECT sum(bbalance) AS balance FROM pgbench_branches) AS b \
                     WHERE t.balance <> b.balance",
    },
];

pub async fn check<E: Engine>(invocation: &Invocation<E>) -> Result<Document, Failure> {
    let (session, meta) = load::open(invocation, None).await?;
    let mut document = invocation.document("check", json!({"scale": meta.scale}), session.server().await?);
    // The history grows.
    let mut fixed = meta.record.data.rows.clone();
    fixed.remove("pgbench_history");
    for (table, expected, found) in load::count_rows(&session, &fixed).await? {
        let detail =
            if expected == found { String::new() } else { format!("{found} rows, expected {expected}") };
        document.checks.push(Check { name: format!("rows of {table}"), ok: expected == found, detail });
    }
    document.checks.extend(evaluate(&session, &CONDITIONS, &invocation.progress).await?);
    document.data = Some(meta.record.data);
    session.close().await;
    Ok(document)
}

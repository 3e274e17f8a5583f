//! The rules of the population, which every mix of transactions preserves.

use serde_json::json;

use crate::cli::Invocation;
use crate::engine::{Engine, Session};
use crate::failure::Failure;
use crate::load;
use crate::report::{Check, Data, Document};
use crate::workload::conditions::{evaluate, Condition};

const CONDITIONS: [Condition; 6] = [
    Condition {
        name: "subscriber numbers",
        rule: "sub_nbr is s_id with leading zeros",
        violations: "SELECT count(*) FROM subscriber WHERE sub_nbr <> lpad(CAST(s_id AS char(15)), 15, '0')",
    },
    Condition {
        name: "access types",
        rule: "each subscriber has one to four access types out of 1 to 4",
        violations: "SELECT count(*) FROM (SELECT s.s_id FROM subscriber s LEFT JOIN access_info a ON a.s_id = s.s_id \
                     GROUP BY s.s_id HAVING count(a.s_id) NOT BETWEEN 1 AND 4 \
                     OR min(a.ai_type) < 1 OR max(a.ai_type) > 4) AS wrong",
    },
    Condition {
        name: "facility types",
        rule: "each subscriber has one to four facility types out of 1 to 4",
        violations: "SELECT count(*) FROM (SELECT s.s_id FROM subscriber s LEFT JOIN special_facility f \
                     ON f.s_id = s.s_id GROUP BY s.s_id HAVING count(f.s_id) NOT BETWEEN 1 AND 4 \
                     OR min(f.sf_type) < 1 OR max(f.sf_type) > 4) AS wrong",
    },
    Condition {
        name: "forwarding times",
        // The population's rows end 1 to 8 hours after their start; inserted ones at any hour.
        rule: "forwarding starts at 0, 8 or 16 and ends at 1 to 24",
        violations: "SELECT count(*) FROM call_forwarding WHERE start_time NOT IN (0, 8, 16) \
                     OR end_time NOT BETWEEN 1 AND 24",
    },
    Condition {
        name: "forwarding facilities",
        rule: "forwarding belongs to a facility that exists",
        violations: "SELECT count(*) FROM call_forwarding c WHERE NOT EXISTS \
                     (SELECT 1 FROM special_facility f WHERE f.s_id = c.s_id AND f.sf_type = c.sf_type)",
    },
    Condition {
        name: "value ranges",
        rule: "bits are 0 or 1, facilities active or not, data below 256",
        violations: "SELECT (SELECT count(*) FROM subscriber WHERE bit_1 NOT IN (0, 1) \
                     OR vlr_location NOT BETWEEN 1 AND 4294967295) + (SELECT count(*) FROM special_facility \
                     WHERE is_active NOT IN (0, 1) OR data_a NOT BETWEEN 0 AND 255)",
    },
];

/// Counts the rows and evaluates the conditions.
pub async fn conditions<E: Engine>(
    session: &E::Session,
    invocation: &Invocation<E>,
    data: &Data,
) -> Result<Vec<Check>, Failure> {
    let mut checks = Vec::new();
    // Only call_forwarding gains and loses rows.
    let mut fixed = data.rows.clone();
    fixed.remove("call_forwarding");
    for (table, expected, found) in load::count_rows(session, &fixed).await? {
        let detail =
            if expected == found { String::new() } else { format!("{found} rows, expected {expected}") };
        checks.push(Check { name: format!("rows of {table}"), ok: expected == found, detail });
    }
    checks.extend(evaluate(session, &CONDITIONS, &invocation.progress).await?);
    Ok(checks)
}

pub async fn check<E: Engine>(invocation: &Invocation<E>, scale: Option<u32>) -> Result<Document, Failure> {
    let scale = scale.map(|subscribers| subscribers.to_string());
    let (session, meta) = load::open(invocation, scale.as_deref()).await?;
    let mut document =
        invocation.document("check", json!({"subscribers": meta.scale}), session.server().await?);
    document.checks = conditions(&session, invocation, &meta.record.data).await?;
    document.data = Some(meta.record.data);
    session.close().await;
    Ok(document)
}

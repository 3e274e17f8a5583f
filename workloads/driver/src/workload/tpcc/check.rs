//! Consistency conditions 3.3.2.1 to 3.3.2.12, each as a query that counts violations.

use serde_json::json;

use crate::cli::Invocation;
use crate::engine::{Engine, Session};
use crate::failure::Failure;
use crate::load;
use crate::report::{Check, Document};
use crate::workload::conditions::{evaluate, Condition};

const CONDITIONS: [Condition; 12] = [
    Condition {
        name: "3.3.2.1",
        rule: "W_YTD = sum(D_YTD)",
        violations: "SELECT count(*) FROM warehouse LEFT JOIN (SELECT d_w_id, sum(d_ytd) AS ytd FROM district \
                     GROUP BY d_w_id) AS d ON d_w_id = w_id WHERE ytd IS NULL OR w_ytd <> ytd",
    },
    Condition {
        name: "3.3.2.2",
        rule: "D_NEXT_O_ID - 1 = max(O_ID) = max(NO_O_ID)",
        violations: "SELECT count(*) FROM district \
                     LEFT JOIN (SELECT o_w_id, o_d_id, max(o_id) AS newest FROM orders GROUP BY 1, 2) AS o \
                     ON o_w_id = d_w_id AND o_d_id = d_id \
                     LEFT JOIN (SELECT no_w_id, no_d_id, max(no_o_id) AS newest_open FROM new_order GROUP BY 1, 2) AS n \
                     ON no_w_id = d_w_id AND no_d_id = d_id \
                     WHERE newest IS NULL OR newest <> d_next_o_id - 1 OR newest_open <> newest",
    },
    Condition {
        name: "3.3.2.3",
        rule: "max(NO_O_ID) - min(NO_O_ID) + 1 = number of rows in NEW-ORDER of the district",
        violations: "SELECT count(*) FROM (SELECT 1 FROM new_order GROUP BY no_w_id, no_d_id \
                     HAVING max(no_o_id) - min(no_o_id) + 1 <> count(*)) AS wrong",
    },
    Condition {
        name: "3.3.2.4",
        rule: "sum(O_OL_CNT) = number of rows in ORDER-LINE of the district",
        violations: "SELECT count(*) FROM (SELECT w, d FROM (SELECT o_w_id AS w, o_d_id AS d, o_ol_cnt AS surplus \
                     FROM orders UNION ALL SELECT ol_w_id, ol_d_id, -1 FROM order_line) AS counted \
                     GROUP BY w, d HAVING sum(surplus) <> 0) AS wrong",
    },
    Condition {
        name: "3.3.2.5",
        rule: "O_CARRIER_ID is null if and only if the order is in NEW-ORDER",
        violations: "SELECT (SELECT count(*) FROM orders LEFT JOIN new_order \
                     ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id \
                     WHERE (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL)) + (SELECT count(*) FROM new_order \
                     LEFT JOIN orders ON o_w_id = no_w_id AND o_d_id = no_d_id AND o_id = no_o_id WHERE o_id IS NULL)",
    },
    Condition {
        name: "3.3.2.6",
        rule: "O_OL_CNT = number of rows in ORDER-LINE of the order",
        violations: "SELECT (SELECT count(*) FROM orders LEFT JOIN \
                     (SELECT ol_w_id, ol_d_id, ol_o_id, count(*) AS found FROM order_line GROUP BY 1, 2, 3) AS l \
                     ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id \
                     WHERE found IS NULL OR o_ol_cnt <> found) + (SELECT count(*) FROM order_line WHERE NOT EXISTS \
                     (SELECT 1 FROM orders WHERE o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id))",
    },
    Condition {
        name: "3.3.2.7",
        rule: "OL_DELIVERY_D is null if and only if O_CARRIER_ID is null",
        violations: "SELECT count(*) FROM order_line JOIN orders \
                     ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id \
                     WHERE (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)",
    },
    Condition {
        name: "3.3.2.8",
        rule: "W_YTD = sum(H_AMOUNT)",
        violations: "SELECT count(*) FROM warehouse LEFT JOIN (SELECT h_w_id, sum(h_amount) AS paid FROM history \
                     GROUP BY 1) AS h ON h_w_id = w_id WHERE paid IS NULL OR w_ytd <> paid",
    },
    Condition {
        name: "3.3.2.9",
        rule: "D_YTD = sum(H_AMOUNT)",
        violations: "SELECT count(*) FROM district LEFT JOIN (SELECT h_w_id, h_d_id, sum(h_amount) AS paid \
                     FROM history GROUP BY 1, 2) AS h ON h_w_id = d_w_id AND h_d_id = d_id \
                     WHERE paid IS NULL OR d_ytd <> paid",
    },
    Condition {
        name: "3.3.2.10",
        rule: "C_BALANCE = sum(OL_AMOUNT of delivered lines) - sum(H_AMOUNT)",
        violations: "SELECT count(*) FROM customer \
                     LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS delivered FROM orders JOIN order_line \
                     ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL \
                     GROUP BY 1, 2, 3) AS o ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id \
                     LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS paid FROM history GROUP BY 1, 2, 3) \
                     AS h ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id \
                     WHERE c_balance <> coalesce(delivered, 0) - coalesce(paid, 0)",
    },
    Condition {
        // The clause states it for the initial population, where nothing has been delivered since the load.
        name: "3.3.2.11",
        rule: "rows in ORDER - rows in NEW-ORDER = 2100 + deliveries, by district",
        violations: "SELECT count(*) FROM district \
                     LEFT JOIN (SELECT o_w_id, o_d_id, count(*) AS placed FROM orders GROUP BY 1, 2) AS o \
                     ON o_w_id = d_w_id AND o_d_id = d_id \
                     LEFT JOIN (SELECT no_w_id, no_d_id, count(*) AS waiting FROM new_order GROUP BY 1, 2) AS n \
                     ON no_w_id = d_w_id AND no_d_id = d_id \
                     LEFT JOIN (SELECT c_w_id, c_d_id, sum(c_delivery_cnt) AS delivered FROM customer GROUP BY 1, 2) \
                     AS c ON c_w_id = d_w_id AND c_d_id = d_id \
                     WHERE placed IS NULL OR placed - coalesce(waiting, 0) <> 2100 + delivered",
    },
    Condition {
        name: "3.3.2.12",
        rule: "C_BALANCE + C_YTD_PAYMENT = sum(OL_AMOUNT of delivered lines)",
        violations: "SELECT count(*) FROM customer \
                     LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS delivered FROM orders JOIN order_line \
                     ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d IS NOT NULL \
                     GROUP BY 1, 2, 3) AS o ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id \
                     WHERE c_balance + c_ytd_payment <> coalesce(delivered, 0)",
    },
];

/// Evaluates the conditions in one snapshot.
pub async fn conditions<E: Engine>(
    session: &E::Session,
    invocation: &Invocation<E>,
) -> Result<Vec<Check>, Failure> {
    evaluate(session, &CONDITIONS, &invocation.progress).await
}

pub async fn check<E: Engine>(invocation: &Invocation<E>, scale: Option<u32>) -> Result<Document, Failure> {
    let scale = scale.map(|warehouses| warehouses.to_string());
    let (session, meta) = load::open(invocation, scale.as_deref()).await?;
    let mut document =
        invocation.document("check", json!({"warehouses": meta.scale}), session.server().await?);
    document.checks = conditions(&session, invocation).await?;
    document.data = Some(meta.record.data);
    session.close().await;
    Ok(document)
}

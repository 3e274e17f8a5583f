//! Whether the loaded data is what clauses 1.4 and 4.2 ask for.

use serde_json::json;

use super::answers::{self, Reference};
use super::refresh::{self, State};
use super::{CheckCommand, ScaleFactor};
use crate::cli::Invocation;
use crate::engine::{Engine, Session};
use crate::failure::Failure;
use crate::load;
use crate::report::{Check, Document};
use crate::workload::conditions::{evaluate, Condition};

const CONDITIONS: [Condition; 10] = [
    Condition {
        name: "4.2.3 o_custkey",
        rule: "a third of the customers has no orders",
        violations: "SELECT count(*) FROM orders WHERE o_custkey % 3 = 0",
    },
    Condition {
        name: "4.2.3 p_retailprice",
        rule: "the price follows from the part key",
        violations: "SELECT count(*) FROM part WHERE p_retailprice * 100 \
                     <> 90000 + ((p_partkey - p_partkey % 10) / 10) % 20001 + 100 * (p_partkey % 1000)",
    },
    Condition {
        name: "4.2.3 partsupp",
        rule: "each part has four suppliers",
        violations: "SELECT count(*) FROM (SELECT p_partkey FROM part LEFT JOIN partsupp ON ps_partkey = p_partkey \
                     GROUP BY p_partkey HAVING count(ps_suppkey) <> 4) AS wrong",
    },
    Condition {
        name: "4.2.3 lines of an order",
        rule: "each order has one to seven lines, numbered from 1",
        violations: "SELECT count(*) FROM (SELECT o_orderkey FROM orders LEFT JOIN lineitem ON l_orderkey = o_orderkey \
                     GROUP BY o_orderkey HAVING count(l_orderkey) NOT BETWEEN 1 AND 7 \
                     OR max(l_linenumber) <> count(l_orderkey)) AS wrong",
    },
    Condition {
        name: "4.2.3 l_extendedprice",
        rule: "extended price is quantity times retail price",
        violations: "SELECT count(*) FROM lineitem JOIN part ON p_partkey = l_partkey \
                     WHERE l_extendedprice <> l_quantity * p_retailprice",
    },
    Condition {
        // As clause 3.3.2.1 has it.
        name: "4.2.3 o_totalprice",
        rule: "the total price is the sum over the lines, each cut to cents twice",
        violations: "SELECT count(*) FROM (SELECT o_orderkey FROM orders JOIN lineitem ON l_orderkey = o_orderkey \
                     GROUP BY o_orderkey, o_totalprice HAVING o_totalprice * 100 <> \
                     sum(floor(floor(l_extendedprice * (1 - l_discount) * 100) * (1 + l_tax)))) AS wrong",
    },
    Condition {
        name: "4.2.3 o_orderstatus",
        rule: "the status of an order follows from its lines",
        violations: "SELECT count(*) FROM (SELECT o_orderkey FROM orders JOIN lineitem ON l_orderkey = o_orderkey \
                     GROUP BY o_orderkey, o_orderstatus HAVING o_orderstatus <> CASE \
                     WHEN min(l_linestatus) = 'F' AND max(l_linestatus) = 'F' THEN 'F' \
                     WHEN min(l_linestatus) = 'O' AND max(l_linestatus) = 'O' THEN 'O' ELSE 'P' END) AS wrong",
    },
    Condition {
        name: "4.2.3 l_linestatus",
        rule: "lines shipped after 1995-06-17 are open",
        violations: "SELECT count(*) FROM lineitem WHERE l_linestatus \
                     <> CASE WHEN l_shipdate > date '1995-06-17' THEN 'O' ELSE 'F' END",
    },
    Condition {
        name: "4.2.3 l_returnflag",
        rule: "only lines received until 1995-06-17 are returned or accepted",
        violations: "SELECT count(*) FROM lineitem WHERE (l_returnflag IN ('R', 'A')) \
                     <> (l_receiptdate <= date '1995-06-17')",
    },
    Condition {
        name: "4.2.3 dates",
        rule: "dates lie in 1992 to 1998, in the order of clause 4.2.3",
        violations: "SELECT count(*) FROM orders JOIN lineitem ON l_orderkey = o_orderkey \
                     WHERE o_orderdate NOT BETWEEN date '1992-01-01' AND date '1998-12-31' - interval '151' day \
                     OR l_shipdate NOT BETWEEN o_orderdate + interval '1' day AND o_orderdate + interval '121' day \
                     OR l_commitdate NOT BETWEEN o_orderdate + interval '30' day AND o_orderdate + interval '90' day \
                     OR l_receiptdate NOT BETWEEN l_shipdate + interval '1' day AND l_shipdate + interval '30' day",
    },
];

pub async fn check<E: Engine>(
    invocation: &Invocation<E>,
    command: &CheckCommand,
) -> Result<Document, Failure> {
    let scale = command.scale_factor.as_ref().map(ScaleFactor::text);
    let (session, meta) = load::open(invocation, scale).await?;
    let scale: ScaleFactor = meta.scale.parse().map_err(Failure::invalid)?;
    let pairs = State::of(&meta).pairs()?;
    let reference = match command.answers {
        true => {
            // Refreshed data has other answers.
            State::of(&meta).require(Some(0))?;
            Some(Reference::of(&scale).ok_or_else(|| no_reference(&scale))?)
        }
        false => None,
    };
    let mut document = invocation.document(
        "check",
        json!({"scaleFactor": meta.scale, "answers": command.answers, "refreshPairs": pairs}),
        session.server().await?,
    );
    document.checks.extend(cardinalities(&session, &meta, &scale, pairs).await?);
    document.checks.extend(evaluate(&session, &CONDITIONS, &invocation.progress).await?);
    if let Some(reference) = reference {
        document.checks.extend(answers::check(&session, &scale, &reference, &invocation.progress).await?);
    }
    document.data = Some(meta.record.data);
    session.close().await;
    Ok(document)
}

fn no_reference(scale: &ScaleFactor) -> Failure {
    Failure::arguments(format!(
        "--answers: there are reference answers for the scale factors {}; the loaded data has {}",
        Reference::scales(),
        scale.text()
    ))
}

/// Clause 4.2.5: each table has the rows that were generated for its scale factor, and those that pairs of
/// refresh functions have left.
async fn cardinalities<S: Session>(
    session: &S,
    meta: &load::Meta,
    scale: &ScaleFactor,
    pairs: u32,
) -> Result<Vec<Check>, Failure> {
    let mut rows = meta.record.data.rows.clone();
    if let Some(lines) = rows.get_mut("lineitem") {
        *lines = refresh::lines_after(scale, *lines, pairs);
    }
    let counted = load::count_rows(session, &rows).await?;
    Ok(counted
        .into_iter()
        .map(|(table, expected, found)| Check {
            name: format!("4.2.5 {table}"),
            ok: expected == found,
            detail: if expected == found {
                String::new()
            } else {
                format!("{found} rows, expected {expected}")
            },
        })
        .collect())
}

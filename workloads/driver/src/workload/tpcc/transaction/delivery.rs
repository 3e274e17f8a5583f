//! Delivery (clause 2.7), all ten districts in one transaction.

use std::cell::Cell;
use std::time::SystemTime;

use super::super::customer::missing;
use super::super::deck::DELIVERY;
use super::super::schema::DISTRICTS;
use super::super::{inputs, shares};
use crate::engine::{EngineError, Isolation, Row, Session};
use crate::measure::{Mark, Transaction};
use crate::workload::attempt::{attempt, Ending};

const OLDEST: &str = "SELECT no_o_id FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 \
    ORDER BY no_o_id LIMIT 1 FOR UPDATE";
const DELETE: &str = "DELETE FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 AND no_o_id = $3";
const ORDER: &str = "SELECT o_c_id FROM orders WHERE o_w_id = $1 AND o_d_id = $2 AND o_id = $3";
const UPDATE_ORDER: &str =
    "UPDATE orders SET o_carrier_id = $1 WHERE o_w_id = $2 AND o_d_id = $3 AND o_id = $4";
const UPDATE_LINES: &str = "UPDATE order_line SET ol_delivery_d = $1 \
    WHERE ol_w_id = $2 AND ol_d_id = $3 AND ol_o_id = $4";
const AMOUNT: &str =
    "SELECT sum(ol_amount) FROM order_line WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3";
const UPDATE_CUSTOMER: &str = "UPDATE customer SET c_balance = c_balance + CAST($1 AS decimal(12, 2)), \
    c_delivery_cnt = c_delivery_cnt + 1 WHERE c_w_id = $2 AND c_d_id = $3 AND c_id = $4";

pub struct Delivery<S: Session> {
    oldest: S::Statement,
    delete: S::Statement,
    order: S::Statement,
    update_order: S::Statement,
    update_lines: S::Statement,
    amount: S::Statement,
    update_customer: S::Statement,
}

impl<S: Session> Delivery<S> {
    pub async fn prepare(session: &S) -> Result<Self, EngineError> {
        Ok(Delivery {
            oldest: session.prepare(OLDEST).await?,
            delete: session.prepare(DELETE).await?,
            order: session.prepare(ORDER).await?,
            update_order: session.prepare(UPDATE_ORDER).await?,
            update_lines: session.prepare(UPDATE_LINES).await?,
            amount: session.prepare(AMOUNT).await?,
            update_customer: session.prepare(UPDATE_CUSTOMER).await?,
        })
    }

    /// Runs the transaction, and marks it when it has skipped a district.
    pub async fn transact(&self, session: &S, input: &inputs::Delivery) -> Result<Transaction, EngineError> {
        // Of the last attempt.
        let skipped = Cell::new(0);
        let body = async |session: &S| {
            skipped.set(self.deliver(session, input).await?);
            Ok(Ending::Commit)
        };
        let transaction = attempt(session, DELIVERY, Isolation::ReadCommitted, false, body).await?;
        let mark = shares::skipped_delivery(skipped.get() > 0);
        Ok(Transaction { marks: [mark, Mark::default()], ..transaction })
    }

    /// Delivers the oldest open order of each district. A district without one is skipped (clause 2.7.4.2);
    /// returns how many.
    async fn deliver(&self, session: &S, input: &inputs::Delivery) -> Result<u32, EngineError> {
        let warehouse = input.warehouse;
        let mut skipped = 0;
        for district in 1..=DISTRICTS {
            let rows = session.query(&self.oldest, &[warehouse.into(), district.into()]).await?;
            let Some(row) = rows.first() else {
                skipped += 1;
                continue;
            };
            let key = [warehouse.into(), district.into(), row.int(0)?.into()];
            session.execute(&self.delete, &key).await?;
            let rows = session.query(&self.order, &key).await?;
            let customer = rows.first().ok_or_else(|| missing("order to deliver"))?.int(0)?;
            let [w, d, order] = key;
            session.execute(&self.update_order, &[input.carrier.into(), w, d, order]).await?;
            session.execute(&self.update_lines, &[SystemTime::now().into(), w, d, order]).await?;
            let rows = session.query(&self.amount, &key).await?;
            let amount = rows.first().ok_or_else(|| missing("line to deliver"))?.decimal(0)?;
            session.execute(&self.update_customer, &[amount.into(), w, d, customer.into()]).await?;
        }
        Ok(skipped)
    }
}

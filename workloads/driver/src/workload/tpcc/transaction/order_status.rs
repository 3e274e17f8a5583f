//! Order-Status (clause 2.6).

use super::super::customer::{missing, CustomerLookup};
use super::super::inputs;
use crate::engine::{EngineError, Row, Session};
use crate::workload::attempt::Ending;

const CUSTOMER: &str = "SELECT c_balance, c_first, c_middle, c_last FROM customer \
    WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3";
const LAST_ORDER: &str = "SELECT o_id, o_entry_d, o_carrier_id FROM orders \
    WHERE o_w_id = $1 AND o_d_id = $2 AND o_c_id = $3 ORDER BY o_id DESC LIMIT 1";
const LINES: &str = "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line \
    WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3";

pub struct OrderStatus<S: Session> {
    lookup: CustomerLookup<S>,
    customer: S::Statement,
    last_order: S::Statement,
    lines: S::Statement,
}

impl<S: Session> OrderStatus<S> {
    pub async fn prepare(session: &S) -> Result<Self, EngineError> {
        Ok(OrderStatus {
            lookup: CustomerLookup::prepare(session).await?,
            customer: session.prepare(CUSTOMER).await?,
            last_order: session.prepare(LAST_ORDER).await?,
            lines: session.prepare(LINES).await?,
        })
    }

    pub async fn run(&self, session: &S, input: &inputs::OrderStatus) -> Result<Ending, EngineError> {
        let (warehouse, district) = (input.warehouse, input.district);
        let customer = self.lookup.find(session, warehouse, district, &input.who).await?;
        let key = [warehouse.into(), district.into(), customer.into()];
        let rows = session.query(&self.customer, &key).await?;
        rows.first().ok_or_else(|| missing("customer"))?;
        let rows = session.query(&self.last_order, &key).await?;
        let order = rows.first().ok_or_else(|| missing("order of a customer"))?.int(0)?;
        let lines = session.query(&self.lines, &[warehouse.into(), district.into(), order.into()]).await?;
        if lines.is_empty() {
            return Err(missing("line of an order"));
        }
        Ok(Ending::Commit)
    }
}

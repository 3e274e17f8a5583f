//! Stock-Level (clause 2.8).

use super::super::customer::missing;
use super::super::inputs;
use crate::engine::{EngineError, Row, Session};
use crate::workload::attempt::Ending;

const NEXT_ORDER: &str = "SELECT d_next_o_id FROM district WHERE d_w_id = $1 AND d_id = $2";
const LOW_STOCK: &str = "SELECT count(DISTINCT s_i_id) FROM order_line, stock \
    WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id >= $3 AND ol_o_id < $4 \
    AND s_w_id = ol_w_id AND s_i_id = ol_i_id AND s_quantity < $5";

/// Orders whose items are looked at.
const RECENT: i32 = 20;

pub struct StockLevel<S: Session> {
    next_order: S::Statement,
    low_stock: S::Statement,
}

impl<S: Session> StockLevel<S> {
    pub async fn prepare(session: &S) -> Result<Self, EngineError> {
        Ok(StockLevel {
            next_order: session.prepare(NEXT_ORDER).await?,
            low_stock: session.prepare(LOW_STOCK).await?,
        })
    }

    pub async fn run(&self, session: &S, input: &inputs::StockLevel) -> Result<Ending, EngineError> {
        let (warehouse, district) = (input.warehouse, input.district);
        let rows = session.query(&self.next_order, &[warehouse.into(), district.into()]).await?;
        let next = rows.first().ok_or_else(|| missing("district"))?.int(0)?;
        let values =
            [warehouse.into(), district.into(), (next - RECENT).into(), next.into(), input.threshold.into()];
        let rows = session.query(&self.low_stock, &values).await?;
        rows.first().ok_or_else(|| missing("count"))?.long(0)?;
        Ok(Ending::Commit)
    }
}

//! New-Order (clause 2.4).

use std::time::SystemTime;

use rust_decimal::Decimal;

use super::super::customer::missing;
use super::super::inputs;
use super::super::schema::DISTRICTS;
use crate::engine::{EngineError, Row, Session, Value};
use crate::workload::attempt::Ending;

const WAREHOUSE_AND_CUSTOMER: &str = "SELECT w_tax, c_discount, c_last, c_credit FROM warehouse, customer \
    WHERE w_id = $1 AND c_w_id = w_id AND c_d_id = $2 AND c_id = $3";
const DISTRICT: &str = "SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = $1 AND d_id = $2 FOR UPDATE";
const NEXT_ORDER: &str = "UPDATE district SET d_next_o_id = $1 WHERE d_w_id = $2 AND d_id = $3";
const INSERT_ORDER: &str =
    "INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) \
    VALUES ($1, $2, $3, $4, $5, $6, $7)";
const INSERT_NEW_ORDER: &str = "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES ($1, $2, $3)";
const ITEM: &str = "SELECT i_price, i_name, i_data FROM item WHERE i_id = $1";
const UPDATE_STOCK: &str =
    "UPDATE stock SET s_quantity = $1, s_ytd = s_ytd + $2, s_order_cnt = s_order_cnt + 1, \
    s_remote_cnt = s_remote_cnt + $3 WHERE s_w_id = $4 AND s_i_id = $5";
const INSERT_LINE: &str =
    "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, \
    ol_quantity, ol_amount, ol_dist_info) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";

pub struct NewOrder<S: Session> {
    warehouse_and_customer: S::Statement,
    district: S::Statement,
    next_order: S::Statement,
    insert_order: S::Statement,
    insert_new_order: S::Statement,
    item: S::Statement,
    /// One for each district, because each has its own column of the stock.
    stock: Vec<S::Statement>,
    update_stock: S::Statement,
    insert_line: S::Statement,
}

/// What does not change from line to line.
struct Order<'a> {
    input: &'a inputs::NewOrder,
    number: i32,
}

impl<S: Session> NewOrder<S> {
    pub async fn prepare(session: &S) -> Result<Self, EngineError> {
        let mut stock = Vec::new();
        for district in 1..=DISTRICTS {
            let sql = format!(
                "SELECT s_quantity, s_dist_{district:02}, s_data FROM stock WHERE s_w_id = $1 AND s_i_id = $2 FOR UPDATE"
            );
            stock.push(session.prepare(&sql).await?);
        }
        Ok(NewOrder {
            warehouse_and_customer: session.prepare(WAREHOUSE_AND_CUSTOMER).await?,
            district: session.prepare(DISTRICT).await?,
            next_order: session.prepare(NEXT_ORDER).await?,
            insert_order: session.prepare(INSERT_ORDER).await?,
            insert_new_order: session.prepare(INSERT_NEW_ORDER).await?,
            item: session.prepare(ITEM).await?,
            stock,
            update_stock: session.prepare(UPDATE_STOCK).await?,
            insert_line: session.prepare(INSERT_LINE).await?,
        })
    }

    /// Enters an order. An item that does not exist rolls the order back (clause 2.4.2.3).
    pub async fn run(&self, session: &S, input: &inputs::NewOrder) -> Result<Ending, EngineError> {
        let (warehouse, district) = (input.warehouse, input.district);
        let values = [warehouse.into(), district.into(), input.customer.into()];
        let rows = session.query(&self.warehouse_and_customer, &values).await?;
        let row = rows.first().ok_or_else(|| missing("customer"))?;
        let (warehouse_tax, discount) = (row.decimal(0)?, row.decimal(1)?);

        let rows = session.query(&self.district, &[warehouse.into(), district.into()]).await?;
        let row = rows.first().ok_or_else(|| missing("district"))?;
        let (number, district_tax) = (row.int(0)?, row.decimal(1)?);
        let values = [(number + 1).into(), warehouse.into(), district.into()];
        session.execute(&self.next_order, &values).await?;

        let values = [
            number.into(),
            district.into(),
            warehouse.into(),
            input.customer.into(),
            SystemTime::now().into(),
            (input.lines.len() as i32).into(),
            i32::from(input.all_local()).into(),
        ];
        session.execute(&self.insert_order, &values).await?;
        let values = [number.into(), district.into(), warehouse.into()];
        session.execute(&self.insert_new_order, &values).await?;

        let order = Order { input, number };
        let mut sum = Decimal::ZERO;
        for (index, line) in input.lines.iter().enumerate() {
            match self.line(session, &order, index as i32 + 1, line).await? {
                Some(amount) => sum += amount,
                None => return Ok(Ending::Rollback),
            }
        }
        // The terminal shows the total (clause 2.4.2.2); nothing stores it.
        std::hint::black_box(sum * (Decimal::ONE - discount) * (Decimal::ONE + warehouse_tax + district_tax));
        Ok(Ending::Commit)
    }

    /// Enters one line and returns its amount; none when the item does not exist.
    async fn line(
        &self,
        session: &S,
        order: &Order<'_>,
        number: i32,
        line: &inputs::Line,
    ) -> Result<Option<Decimal>, EngineError> {
        let rows = session.query(&self.item, &[line.item.into()]).await?;
        let Some(item) = rows.first() else { return Ok(None) };
        let amount = item.decimal(0)? * Decimal::from(line.quantity);

        let input = order.input;
        let stock = &self.stock[input.district as usize - 1];
        let rows = session.query(stock, &[line.supplier.into(), line.item.into()]).await?;
        let row = rows.first().ok_or_else(|| missing("stock"))?;
        let (quantity, dist_info) = (row.int(0)?, row.text(1)?);
        let brand =
            if item.text(2)?.contains("ORIGINAL") && row.text(2)?.contains("ORIGINAL") { 'B' } else { 'G' };
        std::hint::black_box(brand);

        let values = [
            stock_after(quantity, line.quantity).into(),
            line.quantity.into(),
            i32::from(line.supplier != input.warehouse).into(),
            line.supplier.into(),
            line.item.into(),
        ];
        session.execute(&self.update_stock, &values).await?;
        let values = [
            order.number.into(),
            input.district.into(),
            input.warehouse.into(),
            number.into(),
            line.item.into(),
            line.supplier.into(),
            line.quantity.into(),
            amount.into(),
            Value::Text(dist_info),
        ];
        session.execute(&self.insert_line, &values).await?;
        Ok(Some(amount))
    }
}

/// What is left of a stock, filled up by 91 when it would fall below 10 (clause 2.4.2.2).
fn stock_after(quantity: i32, ordered: i32) -> i32 {
    if quantity >= ordered + 10 {
        quantity - ordered
    } else {
        quantity - ordered + 91
    }
}

#[cfg(test)]
mod tests {
    use super::stock_after;

    #[test]
    fn stock_is_filled_up_before_it_falls_below_ten() {
        assert_eq!(stock_after(20, 10), 10);
        assert_eq!(stock_after(19, 10), 100);
        assert_eq!(stock_after(100, 1), 99);
    }
}

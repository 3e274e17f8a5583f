//! Payment (clause 2.5).

use std::time::SystemTime;

use super::super::customer::{missing, CustomerLookup};
use super::super::inputs;
use crate::engine::{EngineError, Row, Session, Value};
use crate::workload::attempt::Ending;

// The casts keep the sums exact where a parameter carries no type of its own.
const UPDATE_WAREHOUSE: &str =
    "UPDATE warehouse SET w_ytd = w_ytd + CAST($1 AS decimal(12, 2)) WHERE w_id = $2";
const WAREHOUSE: &str =
    "SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse WHERE w_id = $1";
const UPDATE_DISTRICT: &str =
    "UPDATE district SET d_ytd = d_ytd + CAST($1 AS decimal(12, 2)) WHERE d_w_id = $2 AND d_id = $3";
const DISTRICT: &str = "SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district \
    WHERE d_w_id = $1 AND d_id = $2";
const CUSTOMER: &str =
    "SELECT c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, \
    c_since, c_credit, c_credit_lim, c_discount, c_balance, c_data FROM customer \
    WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3 FOR UPDATE";
const CREDIT: usize = 10;
const DATA: usize = 14;
const UPDATE_CUSTOMER: &str = "UPDATE customer SET c_balance = c_balance - CAST($1 AS decimal(12, 2)), \
    c_ytd_payment = c_ytd_payment + CAST($1 AS decimal(12, 2)), c_payment_cnt = c_payment_cnt + 1 \
    WHERE c_w_id = $2 AND c_d_id = $3 AND c_id = $4";
const UPDATE_BAD_CUSTOMER: &str = "UPDATE customer SET c_balance = c_balance - CAST($1 AS decimal(12, 2)), \
    c_ytd_payment = c_ytd_payment + CAST($1 AS decimal(12, 2)), c_payment_cnt = c_payment_cnt + 1, \
    c_data = $5 WHERE c_w_id = $2 AND c_d_id = $3 AND c_id = $4";
const INSERT_HISTORY: &str =
    "INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, \
    h_data) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

pub struct Payment<S: Session> {
    lookup: CustomerLookup<S>,
    update_warehouse: S::Statement,
    warehouse: S::Statement,
    update_district: S::Statement,
    district: S::Statement,
    customer: S::Statement,
    update_customer: S::Statement,
    update_bad_customer: S::Statement,
    insert_history: S::Statement,
}

impl<S: Session> Payment<S> {
    pub async fn prepare(session: &S) -> Result<Self, EngineError> {
        Ok(Payment {
            lookup: CustomerLookup::prepare(session).await?,
            update_warehouse: session.prepare(UPDATE_WAREHOUSE).await?,
            warehouse: session.prepare(WAREHOUSE).await?,
            update_district: session.prepare(UPDATE_DISTRICT).await?,
            district: session.prepare(DISTRICT).await?,
            customer: session.prepare(CUSTOMER).await?,
            update_customer: session.prepare(UPDATE_CUSTOMER).await?,
            update_bad_customer: session.prepare(UPDATE_BAD_CUSTOMER).await?,
            insert_history: session.prepare(INSERT_HISTORY).await?,
        })
    }

    pub async fn run(&self, session: &S, input: &inputs::Payment) -> Result<Ending, EngineError> {
        let (warehouse, district) = (input.warehouse, input.district);
        // The updates lock the rows, and come first: the whole transaction hangs on the warehouse's.
        session.execute(&self.update_warehouse, &[input.amount.into(), warehouse.into()]).await?;
        let rows = session.query(&self.warehouse, &[warehouse.into()]).await?;
        let warehouse_row = rows.first().ok_or_else(|| missing("warehouse"))?;
        let values = [input.amount.into(), warehouse.into(), district.into()];
        session.execute(&self.update_district, &values).await?;
        let rows = session.query(&self.district, &[warehouse.into(), district.into()]).await?;
        let district_row = rows.first().ok_or_else(|| missing("district"))?;
        let history = format!("{}    {}", warehouse_row.text(0)?, district_row.text(0)?);

        let (c_warehouse, c_district) = (input.customer_warehouse, input.customer_district);
        let customer = self.lookup.find(session, c_warehouse, c_district, &input.who).await?;
        let values = [c_warehouse.into(), c_district.into(), customer.into()];
        let rows = session.query(&self.customer, &values).await?;
        let row = rows.first().ok_or_else(|| missing("customer"))?;
        let values = [input.amount.into(), c_warehouse.into(), c_district.into(), customer.into()];
        if row.text(CREDIT)? == "BC" {
            let data = bad_credit_data(customer, input, row.text(DATA)?);
            let [amount, warehouse, district, customer] = values;
            let values = [amount, warehouse, district, customer, Value::Text(&data)];
            session.execute(&self.update_bad_customer, &values).await?;
        } else {
            session.execute(&self.update_customer, &values).await?;
        }
        let values = [
            customer.into(),
            c_district.into(),
            c_warehouse.into(),
            district.into(),
            warehouse.into(),
            SystemTime::now().into(),
            input.amount.into(),
            Value::Text(&history),
        ];
        session.execute(&self.insert_history, &values).await?;
        Ok(Ending::Commit)
    }
}

/// The history of a customer with bad credit: this payment before the earlier ones, cut at 500 characters.
fn bad_credit_data(customer: i32, input: &inputs::Payment, before: &str) -> String {
    let mut data = format!(
        "{customer} {} {} {} {} {}|{before}",
        input.customer_district, input.customer_warehouse, input.district, input.warehouse, input.amount
    );
    if let Some((end, _)) = data.char_indices().nth(500) {
        data.truncate(end);
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;
    use rust_decimal::Decimal;

    #[test]
    fn the_data_of_bad_customers_grows_at_the_front_up_to_500_characters() {
        let input = inputs::Payment {
            warehouse: 1,
            district: 2,
            customer_warehouse: 3,
            customer_district: 4,
            who: inputs::Who::Number(5),
            amount: Decimal::new(12_345, 2),
        };
        assert_eq!(bad_credit_data(5, &input, "old"), "5 4 3 2 1 123.45|old");
        let full = bad_credit_data(5, &input, &"x".repeat(500));
        assert_eq!(full.len(), 500);
        assert!(full.starts_with("5 4 3 2 1 123.45|xxx"));
    }
}

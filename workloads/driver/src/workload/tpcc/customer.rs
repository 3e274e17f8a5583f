//! Finding a customer by number or by last name (clauses 2.5.2.2 and 2.6.2.2).

use super::inputs::Who;
use crate::engine::{EngineError, ErrorKind, Row, Session};

const BY_NAME: &str =
    "SELECT c_id FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_last = $3 ORDER BY c_first";

/// Of several customers with a name, the one in the middle by first name is meant, rounded up.
pub struct CustomerLookup<S: Session>(S::Statement);

impl<S: Session> CustomerLookup<S> {
    pub async fn prepare(session: &S) -> Result<Self, EngineError> {
        Ok(CustomerLookup(session.prepare(BY_NAME).await?))
    }

    /// The customer's number. Names and first names never change, so no lock is needed.
    pub async fn find(
        &self,
        session: &S,
        warehouse: i32,
        district: i32,
        who: &Who,
    ) -> Result<i32, EngineError> {
        match who {
            Who::Number(number) => Ok(*number),
            Who::LastName(name) => {
                let values = [warehouse.into(), district.into(), name.as_str().into()];
                let rows = session.query(&self.0, &values).await?;
                match rows.len() {
                    0 => Err(missing(&format!("customer {name}"))),
                    count => rows[count.div_ceil(2) - 1].int(0),
                }
            }
        }
    }
}

/// A row that the initial population guarantees is not there.
pub fn missing(what: &str) -> EngineError {
    EngineError::new(ErrorKind::Other, "missing-row", format!("no {what}"))
}

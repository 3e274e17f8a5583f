//! Values and rows in MySQL's binary format.

use mysql_async::consts::ColumnType;
use mysql_async::Value as Wire;
use rust_decimal::Decimal;

use crate::engine::{Cell, EngineError, ErrorKind, Row, Value};

/// A parameter as it is sent. Decimals travel as text: the binary format has no other form of them.
pub fn encode(value: &Value<'_>) -> Wire {
    match value {
        Value::Null => Wire::NULL,
        Value::Boolean(value) => Wire::Int(i64::from(*value)),
        Value::Int(value) => Wire::Int(i64::from(*value)),
        Value::Long(value) => Wire::Int(*value),
        Value::Double(value) => Wire::Double(*value),
        Value::Text(value) => Wire::Bytes(value.as_bytes().to_vec()),
        Value::Decimal(value) => Wire::Bytes(value.to_string().into_bytes()),
        Value::Time(value) => {
            let text = humantime::format_rfc3339_micros(*value).to_string();
            Wire::Bytes(text.trim_end_matches('Z').replace('T', " ").into_bytes())
        }
    }
}

impl Row for mysql_async::Row {
    fn int(&self, column: usize) -> Result<i32, EngineError> {
        let value = self.long(column)?;
        i32::try_from(value).map_err(|_| wrong(self, column, "an integer of 32 bits"))
    }

    fn long(&self, column: usize) -> Result<i64, EngineError> {
        match cell(self, column)? {
            Wire::Int(value) => Ok(*value),
            Wire::UInt(value) => {
                i64::try_from(*value).map_err(|_| wrong(self, column, "an integer of 64 bits"))
            }
            _ => Err(wrong(self, column, "an integer")),
        }
    }

    fn decimal(&self, column: usize) -> Result<Decimal, EngineError> {
        match cell(self, column)? {
            Wire::Int(value) => Ok(Decimal::from(*value)),
            Wire::Bytes(digits) => std::str::from_utf8(digits)
                .ok()
                .and_then(|digits| digits.parse().ok())
                .ok_or_else(|| wrong(self, column, "a decimal number")),
            _ => Err(wrong(self, column, "a decimal number")),
        }
    }

    fn text(&self, column: usize) -> Result<&str, EngineError> {
        match cell(self, column)? {
            Wire::Bytes(bytes) => std::str::from_utf8(bytes).map_err(|_| wrong(self, column, "text")),
            _ => Err(wrong(self, column, "text")),
        }
    }

    /// The servers' boolean is an integer of one byte.
    fn boolean(&self, column: usize) -> Result<bool, EngineError> {
        Ok(self.long(column)? != 0)
    }

    fn columns(&self) -> usize {
        self.columns_ref().len()
    }

    fn name(&self, column: usize) -> &str {
        std::str::from_utf8(self.columns_ref()[column].name_ref()).unwrap_or_default()
    }

    fn cell(&self, column: usize) -> Result<Cell<'_>, EngineError> {
        let value = cell(self, column)?;
        let decimal = matches!(
            self.columns_ref()[column].column_type(),
            ColumnType::MYSQL_TYPE_DECIMAL | ColumnType::MYSQL_TYPE_NEWDECIMAL
        );
        Ok(match value {
            Wire::NULL => Cell::Null,
            Wire::Int(value) => Cell::Integer(*value),
            Wire::UInt(_) => Cell::Integer(self.long(column)?),
            Wire::Float(value) => Cell::Double((*value).into()),
            Wire::Double(value) => Cell::Double(*value),
            Wire::Bytes(_) if decimal => Cell::Decimal(self.decimal(column)?),
            Wire::Bytes(_) => Cell::Text(self.text(column)?),
            Wire::Date(..) | Wire::Time(..) => {
                let name = super::quote(Row::name(self, column));
                let message =
                    format!("column {name} is a date or time: write CAST({name} AS char) in the statement");
                return Err(EngineError::new(ErrorKind::Other, "driver", message));
            }
        })
    }
}

fn cell(row: &mysql_async::Row, column: usize) -> Result<&Wire, EngineError> {
    row.as_ref(column)
        .ok_or_else(|| EngineError::new(ErrorKind::Other, "driver", format!("no column {column}")))
}

fn wrong(row: &mysql_async::Row, column: usize, expected: &str) -> EngineError {
    // The value stays out of the message: it may be anything.
    let found = match row.as_ref(column) {
        Some(Wire::NULL) => "null",
        _ => "another type or out of range",
    };
    let name = Row::name(row, column);
    EngineError::new(ErrorKind::Other, "driver", format!("column {column} ({name}): {found}, not {expected}"))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn values_keep_every_digit_on_their_way() {
        assert_eq!(encode(&Value::Decimal(Decimal::new(-1_234_500, 4))), Wire::Bytes(b"-123.4500".to_vec()));
        assert_eq!(encode(&Value::Long(i64::MIN)), Wire::Int(i64::MIN));
        assert_eq!(encode(&Value::Boolean(true)), Wire::Int(1));
        assert_eq!(encode(&Value::Text("a'b")), Wire::Bytes(b"a'b".to_vec()));
    }

    #[test]
    fn times_are_sent_in_utc_with_microseconds() {
        let moment = SystemTime::UNIX_EPOCH + Duration::from_micros(1_000_000_000_000_001);
        assert_eq!(encode(&Value::Time(moment)), Wire::Bytes(b"2001-09-09 01:46:40.000001".to_vec()));
    }
}

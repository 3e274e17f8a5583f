//! Values and rows on PostgreSQL's binary format.

use bytes::BytesMut;
use rust_decimal::Decimal;
use tokio_postgres::types::{to_sql_checked, FromSql, IsNull, ToSql, Type};

use crate::engine::{EngineError, ErrorKind, Row, Value};

type Encoded = Result<IsNull, Box<dyn std::error::Error + Sync + Send>>;

impl ToSql for Value<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Encoded {
        match self {
            Value::Int(value) if *ty == Type::INT8 => i64::from(*value).to_sql(ty, out),
            Value::Int(value) if *ty == Type::INT2 => i16::try_from(*value)?.to_sql(ty, out),
            Value::Int(value) => value.to_sql_checked(ty, out),
            Value::Long(value) => value.to_sql_checked(ty, out),
            Value::Text(value) => value.to_sql_checked(ty, out),
            Value::Decimal(value) => value.to_sql_checked(ty, out),
            Value::Time(value) => value.to_sql_checked(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        // Which types fit depends on the variant; `to_sql` asks each one.
        true
    }

    to_sql_checked!();
}

impl Row for tokio_postgres::Row {
    fn int(&self, column: usize) -> Result<i32, EngineError> {
        get(self, column)
    }

    fn long(&self, column: usize) -> Result<i64, EngineError> {
        get(self, column)
    }

    fn decimal(&self, column: usize) -> Result<Decimal, EngineError> {
        get(self, column)
    }

    fn text(&self, column: usize) -> Result<&str, EngineError> {
        get(self, column)
    }

    fn boolean(&self, column: usize) -> Result<bool, EngineError> {
        get(self, column)
    }
}

fn get<'a, T: FromSql<'a>>(row: &'a tokio_postgres::Row, column: usize) -> Result<T, EngineError> {
    row.try_get(column).map_err(|error| {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
        EngineError::new(ErrorKind::Other, "driver", format!("column {column}: {error}{cause}"))
    })
}

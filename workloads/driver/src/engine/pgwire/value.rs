//! Values and rows on PostgreSQL's binary format.

use std::fmt::{self, Write};

use bytes::BytesMut;
use postgres_types::{to_sql_checked, Format, FromSql, IsNull, ToSql, Type};
use rust_decimal::Decimal;

use super::statement::Row as WireRow;
use crate::engine::{quote_identifier, Cell, EngineError, ErrorKind, Row, Value};

type Encoded = Result<IsNull, Box<dyn std::error::Error + Sync + Send>>;

impl ToSql for Value<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Encoded {
        match self {
            Value::Null => return Ok(IsNull::Yes),
            _ if !self.is_native(ty) => write!(out, "{}", AsText(self))?,
            Value::Int(value) if *ty == Type::INT8 => return i64::from(*value).to_sql(ty, out),
            Value::Int(value) if *ty == Type::INT2 => return i16::try_from(*value)?.to_sql(ty, out),
            Value::Int(value) => return value.to_sql(ty, out),
            Value::Long(value) if *ty == Type::INT4 => return i32::try_from(*value)?.to_sql(ty, out),
            Value::Long(value) if *ty == Type::INT2 => return i16::try_from(*value)?.to_sql(ty, out),
            Value::Long(value) => return value.to_sql(ty, out),
            Value::Double(value) => return value.to_sql(ty, out),
            Value::Boolean(value) => return value.to_sql(ty, out),
            Value::Text(value) => return value.to_sql(ty, out),
            Value::Decimal(value) => return value.to_sql(ty, out),
            Value::Time(value) => return value.to_sql_checked(ty, out),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        // What a variant has no binary form for is sent as text, which the server reads or refuses.
        true
    }

    fn encode_format(&self, ty: &Type) -> Format {
        if self.is_native(ty) {
            Format::Binary
        } else {
            Format::Text
        }
    }

    to_sql_checked!();
}

impl Value<'_> {
    /// Whether the value has a binary form of the type that the server expects.
    fn is_native(&self, ty: &Type) -> bool {
        match self {
            Value::Int(value) => fits(i64::from(*value), ty),
            Value::Long(value) => fits(*value, ty),
            Value::Double(_) => *ty == Type::FLOAT8,
            Value::Boolean(_) => *ty == Type::BOOL,
            Value::Text(_) => <&str as ToSql>::accepts(ty),
            Value::Decimal(_) => *ty == Type::NUMERIC,
            Value::Null | Value::Time(_) => true,
        }
    }
}

/// Whether an integer has a binary form of this type. One that is too large goes as text, so that the
/// server refuses it with an error of its own.
fn fits(value: i64, ty: &Type) -> bool {
    match *ty {
        Type::INT2 => i16::try_from(value).is_ok(),
        Type::INT4 => i32::try_from(value).is_ok(),
        Type::INT8 => true,
        _ => false,
    }
}

/// A value in PostgreSQL's text format.
struct AsText<'a>(&'a Value<'a>);

impl fmt::Display for AsText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Null | Value::Time(_) => Ok(()),
            Value::Boolean(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            Value::Long(value) => write!(f, "{value}"),
            Value::Double(value) => write!(f, "{value}"),
            Value::Text(value) => f.write_str(value),
            Value::Decimal(value) => write!(f, "{value}"),
        }
    }
}

impl Row for WireRow {
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

    fn columns(&self) -> usize {
        self.description().len()
    }

    fn name(&self, column: usize) -> &str {
        &self.description()[column].name
    }

    fn cell(&self, column: usize) -> Result<Cell<'_>, EngineError> {
        let Some(found) = self.description().get(column) else {
            return Err(EngineError::new(ErrorKind::Other, "driver", format!("no column {column}")));
        };
        let cell = match found.ty {
            Type::BOOL => get::<Option<bool>>(self, column)?.map(Cell::Boolean),
            Type::INT2 => get::<Option<i16>>(self, column)?.map(|value| Cell::Integer(value.into())),
            Type::INT4 => get::<Option<i32>>(self, column)?.map(|value| Cell::Integer(value.into())),
            Type::INT8 => get::<Option<i64>>(self, column)?.map(Cell::Integer),
            Type::OID => get::<Option<u32>>(self, column)?.map(|value| Cell::Integer(value.into())),
            Type::FLOAT4 => get::<Option<f32>>(self, column)?.map(|value| Cell::Double(value.into())),
            Type::FLOAT8 => get::<Option<f64>>(self, column)?.map(Cell::Double),
            Type::NUMERIC => get::<Option<Decimal>>(self, column)?.map(Cell::Decimal),
            ref ty if <&str as FromSql>::accepts(ty) => get::<Option<&str>>(self, column)?.map(Cell::Text),
            ref ty => {
                let message = format!(
                    "column {} is of type {ty}: write {0}::text in the statement",
                    quote_identifier(&found.name)
                );
                return Err(EngineError::new(ErrorKind::Other, "driver", message));
            }
        };
        Ok(cell.unwrap_or(Cell::Null))
    }
}

fn get<'a, T: FromSql<'a>>(row: &'a WireRow, column: usize) -> Result<T, EngineError> {
    let place = |cause: &dyn fmt::Display| {
        EngineError::new(ErrorKind::Other, "driver", format!("column {column}: {cause}"))
    };
    let (Some(found), Some(value)) = (row.description().get(column), row.value(column)) else {
        return Err(place(&"there is none"));
    };
    if !T::accepts(&found.ty) {
        return Err(place(&format_args!("it is of type {}", found.ty)));
    }
    T::from_sql_nullable(&found.ty, value).map_err(|error| place(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(value: Value<'_>, ty: Type) -> Result<(bool, Vec<u8>), String> {
        let mut out = BytesMut::new();
        value.to_sql(&ty, &mut out).map_err(|error| error.to_string())?;
        Ok((matches!(value.encode_format(&ty), Format::Text), out.to_vec()))
    }

    #[test]
    fn integers_take_the_width_that_the_server_expects() {
        assert_eq!(encoded(Value::Long(7), Type::INT2), Ok((false, vec![0, 7])));
        assert_eq!(encoded(Value::Long(7), Type::INT4), Ok((false, vec![0, 0, 0, 7])));
        assert_eq!(encoded(Value::Int(7), Type::INT8), Ok((false, vec![0, 0, 0, 0, 0, 0, 0, 7])));
        assert_eq!(encoded(Value::Long(70_000), Type::INT2), Ok((true, b"70000".to_vec())));
    }

    #[test]
    fn values_of_another_type_travel_as_text() {
        assert_eq!(encoded(Value::Long(-7), Type::TEXT), Ok((true, b"-7".to_vec())));
        assert_eq!(encoded(Value::Double(0.5), Type::NUMERIC), Ok((true, b"0.5".to_vec())));
        assert_eq!(encoded(Value::Boolean(true), Type::VARCHAR), Ok((true, b"true".to_vec())));
        assert_eq!(encoded(Value::Text("2026-01-31"), Type::DATE), Ok((true, b"2026-01-31".to_vec())));
        assert_eq!(encoded(Value::Text("x"), Type::TEXT), Ok((false, b"x".to_vec())));
    }
}

//! Values that cross the boundary between workloads and engines.

use std::time::SystemTime;

use rust_decimal::Decimal;

use super::EngineError;

/// A parameter of a prepared statement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    Null,
    Boolean(bool),
    Int(i32),
    Long(i64),
    Double(f64),
    Text(&'a str),
    Decimal(Decimal),
    Time(SystemTime),
}

impl From<i32> for Value<'_> {
    fn from(value: i32) -> Self {
        Value::Int(value)
    }
}

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Value::Long(value)
    }
}

impl From<Decimal> for Value<'_> {
    fn from(value: Decimal) -> Self {
        Value::Decimal(value)
    }
}

impl From<SystemTime> for Value<'_> {
    fn from(value: SystemTime) -> Self {
        Value::Time(value)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(value: &'a str) -> Self {
        Value::Text(value)
    }
}

/// A row of an answer. A column of another type is an error, never a panic.
pub trait Row {
    fn int(&self, column: usize) -> Result<i32, EngineError>;
    fn long(&self, column: usize) -> Result<i64, EngineError>;
    fn decimal(&self, column: usize) -> Result<Decimal, EngineError>;
    fn text(&self, column: usize) -> Result<&str, EngineError>;
    fn boolean(&self, column: usize) -> Result<bool, EngineError>;

    /// Number of columns.
    fn columns(&self) -> usize;

    /// A column's name.
    fn name(&self, column: usize) -> &str;

    /// The value as the column's own type says; an error names a type that has no such form.
    fn cell(&self, column: usize) -> Result<Cell<'_>, EngineError>;
}

/// A value of an answer whose type the driver does not know beforehand.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell<'a> {
    Null,
    Boolean(bool),
    Integer(i64),
    Double(f64),
    Decimal(Decimal),
    Text(&'a str),
}

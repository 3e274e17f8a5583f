//! Prepared statements and the rows of their answers.

use std::rc::Rc;

use bytes::{Buf, Bytes};
use postgres_types::Type;

/// A statement that the server has parsed; valid on its own connection only.
pub struct Statement {
    name: String,
    parameters: Vec<Type>,
    /// Formats in which columns are asked for: 1 is binary, 0 is text; a single one stands for all.
    formats: Vec<i16>,
    columns: Rc<[Column]>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    /// [`Type::UNKNOWN`] where it is none of PostgreSQL's own; such a column comes as text.
    pub ty: Type,
}

impl Statement {
    pub(super) fn new(name: String, parameters: Vec<Type>, columns: Vec<Column>) -> Self {
        let formats = match columns.iter().any(|column| column.ty == Type::UNKNOWN) {
            false => vec![1],
            true => columns.iter().map(|column| (column.ty != Type::UNKNOWN).into()).collect(),
        };
        Statement { name, parameters, formats, columns: columns.into() }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn parameters(&self) -> &[Type] {
        &self.parameters
    }

    pub(super) fn formats(&self) -> &[i16] {
        &self.formats
    }
}

/// A row: a view into the buffer that it was read into.
#[derive(Debug, Clone)]
pub struct Row {
    body: Bytes,
    columns: Rc<[Column]>,
}

impl Row {
    pub(super) fn new(body: Bytes, statement: &Statement) -> Self {
        Row { body, columns: statement.columns.clone() }
    }

    pub(super) fn description(&self) -> &[Column] {
        &self.columns
    }

    /// The bytes of a value; the inner `None` is null, the outer one no such column.
    pub(super) fn value(&self, column: usize) -> Option<Option<&[u8]>> {
        values(&self.body)?.nth(column)
    }
}

/// The values of a row's message: nulls, or bytes.
pub(super) fn values(body: &[u8]) -> Option<impl Iterator<Item = Option<&[u8]>>> {
    let mut rest = body.get(2..)?;
    Some(std::iter::from_fn(move || {
        let length = rest.try_get_i32().ok()?;
        let Ok(length) = usize::try_from(length) else { return Some(None) };
        let (value, after) = rest.split_at_checked(length)?;
        rest = after;
        Some(Some(value))
    }))
}

/// Reads a ParameterDescription.
pub(super) fn parameter_list(mut body: &[u8]) -> Option<Vec<Type>> {
    let count = body.try_get_u16().ok()?;
    (0..count).map(|_| body.try_get_u32().ok().map(type_of)).collect()
}

/// Reads a RowDescription.
pub(super) fn column_list(mut body: &[u8]) -> Option<Vec<Column>> {
    let count = body.try_get_u16().ok()?;
    let mut columns = Vec::with_capacity(count.into());
    for _ in 0..count {
        let end = body.iter().position(|byte| *byte == 0)?;
        let name = String::from_utf8_lossy(&body[..end]).into_owned();
        body.advance(end + 1);
        // table (4), column of it (2), type (4), size (2), modifier (4), format (2)
        let (mut fixed, rest) = body.split_at_checked(18)?;
        body = rest;
        fixed.advance(6);
        columns.push(Column { name, ty: type_of(fixed.get_u32()) });
    }
    Some(columns)
}

fn type_of(oid: u32) -> Type {
    Type::from_oid(oid).unwrap_or(Type::UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_gives_its_values_its_nulls_and_no_more() {
        let body = b"\0\x03\0\0\0\x02ab\xff\xff\xff\xff\0\0\0\0";
        let found: Vec<Option<&[u8]>> = values(body).unwrap().collect();
        assert_eq!(found, [Some(&b"ab"[..]), None, Some(&b""[..])]);
        assert_eq!(values(b"\0\x01\0\0\0\x09ab").unwrap().count(), 0);
    }

    #[test]
    fn descriptions_name_types_and_columns() {
        assert_eq!(parameter_list(b"\0\x02\0\0\0\x17\0\0\xff\xff"), Some(vec![Type::INT4, Type::UNKNOWN]));
        assert_eq!(parameter_list(b"\0\x02\0\0\0\x17"), None);
        let body = b"\0\x01id\0\0\0\0\0\0\0\0\0\0\x14\0\x08\xff\xff\xff\xff\0\0";
        assert_eq!(column_list(body), Some(vec![Column { name: "id".into(), ty: Type::INT8 }]));
    }

    #[test]
    fn columns_of_types_that_are_not_known_are_asked_for_as_text() {
        let column = |ty| Column { name: "a".into(), ty };
        let of = |columns| Statement::new("s".into(), Vec::new(), columns).formats;
        assert_eq!(of(vec![column(Type::INT4), column(Type::UNKNOWN)]), [1, 0]);
        assert_eq!(of(vec![column(Type::INT4), column(Type::TEXT)]), [1]);
    }
}

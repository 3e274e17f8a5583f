//! The variables of a script and their values.

use crate::engine::Cell;

/// A value that expressions compute with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar {
    Null,
    Boolean(bool),
    Integer(i64),
    Double(f64),
}

/// What a variable holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Variable {
    /// Nothing was assigned yet.
    #[default]
    Unset,
    Scalar(Scalar),
    /// Text from the command line or from an answer.
    Text(String),
}

impl Variable {
    /// Reads a value given as text. What does not read back as the same text stays text.
    pub fn parse(text: &str) -> Self {
        match number(text) {
            Some(Scalar::Integer(value)) if value.to_string() == text => {
                Variable::Scalar(Scalar::Integer(value))
            }
            _ => Variable::Text(text.into()),
        }
    }

    /// Takes over a column of an answer.
    pub fn from_cell(cell: Cell<'_>) -> Self {
        match cell {
            Cell::Null => Variable::Scalar(Scalar::Null),
            Cell::Boolean(value) => Variable::Scalar(Scalar::Boolean(value)),
            Cell::Integer(value) => Variable::Scalar(Scalar::Integer(value)),
            Cell::Double(value) => Variable::Scalar(Scalar::Double(value)),
            Cell::Decimal(value) => Variable::Text(value.to_string()),
            Cell::Text(text) => Variable::Text(text.into()),
        }
    }
}

/// The value that text stands for in an expression, if any.
pub fn number(text: &str) -> Option<Scalar> {
    if let Ok(value) = text.parse() {
        return Some(Scalar::Integer(value));
    }
    match text.to_ascii_lowercase().as_str() {
        "null" => Some(Scalar::Null),
        "true" | "t" | "yes" | "y" | "on" => Some(Scalar::Boolean(true)),
        "false" | "f" | "no" | "n" | "off" => Some(Scalar::Boolean(false)),
        lower if lower.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first)) => {
            lower.parse().ok().map(Scalar::Double)
        }
        _ => None,
    }
}

/// The names of all variables; a name's place is the number of its variable.
#[derive(Debug, Clone, Default)]
pub struct Names(Vec<String>);

impl Names {
    /// The number of the variable with this name, which becomes known with that.
    pub fn intern(&mut self, name: &str) -> usize {
        self.find(name).unwrap_or_else(|| {
            self.0.push(name.into());
            self.0.len() - 1
        })
    }

    pub fn find(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|known| known == name)
    }

    pub fn name(&self, variable: usize) -> &str {
        &self.0[variable]
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// Whether a variable can have this name.
pub fn is_name(text: &str) -> bool {
    text.starts_with(begins_name) && text.chars().all(continues_name)
}

pub fn begins_name(character: char) -> bool {
    character == '_' || character.is_ascii_alphabetic() || !character.is_ascii()
}

pub fn continues_name(character: char) -> bool {
    begins_name(character) || character.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_a_number_becomes_one_and_all_other_text_stays_as_written() {
        assert_eq!(Variable::parse("-12"), Variable::Scalar(Scalar::Integer(-12)));
        for text in ["007", "1.50", "true", "a;b", "", "99999999999999999999"] {
            assert_eq!(Variable::parse(text), Variable::Text(text.into()));
        }
    }

    #[test]
    fn text_stands_for_the_value_that_it_spells() {
        assert_eq!(number("1.5"), Some(Scalar::Double(1.5)));
        assert_eq!(number("-3"), Some(Scalar::Integer(-3)));
        assert_eq!(number("1e3"), Some(Scalar::Double(1000.0)));
        assert_eq!(number("NULL"), Some(Scalar::Null));
        assert_eq!(number("Off"), Some(Scalar::Boolean(false)));
        assert_eq!(number("inf"), None);
        assert_eq!(number("12 monkeys"), None);
    }

    #[test]
    fn names_are_letters_digits_and_underscores_and_do_not_begin_with_a_digit() {
        assert!(is_name("a_1") && is_name("_x") && is_name("größe"));
        assert!(!is_name("1a") && !is_name("") && !is_name("a-b"));
    }
}

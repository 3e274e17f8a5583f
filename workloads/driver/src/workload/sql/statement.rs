//! One SQL statement with its parameters.

use std::fmt::Write;

/// A statement whose variables have become `$1`, `$2`, ...
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Statement {
    pub text: String,
    /// The variable of each parameter, in order.
    pub parameters: Vec<usize>,
    /// With `\gset`: what the names of the variables for the answer's columns begin with.
    pub gset: Option<String>,
    pub control: Option<Control>,
}

/// What a statement does to the transaction around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    Begin,
    End,
}

impl Statement {
    /// Appends a parameter. Each occurrence of a variable is a parameter of its own, so that the server
    /// can give each another type.
    pub fn parameter(&mut self, variable: usize) {
        self.parameters.push(variable);
        write!(self.text, "${}", self.parameters.len()).expect("writing into memory does not fail");
    }

    /// The statement once its text is complete.
    pub fn finished(mut self) -> Self {
        self.text.truncate(self.text.trim_end().len());
        self.control = control(&self.text);
        self
    }

    /// Whether the statement is sent as it is: it begins or ends a transaction, and takes no values.
    pub fn is_plain(&self) -> bool {
        self.control.is_some() && self.parameters.is_empty() && self.gset.is_none()
    }

    /// PostgreSQL's own words for the end of a transaction, and what everyone understands.
    pub fn postgres_end(&self) -> Option<(&'static str, &'static str)> {
        self.control?;
        match word(&self.text, 0).as_str() {
            "end" => Some(("END", "COMMIT")),
            "abort" => Some(("ABORT", "ROLLBACK")),
            _ => None,
        }
    }

    /// Whether the statement makes or changes objects, so that later ones may not exist yet.
    pub fn defines(&self) -> bool {
        matches!(word(&self.text, 0).as_str(), "create" | "alter" | "drop" | "truncate" | "do" | "call")
    }
}

fn word(text: &str, number: usize) -> String {
    text.split_whitespace().nth(number).unwrap_or_default().trim_end_matches(';').to_ascii_lowercase()
}

fn control(text: &str) -> Option<Control> {
    match (word(text, 0).as_str(), word(text, 1).as_str()) {
        ("begin", _) | ("start", "transaction") => Some(Control::Begin),
        (_, "prepared") => None,
        ("commit" | "end" | "abort" | "rollback", _) => {
            let savepoint = text.split_whitespace().any(|word| word.eq_ignore_ascii_case("to"));
            let chained = text.split_whitespace().any(|word| word.eq_ignore_ascii_case("chain"))
                && !text.split_whitespace().any(|word| word.eq_ignore_ascii_case("no"));
            match (savepoint, chained) {
                (true, _) => None,
                (false, true) => Some(Control::Begin),
                (false, false) => Some(Control::End),
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_that_begin_and_end_transactions_are_known() {
        for (text, expected) in [
            ("BEGIN", Some(Control::Begin)),
            ("begin isolation level serializable", Some(Control::Begin)),
            ("START TRANSACTION", Some(Control::Begin)),
            ("COMMIT", Some(Control::End)),
            ("END", Some(Control::End)),
            ("ROLLBACK", Some(Control::End)),
            ("COMMIT AND NO CHAIN", Some(Control::End)),
            ("COMMIT AND CHAIN", Some(Control::Begin)),
            ("ROLLBACK TO SAVEPOINT a", None),
            ("ROLLBACK WORK TO a", None),
            ("COMMIT PREPARED 'x'", None),
            ("START SLAVE", None),
            ("SELECT 1", None),
        ] {
            assert_eq!(control(text), expected, "{text}");
        }
    }
}

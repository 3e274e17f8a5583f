//! The 22 queries (clause 2.4), with `{name}` where a substitution parameter goes.
//!
//! Query 15 is the variant with a common table expression instead of a view, so that it needs no right to
//! create views and leaves none behind. The optional `LIMIT` is that of clauses 2.4.x.1.

use std::str::FromStr;

use super::{parameters, ScaleFactor};

const TEXTS: [&str; 22] = [
    include_str!("queries/q01.sql"),
    include_str!("queries/q02.sql"),
    include_str!("queries/q03.sql"),
    include_str!("queries/q04.sql"),
    include_str!("queries/q05.sql"),
    include_str!("queries/q06.sql"),
    include_str!("queries/q07.sql"),
    include_str!("queries/q08.sql"),
    include_str!("queries/q09.sql"),
    include_str!("queries/q10.sql"),
    include_str!("queries/q11.sql"),
    include_str!("queries/q12.sql"),
    include_str!("queries/q13.sql"),
    include_str!("queries/q14.sql"),
    include_str!("queries/q15.sql"),
    include_str!("queries/q16.sql"),
    include_str!("queries/q17.sql"),
    include_str!("queries/q18.sql"),
    include_str!("queries/q19.sql"),
    include_str!("queries/q20.sql"),
    include_str!("queries/q21.sql"),
    include_str!("queries/q22.sql"),
];

/// Number of queries.
pub const COUNT: u8 = 22;

/// A parameter's name and value.
pub type Parameters = Vec<(&'static str, String)>;

/// The text of a query (1 to 22) with its parameters filled in.
pub fn text(query: u8, parameters: &Parameters) -> String {
    let mut text = TEXTS[usize::from(query) - 1].trim_end().to_string();
    for (name, value) in parameters {
        text = text.replace(&format!("{{{name}}}"), value);
    }
    text
}

/// The text of a query with the parameters of the query validation (clauses 2.4.x.3).
pub fn validation(query: u8, scale: &ScaleFactor) -> String {
    text(query, &parameters::of(query, parameters::Choice::Validation, 0, scale))
}

/// Which queries run, and in which order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection(pub Vec<u8>);

impl FromStr for Selection {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |part: &str| {
            let number = part.trim().parse::<u8>().ok().filter(|number| (1..=22).contains(number));
            number.ok_or_else(|| format!("{part:?} is no query: they are numbered 1 to 22"))
        };
        let mut chosen = Vec::new();
        for part in text.split(',') {
            let (first, last) = match part.split_once('-') {
                Some((first, last)) => (number(first)?, number(last)?),
                None => (number(part)?, number(part)?),
            };
            if first > last {
                return Err(format!("{part:?} is no range"));
            }
            chosen.extend(first..=last);
        }
        let mut sorted = chosen.clone();
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.len() != chosen.len() {
            return Err("a query is named twice".into());
        }
        Ok(Selection(chosen))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_selected_by_number_and_range_in_order() {
        let chosen = |text: &str| text.parse::<Selection>().map(|selection| selection.0);
        assert_eq!(chosen("1-22").unwrap(), (1..=22).collect::<Vec<u8>>());
        assert_eq!(chosen("6, 1,14-16").unwrap(), vec![6, 1, 14, 15, 16]);
        for wrong in ["", "0", "23", "1,,2", "5-3", "1,1", "1-3,2", "q1", "-1"] {
            assert!(chosen(wrong).is_err(), "{wrong}");
        }
    }
}

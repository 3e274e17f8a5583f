//! The reference answers in the binary.

use std::io::Read;

use flate2::read::ZlibDecoder;

use super::super::ScaleFactor;
use crate::engine::Answer;

/// Scale factor and its file: text as `workloads/answers/reference.py` writes it, compressed.
const FILES: [(&str, &[u8]); 3] = [
    ("0.01", include_bytes!("sf0.01.zz")),
    ("0.1", include_bytes!("sf0.1.zz")),
    ("1", include_bytes!("sf1.zz")),
];

/// The reference answers of the 22 queries at one scale factor.
#[derive(Debug)]
pub struct Reference(Vec<Expected>);

/// What a query has to answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Expected {
    /// All rows, those included that tie with the last one across the query's limit.
    Rows(Answer),
    /// Number of rows, and sha256 (hexadecimal) over their lines.
    Digest { rows: usize, digest: String },
}

impl Reference {
    /// The reference for a scale factor, where there is one.
    pub fn of(scale: &ScaleFactor) -> Option<Self> {
        let (_, packed) = FILES.iter().find(|(name, _)| *name == scale.text())?;
        let mut text = String::new();
        ZlibDecoder::new(*packed).read_to_string(&mut text).expect("the shipped file is whole");
        Some(Reference(parse(&text).expect("the shipped file is well-formed")))
    }

    /// Scale factors with a reference, for messages.
    pub fn scales() -> String {
        FILES.map(|(name, _)| name).join(", ")
    }

    /// What a query (1 to 22) has to answer.
    pub fn expected(&self, query: u8) -> &Expected {
        &self.0[usize::from(query) - 1]
    }
}

/// For each query a line `Q1 rows` with as many lines after it, or `Q16 rows digest` with none.
fn parse(text: &str) -> Option<Vec<Expected>> {
    let mut lines = text.lines().skip_while(|line| line.starts_with('#'));
    let mut all = Vec::new();
    for query in 1..=22 {
        let mut head = lines.next()?.strip_prefix(&format!("Q{query} "))?.split(' ');
        let rows: usize = head.next()?.parse().ok()?;
        all.push(match head.next() {
            Some(digest) => Expected::Digest { rows, digest: digest.into() },
            None => Expected::Rows(lines.by_ref().take(rows).map(cells).collect()),
        });
    }
    lines.next().is_none().then_some(all)
}

fn cells(line: &str) -> Vec<Option<String>> {
    line.split('|').map(|cell| (cell != "\\N").then(|| cell.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{compare, rules};
    use super::*;

    /// The output of the query validation that TPC distributes with dbgen, in the generator's crate.
    fn published(query: u8) -> Answer {
        let text = tpchgen::q_and_a::answers_sf1::answer(query.into()).unwrap();
        let lines = text.lines().filter(|line| !line.trim().is_empty()).skip(1);
        lines.map(|line| line.split('|').map(|cell| Some(cell.trim().to_string())).collect()).collect()
    }

    #[test]
    fn at_scale_factor_1_the_reference_is_what_tpc_publishes() {
        let reference = Reference::of(&"1".parse().unwrap()).unwrap();
        for query in 1..=22 {
            let (rules, published) = (rules::of(query), published(query));
            let difference = match reference.expected(query) {
                Expected::Rows(rows) => {
                    let limit = rules.limit.unwrap_or(usize::MAX);
                    let rows = rows.iter().take(limit).map(|row| as_published(query, row)).collect();
                    compare::difference(rules, &Expected::Rows(published), &rows)
                }
                digest => compare::difference(rules, digest, &published),
            };
            assert_eq!(difference, None, "Q{query}");
        }
    }

    /// A row as the published tables show it: without the blank that a comment may begin with, and in
    /// Query 11 with the first four of the six characters of the part key.
    fn as_published(query: u8, row: &[Option<String>]) -> Vec<Option<String>> {
        let mut row: Vec<Option<String>> =
            row.iter().map(|cell| cell.as_ref().map(|text| text.trim().to_string())).collect();
        if query == 11 {
            row[0] = row[0].as_ref().map(|key| format!("{key:>6}")[..4].trim().to_string());
        }
        row
    }

    #[test]
    fn every_shipped_reference_answers_every_query_with_its_columns() {
        for (scale, _) in FILES {
            let reference = Reference::of(&scale.parse().unwrap()).unwrap();
            for query in 1..=22 {
                match reference.expected(query) {
                    Expected::Rows(rows) => {
                        assert!(!rows.is_empty(), "{scale} Q{query}");
                        let columns = rules::of(query).columns.len();
                        assert!(rows.iter().all(|row| row.len() == columns), "{scale} Q{query}");
                    }
                    Expected::Digest { rows, digest } => assert!(*rows > 1000 && digest.len() == 64),
                }
            }
        }
        assert!(Reference::of(&"0.5".parse().unwrap()).is_none());
    }
}

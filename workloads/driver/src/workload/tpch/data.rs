//! Rows from the `tpchgen` crate, in the exchange format.

use std::fmt::Display;
use std::io::Write;

use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator, PartSuppGenerator,
    RegionGenerator, SupplierGenerator,
};

use super::{schema, ScaleFactor};
use crate::load::{Dataset, Key, Rows, Table};

/// The eight tables at one scale factor.
#[derive(Debug, Clone)]
pub struct TpchData {
    scale: ScaleFactor,
}

impl TpchData {
    pub fn new(scale: ScaleFactor) -> Self {
        TpchData { scale }
    }
}

impl Dataset for TpchData {
    fn workload(&self) -> &'static str {
        super::NAME
    }

    fn scale(&self) -> String {
        self.scale.text().to_string()
    }

    fn seed(&self) -> u64 {
        0 // the specification fixes the data
    }

    fn tables(&self) -> &'static [Table] {
        &schema::TABLES
    }

    fn create_sql(&self) -> &'static str {
        schema::CREATE
    }

    fn chunks(&self, table: &Table) -> u32 {
        let by_scale = |per_scale: f64| (self.scale.value() * per_scale).ceil() as u32;
        match table.name {
            // 40 MB of text in each chunk, and something for two connections at the smallest scales
            "lineitem" | "orders" => by_scale(20.0).max(2),
            "partsupp" => by_scale(4.0).max(1),
            "part" | "customer" => by_scale(1.0).max(1),
            "supplier" => by_scale(0.1).max(1),
            _ => 1,
        }
    }

    fn open(&self, table: &Table, chunk: u32) -> Box<dyn Rows> {
        rows(table.name, &self.scale, chunk as i32 + 1, self.chunks(table) as i32, Ending::Newline)
    }

    fn keys(&self) -> &'static [Key] {
        &schema::KEYS
    }

    fn constants(&self) -> serde_json::Value {
        serde_json::json!({})
    }
}

/// The rows of one of `parts` parts (from 1) of a table. A part beyond the last one continues the random
/// streams of `orders` and `lineitem`, as the data of the refresh functions does.
pub fn rows(table: &str, scale: &ScaleFactor, part: i32, parts: i32, ending: Ending) -> Box<dyn Rows> {
    let scale = scale.value();
    match table {
        "lineitem" => lines(LineItemGenerator::new(scale, part, parts).iter(), ending),
        "orders" => lines(OrderGenerator::new(scale, part, parts).iter(), ending),
        "partsupp" => lines(PartSuppGenerator::new(scale, part, parts).iter(), ending),
        "part" => lines(PartGenerator::new(scale, part, parts).iter(), ending),
        "customer" => lines(CustomerGenerator::new(scale, part, parts).iter(), ending),
        "supplier" => lines(SupplierGenerator::new(scale, part, parts).iter(), ending),
        "nation" => lines(NationGenerator::new(scale, part, parts).iter(), ending),
        "region" => lines(RegionGenerator::new(scale, part, parts).iter(), ending),
        name => unreachable!("{name} is no table of TPC-H"),
    }
}

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// `a|b|c` and a newline: the exchange format.
    Newline,
    /// `a|b|c|` and a newline: dbgen's files.
    Separator,
}

/// Rows whose text is dbgen's `a|b|c|`, which lacks the newline.
struct Lines<I> {
    rows: I,
    ending: Ending,
}

pub fn lines<I: Iterator<Item: Display> + 'static>(rows: I, ending: Ending) -> Box<dyn Rows> {
    Box::new(Lines { rows, ending })
}

impl<I: Iterator<Item: Display>> Rows for Lines<I> {
    fn fill(&mut self, out: &mut Vec<u8>, enough: usize) -> u64 {
        let mut rows = 0;
        while out.len() < enough {
            let Some(row) = self.rows.next() else { break };
            write!(out, "{row}").expect("writing into memory does not fail");
            match (self.ending, out.last_mut()) {
                (Ending::Newline, Some(last)) => *last = b'\n',
                _ => out.push(b'\n'),
            }
            rows += 1;
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(data: &TpchData, name: &str) -> String {
        let table = schema::TABLES.iter().find(|table| table.name == name).unwrap();
        let mut text = Vec::new();
        for chunk in 0..data.chunks(table) {
            let mut rows = data.open(table, chunk);
            loop {
                let enough = text.len() + 4096;
                if rows.fill(&mut text, enough) == 0 {
                    break;
                }
            }
        }
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn rows_are_lines_without_a_closing_separator_or_backslash() {
        let data = TpchData::new("0.01".parse().unwrap());
        let regions = all(&data, "region");
        assert_eq!(regions.lines().count(), 5);
        assert!(regions.starts_with("0|AFRICA|"));
        for (name, columns) in [("lineitem", 16), ("orders", 9), ("supplier", 7)] {
            let text = all(&data, name);
            assert!(!text.contains('\\'));
            assert!(text.lines().all(|line| line.split('|').count() == columns), "{name}");
        }
    }

    #[test]
    fn chunks_together_are_the_whole_table() {
        let data = TpchData::new("0.01".parse().unwrap());
        assert_eq!(all(&data, "orders").lines().count(), 15_000);
        assert_eq!(all(&data, "lineitem").lines().count(), 60_175);
    }
}

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
        let (scale, part, parts) = (self.scale.value(), chunk as i32 + 1, self.chunks(table) as i32);
        match table.name {
            "lineitem" => Box::new(Lines(LineItemGenerator::new(scale, part, parts).iter())),
            "orders" => Box::new(Lines(OrderGenerator::new(scale, part, parts).iter())),
            "partsupp" => Box::new(Lines(PartSuppGenerator::new(scale, part, parts).iter())),
            "part" => Box::new(Lines(PartGenerator::new(scale, part, parts).iter())),
            "customer" => Box::new(Lines(CustomerGenerator::new(scale, part, parts).iter())),
            "supplier" => Box::new(Lines(SupplierGenerator::new(scale, part, parts).iter())),
            "nation" => Box::new(Lines(NationGenerator::new(scale, part, parts).iter())),
            "region" => Box::new(Lines(RegionGenerator::new(scale, part, parts).iter())),
            name => unreachable!("{name} is no table of TPC-H"),
        }
    }

    fn keys(&self) -> &'static [Key] {
        &schema::KEYS
    }

    fn constants(&self) -> serde_json::Value {
        serde_json::json!({})
    }
}

/// Rows whose text is dbgen's: `a|b|c|`, where the exchange format has `a|b|c` and a newline.
struct Lines<I>(I);

impl<I: Iterator<Item: Display>> Rows for Lines<I> {
    fn fill(&mut self, out: &mut Vec<u8>, enough: usize) -> u64 {
        let mut rows = 0;
        while out.len() < enough {
            let Some(row) = self.0.next() else { break };
            write!(out, "{row}").expect("writing into memory does not fail");
            if let Some(last) = out.last_mut() {
                *last = b'\n';
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

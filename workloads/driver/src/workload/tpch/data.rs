//! The population: the rows of the `tpchgen` crate, in chunks.

use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator, PartSuppGenerator,
    RegionGenerator, SupplierGenerator,
};

use tpchgen::text::TextPool;

use super::rows::{written, Form};
use super::{schema, ScaleFactor};
use crate::engine::{Dialect, RowFormat};
use crate::load::{Dataset, Key, Rows, Table};

/// The eight tables at one scale factor, for one kind of engine.
#[derive(Debug, Clone)]
pub struct TpchData {
    scale: ScaleFactor,
    format: RowFormat,
}

impl TpchData {
    /// Binary where the engine takes it: that spares the server reading decimals and dates, and the driver
    /// writing them.
    pub fn new(scale: ScaleFactor, dialect: Dialect) -> Self {
        let binary = dialect.takes(RowFormat::Binary);
        TpchData { scale, format: if binary { RowFormat::Binary } else { RowFormat::Text } }
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
        chunks(table.name, &self.scale)
    }

    fn prepare(&self) {
        // A second of one CPU, in which the tables are made; the first row waits for what is left of it.
        let _ = std::thread::Builder::new().name("texts".into()).spawn(TextPool::get_or_init_default);
    }

    fn format(&self) -> RowFormat {
        self.format
    }

    fn open(&self, table: &Table, chunk: u32) -> Box<dyn Rows> {
        let form = match self.format {
            RowFormat::Binary => Form::Binary,
            RowFormat::Text => Form::Text,
        };
        rows(table.name, &self.scale, chunk as i32 + 1, self.chunks(table) as i32, form)
    }

    fn keys(&self) -> &'static [Key] {
        &schema::KEYS
    }

    fn constants(&self) -> serde_json::Value {
        serde_json::json!({})
    }
}

/// How many chunks a table is loaded in.
pub fn chunks(table: &str, scale: &ScaleFactor) -> u32 {
    let by_scale = |per_scale: f64| (scale.value() * per_scale).ceil() as u32;
    match table {
        // 40 MB of text in each chunk, and something for two connections at the smallest scales
        "lineitem" | "orders" => by_scale(20.0).max(2),
        "partsupp" => by_scale(4.0).max(1),
        "part" | "customer" => by_scale(1.0).max(1),
        "supplier" => by_scale(0.1).max(1),
        _ => 1,
    }
}

/// The rows of one of `parts` parts (from 1) of a table. A part beyond the last one continues the random
/// streams of `orders` and `lineitem`, as the data of the refresh functions does.
pub fn rows(table: &str, scale: &ScaleFactor, part: i32, parts: i32, form: Form) -> Box<dyn Rows> {
    let scale = scale.value();
    match table {
        "lineitem" => written(LineItemGenerator::new(scale, part, parts).iter(), form),
        "orders" => written(OrderGenerator::new(scale, part, parts).iter(), form),
        "partsupp" => written(PartSuppGenerator::new(scale, part, parts).iter(), form),
        "part" => written(PartGenerator::new(scale, part, parts).iter(), form),
        "customer" => written(CustomerGenerator::new(scale, part, parts).iter(), form),
        "supplier" => written(SupplierGenerator::new(scale, part, parts).iter(), form),
        "nation" => written(NationGenerator::new(scale, part, parts).iter(), form),
        "region" => written(RegionGenerator::new(scale, part, parts).iter(), form),
        name => unreachable!("{name} is no table of TPC-H"),
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
        let data = TpchData::new("0.01".parse().unwrap(), Dialect::MySql);
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
    fn equal_parameters_give_equal_data_on_every_engine_and_in_every_version() {
        let digest = "sha256:3741635703d0b77875857a9a2b8dcd74e643e7d10686ec10e77f2fa073d09cfc";
        for dialect in [Dialect::PostgreSql, Dialect::MySql, Dialect::Hyper] {
            let data = TpchData::new("0.01".parse().unwrap(), dialect);
            assert_eq!(crate::load::digest_of(&data), digest, "{dialect}");
        }
    }

    #[test]
    fn chunks_together_are_the_whole_table() {
        let data = TpchData::new("0.01".parse().unwrap(), Dialect::MySql);
        assert_eq!(all(&data, "orders").lines().count(), 15_000);
        assert_eq!(all(&data, "lineitem").lines().count(), 60_175);
    }
}

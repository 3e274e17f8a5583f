//! The initial population (clause 4.3.3.1).
//!
//! All times are one fixed moment instead of the time of the load, so that equal parameters give equal data.

use super::constants::c_last_of_load;
use super::names::last_name;
use super::schema::{self, CUSTOMERS, DISTRICTS, FIRST_OPEN_ORDER, ITEMS, ORDERS};
use crate::load::{Columns, Dataset, Key, Rows, Table, NULL};
use crate::workload::random::Random;

const MOMENT: &str = "2020-01-01 00:00:00";
const ITEM_CHUNKS: i32 = 10;

#[derive(Debug, Clone)]
pub struct TpccData {
    warehouses: u32,
    seed: u64,
}

impl TpccData {
    pub fn new(warehouses: u32, seed: u64) -> Self {
        TpccData { warehouses, seed }
    }
}

impl Dataset for TpccData {
    fn workload(&self) -> &'static str {
        super::NAME
    }

    fn scale(&self) -> String {
        self.warehouses.to_string()
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn tables(&self) -> &'static [Table] {
        &schema::TABLES
    }

    fn create_sql(&self) -> &'static str {
        schema::CREATE
    }

    /// One chunk for each warehouse, except for the table that has none.
    fn chunks(&self, table: &Table) -> u32 {
        if table.name == "item" {
            ITEM_CHUNKS as u32
        } else {
            self.warehouses
        }
    }

    fn open(&self, table: &Table, chunk: u32) -> Box<dyn Rows> {
        let stream = |name| Random::stream(self.seed, name, chunk.into());
        let warehouse = chunk as i32 + 1;
        let per_chunk = ITEMS / ITEM_CHUNKS;
        let first_item = chunk as i32 * per_chunk + 1;
        let (first, last, write): (i32, i32, RowWriter) = match table.name {
            "item" => (first_item, first_item + per_chunk - 1, item),
            "warehouse" => (warehouse, warehouse, self::warehouse),
            "stock" => (1, ITEMS, stock),
            "district" => (1, DISTRICTS, district),
            // Rows below a district are numbered through all districts of the warehouse.
            "customer" | "history" => {
                (1, DISTRICTS * CUSTOMERS, if table.name == "customer" { customer } else { history })
            }
            "orders" => (1, DISTRICTS * ORDERS, orders),
            "order_line" => (1, DISTRICTS * ORDERS, order_lines),
            "new_order" => (1, DISTRICTS * ORDERS, new_order),
            name => unreachable!("{name} is no table of TPC-C"),
        };
        Box::new(Chunk {
            next: first,
            last,
            write,
            state: State {
                warehouse,
                c_load: c_last_of_load(self.seed),
                values: stream(table.name),
                // Two tables have to agree on the number of lines, so it has a stream of its own.
                line_counts: stream("tpcc line counts"),
                permutation: Vec::new(),
            },
        })
    }

    fn keys(&self) -> &'static [Key] {
        &schema::KEYS
    }

    fn constants(&self) -> serde_json::Value {
        serde_json::json!({"cLast": c_last_of_load(self.seed)})
    }
}

struct State {
    warehouse: i32,
    c_load: i64,
    values: Random,
    line_counts: Random,
    /// Customers in the order in which they placed the district's first orders.
    permutation: Vec<i32>,
}

/// Appends the rows with one number; returns how many.
type RowWriter = fn(i32, &mut State, &mut Vec<u8>) -> u64;

struct Chunk {
    next: i32,
    last: i32,
    write: RowWriter,
    state: State,
}

impl Rows for Chunk {
    fn fill(&mut self, out: &mut Vec<u8>, enough: usize) -> u64 {
        let mut rows = 0;
        // Numbers without a row (delivered orders in new_order) must not look like the end.
        while self.next <= self.last && (out.len() < enough || rows == 0) {
            rows += (self.write)(self.next, &mut self.state, out);
            self.next += 1;
        }
        rows
    }
}

/// District and number within it of a row that is numbered through the warehouse.
fn within_district(number: i32, per_district: i32) -> (i32, i32) {
    ((number - 1) / per_district + 1, (number - 1) % per_district + 1)
}

/// Appends street, street, city, state and zip (clause 4.3.2.7).
fn address(random: &mut Random, out: &mut Vec<u8>) {
    for _ in 0..3 {
        out.written(|out| random.alphanumeric(10, 20, out));
    }
    out.written(|out| random.letters(2, out));
    random.digits(4, out);
    out.text("11111");
}

/// Appends 26 to 50 characters, a tenth of which hold the word ORIGINAL somewhere.
fn original(random: &mut Random, out: &mut Vec<u8>) {
    let start = out.len();
    random.alphanumeric(26, 50, out);
    if random.percent(10) {
        let at = start + random.uniform(0, (out.len() - start - 8) as i64) as usize;
        out[at..at + 8].copy_from_slice(b"ORIGINAL");
    }
}

fn item(number: i32, state: &mut State, out: &mut Vec<u8>) -> u64 {
    let random = &mut state.values;
    out.number(number).number(random.int(1, 10_000));
    out.written(|out| random.alphanumeric(14, 24, out)).decimal(random.int(100, 10_000) as u32, 2);
    out.written(|out| original(random, out)).end_row();
    1
}

fn warehouse(number: i32, state: &mut State, out: &mut Vec<u8>) -> u64 {
    let random = &mut state.values;
    out.number(number).written(|out| random.alphanumeric(6, 10, out));
    address(random, out);
    out.decimal(random.int(0, 2000) as u32, 4).text("300000.00").end_row();
    1
}

fn stock(number: i32, state: &mut State, out: &mut Vec<u8>) -> u64 {
    let random = &mut state.values;
    out.number(number).number(state.warehouse).number(random.int(10, 100));
    for _ in 0..10 {
        out.written(|out| random.alphanumeric(24, 24, out));
    }
    out.text("0").text("0").text("0").written(|out| original(random, out)).end_row();
    1
}

fn district(number: i32, state: &mut State, out: &mut Vec<u8>) -> u64 {
    let random = &mut state.values;
    out.number(number).number(state.warehouse).written(|out| random.alphanumeric(6, 10, out));
    address(random, out);
    out.decimal(random.int(0, 2000) as u32, 4).text("30000.00").number(ORDERS + 1).end_row();
    1
}

fn customer(number: i32, state: &mut State, out: &mut Vec<u8>) -> u64 {
    let (district, id) = within_district(number, CUSTOMERS);
    let random = &mut state.values;
    out.number(id).number(district).number(state.warehouse);
    out.written(|out| random.alphanumeric(8, 16, out)).text("OE");
    // The first thousand have one name each, so that every name occurs.
    let name = if id <= 1000 { i64::from(id) - 1 } else { random.nurand(255, state.c_load, 0, 999) };
    out.text(&last_name(name));
    address(random, out);
    out.written(|out| random.digits(16, out)).text(MOMENT);
    out.text(if random.percent(10) { "BC" } else { "GC" }).text("50000.00");
    out.decimal(random.int(0, 5000) as u32, 4).text("-10.00").text("10.00").text("1").text("0");
    out.written(|out| random.alphanumeric(300, 500, out)).end_row();
    1
}

fn history(number: i32, state: &mut State, out: &mut Vec<u8>) -> u64 {
    let (district, id) = within_district(number, CUSTOMERS);
    let warehouse = state.warehouse;
    out.number(id).number(district).number(warehouse).number(district).number(warehouse);
    out.text(MOMENT).text("10.00").written(|out| state.values.alphanumeric(12, 24, out)).end_row();
    1
}

fn orders(number: i32, state: &mut State, out: &mut Vec<u8>) -> u64 {
    let (district, id) = within_district(number, ORDERS);
    if id == 1 {
        state.permutation = (1..=CUSTOMERS).collect();
        state.values.shuffle(&mut state.permutation);
    }
    let customer = state.permutation[id as usize - 1];
    out.number(id).number(district).number(state.warehouse).number(customer).text(MOMENT);
    match id < FIRST_OPEN_ORDER {
        true => out.number(state.values.int(1, 10)),
        false => out.text(NULL),
    };
    out.number(state.line_counts.int(5, 15)).text("1").end_row();
    1
}

fn order_lines(number: i32, state: &mut State, out: &mut Vec<u8>) -> u64 {
    let (district, id) = within_district(number, ORDERS);
    let lines = state.line_counts.int(5, 15);
    let warehouse = state.warehouse;
    let random = &mut state.values;
    for line in 1..=lines {
        out.number(id).small(district as u8).number(warehouse).small(line as u8);
        out.number(random.int(1, ITEMS)).number(warehouse);
        match id < FIRST_OPEN_ORDER {
            true => out.text(MOMENT).text("5").text("0.00"),
            false => out.text(NULL).text("5").decimal(random.int(1, 999_999) as u32, 2),
        };
        out.written(|out| random.alphanumeric(24, 24, out)).end_row();
    }
    lines as u64
}

fn new_order(number: i32, state: &mut State, out: &mut Vec<u8>) -> u64 {
    let (district, id) = within_district(number, ORDERS);
    if id < FIRST_OPEN_ORDER {
        return 0;
    }
    out.number(id).number(district).number(state.warehouse).end_row();
    1
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn table(name: &str, chunk: u32) -> Vec<Vec<String>> {
        let data = TpccData::new(2, 7);
        let table = schema::TABLES.iter().find(|table| table.name == name).unwrap();
        let mut rows = data.open(table, chunk);
        let mut text = Vec::new();
        while rows.fill(&mut text, usize::MAX) > 0 {}
        let text = String::from_utf8(text).unwrap();
        text.lines().map(|line| line.split('|').map(str::to_string).collect()).collect()
    }

    #[test]
    fn tables_have_the_specified_numbers_of_rows_and_columns() {
        let shapes = [
            ("stock", 100_000, 17),
            ("customer", 30_000, 21),
            ("history", 30_000, 8),
            ("orders", 30_000, 8),
            ("new_order", 9_000, 3),
            ("district", 10, 11),
            ("warehouse", 1, 9),
            ("item", 10_000, 5),
        ];
        for (name, rows, columns) in shapes {
            let found = table(name, 1);
            assert_eq!(found.len(), rows, "{name}");
            assert!(found.iter().all(|row| row.len() == columns), "{name}");
        }
    }

    #[test]
    fn orders_and_their_lines_agree_and_the_last_900_are_open() {
        let mut lines: HashMap<(String, String), usize> = HashMap::new();
        for line in table("order_line", 0) {
            let open = line[0].parse::<i32>().unwrap() >= FIRST_OPEN_ORDER;
            assert_eq!(line[6] == "\\N", open);
            assert_eq!(line[8] == "0.00", !open);
            *lines.entry((line[1].clone(), line[0].clone())).or_default() += 1;
        }
        let mut customers = Vec::new();
        for order in table("orders", 0) {
            assert_eq!(lines[&(order[1].clone(), order[0].clone())].to_string(), order[6]);
            assert_eq!(order[5] == "\\N", order[0].parse::<i32>().unwrap() >= FIRST_OPEN_ORDER);
            if order[1] == "3" {
                customers.push(order[3].parse::<i32>().unwrap());
            }
        }
        customers.sort_unstable();
        assert_eq!(customers, (1..=3000).collect::<Vec<_>>());
    }

    #[test]
    fn a_tenth_of_the_customers_has_bad_credit_and_every_name_occurs() {
        let customers = table("customer", 0);
        let bad = customers.iter().filter(|row| row[13] == "BC").count() as f64 / customers.len() as f64;
        assert!((bad - 0.1).abs() < 0.01, "{bad}");
        let names: std::collections::HashSet<&String> = customers.iter().map(|row| &row[5]).collect();
        assert_eq!(names.len(), 1000);
    }

    #[test]
    fn a_tenth_of_the_items_is_original() {
        let items = table("item", 0);
        let original =
            items.iter().filter(|row| row[4].contains("ORIGINAL")).count() as f64 / items.len() as f64;
        assert!((original - 0.1).abs() < 0.02, "{original}");
        assert!(items.iter().all(|row| (26..=50).contains(&row[4].len())));
    }

    #[test]
    fn equal_parameters_give_equal_data_in_every_version() {
        let digest = "sha256:e534787ae130484b2f7877caf58b4b1315e8bb212c6b79e0fe336ce7efba8a67";
        assert_eq!(crate::load::digest_of(&TpccData::new(1, 42)), digest);
    }
}

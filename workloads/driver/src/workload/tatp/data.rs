//! The population of the four tables.

use super::schema;
use crate::load::{Columns, Dataset, Key, Rows, Table};
use crate::workload::random::Random;

/// Subscribers in one chunk.
const CHUNK: u32 = 10_000;

/// Digits of a subscriber's number.
const NUMBER_DIGITS: usize = 15;

/// Start times of call forwarding.
pub const START_TIMES: [u8; 3] = [0, 8, 16];

#[derive(Debug, Clone)]
pub struct TatpData {
    subscribers: u32,
    seed: u64,
}

impl TatpData {
    pub fn new(subscribers: u32, seed: u64) -> Self {
        TatpData { subscribers, seed }
    }
}

impl Dataset for TatpData {
    fn workload(&self) -> &'static str {
        super::NAME
    }

    fn scale(&self) -> String {
        self.subscribers.to_string()
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

    fn chunks(&self, _: &Table) -> u32 {
        self.subscribers.div_ceil(CHUNK)
    }

    fn open(&self, table: &Table, chunk: u32) -> Box<dyn Rows> {
        let stream = |name| Random::stream(self.seed, name, chunk.into());
        let write: RowWriter = match table.name {
            "subscriber" => subscriber,
            "access_info" => access_info,
            "special_facility" => special_facility,
            "call_forwarding" => call_forwarding,
            name => unreachable!("{name} is no table of TATP"),
        };
        Box::new(Chunk {
            next: chunk * CHUNK + 1,
            last: ((chunk + 1) * CHUNK).min(self.subscribers),
            // Which facilities a subscriber has is asked by two tables, so it has a stream of its own.
            facilities: stream("tatp facilities"),
            values: stream(table.name),
            write,
        })
    }

    fn keys(&self) -> &'static [Key] {
        &schema::KEYS
    }

    fn constants(&self) -> serde_json::Value {
        serde_json::json!({})
    }
}

/// Appends a subscriber's rows of one table; returns how many.
type RowWriter = fn(u32, &[u8], &mut Random, &mut Vec<u8>) -> u64;

struct Chunk {
    next: u32,
    last: u32,
    facilities: Random,
    values: Random,
    write: RowWriter,
}

impl Rows for Chunk {
    fn fill(&mut self, out: &mut Vec<u8>, enough: usize) -> u64 {
        let mut rows = 0;
        // A subscriber may have no row in a table, and zero rows would mean the end.
        while self.next <= self.last && (out.len() < enough || rows == 0) {
            let facilities = draw(&TYPES, &mut self.facilities);
            rows += (self.write)(self.next, facilities, &mut self.values, out);
            self.next += 1;
        }
        rows
    }
}

/// Sets of values, by their size.
type Sets = [&'static [&'static [u8]]; 4];

/// One to four of the types 1 to 4.
static TYPES: Sets = [
    &[&[1], &[2], &[3], &[4]],
    &[&[1, 2], &[1, 3], &[1, 4], &[2, 3], &[2, 4], &[3, 4]],
    &[&[1, 2, 3], &[1, 2, 4], &[1, 3, 4], &[2, 3, 4]],
    &[&[1, 2, 3, 4]],
];

/// None to three of the start times.
static TIMES: Sets = [&[&[]], &[&[0], &[8], &[16]], &[&[0, 8], &[0, 16], &[8, 16]], &[&START_TIMES]];

/// A set: each size equally often, and of a size each set.
fn draw(sets: &Sets, random: &mut Random) -> &'static [u8] {
    // Divisible by how many sets there are of each size.
    const OF_A_SIZE: usize = 12;
    let drawn = random.uniform(0, (sets.len() * OF_A_SIZE) as i64 - 1) as usize;
    let sets = sets[drawn / OF_A_SIZE];
    sets[drawn % OF_A_SIZE * sets.len() / OF_A_SIZE]
}

/// A subscriber's number: its id with leading zeros, 15 digits.
pub fn subscriber_number(id: i32) -> String {
    format!("{id:0NUMBER_DIGITS$}")
}

fn subscriber(id: u32, _: &[u8], random: &mut Random, out: &mut Vec<u8>) -> u64 {
    out.number(id).padded(id, NUMBER_DIGITS);
    for highest in [1, 15, 255] {
        for _ in 0..10 {
            out.small(random.byte(highest));
        }
    }
    let mut location = || random.uniform(1, (1 << 32) - 1);
    out.number(location()).number(location()).end_row();
    1
}

fn access_info(id: u32, _: &[u8], random: &mut Random, out: &mut Vec<u8>) -> u64 {
    let types = draw(&TYPES, random);
    for ai_type in types {
        out.number(id).small(*ai_type).small(random.byte(255)).small(random.byte(255));
        out.written(|out| random.letters(3, out)).written(|out| random.letters(5, out)).end_row();
    }
    types.len() as u64
}

fn special_facility(id: u32, facilities: &[u8], random: &mut Random, out: &mut Vec<u8>) -> u64 {
    for sf_type in facilities {
        out.number(id).small(*sf_type).small(random.percent(85).into());
        out.small(random.byte(255)).small(random.byte(255));
        out.written(|out| random.letters(5, out)).end_row();
    }
    facilities.len() as u64
}

fn call_forwarding(id: u32, facilities: &[u8], random: &mut Random, out: &mut Vec<u8>) -> u64 {
    let mut rows = 0;
    for sf_type in facilities {
        let times = draw(&TIMES, random);
        for start in times {
            out.number(id).small(*sf_type).small(*start).small(start + 1 + random.byte(7));
            out.written(|out| random.digits(NUMBER_DIGITS, out)).end_row();
        }
        rows += times.len() as u64;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(data: &TatpData, name: &str) -> Vec<Vec<String>> {
        let table = schema::TABLES.iter().find(|table| table.name == name).unwrap();
        let (mut text, mut announced) = (Vec::new(), 0);
        for chunk in 0..data.chunks(table) {
            let mut rows = data.open(table, chunk);
            loop {
                let enough = text.len() + 1000;
                let added = rows.fill(&mut text, enough);
                if added == 0 {
                    break;
                }
                announced += added;
            }
        }
        let rows: Vec<Vec<String>> = String::from_utf8(text)
            .unwrap()
            .lines()
            .map(|line| line.split('|').map(str::to_string).collect())
            .collect();
        assert_eq!(rows.len() as u64, announced);
        rows
    }

    #[test]
    fn each_subscriber_is_there_once_with_its_number() {
        let rows = table(&TatpData::new(12_345, 1), "subscriber");
        assert_eq!(rows.len(), 12_345);
        assert!(rows.iter().all(|row| row.len() == 34));
        assert_eq!(rows[12_344][..2], ["12345".to_string(), subscriber_number(12_345)]);
    }

    #[test]
    fn dependent_tables_have_the_specified_average_sizes() {
        let data = TatpData::new(20_000, 1);
        let per_subscriber = |name| table(&data, name).len() as f64 / 20_000.0;
        assert!((per_subscriber("access_info") - 2.5).abs() < 0.05);
        assert!((per_subscriber("special_facility") - 2.5).abs() < 0.05);
        assert!((per_subscriber("call_forwarding") - 3.75).abs() < 0.1);
    }

    #[test]
    fn each_size_of_a_set_is_as_frequent_and_each_set_of_a_size() {
        let mut random = Random::stream(1, "sets", 0);
        for sets in [TYPES, TIMES] {
            let mut counts = std::collections::HashMap::<_, i32>::new();
            (0..48_000).for_each(|_| *counts.entry(draw(&sets, &mut random)).or_default() += 1);
            for of_a_size in sets {
                let expected = 12_000 / of_a_size.len() as i32;
                for set in of_a_size {
                    assert!((counts[set] - expected).abs() < expected / 10, "{set:?}: {}", counts[set]);
                }
            }
        }
    }

    #[test]
    fn call_forwarding_refers_to_facilities_that_exist() {
        let data = TatpData::new(3000, 5);
        let key = |row: &Vec<String>| (row[0].clone(), row[1].clone());
        let facilities: std::collections::HashSet<_> =
            table(&data, "special_facility").iter().map(key).collect();
        assert!(table(&data, "call_forwarding").iter().map(key).all(|key| facilities.contains(&key)));
    }

    #[test]
    fn eighty_five_percent_of_the_facilities_are_active() {
        let rows = table(&TatpData::new(20_000, 1), "special_facility");
        let active = rows.iter().filter(|row| row[2] == "1").count() as f64 / rows.len() as f64;
        assert!((active - 0.85).abs() < 0.01, "{active}");
    }

    #[test]
    fn equal_parameters_give_equal_data_in_every_version() {
        let digest = "sha256:2817505d1f9d2e035e0e833680402e195e0a92fb2ae734c1bf8b5c11ec972bea";
        assert_eq!(crate::load::digest_of(&TatpData::new(12_345, 42)), digest);
    }
}

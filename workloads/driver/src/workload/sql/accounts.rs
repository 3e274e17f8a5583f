//! pgbench's four tables: accounts, tellers, branches and the history.

use crate::load::{Columns, Dataset, Key, Rows, Table, NULL};

/// Rows for each unit of scale.
pub const ACCOUNTS: u32 = 100_000;
pub const TELLERS: u32 = 10;

/// Accounts in one chunk.
const CHUNK: u32 = 100_000;

pub const BRANCHES: &str = "pgbench_branches";

const TABLES: [Table; 4] = [
    Table { name: "pgbench_accounts" },
    Table { name: "pgbench_tellers" },
    Table { name: BRANCHES },
    Table { name: "pgbench_history" },
];

const KEYS: [Key; 3] = [
    Key::primary("pgbench_accounts", "aid"),
    Key::primary("pgbench_tellers", "tid"),
    Key::primary(BRANCHES, "bid"),
];

/// The tables at one scale. All balances are zero and the history is empty.
#[derive(Debug, Clone)]
pub struct Accounts {
    pub scale: u32,
}

impl Dataset for Accounts {
    fn workload(&self) -> &'static str {
        super::NAME
    }

    fn scale(&self) -> String {
        self.scale.to_string()
    }

    fn seed(&self) -> u64 {
        0
    }

    fn tables(&self) -> &'static [Table] {
        &TABLES
    }

    fn create_sql(&self) -> &'static str {
        include_str!("schema.sql")
    }

    fn chunks(&self, table: &Table) -> u32 {
        rows(table.name, self.scale).div_ceil(CHUNK)
    }

    fn open(&self, table: &Table, chunk: u32) -> Box<dyn Rows> {
        let write: fn(u32, &mut Vec<u8>) = match table.name {
            "pgbench_accounts" => account,
            "pgbench_tellers" => teller,
            _ => branch,
        };
        let rows = rows(table.name, self.scale);
        Box::new(Chunk { next: chunk * CHUNK + 1, last: ((chunk + 1) * CHUNK).min(rows), write })
    }

    fn keys(&self) -> &'static [Key] {
        &KEYS
    }

    fn constants(&self) -> serde_json::Value {
        serde_json::json!({})
    }
}

fn rows(table: &str, scale: u32) -> u32 {
    match table {
        "pgbench_accounts" => scale * ACCOUNTS,
        "pgbench_tellers" => scale * TELLERS,
        BRANCHES => scale,
        _ => 0,
    }
}

struct Chunk {
    next: u32,
    last: u32,
    write: fn(u32, &mut Vec<u8>),
}

impl Rows for Chunk {
    fn fill(&mut self, out: &mut Vec<u8>, enough: usize) -> u64 {
        let first = self.next;
        while self.next <= self.last && out.len() < enough {
            (self.write)(self.next, out);
            self.next += 1;
        }
        u64::from(self.next - first)
    }
}

/// Accounts have an empty filler, which char(84) fills with blanks; the small tables have none.
fn account(number: u32, out: &mut Vec<u8>) {
    out.number(number).number((number - 1) / ACCOUNTS + 1).number(0).text("").end_row();
}

fn teller(number: u32, out: &mut Vec<u8>) {
    out.number(number).number((number - 1) / TELLERS + 1).number(0).text(NULL).end_row();
}

fn branch(number: u32, out: &mut Vec<u8>) {
    out.number(number).number(0).text(NULL).end_row();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(table: &str, scale: u32) -> Vec<String> {
        let data = Accounts { scale };
        let table = TABLES.iter().find(|known| known.name == table).unwrap();
        let mut text = Vec::new();
        for chunk in 0..data.chunks(table) {
            let mut rows = data.open(table, chunk);
            loop {
                let enough = text.len() + 1000;
                if rows.fill(&mut text, enough) == 0 {
                    break;
                }
            }
        }
        String::from_utf8(text).unwrap().lines().map(String::from).collect()
    }

    #[test]
    fn tables_have_the_rows_of_their_scale_and_belong_to_their_branch() {
        let accounts = lines("pgbench_accounts", 2);
        assert_eq!(accounts.len(), 200_000);
        assert_eq!([&accounts[0], &accounts[99_999]], ["1|1|0|", "100000|1|0|"]);
        assert_eq!([&accounts[100_000], &accounts[199_999]], ["100001|2|0|", "200000|2|0|"]);
        assert_eq!(lines("pgbench_tellers", 3)[10], "11|2|0|\\N");
        assert_eq!(lines("pgbench_branches", 3), ["1|0|\\N", "2|0|\\N", "3|0|\\N"]);
        assert!(lines("pgbench_history", 3).is_empty());
    }
}

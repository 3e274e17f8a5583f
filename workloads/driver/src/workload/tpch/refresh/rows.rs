//! The rows of an update set, as `dbgen -U` makes them (clauses 2.6.3 and 2.7.3).
//!
//! Set u of SF * 1500 orders continues the random streams where those of the loaded table end. Order keys
//! are sparse (clause 4.2.3): of 32, the load uses the first 8. A new order gets the key of the order that
//! the same set deletes, 8 higher: the second block of 8, which nothing else uses.

use tpchgen::generators::{LineItemGenerator, OrderGenerator};

use super::super::rows::{self, Form};
use super::super::ScaleFactor;
use crate::load::Rows;

/// The loaded orders are this many times those of a set (0.1 %, clause 2.5.1).
const SETS: i32 = 1000;

/// Distance between the key of an old order and that of the new one.
const NEW_BLOCK: i64 = 8;

/// One set: orders to be inserted with their lines, and orders to be deleted.
#[derive(Debug, Clone)]
pub struct UpdateSet {
    scale: f64,
    number: i32,
    orders: i64,
}

impl UpdateSet {
    /// Set `number`, from 1 to 999: the last one before dbgen would delete what it has never inserted.
    pub fn new(scale: &ScaleFactor, number: u32) -> Option<Self> {
        let number = i32::try_from(number).ok().filter(|number| (1..SETS).contains(number))?;
        let scale = scale.value();
        Some(UpdateSet { scale, number, orders: OrderGenerator::calculate_row_count(scale, 1, SETS) })
    }

    /// Number of orders that are inserted, and of those that are deleted.
    pub fn orders(&self) -> u64 {
        self.orders as u64
    }

    /// Rows for `orders`, in the exchange format.
    pub fn new_orders(&self) -> Box<dyn Rows> {
        let loaded = self.orders * i64::from(SETS);
        let orders =
            OrderGenerator::new(self.scale, SETS + self.number, SETS).iter().map(move |mut order| {
                order.o_orderkey = new_key(order.o_orderkey, loaded);
                order
            });
        rows::written(orders, Form::Text)
    }

    /// Rows for `lineitem`, in the exchange format.
    pub fn new_lineitems(&self) -> Box<dyn Rows> {
        let loaded = self.orders * i64::from(SETS);
        let lines =
            LineItemGenerator::new(self.scale, SETS + self.number, SETS).iter().map(move |mut line| {
                line.l_orderkey = new_key(line.l_orderkey, loaded);
                line
            });
        rows::written(lines, Form::Text)
    }

    /// Number of lines of the new orders.
    pub fn new_lines(&self) -> u64 {
        LineItemGenerator::new(self.scale, SETS + self.number, SETS).iter().count() as u64
    }

    /// Keys of the orders that are deleted: the first ones of the table, set by set.
    pub fn old_keys(&self) -> impl Iterator<Item = i64> {
        let first = (i64::from(self.number) - 1) * self.orders + 1;
        (first..first + self.orders).map(OrderGenerator::make_order_key)
    }

    /// Number of lines of the orders that are deleted.
    pub fn old_lines(&self) -> u64 {
        LineItemGenerator::new(self.scale, self.number, SETS).iter().count() as u64
    }
}

/// The key of a new order from that which the generator gives to a row beyond the `loaded` ones.
fn new_key(generated: i64, loaded: i64) -> i64 {
    let index = ((generated >> 5) << 3) | (generated & 7);
    OrderGenerator::make_order_key(index - loaded) + NEW_BLOCK
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn text(mut rows: Box<dyn Rows>) -> String {
        let mut out = Vec::new();
        rows.fill(&mut out, usize::MAX);
        String::from_utf8(out).unwrap()
    }

    fn keys(text: &str) -> Vec<i64> {
        text.lines().map(|line| line.split('|').next().unwrap().parse().unwrap()).collect()
    }

    #[test]
    fn a_set_has_1500_orders_per_scale_factor_with_keys_in_the_holes() {
        let scale = "0.1".parse().unwrap();
        let loaded: HashSet<i64> = (1..=150_000).map(OrderGenerator::make_order_key).collect();
        let mut seen = HashSet::new();
        for number in [1, 2, 999] {
            let set = UpdateSet::new(&scale, number).unwrap();
            assert_eq!(set.orders(), 150);
            let orders = keys(&text(set.new_orders()));
            assert_eq!(orders.len(), 150);
            assert!(orders.iter().all(|key| !loaded.contains(key) && seen.insert(*key)));
            let with_lines: HashSet<i64> = keys(&text(set.new_lineitems())).into_iter().collect();
            assert_eq!(with_lines, orders.iter().copied().collect());
            let old: Vec<i64> = set.old_keys().collect();
            assert_eq!(old.len(), 150);
            assert!(old.iter().all(|key| loaded.contains(key)));
            assert!(old.iter().zip(&orders).all(|(old, new)| old + 8 == *new));
        }
    }

    /// Clauses 2.6.3 and 4.2.3: the columns of new rows refer to rows that are there, and each order has one to seven
    /// lines, numbered from 1. Some scale factors do not divide by 1000.
    #[test]
    fn new_rows_follow_the_rules_of_the_population() {
        for (scale, number) in [("0.01", 1), ("0.01", 999), ("0.037", 5), ("0.1", 2), ("1", 1), ("1", 999)] {
            let parsed: ScaleFactor = scale.parse().unwrap();
            let set = UpdateSet::new(&parsed, number).unwrap();
            let highest = |per_scale: f64| (parsed.value() * per_scale) as i64;
            assert_eq!(set.orders() as i64, (parsed.value() * 1500.0) as i64, "{scale}");
            let rows = |rows| -> Vec<Vec<String>> {
                text(rows).lines().map(|line| line.split('|').map(str::to_string).collect()).collect()
            };
            let integer = |row: &[String], column: usize| row[column].parse::<i64>().unwrap();
            let (orders, lines) = (rows(set.new_orders()), rows(set.new_lineitems()));
            assert_eq!(lines.len() as u64, set.new_lines());
            let mut lines = lines.iter().peekable();
            for order in &orders {
                let (key, customer) = (integer(order, 0), integer(order, 1));
                // Of 32 keys the load has the first eight, and new orders the second eight.
                assert!(key & 24 == 8 && key <= highest(6_000_000.0) + 32, "{order:?}");
                assert!((1..=highest(150_000.0)).contains(&customer) && customer % 3 != 0, "{order:?}");
                let mut count = 0;
                while let Some(line) = lines.next_if(|line| integer(line, 0) == key) {
                    count += 1;
                    assert_eq!(integer(line, 3), count);
                    assert!((1..=highest(200_000.0)).contains(&integer(line, 1)), "{line:?}");
                    assert!((1..=highest(10_000.0)).contains(&integer(line, 2)), "{line:?}");
                    // Ordered, then shipped, then received; dates compare as texts.
                    assert!(order[4] < line[10] && line[10] < line[12], "{order:?} {line:?}");
                }
                assert!((1..=7).contains(&count), "{order:?} has {count} lines");
            }
            assert!(lines.next().is_none());
        }
    }

    #[test]
    fn no_two_sets_share_a_key() {
        let scale = "0.01".parse().unwrap();
        let mut seen = HashSet::new();
        for number in 1..SETS as u32 {
            let set = UpdateSet::new(&scale, number).unwrap();
            let new = keys(&text(set.new_orders()));
            assert!(set.old_keys().chain(new).all(|key| seen.insert(key)), "set {number}");
        }
        assert_eq!(seen.len(), 999 * 15 * 2);
    }

    #[test]
    fn the_first_set_deletes_the_first_orders_and_inserts_beside_them() {
        let set = UpdateSet::new(&"0.01".parse().unwrap(), 1).unwrap();
        assert_eq!(set.old_keys().take(9).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7, 32, 33]);
        assert_eq!(keys(&text(set.new_orders()))[..9], [9, 10, 11, 12, 13, 14, 15, 40, 41]);
        let lines = keys(&text(set.new_lineitems()));
        assert_eq!(lines.len() as u64, set.new_lines());
    }

    #[test]
    fn the_rows_continue_the_random_streams_of_the_table() {
        // One order of a table twice as long is the order of the first set, but for its key and for what
        // depends on the number of customers.
        let next = OrderGenerator::new(0.02, 2, 2).iter().next().unwrap();
        let first = text(UpdateSet::new(&"0.01".parse().unwrap(), 1).unwrap().new_orders());
        let fields: Vec<&str> = first.lines().next().unwrap().split('|').collect();
        assert_eq!(fields[4], next.o_orderdate.to_string());
        assert_eq!((fields[5], fields[8]), (next.o_orderpriority, next.o_comment));
    }

    #[test]
    fn there_are_999_sets() {
        let scale = "1".parse().unwrap();
        assert!(UpdateSet::new(&scale, 0).is_none() && UpdateSet::new(&scale, 1000).is_none());
        assert_eq!(UpdateSet::new(&scale, 999).unwrap().orders(), 1500);
    }
}

//! Which chunk a connection loads next.

use std::sync::Mutex;

use super::dataset::Table;

/// Chunks that are still to be loaded. Connections spread over the tables, because those that fill one table
/// together wait for each other whenever it grows.
pub struct Queue(Mutex<Vec<Waiting>>);

struct Waiting {
    table: &'static Table,
    chunks: std::vec::IntoIter<u32>,
    connections: usize,
}

impl Queue {
    pub fn new(work: impl IntoIterator<Item = (&'static Table, Vec<u32>)>) -> Self {
        let waiting =
            |(table, chunks): (_, Vec<u32>)| Waiting { table, chunks: chunks.into_iter(), connections: 0 };
        Queue(Mutex::new(work.into_iter().map(waiting).collect()))
    }

    /// A table to go on with, and its next chunk: the first of those with the fewest connections at them.
    pub fn join(&self) -> Option<(&'static Table, u32)> {
        let mut all = self.0.lock().expect("no holder of this lock panics");
        let left = all.iter_mut().filter(|waiting| waiting.chunks.len() > 0);
        let waiting = left.min_by_key(|waiting| waiting.connections)?;
        waiting.connections += 1;
        Some((waiting.table, waiting.chunks.next()?))
    }

    /// One more chunk of a table that was joined.
    pub fn next(&self, table: &Table) -> Option<u32> {
        self.with(table, |waiting| waiting.chunks.next())
    }

    pub fn leave(&self, table: &Table) {
        self.with(table, |waiting| waiting.connections -= 1);
    }

    fn with<T>(&self, table: &Table, act: impl FnOnce(&mut Waiting) -> T) -> T {
        let mut all = self.0.lock().expect("no holder of this lock panics");
        act(all.iter_mut().find(|waiting| waiting.table == table).expect("a table of this load was joined"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static TABLES: [Table; 3] = [Table { name: "a" }, Table { name: "b" }, Table { name: "c" }];

    #[test]
    fn connections_spread_over_the_tables_and_share_one_only_when_no_other_is_left() {
        let [a, b, c] = &TABLES;
        let queue = Queue::new([(a, vec![4, 7, 8]), (b, vec![]), (c, vec![0])]);
        assert_eq!(queue.join(), Some((a, 4)));
        assert_eq!(queue.join(), Some((c, 0)));
        assert_eq!(queue.next(c), None);
        queue.leave(c);
        assert_eq!(queue.join(), Some((a, 7)));
        assert_eq!((queue.next(a), queue.next(a)), (Some(8), None));
        assert_eq!(queue.join(), None);
    }

    #[test]
    fn a_table_that_was_left_is_joined_again_before_a_busy_one() {
        let [a, b, _] = &TABLES;
        let queue = Queue::new([(a, vec![0, 1, 2]), (b, vec![0, 1, 2])]);
        assert_eq!((queue.join(), queue.join()), (Some((a, 0)), Some((b, 0))));
        queue.leave(b);
        assert_eq!(queue.join(), Some((b, 1)));
    }
}

//! A table in memory, like an internal table of ABAP: records of one size, one after the other, without an index.
//!
//! A record is its key (its place in the table, 8 bytes) and a payload of random words. A read copies the record into
//! a work area, as `READ TABLE ... INDEX ... INTO` does, and looks at the key. Which record comes next follows
//! from the payload just read and a counter: every read has to wait for the one before, no cache can guess the next
//! address, and each record is equally likely each time.

use std::hint::black_box;
use std::io;

use dbbench_probes::region::{Pages, Region};

const WORD: usize = size_of::<u64>();

/// Step of the counter (the golden ratio in 64 bits), so that neighbouring counts have different bits throughout.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

pub struct Table {
    region: Region,
    record_words: usize,
    records: usize,
    work_area: Vec<u64>,
    /// Of the walk.
    count: u64,
    next: usize,
    pub wrong_records: u64,
    pub checksum: u64,
}

impl Table {
    /// Allocates and fills the table: every page is written. `bytes` are cut to whole records.
    pub fn new(bytes: usize, record_bytes: usize, pages: Pages, seed: u64) -> io::Result<Self> {
        let record_words = record_bytes / WORD;
        let records = bytes / record_bytes;
        let mut region = Region::new(records * record_bytes, pages)?;
        for (key, record) in region.words().chunks_exact_mut(record_words).take(records).enumerate() {
            record[0] = key as u64;
            for (place, word) in record[1..].iter_mut().enumerate() {
                *word = mix(seed ^ mix((key * record_words + place + 1) as u64));
            }
        }
        let work_area = vec![0; record_words];
        Ok(Table {
            region,
            record_words,
            records,
            work_area,
            count: seed,
            next: 0,
            wrong_records: 0,
            checksum: 0,
        })
    }

    pub fn region(&self) -> &Region {
        &self.region
    }

    /// Reads `count` records.
    pub fn read(&mut self, count: u64) {
        let (words, length) = (self.region.words(), self.record_words);
        for _ in 0..count {
            let record = &words[self.next * length..][..length];
            self.work_area.copy_from_slice(record);
            // The whole record is in the work area, whatever of it is used below.
            let area = black_box(&mut self.work_area);
            self.wrong_records += u64::from(area[0] != self.next as u64);
            let payload = area[length - 1];
            self.checksum = self.checksum.rotate_left(1) ^ payload;
            self.count = self.count.wrapping_add(STEP);
            let drawn = mix(self.count ^ payload);
            self.next = ((u128::from(drawn) * self.records as u128) >> 64) as usize;
        }
    }
}

/// Mixes all bits of a word (the finaliser of SplitMix64).
fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(bytes: usize, seed: u64) -> Table {
        Table::new(bytes, 128, Pages::Small, seed).unwrap()
    }

    #[test]
    fn every_record_is_read_about_equally_often() {
        let mut table = table(128 * 1000, 1);
        let mut counts = vec![0u32; table.records];
        for _ in 0..1_000_000 {
            counts[table.next] += 1;
            table.read(1);
        }
        // Chi square with 999 degrees of freedom: mean 999, standard deviation 44.7.
        let square: f64 = counts.iter().map(|count| (f64::from(*count) - 1000.0).powi(2) / 1000.0).sum();
        assert!((999.0 - 6.0 * 44.7..999.0 + 6.0 * 44.7).contains(&square), "{square}");
        assert_eq!(table.wrong_records, 0);
    }

    #[test]
    fn the_walk_follows_from_the_seed_and_the_records_read() {
        let checksum = |seed, parts: &[u64]| {
            let mut table = table(1 << 20, seed);
            parts.iter().for_each(|count| table.read(*count));
            table.checksum
        };
        assert_eq!(checksum(7, &[1000, 500]), checksum(7, &[1500]));
        assert_ne!(checksum(7, &[1500]), checksum(8, &[1500]));
        assert_ne!(checksum(7, &[1500]), checksum(7, &[1499]));
    }

    #[test]
    fn a_record_that_is_not_the_one_asked_for_is_noticed() {
        let mut table = table(128 * 2, 1);
        table.region.words()[0] = 99;
        table.read(100);
        assert!(table.wrong_records > 0);
    }

    #[test]
    fn a_table_has_whole_records() {
        let table = Table::new(1000, 128, Pages::Small, 1).unwrap();
        assert_eq!(table.records, 7);
    }
}

//! How fast memory is read, written and copied, against threads.

use std::hint::black_box;
use std::io;

use serde_json::json;

use crate::kernel::last_level_cache;
use crate::region::{Pages, Region};
use crate::sampling::{together, Work};
use crate::{Evidence, Figure, Settings};

/// One operation.
const MEBIBYTE: usize = 1 << 20;

/// Largest array of a thread: well beyond what caches hold.
const LARGEST: usize = 256 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Traffic {
    Read,
    Write,
    Copy,
}

pub fn memory(settings: &Settings) -> Vec<Figure> {
    let kinds =
        [("MEMORY_READ", Traffic::Read), ("MEMORY_WRITE", Traffic::Write), ("MEMORY_COPY", Traffic::Copy)];
    kinds
        .into_iter()
        .flat_map(|(name, traffic)| {
            settings
                .threads
                .iter()
                .map(move |threads| Figure::new(name, *threads, measure(settings, traffic, *threads)))
        })
        .collect()
}

fn measure(settings: &Settings, traffic: Traffic, threads: usize) -> io::Result<(crate::Cost, Evidence)> {
    let share = settings.memory as usize / (2 * threads);
    let bytes = share.min(LARGEST) / MEBIBYTE * MEBIBYTE;
    if bytes == 0 {
        let memory = settings.memory >> 10;
        return Err(crate::figure::unavailable(format!(
            "{memory} KiB of memory are too little for {threads} threads"
        )));
    }
    let samples = together(&settings.cpus[..threads], settings.time, || Stream::new(traffic, bytes))?;
    let cost = samples.cost("MiB moved by one thread")?;
    let mut evidence = Evidence::new();
    evidence.insert("bytesPerSecond".into(), json!((threads * MEBIBYTE) as f64 / cost.mean_seconds));
    evidence.insert("arrayBytes".into(), json!(bytes));
    if let Some(cache) = last_level_cache() {
        evidence.insert("lastLevelCacheBytes".into(), json!(cache));
    }
    Ok((cost, evidence))
}

struct Stream {
    traffic: Traffic,
    source: Region,
    target: Option<Region>,
    passes: u64,
}

impl Stream {
    fn new(traffic: Traffic, bytes: usize) -> io::Result<Self> {
        // Every page has memory of its own: reading fresh memory would read the one page of zeros.
        let filled = || {
            let mut region = Region::new(bytes, Pages::Small)?;
            region.words().fill(0x5555_5555_5555_5555);
            Ok::<_, io::Error>(region)
        };
        let target = if traffic == Traffic::Copy { Some(filled()?) } else { None };
        Ok(Stream { traffic, source: filled()?, target, passes: 0 })
    }
}

impl Work for Stream {
    fn run(&mut self) -> u64 {
        self.passes += 1;
        let source = self.source.words();
        match self.traffic {
            Traffic::Read => drop(black_box(sum(source))),
            Traffic::Write => {
                source.fill(black_box(self.passes));
                black_box(source);
            }
            Traffic::Copy => {
                let target = self.target.as_mut().expect("copies have a target").words();
                target.copy_from_slice(black_box(source));
                black_box(target);
            }
        }
        (self.source.bytes() / MEBIBYTE) as u64
    }
}

/// Eight sums that do not wait for each other, so that memory and not addition sets the pace.
#[inline(never)]
fn sum(words: &[u64]) -> u64 {
    let mut sums = [0u64; 8];
    for line in words.chunks_exact(8) {
        for (sum, word) in sums.iter_mut().zip(line) {
            *sum = sum.wrapping_add(*word);
        }
    }
    sums.into_iter().fold(0, u64::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_memory_is_read_written_and_copied() {
        let mut read = Stream::new(Traffic::Read, MEBIBYTE).unwrap();
        assert_eq!(read.run(), 1);
        assert_eq!(sum(read.source.words()), 0x5555_5555_5555_5555u64.wrapping_mul(MEBIBYTE as u64 / 8));
        let mut write = Stream::new(Traffic::Write, MEBIBYTE).unwrap();
        write.run();
        write.run();
        assert!(write.source.words().iter().all(|word| *word == 2));
        let mut copy = Stream::new(Traffic::Copy, 2 * MEBIBYTE).unwrap();
        copy.source.words().fill(9);
        assert_eq!(copy.run(), 2);
        assert!(copy.target.as_mut().unwrap().words().iter().all(|word| *word == 9));
    }
}

//! Sorting integers: a program that needs the CPU alone.

use std::hint::black_box;
use std::io;

use serde_json::json;

use crate::sampling::{alone, Work};
use crate::{permutation, Evidence, Figure, Settings};

/// Integers that a batch sorts at least, in several arrays where one is smaller.
const BATCH: usize = 50_000;

pub fn sort(settings: &Settings) -> Vec<Figure> {
    settings
        .sort_sizes
        .iter()
        .map(|size| Figure::new(&format!("SORT_{size}"), 1, measure(settings, *size)))
        .collect()
}

fn measure(settings: &Settings, size: usize) -> io::Result<(crate::Cost, Evidence)> {
    let copies = BATCH.div_ceil(size);
    let (samples, _) = alone(settings.cpus[0], settings.time, || {
        let unsorted = permutation::numbers(size * copies, settings.seed);
        Ok(Sort { size, numbers: unsorted.clone(), unsorted })
    })?;
    let mut evidence = Evidence::new();
    evidence.insert("integers".into(), json!(size));
    Ok((samples.cost("integer of 64 bits sorted")?, evidence))
}

struct Sort {
    size: usize,
    unsorted: Vec<u64>,
    numbers: Vec<u64>,
}

impl Work for Sort {
    fn prepare(&mut self) -> io::Result<()> {
        self.numbers.copy_from_slice(&self.unsorted);
        Ok(())
    }

    fn run(&mut self) -> u64 {
        for array in self.numbers.chunks_exact_mut(self.size) {
            array.sort_unstable();
            black_box(array);
        }
        self.numbers.len() as u64
    }

    fn verify(&mut self) -> io::Result<()> {
        match self.numbers.chunks_exact(self.size).all(|array| array.is_sorted()) {
            true => Ok(()),
            false => Err(io::Error::other("the integers are not sorted")),
        }
    }
}

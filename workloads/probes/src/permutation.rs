//! Random orders that a memory system cannot guess.

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Successor of each of `count` positions in one single random cycle through all of them (Sattolo's algorithm).
///
/// Following the successors visits every position before any comes again; a permutation by plain shuffling would
/// have short cycles, and a walk could stay in one that fits a cache.
pub fn cycle(count: usize, seed: u64) -> Vec<usize> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut next: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        next.swap(last, below(&mut random, last));
    }
    next
}

/// Positions 0 to `count` - 1 in the order of a walk along [`cycle`], from position 0.
pub fn order(count: usize, seed: u64) -> Vec<usize> {
    let next = cycle(count, seed);
    let mut order = Vec::with_capacity(count);
    let mut position = 0;
    for _ in 0..count {
        order.push(position);
        position = next[position];
    }
    order
}

/// `count` random numbers.
pub fn numbers(count: usize, seed: u64) -> Vec<u64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..count).map(|_| random.next_u64()).collect()
}

/// Uniform in `0..limit`, with a bias below `limit` / 2^64.
fn below(random: &mut Xoshiro256PlusPlus, limit: usize) -> usize {
    ((u128::from(random.next_u64()) * limit as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_visits_every_position_once() {
        for count in [1, 2, 3, 7, 64, 1000, 8192] {
            for seed in 0..5 {
                let mut order = order(count, seed);
                assert_eq!(cycle(count, seed)[*order.last().unwrap()], 0, "the walk returns to its start");
                order.sort_unstable();
                assert_eq!(order, (0..count).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn the_order_follows_from_the_seed_and_is_no_stride() {
        assert_eq!(order(1000, 1), order(1000, 1));
        assert_ne!(order(1000, 1), order(1000, 2));
        let order = order(1000, 1);
        let strides: std::collections::HashSet<i64> =
            order.windows(2).map(|pair| pair[1] as i64 - pair[0] as i64).collect();
        assert!(strides.len() > 500, "{}", strides.len());
    }
}

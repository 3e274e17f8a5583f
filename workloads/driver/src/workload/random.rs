//! Random values for data and inputs: the same on every machine for the same seed.

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use sha2::{Digest, Sha256};

/// A stream of random values.
#[derive(Clone)]
pub struct Random(Xoshiro256PlusPlus);

/// All pairs of characters of each alphabet. Text is most of the data, and a pair takes no longer than a character.
static ALPHANUMERIC: [[u8; 2]; 62 * 62] =
    pairs(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789");
static DIGITS: [[u8; 2]; 10 * 10] = pairs(b"0123456789");
static LETTERS: [[u8; 2]; 26 * 26] = pairs(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ");

const fn pairs<const N: usize>(alphabet: &[u8]) -> [[u8; 2]; N] {
    let mut all = [[0; 2]; N];
    let mut place = 0;
    while place < N {
        all[place] = [alphabet[place / alphabet.len()], alphabet[place % alphabet.len()]];
        place += 1;
    }
    all
}

/// Bits of a random word for one pair: three fit, and no pair of letters and digits is drawn more than 0.2 % too often.
const PAIR: u32 = 21;

impl Random {
    /// The stream with this name and number. Streams of one seed are independent of each other, so that
    /// chunks of data can be made in any order.
    pub fn stream(seed: u64, name: &str, number: u64) -> Self {
        let mut hash = Sha256::new();
        hash.update(seed.to_le_bytes());
        hash.update(number.to_le_bytes());
        hash.update(name.as_bytes());
        Random(Xoshiro256PlusPlus::from_seed(hash.finalize().into()))
    }

    /// Uniform in `low..=high`.
    #[inline]
    pub fn uniform(&mut self, low: i64, high: i64) -> i64 {
        debug_assert!(low <= high);
        let range = (high - low) as u64 + 1;
        // Multiply and shift; the bias is below range / 2^64.
        let scaled = (u128::from(self.0.next_u64()) * u128::from(range)) >> 64;
        low + scaled as i64
    }

    /// Uniform in `0..=high`.
    #[inline]
    pub fn byte(&mut self, high: u8) -> u8 {
        self.uniform(0, high.into()) as u8
    }

    /// Uniform in `low..=high`.
    #[inline]
    pub fn int(&mut self, low: i32, high: i32) -> i32 {
        self.uniform(i64::from(low), i64::from(high)) as i32
    }

    /// Uniform in `0.0..1.0`, of 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True in `percent` of 100 cases.
    pub fn percent(&mut self, percent: i64) -> bool {
        self.uniform(1, 100) <= percent
    }

    /// Exponentially distributed with this mean: distances of independent events.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        // 53 bits make a double in [0, 1), so that the logarithm's argument is never zero.
        let uniform = (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        -mean * (1.0 - uniform).ln()
    }

    /// Non-uniform random (TPC-C clause 2.1.6, TATP with `c` = 0), in `low..=high`.
    pub fn nurand(&mut self, a: i64, c: i64, low: i64, high: i64) -> i64 {
        let mixed = self.uniform(0, a) | self.uniform(low, high);
        (mixed + c) % (high - low + 1) + low
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.uniform(0, from.len() as i64 - 1) as usize]
    }

    /// Brings the items into random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.uniform(0, last as i64) as usize);
        }
    }

    /// Appends letters and digits, `min..=max` of them (TPC-C clause 4.3.2.2, a-string).
    pub fn alphanumeric(&mut self, min: i64, max: i64, out: &mut Vec<u8>) {
        let length = self.uniform(min, max) as usize;
        self.characters(&ALPHANUMERIC, length, out);
    }

    /// Appends `length` digits (n-string).
    pub fn digits(&mut self, length: usize, out: &mut Vec<u8>) {
        self.characters(&DIGITS, length, out);
    }

    /// Appends `length` upper-case letters.
    pub fn letters(&mut self, length: usize, out: &mut Vec<u8>) {
        self.characters(&LETTERS, length, out);
    }

    fn characters<const N: usize>(&mut self, pairs: &[[u8; 2]; N], length: usize, out: &mut Vec<u8>) {
        let start = out.len();
        // Always six from a word, the last ones to be cut off, so that their number is known to the compiler.
        out.resize(start + length.next_multiple_of(6), 0);
        for six in out[start..].chunks_exact_mut(6) {
            let word = self.0.next_u64();
            for (at, two) in six.chunks_exact_mut(2).enumerate() {
                let part = (word >> (PAIR * at as u32)) & ((1 << PAIR) - 1);
                two.copy_from_slice(&pairs[((part * N as u64) >> PAIR) as usize]);
            }
        }
        out.truncate(start + length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_fixed_by_seed_name_and_number() {
        let first = |seed, name, number| Random::stream(seed, name, number).uniform(0, i64::MAX - 1);
        assert_eq!(first(1, "a", 0), first(1, "a", 0));
        assert_ne!(first(1, "a", 0), first(2, "a", 0));
        assert_ne!(first(1, "a", 0), first(1, "b", 0));
        assert_ne!(first(1, "a", 0), first(1, "a", 1));
    }

    #[test]
    fn the_generator_gives_the_same_values_in_every_version() {
        let mut random = Random::stream(42, "golden", 7);
        let values: Vec<i64> = (0..6).map(|_| random.uniform(0, 999)).collect();
        assert_eq!(values, [233, 826, 814, 933, 144, 668]);
    }

    #[test]
    fn uniform_reaches_both_ends_and_nothing_beyond() {
        let mut random = Random::stream(1, "ends", 0);
        let values: Vec<i64> = (0..1000).map(|_| random.uniform(3, 7)).collect();
        assert_eq!((values.iter().min(), values.iter().max()), (Some(&3), Some(&7)));
        assert_eq!(random.uniform(5, 5), 5);
    }

    #[test]
    fn nurand_stays_in_range_and_prefers_some_values() {
        let mut random = Random::stream(1, "nurand", 0);
        let mut counts = [0u32; 3000];
        for _ in 0..300_000 {
            let value = random.nurand(1023, 259, 1, 3000);
            counts[value as usize - 1] += 1;
        }
        let top: u32 = {
            let mut sorted = counts;
            sorted.sort_unstable_by(|a, b| b.cmp(a));
            sorted[..300].iter().sum()
        };
        // Uniform draws would put a tenth of them on the top tenth of the values, give or take noise.
        assert!(top > 90_000, "{top}");
    }

    #[test]
    fn strings_have_the_asked_length_and_alphabet() {
        let mut random = Random::stream(1, "text", 0);
        for _ in 0..200 {
            let mut text = Vec::new();
            random.alphanumeric(5, 9, &mut text);
            assert!((5..=9).contains(&text.len()));
            assert!(text.iter().all(u8::is_ascii_alphanumeric));
        }
        let mut text = Vec::new();
        random.digits(15, &mut text);
        random.letters(3, &mut text);
        assert!(text[..15].iter().all(u8::is_ascii_digit));
        assert!(text[15..].iter().all(u8::is_ascii_uppercase) && text.len() == 18);
    }

    #[test]
    fn every_character_is_as_frequent_as_any_other() {
        let mut text = Vec::new();
        Random::stream(1, "text", 1).alphanumeric(620_000, 620_000, &mut text);
        let mut counts = [0; 256];
        text.iter().for_each(|character| counts[usize::from(*character)] += 1);
        // 10,000 of each, give or take five standard deviations.
        let drawn = counts.iter().filter(|count| **count > 0);
        assert!(drawn.clone().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
        assert_eq!(drawn.count(), 62);
    }

    #[test]
    fn shuffling_keeps_every_item() {
        let mut items: Vec<u32> = (0..100).collect();
        Random::stream(1, "shuffle", 0).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}

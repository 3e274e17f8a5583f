//! Rows in PostgreSQL's binary COPY format: the number of columns, then for each its length and what the type's
//! receive function reads, all in network byte order.

use std::fmt::Display;
use std::io::Write;

use tpchgen::dates::TPCHDate;

use super::row::OneRow;
use super::{Columns, Row};

/// Days from 1970-01-01 to 2000-01-01, where PostgreSQL begins to count.
const EPOCH: i32 = 10_957;

/// Base of a numeric's digits.
const BASE: u64 = 10_000;

/// The sign of a negative numeric.
const NEGATIVE: u16 = 0x4000;

/// Length of a value, in bytes.
const LENGTH: usize = 4;

/// One row; the bytes are good until the next one is encoded.
pub fn encode<'a>(row: &impl Row, bytes: &'a mut OneRow) -> &'a [u8] {
    bytes.clear();
    bytes.put(&[0; 2]);
    let mut columns = Binary { bytes, count: 0 };
    row.write(&mut columns);
    let count = columns.count;
    bytes.replace(0, &count.to_be_bytes());
    bytes.bytes()
}

struct Binary<'a> {
    bytes: &'a mut OneRow,
    count: u16,
}

impl Columns for Binary<'_> {
    #[inline]
    fn integer(&mut self, value: i64) -> &mut Self {
        let value = i32::try_from(value).expect("the limit of the scale factor keeps keys in their columns");
        self.value(&value.to_be_bytes())
    }

    #[inline]
    fn bigint(&mut self, value: i64) -> &mut Self {
        self.value(&value.to_be_bytes())
    }

    #[inline]
    fn decimal(&mut self, hundredths: i64) -> &mut Self {
        let (bytes, length) = numeric(hundredths);
        self.bytes.put_first(&bytes, length);
        self.count += 1;
        self
    }

    #[inline]
    fn whole_decimal(&mut self, value: i64) -> &mut Self {
        self.decimal(value * 100)
    }

    #[inline]
    fn date(&mut self, value: TPCHDate) -> &mut Self {
        self.value(&(value.to_unix_epoch() - EPOCH).to_be_bytes())
    }

    #[inline]
    fn text(&mut self, value: &str) -> &mut Self {
        self.bytes.put(&(value.len() as u32).to_be_bytes());
        self.bytes.put(value.as_bytes());
        self.count += 1;
        self
    }

    fn parts(&mut self, value: &impl Display) -> &mut Self {
        let start = self.bytes.len();
        self.bytes.put(&[0; LENGTH]);
        write!(self.bytes, "{value}").expect("the row has room for the longest text");
        let length = (self.bytes.len() - start - LENGTH) as u32;
        self.bytes.replace(start, &length.to_be_bytes());
        self.count += 1;
        self
    }
}

impl Binary<'_> {
    /// A value of a fixed length.
    #[inline]
    fn value<const N: usize>(&mut self, value: &[u8; N]) -> &mut Self {
        self.bytes.put(&(N as u32).to_be_bytes());
        self.bytes.put(value);
        self.count += 1;
        self
    }
}

/// Longest numeric with its length: four digits before the point, one behind it.
const NUMERIC: usize = LENGTH + 8 + 5 * 2;

/// A numeric of scale 2 with its length, and how many of the bytes that takes. Like the server, it has no digits
/// of zero at either end.
#[inline]
fn numeric(hundredths: i64) -> ([u8; NUMERIC], usize) {
    let sign = if hundredths < 0 { NEGATIVE } else { 0 };
    let magnitude = hundredths.unsigned_abs();
    let (whole, fraction) = (magnitude / 100, (magnitude % 100 * 100) as u16);
    // From the digit behind the point upwards.
    let mut digits = [fraction, (whole % BASE) as u16, 0, 0, 0];
    let mut rest = whole / BASE;
    let mut highest = if digits[1] != 0 { 1 } else { 0 };
    let mut place = 2;
    while rest != 0 && place < digits.len() {
        digits[place] = (rest % BASE) as u16;
        rest /= BASE;
        highest = place;
        place += 1;
    }
    let lowest = digits.iter().position(|digit| *digit != 0);
    let count = lowest.map_or(0, |lowest| highest + 1 - lowest);
    let weight = if count == 0 { 0 } else { highest as i16 - 1 };
    let length = 8 + 2 * count;
    let mut bytes = [0; NUMERIC];
    bytes[..4].copy_from_slice(&(length as u32).to_be_bytes());
    bytes[4..6].copy_from_slice(&(count as u16).to_be_bytes());
    bytes[6..8].copy_from_slice(&weight.to_be_bytes());
    bytes[8..10].copy_from_slice(&sign.to_be_bytes());
    bytes[10..12].copy_from_slice(&2u16.to_be_bytes());
    for (index, at) in (12..).step_by(2).take(count).enumerate() {
        bytes[at..at + 2].copy_from_slice(&digits[highest - index].to_be_bytes());
    }
    (bytes, LENGTH + length)
}

#[cfg(test)]
mod tests {
    use postgres_types::{FromSql, Type};
    use rust_decimal::Decimal;

    use super::*;

    #[test]
    fn every_decimal_reads_back_as_itself_and_has_no_digit_of_zero_at_an_end() {
        let widest = 999_999_999_999_999i64;
        let around = |power: u32| (-1..=1).map(move |distance| 10i64.pow(power) + distance);
        // Of all lengths, from a generator of 64 bits (xorshift).
        let mut random = 88_172_645_463_325_252u64;
        let mut next = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random >> (random % 60)) as i64 % widest
        };
        let drawn: Vec<i64> = (0..20_000).map(|_| next()).collect();
        let edges = (0..15).flat_map(around).chain(0..=30_000).chain([widest]);
        for hundredths in edges.chain(drawn).flat_map(|value| [value, -value]) {
            let (bytes, length) = numeric(hundredths);
            let value = &bytes[LENGTH..length];
            assert_eq!(bytes[..LENGTH], (value.len() as u32).to_be_bytes());
            assert_eq!(Decimal::from_sql(&Type::NUMERIC, value).unwrap(), Decimal::new(hundredths, 2));
            assert_eq!(value[6..8], [0, 2], "the scale of {hundredths}");
            let digits: Vec<&[u8]> = value[8..].chunks(2).collect();
            assert!(!digits.first().into_iter().chain(digits.last()).any(|digit| **digit == [0, 0]));
        }
    }
}

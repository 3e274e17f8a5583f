//! Rows in the exchange format, written column by column.

/// Appends columns, each with the separator behind it; the end of the row turns the last one into a newline.
///
/// Without `std::fmt`, which would take longer than all else that makes a row.
pub trait Columns {
    fn number(&mut self, value: impl itoa::Integer) -> &mut Self;

    /// A number of at most three digits: most columns of some tables, and many times faster than any number.
    fn small(&mut self, value: u8) -> &mut Self;

    /// A number with leading zeros.
    fn padded(&mut self, value: u32, digits: usize) -> &mut Self;

    /// A decimal number of so many units of its last place: 7, with 2 places, is `0.07`.
    fn decimal(&mut self, units: u32, places: u32) -> &mut Self;

    /// Text without separators, newlines and backslashes, or `\N` for null.
    fn text(&mut self, text: &str) -> &mut Self;

    /// What `write` appends.
    fn written(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> &mut Self;

    /// Ends a row of at least one column.
    fn end_row(&mut self);
}

/// What stands for null.
pub const NULL: &str = "\\N";

const SEPARATOR: u8 = b'|';

/// Each small number with its separator, and how many of the four bytes that takes.
const SMALL: [([u8; 4], u8); 256] = small_numbers();

const fn small_numbers() -> [([u8; 4], u8); 256] {
    let mut all = [([SEPARATOR; 4], 0); 256];
    let mut value = 0;
    while value < all.len() {
        let digits = [(value / 100) as u8, (value / 10 % 10) as u8, (value % 10) as u8];
        let mut place = if value >= 100 {
            0
        } else if value >= 10 {
            1
        } else {
            2
        };
        all[value].1 = 4 - place as u8;
        let first = place;
        while place < digits.len() {
            all[value].0[place - first] = b'0' + digits[place];
            place += 1;
        }
        value += 1;
    }
    all
}

impl Columns for Vec<u8> {
    fn number(&mut self, value: impl itoa::Integer) -> &mut Self {
        self.text(itoa::Buffer::new().format(value))
    }

    #[inline]
    fn small(&mut self, value: u8) -> &mut Self {
        let (text, length) = &SMALL[usize::from(value)];
        // Always four bytes: a copy of a fixed length is one instruction.
        let end = self.len() + usize::from(*length);
        self.extend_from_slice(text);
        self.truncate(end);
        self
    }

    fn padded(&mut self, value: u32, digits: usize) -> &mut Self {
        self.written(|out| pad(value, digits, out))
    }

    fn decimal(&mut self, units: u32, places: u32) -> &mut Self {
        let one = 10u32.pow(places);
        self.extend_from_slice(itoa::Buffer::new().format(units / one).as_bytes());
        self.push(b'.');
        self.padded(units % one, places as usize)
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.extend_from_slice(text.as_bytes());
        self.push(SEPARATOR);
        self
    }

    fn written(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> &mut Self {
        write(self);
        self.push(SEPARATOR);
        self
    }

    fn end_row(&mut self) {
        if let Some(last) = self.last_mut() {
            *last = b'\n';
        }
    }
}

fn pad(value: u32, digits: usize, out: &mut Vec<u8>) {
    let mut buffer = itoa::Buffer::new();
    let text = buffer.format(value);
    out.resize(out.len() + digits.saturating_sub(text.len()), b'0');
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn columns_stand_between_separators_and_rows_end_in_a_newline() {
        let rows = row(|out| {
            out.number(-1).text("a").written(|out| out.extend_from_slice(b"bc")).text(NULL).end_row();
            out.number(u64::MAX).end_row();
        });
        assert_eq!(rows, "-1|a|bc|\\N\n18446744073709551615\n");
    }

    #[test]
    fn small_numbers_are_written_as_any_other() {
        let all = |write: fn(&mut Vec<u8>, u8)| row(|out| (0..=u8::MAX).for_each(|value| write(out, value)));
        assert_eq!(all(|out, value| _ = out.small(value)), all(|out, value| _ = out.number(value)));
    }

    #[test]
    fn numbers_take_leading_zeros_and_places() {
        let rows = row(|out| {
            out.padded(7, 5).padded(123_456, 5).decimal(7, 2).decimal(12_345, 2).decimal(50, 4).end_row();
        });
        assert_eq!(rows, "00007|123456|0.07|123.45|0.0050\n");
    }
}

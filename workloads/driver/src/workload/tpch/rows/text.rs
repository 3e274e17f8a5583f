//! Rows as dbgen writes them: text, with a separator behind every column.
//!
//! Not by the generator's own `Display`, which goes through `std::fmt` for every column and takes several times as
//! long.

use std::fmt::Display;
use std::io::Write;
use std::sync::LazyLock;

use tpchgen::dates::{TPCHDate, MIN_GENERATE_DATE, TOTAL_DATE_RANGE};

use super::row::OneRow;
use super::{Columns, Row};

const SEPARATOR: u8 = b'|';

/// A date with its separator.
const DATE: usize = "1992-01-01|".len();

/// All dates that are generated, from the first one.
static DATES: LazyLock<Vec<[u8; DATE]>> = LazyLock::new(|| {
    let date = |index| format!("{}|", TPCHDate::new(MIN_GENERATE_DATE + index)).into_bytes();
    let fixed = |index| date(index).try_into().expect("a year has four digits");
    (0..TOTAL_DATE_RANGE).map(fixed).collect()
});

/// One row with a newline instead of the last separator; the bytes are good until the next one is written.
pub fn line<'a>(row: &impl Row, bytes: &'a mut OneRow) -> &'a [u8] {
    bytes.clear();
    row.write(&mut Text(bytes));
    bytes.replace(bytes.len() - 1, b"\n");
    bytes.bytes()
}

/// One row with a newline behind the last separator.
pub fn file_line<'a>(row: &impl Row, bytes: &'a mut OneRow) -> &'a [u8] {
    bytes.clear();
    row.write(&mut Text(bytes));
    bytes.put(b"\n");
    bytes.bytes()
}

struct Text<'a>(&'a mut OneRow);

impl Columns for Text<'_> {
    #[inline]
    fn integer(&mut self, value: i64) -> &mut Self {
        self.text(itoa::Buffer::new().format(value))
    }

    #[inline]
    fn bigint(&mut self, value: i64) -> &mut Self {
        self.integer(value)
    }

    #[inline]
    fn decimal(&mut self, hundredths: i64) -> &mut Self {
        if hundredths < 0 {
            self.0.put(b"-");
        }
        let magnitude = hundredths.unsigned_abs();
        self.0.put(itoa::Buffer::new().format(magnitude / 100).as_bytes());
        let cents = (magnitude % 100) as u8;
        self.0.put(&[b'.', b'0' + cents / 10, b'0' + cents % 10, SEPARATOR]);
        self
    }

    #[inline]
    fn whole_decimal(&mut self, value: i64) -> &mut Self {
        self.integer(value)
    }

    #[inline]
    fn date(&mut self, value: TPCHDate) -> &mut Self {
        self.0.put(&DATES[value.into_inner() as usize]);
        self
    }

    #[inline]
    fn text(&mut self, value: &str) -> &mut Self {
        self.0.put(value.as_bytes());
        self.0.put(&[SEPARATOR]);
        self
    }

    fn parts(&mut self, value: &impl Display) -> &mut Self {
        write!(self.0, "{value}|").expect("the row has room for the longest text");
        self
    }
}

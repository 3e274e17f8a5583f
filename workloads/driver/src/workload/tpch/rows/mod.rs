//! The generator's rows column by column, and the forms in which they are written.

mod binary;
mod row;
mod text;

use std::fmt::Display;

use tpchgen::dates::TPCHDate;
use tpchgen::generators::{Customer, LineItem, Nation, Order, Part, PartSupp, Region, Supplier};

use row::OneRow;

/// What a table's row consists of.
pub trait Row {
    /// Writes all columns, in the order of the table.
    fn write(&self, columns: &mut impl Columns);
}

/// Takes the columns of a row, by their types in the database.
pub trait Columns {
    fn integer(&mut self, value: i64) -> &mut Self;
    fn bigint(&mut self, value: i64) -> &mut Self;
    /// `numeric(15, 2)`.
    fn decimal(&mut self, hundredths: i64) -> &mut Self;
    /// `numeric(15, 2)` that dbgen writes without places.
    fn whole_decimal(&mut self, value: i64) -> &mut Self;
    fn date(&mut self, value: TPCHDate) -> &mut Self;
    fn text(&mut self, value: &str) -> &mut Self;
    /// Text that the generator keeps in parts.
    fn parts(&mut self, value: &impl Display) -> &mut Self;
}

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// [`crate::engine::RowFormat::Binary`].
    Binary,
    /// [`crate::engine::RowFormat::Text`]: `a|b|c` and a newline.
    Text,
    /// Lines of dbgen's files: `a|b|c|` and a newline.
    File,
}

/// Rows in one form.
struct Written<I> {
    rows: I,
    form: Form,
    row: OneRow,
    /// In binary form what the last call has written as [`Form::Text`]: the digest is the same for every engine.
    digested: Vec<u8>,
}

/// Rows for a table, in a form.
pub fn written<I: Iterator<Item: Row> + 'static>(rows: I, form: Form) -> Box<dyn crate::load::Rows> {
    Box::new(Written { rows, form, row: OneRow::default(), digested: Vec::new() })
}

impl<I: Iterator<Item: Row>> crate::load::Rows for Written<I> {
    fn fill(&mut self, out: &mut Vec<u8>, enough: usize) -> u64 {
        let mut rows = 0;
        self.digested.clear();
        while out.len() < enough {
            let Some(row) = self.rows.next() else { break };
            match self.form {
                Form::Binary => out.extend_from_slice(binary::encode(&row, &mut self.row)),
                Form::Text => {
                    out.extend_from_slice(text::line(&row, &mut self.row));
                    self.digested.extend_from_slice(binary::encode(&row, &mut self.row));
                }
                Form::File => out.extend_from_slice(text::file_line(&row, &mut self.row)),
            }
            rows += 1;
        }
        rows
    }

    fn digested<'a>(&'a self, written: &'a [u8]) -> &'a [u8] {
        match self.form {
            Form::Text => &self.digested,
            Form::Binary | Form::File => written,
        }
    }
}

impl Row for LineItem<'_> {
    fn write(&self, columns: &mut impl Columns) {
        columns
            .bigint(self.l_orderkey)
            .integer(self.l_partkey)
            .integer(self.l_suppkey)
            .integer(self.l_linenumber.into())
            .whole_decimal(self.l_quantity)
            .decimal(self.l_extendedprice.0)
            .decimal(self.l_discount.0)
            .decimal(self.l_tax.0)
            .text(self.l_returnflag)
            .text(self.l_linestatus)
            .date(self.l_shipdate)
            .date(self.l_commitdate)
            .date(self.l_receiptdate)
            .text(self.l_shipinstruct)
            .text(self.l_shipmode)
            .text(self.l_comment);
    }
}

impl Row for Order<'_> {
    fn write(&self, columns: &mut impl Columns) {
        columns
            .bigint(self.o_orderkey)
            .integer(self.o_custkey)
            .text(self.o_orderstatus.as_str())
            .decimal(self.o_totalprice.0)
            .date(self.o_orderdate)
            .text(self.o_orderpriority)
            .parts(&self.o_clerk)
            .integer(self.o_shippriority.into())
            .text(self.o_comment);
    }
}

impl Row for PartSupp<'_> {
    fn write(&self, columns: &mut impl Columns) {
        columns
            .integer(self.ps_partkey)
            .integer(self.ps_suppkey)
            .integer(self.ps_availqty.into())
            .decimal(self.ps_supplycost.0)
            .text(self.ps_comment);
    }
}

impl Row for Part<'_> {
    fn write(&self, columns: &mut impl Columns) {
        columns
            .integer(self.p_partkey)
            .parts(&self.p_name)
            .parts(&self.p_mfgr)
            .parts(&self.p_brand)
            .text(self.p_type)
            .integer(self.p_size.into())
            .text(self.p_container)
            .decimal(self.p_retailprice.0)
            .text(self.p_comment);
    }
}

impl Row for Customer<'_> {
    fn write(&self, columns: &mut impl Columns) {
        columns
            .integer(self.c_custkey)
            .parts(&self.c_name)
            .parts(&self.c_address)
            .integer(self.c_nationkey)
            .parts(&self.c_phone)
            .decimal(self.c_acctbal.0)
            .text(self.c_mktsegment)
            .text(self.c_comment);
    }
}

impl Row for Supplier {
    fn write(&self, columns: &mut impl Columns) {
        columns
            .integer(self.s_suppkey)
            .parts(&self.s_name)
            .parts(&self.s_address)
            .integer(self.s_nationkey)
            .parts(&self.s_phone)
            .decimal(self.s_acctbal.0)
            .text(&self.s_comment);
    }
}

impl Row for Nation<'_> {
    fn write(&self, columns: &mut impl Columns) {
        columns.integer(self.n_nationkey).text(self.n_name).integer(self.n_regionkey).text(self.n_comment);
    }
}

impl Row for Region<'_> {
    fn write(&self, columns: &mut impl Columns) {
        columns.integer(self.r_regionkey).text(self.r_name).text(self.r_comment);
    }
}

#[cfg(test)]
mod tests {
    use tpchgen::generators::{
        CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator,
        PartSuppGenerator, RegionGenerator, SupplierGenerator,
    };

    use tpchgen::decimal::TPCHDecimal;

    use super::*;

    /// Bytes of the rows, and those for the digest.
    fn all<I: Iterator<Item: Row> + 'static>(rows: I, form: Form) -> (Vec<u8>, Vec<u8>) {
        let mut rows = written(rows, form);
        let (mut bytes, mut digested) = (Vec::new(), Vec::new());
        loop {
            let mut message = Vec::new();
            if rows.fill(&mut message, 1000) == 0 {
                return (bytes, digested);
            }
            digested.extend_from_slice(rows.digested(&message));
            bytes.extend_from_slice(&message);
        }
    }

    /// All forms of a table's rows; `expected` are its lines as the generator itself writes them.
    fn forms<I: Iterator<Item: Row + Display> + Clone + 'static>(rows: I, columns: u16) {
        let expected: String = rows.clone().map(|row| format!("{row}\n")).collect();
        assert_eq!(String::from_utf8(all(rows.clone(), Form::File).0).unwrap(), expected);
        let (text, digested) = all(rows.clone(), Form::Text);
        assert_eq!(String::from_utf8(text).unwrap(), expected.replace("|\n", "\n"));
        let (binary, of_binary) = all(rows.clone(), Form::Binary);
        assert_eq!(binary, of_binary);
        assert_eq!(binary, digested, "the digest depends on the form");
        // Every row begins with the number of its columns, every column with its length.
        let mut rest = binary.as_slice();
        for row in rows {
            assert_eq!(rest[..2], columns.to_be_bytes(), "{row}");
            rest = &rest[2..];
            for _ in 0..columns {
                let length = u32::from_be_bytes(rest[..4].try_into().unwrap());
                rest = &rest[4 + length as usize..];
            }
        }
        assert!(rest.is_empty());
    }

    #[test]
    fn text_is_the_generators_own_and_the_digest_the_same_in_every_form() {
        let (scale, part, parts) = (0.01, 1, 1);
        forms(LineItemGenerator::new(scale, part, 10).iter().collect::<Vec<_>>().into_iter(), 16);
        forms(OrderGenerator::new(scale, part, parts).iter().collect::<Vec<_>>().into_iter(), 9);
        forms(PartSuppGenerator::new(scale, part, parts).iter().collect::<Vec<_>>().into_iter(), 5);
        forms(PartGenerator::new(scale, part, parts).iter().collect::<Vec<_>>().into_iter(), 9);
        forms(CustomerGenerator::new(scale, part, parts).iter().collect::<Vec<_>>().into_iter(), 8);
        forms(SupplierGenerator::new(scale, part, parts).iter().collect::<Vec<_>>().into_iter(), 7);
        forms(NationGenerator::new(scale, part, parts).iter().collect::<Vec<_>>().into_iter(), 4);
        forms(RegionGenerator::new(scale, part, parts).iter().collect::<Vec<_>>().into_iter(), 3);
    }

    #[test]
    fn negative_amounts_keep_their_sign_and_their_zeros() {
        let line = |hundredths| {
            let mut row = OneRow::default();
            let supplier = Supplier { s_acctbal: TPCHDecimal(hundredths), ..a_supplier() };
            let line = String::from_utf8(text::line(&supplier, &mut row).to_vec()).unwrap();
            line.split('|').nth(5).unwrap().to_string()
        };
        let written: Vec<String> = [0, 7, -7, 100, -100, -99_999, 999_999_999_999].map(line).into();
        assert_eq!(written, ["0.00", "0.07", "-0.07", "1.00", "-1.00", "-999.99", "9999999999.99"]);
    }

    fn a_supplier() -> Supplier {
        SupplierGenerator::new(0.01, 1, 1).iter().next().unwrap()
    }
}

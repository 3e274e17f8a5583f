//! The scale factor.

use std::collections::HashSet;
use std::str::FromStr;

use tpchgen::generators::PartSuppGeneratorIterator;

/// A scale factor from 0.01 to 10000 (above that, part keys outgrow their column) with one spelling: no superfluous zeros, no exponent.
#[derive(Debug, Clone, PartialEq)]
pub struct ScaleFactor {
    text: String,
    value: f64,
}

impl ScaleFactor {
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn value(&self) -> f64 {
        self.value
    }
}

impl FromStr for ScaleFactor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if text.is_empty() || text == "." || !digits(whole) || !digits(fraction) {
            return Err("must be a decimal number such as 0.01, 1 or 10".into());
        }
        let whole = whole.trim_start_matches('0');
        let fraction = fraction.trim_end_matches('0');
        let mut canonical = if whole.is_empty() { "0".to_string() } else { whole.to_string() };
        if !fraction.is_empty() {
            canonical = format!("{canonical}.{fraction}");
        }
        let value: f64 = canonical.parse().map_err(|_| "must be a decimal number".to_string())?;
        if !(0.01..=10_000.0).contains(&value) {
            return Err("must be between 0.01 and 10000".into());
        }
        if !suppliers_differ(value) {
            return Err(
                "has too few suppliers: the rule of clause 4.2.3 would give a part the same supplier \
                        twice (0.01, 0.02 and everything from 0.03 on are fine)"
                    .into(),
            );
        }
        Ok(ScaleFactor { text: canonical, value })
    }
}

/// Whether every part gets four different suppliers. The rule depends on the part key by steps of the number
/// of suppliers, so that one part of each step is enough to know.
fn suppliers_differ(value: f64) -> bool {
    let suppliers = (value * 10_000.0) as i64;
    let parts = (value * 200_000.0) as i64;
    (1..=parts).step_by(suppliers.max(1) as usize).all(|part| {
        let supplier = |number| PartSuppGeneratorIterator::select_part_supplier(part, number, value);
        let chosen: HashSet<i64> = (0..4).map(supplier).collect();
        chosen.len() == 4
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_scale_factors_have_equal_text() {
        for (given, expected) in [("1", "1"), ("1.0", "1"), ("01", "1"), ("0.010", "0.01"), (".5", "0.5")] {
            assert_eq!(given.parse::<ScaleFactor>().unwrap().text(), expected);
        }
    }

    #[test]
    fn scale_factors_with_too_few_suppliers_are_refused() {
        assert!("0.012".parse::<ScaleFactor>().unwrap_err().contains("suppliers"));
        for given in ["0.01", "0.02", "0.03", "0.05", "0.1", "0.3", "1", "3", "10000"] {
            assert!(given.parse::<ScaleFactor>().is_ok(), "{given}");
        }
        for hundredths in 3..200 {
            assert!(suppliers_differ(f64::from(hundredths) / 100.0), "{hundredths}");
        }
        // Every scale factor of a whole number of suppliers in the range that the message promises.
        for suppliers in 300..3000 {
            assert!(suppliers_differ(f64::from(suppliers) / 10_000.0), "{suppliers}");
        }
    }

    #[test]
    fn zero_negative_and_strange_scale_factors_are_refused() {
        for given in ["0", "0.0", "-1", "1e3", "NaN", "inf", "", ".", "1,5", "0.0001", "0.001", "10001"] {
            assert!(given.parse::<ScaleFactor>().is_err(), "{given}");
        }
    }
}

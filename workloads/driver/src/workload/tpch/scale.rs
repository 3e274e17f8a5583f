//! The scale factor.

use std::str::FromStr;

/// A scale factor from 0.001 to 10000 (above that, part keys outgrow their column) with one spelling: no superfluous zeros, no exponent.
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
        if !(0.001..=10_000.0).contains(&value) {
            return Err("must be between 0.001 and 10000".into());
        }
        Ok(ScaleFactor { text: canonical, value })
    }
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
    fn zero_negative_and_strange_scale_factors_are_refused() {
        for given in ["0", "0.0", "-1", "1e3", "NaN", "inf", "", ".", "1,5", "0.0001", "10001"] {
            assert!(given.parse::<ScaleFactor>().is_err(), "{given}");
        }
    }
}

//! Last names of customers (clause 4.3.2.3).

const SYLLABLES: [&str; 10] =
    ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];

/// The last name of a number from 0 to 999: a syllable for each of its three digits.
pub fn last_name(number: i64) -> String {
    let digit = |divisor: i64| SYLLABLES[(number / divisor % 10) as usize];
    [digit(100), digit(10), digit(1)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_digits() {
        assert_eq!(last_name(0), "BARBARBAR");
        assert_eq!(last_name(371), "PRICALLYOUGHT");
        assert_eq!(last_name(999), "EINGEINGEING");
    }

    #[test]
    fn all_thousand_names_differ_and_fit_their_column() {
        let names: std::collections::HashSet<String> = (0..1000).map(last_name).collect();
        assert_eq!(names.len(), 1000);
        assert!(names.iter().all(|name| name.len() <= 16));
    }
}

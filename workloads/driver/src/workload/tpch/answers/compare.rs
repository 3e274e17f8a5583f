//! Comparing an answer with its reference by the rules of clause 2.1.3.5.

use rust_decimal::{Decimal, RoundingStrategy};
use sha2::{Digest, Sha256};

use super::reference::Expected;
use super::rules::{Precision, Rules};
use crate::engine::Answer;

type Row = [Option<String>];

/// What is wrong with the answer, if anything: the first difference.
pub fn difference(rules: &Rules, expected: &Expected, answer: &Answer) -> Option<String> {
    if let Some(row) = answer.iter().find(|row| row.len() != rules.columns.len()) {
        return Some(format!("{} columns, expected {}", row.len(), rules.columns.len()));
    }
    match expected {
        Expected::Rows(rows) => of_rows(rules, rows, answer),
        Expected::Digest { rows, digest } => of_digest(*rows, digest, answer),
    }
}

fn counts(expected: usize, found: usize) -> Option<String> {
    (expected != found).then(|| format!("{found} rows, expected {expected}"))
}

fn of_digest(rows: usize, expected: &str, answer: &Answer) -> Option<String> {
    let mut hash = Sha256::new();
    for row in answer {
        let cells: Vec<&str> = row.iter().map(|cell| cell.as_deref().unwrap_or("\\N")).collect();
        hash.update(cells.join("|").as_bytes());
        hash.update(b"\n");
    }
    let found: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    counts(rows, answer.len()).or_else(|| {
        (found != expected).then(|| format!("the {rows} rows have the digest {found}, expected {expected}"))
    })
}

/// `expected` holds, beyond the limit, the rows that tie with the last one inside it: any of them may
/// stand in the answer.
fn of_rows(rules: &Rules, expected: &Answer, answer: &Answer) -> Option<String> {
    let wanted = rules.limit.map_or(expected.len(), |limit| limit.min(expected.len()));
    if let Some(difference) = counts(wanted, answer.len()) {
        return Some(difference);
    }
    let tied = |a: &Row, b: &Row| rules.order.iter().all(|column| a[*column] == b[*column]);
    let mut number = 0;
    for group in expected.chunk_by(|a, b| !rules.order.is_empty() && tied(a, b)) {
        let mut left: Vec<&Vec<Option<String>>> = group.iter().collect();
        for row in answer.iter().skip(number).take(group.len()) {
            number += 1;
            let unlike: Vec<Option<String>> = left.iter().map(|other| unlike(rules, other, row)).collect();
            match unlike.iter().position(Option::is_none) {
                Some(match_at) => drop(left.swap_remove(match_at)),
                None => {
                    let first = unlike.into_iter().flatten().next().unwrap_or_default();
                    return Some(format!("row {number}, {first}"));
                }
            }
        }
    }
    None
}

fn unlike(rules: &Rules, expected: &Row, found: &Row) -> Option<String> {
    let column = (0..rules.columns.len()).find(|column| {
        !close(rules.columns[*column], expected[*column].as_deref(), found[*column].as_deref())
    })?;
    let show = |cell: &Option<String>| cell.clone().unwrap_or_else(|| "null".into());
    Some(format!("column {}: {}, expected {}", column + 1, show(&found[column]), show(&expected[column])))
}

fn close(precision: Precision, expected: Option<&str>, found: Option<&str>) -> bool {
    let (Some(expected), Some(found)) = (expected, found) else { return expected == found };
    if precision == Precision::Exact && expected == found {
        return true;
    }
    let (Some(expected), Some(found)) = (number(expected), number(found)) else { return false };
    match precision {
        Precision::Exact => expected == found,
        Precision::Sum => within_100(expected, found),
        Precision::Average => within_1_percent(expected, found),
        Precision::RatioOfSums => within_1_percent(expected, found) && within_100(expected, found),
    }
}

fn number(text: &str) -> Option<Decimal> {
    text.parse().ok().or_else(|| Decimal::from_scientific(text).ok())
}

fn within_100(expected: Decimal, found: Decimal) -> bool {
    (expected - found).abs() <= Decimal::ONE_HUNDRED
}

/// `0.99 v <= round(r, 2) <= 1.01 v`, where v has the two decimals that the specification prints.
fn within_1_percent(expected: Decimal, found: Decimal) -> bool {
    let round = |value: Decimal| value.round_dp_with_strategy(2, RoundingStrategy::MidpointAwayFromZero);
    let (v, r) = (round(expected), round(found));
    (r - v).abs() <= v.abs() / Decimal::ONE_HUNDRED
}

#[cfg(test)]
mod tests {
    use super::super::rules;
    use super::*;

    fn rows(text: &str) -> Answer {
        text.lines().map(|line| line.split('|').map(|cell| Some(cell.to_string())).collect()).collect()
    }

    fn differ(query: u8, expected: &str, answer: &str) -> Option<String> {
        difference(rules::of(query), &Expected::Rows(rows(expected)), &rows(answer))
    }

    #[test]
    fn counts_and_single_values_are_exact() {
        assert_eq!(differ(4, "1-URGENT|999\n2-HIGH|997", "1-URGENT|999\n2-HIGH|997"), None);
        let wrong = differ(4, "1-URGENT|999\n2-HIGH|997", "1-URGENT|999\n2-HIGH|998").unwrap();
        assert_eq!(wrong, "row 2, column 2: 998, expected 997");
        assert!(differ(4, "1-URGENT|999", "1-urgent|999").is_some());
        // The same number in another notation is the same number.
        assert_eq!(differ(18, "a|1|2|1995-01-01|10.50|300.00", "a|1|2|1995-01-01|10.5|300"), None);
        // Comment 4: the sum of quantities is exact, although it is a sum.
        assert!(differ(18, "a|1|2|1995-01-01|10.50|300.00", "a|1|2|1995-01-01|10.50|301.00").is_some());
    }

    #[test]
    fn sums_may_be_100_dollars_off() {
        assert_eq!(differ(6, "123141078.2283", "123141178.2283"), None);
        assert!(differ(6, "123141078.2283", "123141178.2284").is_some());
        assert!(differ(6, "123141078.2283", "123140978.2282").is_some());
    }

    #[test]
    fn ratios_may_be_one_percent_off_after_rounding_to_hundredths() {
        assert_eq!(differ(14, "16.380778626395540147992", "16.5379"), None);
        assert!(differ(14, "16.380778626395540147992", "16.5500").is_some());
        // Both round to 0.03, as the specification prints it.
        assert_eq!(differ(8, "1995|0.0344358904066548", "1995|0.0345"), None);
        assert!(differ(8, "1995|0.0344358904066548", "1995|0.0355").is_some());
        // Comment 1: and not more than 100 dollars.
        assert!(differ(17, "348406.05428571", "349406.05").is_some());
    }

    #[test]
    fn tied_rows_come_in_any_order_and_others_in_theirs() {
        let expected =
            "1|50.0000|1995-01-01|0\n2|40.0000|1995-01-02|0\n3|40.0000|1995-01-02|0\n4|30.0000|1995-01-01|0";
        let swapped =
            "1|50.0000|1995-01-01|0\n3|40.0000|1995-01-02|0\n2|40.0000|1995-01-02|0\n4|30.0000|1995-01-01|0";
        assert_eq!(differ(3, expected, swapped), None);
        let wrong =
            "2|40.0000|1995-01-02|0\n1|50.0000|1995-01-01|0\n3|40.0000|1995-01-02|0\n4|30.0000|1995-01-01|0";
        assert!(differ(3, expected, wrong).unwrap().starts_with("row 1"));
        // No row may be used twice.
        let doubled =
            "1|50.0000|1995-01-01|0\n2|40.0000|1995-01-02|0\n2|40.0000|1995-01-02|0\n4|30.0000|1995-01-01|0";
        assert!(differ(3, expected, doubled).unwrap().starts_with("row 3"));
    }

    #[test]
    fn rows_that_tie_across_the_limit_may_stand_for_each_other() {
        let row = |key: u32, revenue: u32| format!("{key}|{revenue}.0000|1995-01-01|0\n");
        let before: String = (1..=9).map(|key| row(key, 1000 - key)).collect();
        let expected = before.clone() + &row(10, 5) + &row(11, 5) + &row(12, 5);
        for last in [10, 11, 12] {
            assert_eq!(differ(3, &expected, &(before.clone() + &row(last, 5))), None, "{last}");
        }
        assert!(differ(3, &expected, &(before.clone() + &row(13, 5))).is_some());
        assert_eq!(differ(3, &expected, &expected).unwrap(), "12 rows, expected 10");
    }

    #[test]
    fn a_long_answer_is_compared_by_its_digest() {
        let answer = rows("Brand#11|PROMO TIN|3|4");
        let digest = "41cb8f03b8c1fe16a5d96b5f2e31e1d0".to_string();
        let wrong = difference(rules::of(16), &Expected::Digest { rows: 1, digest }, &answer).unwrap();
        assert!(wrong.starts_with("the 1 rows have the digest"), "{wrong}");
        let digest = "14fd72f5778146e6652ef106abc14f294a9277812b5a7c13b277b26302f58c54".to_string();
        let right = Expected::Digest { rows: 1, digest };
        assert_eq!(difference(rules::of(16), &right, &answer), None);
        assert!(difference(rules::of(16), &right, &rows("Brand#11|PROMO TIN|3|5")).is_some());
        assert!(difference(rules::of(16), &right, &rows("Brand#11|PROMO TIN|3"))
            .unwrap()
            .starts_with("3 columns"));
    }
}

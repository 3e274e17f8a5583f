//! The shape of a query plan of Hyper, apart from the values in it.

use crate::engine::fingerprint;

/// The fingerprint of the tree that `EXPLAIN` drew: operators, tables, ways to join, and no values.
/// (The plan as JSON has them, and is refused for queries that compare a `char` column.)
pub fn fingerprint(drawn: &str) -> Option<String> {
    let lines: Vec<&str> = drawn.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() {
        return None;
    }
    Some(fingerprint::of_shape(&lines.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fingerprint_follows_the_drawing_and_not_its_margin() {
        let one = fingerprint(" join(1)\n hash\n\nscan(2)  scan(3)\na        b  ").unwrap();
        assert_eq!(one.len(), 16);
        assert_eq!(Some(&one), fingerprint(" join(1)  \n hash\nscan(2)  scan(3)\na        b").as_ref());
        assert_ne!(Some(&one), fingerprint(" join(1)\n hash\nscan(2)  scan(3)\nb        a").as_ref());
        assert_eq!(fingerprint(" \n"), None);
    }
}

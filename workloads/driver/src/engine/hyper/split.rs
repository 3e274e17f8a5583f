//! Scripts, cut into statements: Hyper takes one in each message.

/// The statements of a script, without their semicolons. Quoted text, quoted names and comments may hold
/// semicolons of their own.
pub fn statements(script: &str) -> Vec<&str> {
    let bytes = script.as_bytes();
    let (mut found, mut start, mut at) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        match bytes[at] {
            quote @ (b'\'' | b'"') => at = after(bytes, at + 1, &[quote]),
            b'-' if bytes[at..].starts_with(b"--") => at = after(bytes, at, b"\n"),
            b'/' if bytes[at..].starts_with(b"/*") => at = after(bytes, at + 2, b"*/"),
            b';' => {
                found.push(&script[start..at]);
                at += 1;
                start = at;
            }
            _ => at += 1,
        }
    }
    found.push(&script[start..]);
    found.into_iter().map(str::trim).filter(|statement| !statement.is_empty()).collect()
}

/// Where to go on after the next `end`.
fn after(bytes: &[u8], from: usize, end: &[u8]) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    rest.windows(end.len()).position(|window| window == end).map_or(bytes.len(), |at| from + at + end.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn semicolons_end_statements_only_outside_of_quotes_and_comments() {
        assert_eq!(statements("a; b ;\n"), ["a", "b"]);
        assert_eq!(statements("SELECT 'x;''y;' ; SELECT \";\""), ["SELECT 'x;''y;'", "SELECT \";\""]);
        assert_eq!(statements("a -- b; c\n; d /* ; */ e"), ["a -- b; c", "d /* ; */ e"]);
        assert_eq!(statements(" ; "), Vec::<&str>::new());
        assert_eq!(statements("SELECT 'open;"), ["SELECT 'open;"]);
    }
}

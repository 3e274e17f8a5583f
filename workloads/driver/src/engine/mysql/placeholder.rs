//! From the driver's parameters `$1`, `$2` to MySQL's `?`, which know no order but their own.

/// The statement with `?` for each `$n`, and for each `?` which value it takes, counted from 0.
pub fn translate(sql: &str) -> (String, Vec<usize>) {
    let bytes = sql.as_bytes();
    let (mut text, mut order) = (String::with_capacity(sql.len()), Vec::new());
    let (mut at, mut copied) = (0, 0);
    while at < bytes.len() {
        let number = match bytes[at] {
            b'$' if at == 0 || !in_name(bytes[at - 1]) => {
                bytes[at + 1..].iter().take_while(|b| b.is_ascii_digit()).count()
            }
            _ => 0,
        };
        let value = sql.get(at + 1..at + 1 + number).and_then(|digits| digits.parse::<usize>().ok());
        match value.and_then(|value| value.checked_sub(1)) {
            Some(value) => {
                text.push_str(&sql[copied..at]);
                text.push('?');
                order.push(value);
                at += 1 + number;
                copied = at;
            }
            None => at = skip(bytes, at),
        }
    }
    text.push_str(&sql[copied..]);
    (text, order)
}

fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || !byte.is_ascii()
}

/// The place after the character, quoted text or comment that begins at `at`.
fn skip(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    match rest {
        [quote @ (b'\'' | b'"' | b'`'), ..] => quoted(bytes, at + 1, *quote),
        [b'#', ..] | [b'-', b'-', b' ' | b'\t' | b'\n', ..] => {
            rest.iter().position(|b| *b == b'\n').map_or(bytes.len(), |end| at + end + 1)
        }
        [b'/', b'*', ..] => {
            rest[2..].windows(2).position(|pair| pair == b"*/").map_or(bytes.len(), |end| at + end + 4)
        }
        // The next character: the statement is UTF-8, and places in it must not fall into one.
        _ => (at + 1..bytes.len()).find(|next| bytes[*next] & 0xc0 != 0x80).unwrap_or(bytes.len()),
    }
}

/// The place after the closing quote. A doubled quote opens the text again, which comes to the same.
fn quoted(bytes: &[u8], mut at: usize, quote: u8) -> usize {
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if quote != b'`' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_may_repeat_and_come_in_any_order() {
        let (sql, order) = translate("UPDATE t SET a = a - $1, b = b + $1, c = $12 WHERE d = $2");
        assert_eq!(sql, "UPDATE t SET a = a - ?, b = b + ?, c = ? WHERE d = ?");
        assert_eq!(order, [0, 0, 11, 1]);
        assert_eq!(translate("SELECT 1"), ("SELECT 1".into(), vec![]));
        assert_eq!(translate("$2,$1"), ("?,?".into(), vec![1, 0]));
    }

    #[test]
    fn quoted_text_names_and_comments_are_left_alone() {
        for sql in [
            "SELECT '$1', 'it''s $1', 'a\\'$1', \"$1\", `$1`, `a\\` FROM t",
            "SELECT 1 -- $1\n, 2 # $1\n, 3 /* $1 ' */",
            "SELECT a$1, $x, $, $0, 'é$1', é$1",
            "SELECT 'open $1",
            "SELECT 1 /* open $1",
        ] {
            assert_eq!(translate(sql), (sql.to_string(), vec![]), "{sql}");
        }
        assert_eq!(translate("SELECT '''$1' -$1--$2").0, "SELECT '''$1' -?--?");
        assert_eq!(translate("SELECT 'é', $1"), ("SELECT 'é', ?".into(), vec![0]));
    }
}

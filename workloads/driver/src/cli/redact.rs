//! Messages about arguments repeat them; passwords in them are covered.

/// Replaces what stands between `:` and `@` in the authority of every URL, and what follows `password=`.
pub fn passwords(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let end = after.find(|c: char| c.is_whitespace() || matches!(c, '\'' | '"')).unwrap_or(after.len());
        let (word, tail) = after.split_at(end);
        // A password may contain '/', so the last '@' of the word ends the user part.
        match word.rfind('@').and_then(|host| word[..host].find(':').map(|colon| (colon, host))) {
            Some((colon, host)) => {
                out.push_str(&word[..=colon]);
                out.push_str("***");
                out.push_str(&word[host..]);
            }
            None => out.push_str(word),
        }
        rest = tail;
    }
    out.push_str(rest);
    cover_assignment(&out)
}

fn cover_assignment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("password=") {
        let (before, after) = rest.split_at(at + "password=".len());
        out.push_str(before);
        out.push_str("***");
        let end =
            after.find(|c: char| c.is_whitespace() || matches!(c, '&' | '\'' | '"')).unwrap_or(after.len());
        rest = &after[end..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_in_urls_are_covered() {
        assert_eq!(passwords("got 'postgres://u:p@h/d' here"), "got 'postgres://u:***@h/d' here");
        assert_eq!(passwords("postgres://u:p/q@r@h:1/d"), "postgres://u:***@h:1/d");
        assert_eq!(passwords("postgres://u@h?password=s3&x=1"), "postgres://u@h?password=***&x=1");
    }

    #[test]
    fn text_without_passwords_stays() {
        for text in ["no url", "postgres://u@h:5432/d", "http://h:9590 and http://x"] {
            assert_eq!(passwords(text), text);
        }
    }
}

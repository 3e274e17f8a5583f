//! Which settings of a server may be written into a document.

use std::collections::BTreeMap;

/// The settings among rows of name and value that may be recorded. `secret` is the password of the
/// driver's own connection.
pub fn recorded(rows: Vec<Vec<String>>, secret: Option<&str>) -> BTreeMap<String, String> {
    let pairs = rows.into_iter().filter_map(|mut row| {
        row.truncate(2);
        <[String; 2]>::try_from(row).ok()
    });
    pairs.filter(|[name, value]| recordable(name, value, secret)).map(|[name, value]| (name, value)).collect()
}

/// Settings whose value is, or may hold, a password or a command with one.
const SECRET: [&str; 2] = ["primary_conninfo", "ssl_passphrase_command"];

/// Whether a setting may be recorded.
fn recordable(name: &str, value: &str, secret: Option<&str>) -> bool {
    if SECRET.contains(&name) {
        return false;
    }
    // Settings of extensions have a dot in their name and are not known here.
    let lower = name.to_ascii_lowercase();
    if lower.contains('.') && ["password", "secret", "token", "key"].iter().any(|word| lower.contains(word)) {
        return false;
    }
    !holds(value, secret)
}

/// Whether a value holds the password. One that merely equals a short, common password such as "on" is no leak of it.
pub fn holds(value: &str, secret: Option<&str>) -> bool {
    secret.is_some_and(|secret| secret.len() >= 6 && value.contains(secret))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_with_secrets_are_left_out_and_no_others() {
        assert!(recordable("shared_buffers", "16384", Some("hunter2")));
        assert!(recordable("password_encryption", "scram-sha-256", Some("hunter2")));
        assert!(!recordable("primary_conninfo", "host=a password=b", None));
        assert!(!recordable("vault.token", "abc", None));
        assert!(!recordable("archive_command", "curl -u me:hunter2 %p", Some("hunter2")));
        assert!(recordable("archive_command", "cp %p /archive", Some("hunter2")));
    }
}

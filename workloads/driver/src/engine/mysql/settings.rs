//! Which settings of a server may be written into a document.

use crate::engine::settings::holds;

/// Settings whose value is, or may hold, a password.
const SECRET: [&str; 3] = ["report_password", "wsrep_sst_auth", "wsrep_provider_options"];

/// Whether a setting may be recorded. `secret` is the password of the driver's own connection.
pub fn recordable(name: &str, value: &str, secret: Option<&str>) -> bool {
    let lower = name.to_ascii_lowercase();
    // Settings of plugins are not known here.
    if SECRET.contains(&lower.as_str()) || ["secret", "token"].iter().any(|word| lower.contains(word)) {
        return false;
    }
    !holds(value, secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_with_secrets_are_left_out_and_no_others() {
        assert!(recordable("innodb_buffer_pool_size", "134217728", Some("hunter2")));
        assert!(recordable("strict_password_validation", "ON", Some("hunter2")));
        assert!(!recordable("report_password", "x", None));
        assert!(!recordable("hashicorp_key_management_token", "abc", None));
        assert!(!recordable("init_connect", "SET @a = 'hunter2'", Some("hunter2")));
        assert!(recordable("init_connect", "SET @a = 1", Some("hunter2")));
    }
}

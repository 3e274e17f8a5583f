//! The modes: what a connection must have.

use std::path::{Path, PathBuf};

/// `sslmode` with its `sslrootcert`. `prefer` and `allow` are none: with them the server decides what is measured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum SslMode {
    /// No TLS.
    #[default]
    Disable,
    /// TLS, with whoever answers.
    Require,
    /// TLS, with a server whose certificate one of these has issued.
    VerifyCa(PathBuf),
    /// TLS, with a server whose certificate one of these has issued for the host's name. Without a file: one
    /// of the public certification authorities that the driver knows.
    VerifyFull(Option<PathBuf>),
}

/// Names of the modes.
const MODES: &str = "disable, require, verify-ca or verify-full";

impl SslMode {
    /// From libpq's parameters; the message begins with what is wrong. Values are not repeated.
    pub fn parse(
        mode: Option<&str>,
        root_certificates: Option<&Path>,
    ) -> Result<Self, (&'static str, String)> {
        let given = root_certificates.map(Path::to_path_buf);
        match (mode, given) {
            (None, Some(_)) => Err((
                "sslmode",
                "is missing, and there are root certificates: write verify-full, or disable for no TLS".into(),
            )),
            (None | Some("disable"), _) => Ok(SslMode::Disable),
            (Some("require"), None) => Ok(SslMode::Require),
            // As libpq does, for the sake of old settings.
            (Some("require" | "verify-ca"), Some(file)) => Ok(SslMode::VerifyCa(file)),
            (Some("verify-ca"), None) => Err((
                "sslrootcert",
                "is missing: verify-ca needs the certificate of your own authority, for a public one certifies \
                 anybody; without it, write verify-full"
                    .into(),
            )),
            (Some("verify-full"), file) => Ok(SslMode::VerifyFull(file)),
            (Some("prefer" | "allow"), _) => Err((
                "sslmode",
                format!("is prefer or allow: the server would decide what is measured; write {MODES}"),
            )),
            (Some(_), _) => Err(("sslmode", format!("must be one of {MODES}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_those_of_libpq_in_which_the_client_decides() {
        let file = || PathBuf::from("ca.crt");
        for (mode, root, expected) in [
            (None, None, SslMode::Disable),
            (Some("disable"), Some(file()), SslMode::Disable),
            (Some("require"), None, SslMode::Require),
            (Some("require"), Some(file()), SslMode::VerifyCa(file())),
            (Some("verify-ca"), Some(file()), SslMode::VerifyCa(file())),
            (Some("verify-full"), Some(file()), SslMode::VerifyFull(Some(file()))),
            (Some("verify-full"), None, SslMode::VerifyFull(None)),
        ] {
            assert_eq!(SslMode::parse(mode, root.as_deref()).unwrap(), expected);
        }
    }

    #[test]
    fn what_says_too_little_is_refused_by_name() {
        for (mode, root, name, says) in [
            (Some("prefer"), None, "sslmode", "the server would decide"),
            (Some("allow"), None, "sslmode", "the server would decide"),
            (Some("Require"), None, "sslmode", MODES),
            (Some(""), None, "sslmode", MODES),
            (Some("verify-ca"), None, "sslrootcert", "your own authority"),
            (None, Some(Path::new("ca.crt")), "sslmode", "write verify-full"),
        ] {
            let (wrong, message) = SslMode::parse(mode, root).unwrap_err();
            assert_eq!(wrong, name);
            assert!(message.contains(says), "{message}");
        }
    }
}

//! The URL of a server that speaks PostgreSQL's protocol.

use std::borrow::Cow;
use std::path::PathBuf;

use percent_encoding::percent_decode_str;
use url::Url;

use crate::engine::tls::{SslMode, Tls};
use crate::failure::Failure;

/// Where a server is, and as whom to ask for which database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub host: Host,
    pub port: u16,
    pub user: String,
    pub database: Option<String>,
    /// Command line options for the server's process, as in `options=-c work_mem=64MB`.
    pub options: Option<String>,
    pub application_name: Option<String>,
    pub mode: SslMode,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Host {
    /// A name or an address.
    Network(String),
    /// The folder of a Unix domain socket.
    Folder(PathBuf),
}

impl Address {
    /// Reads a URL with one of these schemes. Messages never repeat it, because what is wrong in it may
    /// be a password.
    pub fn parse(url: &str, schemes: &[&str], default_port: u16) -> Result<Self, Failure> {
        let refuse = |what: &str| Failure::arguments(format!("--url {what}"));
        let url = Url::parse(url).map_err(|error| refuse(&format!("cannot be read: {error}")))?;
        if !schemes.contains(&url.scheme()) {
            return Err(refuse(&format!("must begin with {}://", schemes[0])));
        }
        if url.password().is_some() {
            return Err(refuse(
                "carries a password: give it in a file with --password-file or in DBBENCH_PASSWORD",
            ));
        }
        let decoded = |text: &str| -> Result<String, Failure> {
            let text = percent_decode_str(text).decode_utf8();
            text.map(Cow::into_owned).map_err(|_| refuse("is not UTF-8 when its % escapes are decoded"))
        };
        let mut host = decoded(url.host_str().unwrap_or_default())?;
        let database = decoded(url.path().strip_prefix('/').unwrap_or_default())?;
        let mut address = Address {
            host: Host::Network(String::new()),
            port: url.port().unwrap_or(default_port),
            user: decoded(url.username())?,
            database: Some(database).filter(|name| !name.is_empty()),
            options: None,
            application_name: None,
            mode: SslMode::Disable,
        };
        let (mut mode, mut root_certificates) = (None, None);
        for (name, value) in url.query_pairs() {
            let value = value.into_owned();
            match &*name {
                "host" => host = value,
                "user" => address.user = value,
                "options" => address.options = Some(value),
                "application_name" => address.application_name = Some(value),
                "sslmode" => mode = Some(value),
                "sslrootcert" => root_certificates = Some(PathBuf::from(value)),
                "password" => {
                    return Err(refuse(
                        "carries a password: give it in a file with --password-file or in DBBENCH_PASSWORD",
                    ))
                }
                "connect_timeout" => {
                    return Err(refuse("has connect_timeout: use the option --connect-timeout"))
                }
                _ => {
                    return Err(refuse(
                        "has a parameter that is none of host, user, options, application_name, sslmode, sslrootcert",
                    ))
                }
            }
        }
        if host.is_empty() {
            return Err(refuse("names no host"));
        }
        if host.contains(',') {
            return Err(refuse("names several hosts: one server is measured"));
        }
        if address.user.is_empty() {
            return Err(refuse("names no user"));
        }
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        address.host = match host.starts_with('/') {
            true => Host::Folder(host.clone().into()),
            false => Host::Network(bare.into()),
        };
        address.mode = SslMode::parse(mode.as_deref(), root_certificates.as_deref())
            .map_err(|(name, what)| refuse(&format!("has a parameter {name} that {what}")))?;
        if address.mode != SslMode::Disable && matches!(address.host, Host::Folder(_)) {
            return Err(refuse("asks for TLS with sslmode, and names a Unix domain socket, which has none"));
        }
        Ok(address)
    }

    /// How connections are encrypted, if at all.
    pub fn tls(&self) -> Result<Option<Tls>, Failure> {
        match &self.host {
            Host::Network(host) => Tls::new(&self.mode, host),
            Host::Folder(_) => Ok(None),
        }
    }

    /// `host:port/database`, for messages.
    pub fn describe(&self) -> String {
        let database = self.database.as_ref().unwrap_or(&self.user);
        match &self.host {
            Host::Network(host) if host.contains(':') => format!("[{host}]:{}/{database}", self.port),
            Host::Network(host) => format!("{host}:{}/{database}", self.port),
            Host::Folder(folder) => format!("{}:{}/{database}", folder.display(), self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<Address, Failure> {
        Address::parse(url, &["postgres", "postgresql"], 5432)
    }

    #[test]
    fn a_password_in_the_url_is_refused_and_not_repeated() {
        for url in ["postgres://user:hunter2@host/db", "postgres://user@host/db?password=hunter2"] {
            let failure = parse(url).unwrap_err();
            assert!(failure.message.contains("--password-file"), "{failure}");
            assert!(!failure.message.contains("hunter2"), "{failure}");
        }
    }

    #[test]
    fn a_url_of_another_engine_or_without_host_or_user_is_refused() {
        let message = |url: &str| parse(url).unwrap_err().message;
        assert!(message("mysql://root@host/db").contains("postgres://"));
        assert!(message("postgres://user@/db").contains("host"));
        assert!(message("postgres://host/db").contains("user"));
        assert!(message("postgres://u@host:99999/db").contains("port"));
        assert!(message("postgres://u@a,b/db").contains("several"));
        assert!(message("postgres://u@host/db?sslmode=prefer").contains("sslmode that is prefer or allow"));
        assert!(message("postgres://u@host/db?sslmode=verify-ca").contains("sslrootcert that is missing"));
        assert!(message("postgres://u@host/db?sslrootcert=ca.crt").contains("sslmode that is missing"));
        assert!(message("postgres://u@%2Frun/db?sslmode=require").contains("Unix domain socket"));
        assert!(message("postgres://u@host/db?sslmod=disable").contains("sslmode"));
        assert!(message("no url").contains("cannot be read"));
    }

    #[test]
    fn the_description_names_host_port_and_database_only() {
        let describe = |url: &str| parse(url).unwrap().describe();
        assert_eq!(describe("postgres://user@db.example:6543/bench"), "db.example:6543/bench");
        assert_eq!(describe("postgres://user@h"), "h:5432/user");
        assert_eq!(describe("postgres://user@[::1]/bench"), "[::1]:5432/bench");
        assert_eq!(describe("postgres://user@%2Frun%2Fpg/bench"), "/run/pg:5432/bench");
    }

    #[test]
    fn escapes_and_parameters_are_read() {
        let address = parse("postgresql://a%40b@h/my%20db?options=-c%20work_mem%3D4MB").unwrap();
        assert_eq!((address.user.as_str(), address.database.as_deref()), ("a@b", Some("my db")));
        assert_eq!(address.options.as_deref(), Some("-c work_mem=4MB"));
        assert_eq!(parse("postgres://u@h?host=/tmp").unwrap().host, Host::Folder("/tmp".into()));
        let address = parse("postgres://u@h?sslmode=verify-full&sslrootcert=%2Fetc%2Fca.crt").unwrap();
        assert_eq!(address.mode, SslMode::VerifyFull(Some("/etc/ca.crt".into())));
    }
}

//! The URL of a PostgreSQL server.

use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::Config;

use crate::failure::Failure;

/// Parses a URL. Messages never repeat it, because what is wrong in it may be a password.
pub fn parse(url: &str) -> Result<Config, Failure> {
    if !(url.starts_with("postgres://") || url.starts_with("postgresql://")) {
        return Err(Failure::arguments("--url must begin with postgres://"));
    }
    let config: Config = url.parse().map_err(|error: tokio_postgres::Error| {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
        Failure::arguments(format!("--url cannot be read{cause}"))
    })?;
    if config.get_password().is_some() {
        return Err(Failure::arguments(
            "--url carries a password: give it in a file with --password-file or in DBBENCH_PASSWORD",
        ));
    }
    if config.get_ssl_mode() == SslMode::Require {
        return Err(Failure::arguments("--url asks for sslmode=require: the driver connects without TLS"));
    }
    if config.get_hosts().is_empty() {
        return Err(Failure::arguments("--url names no host"));
    }
    if config.get_user().is_none() {
        return Err(Failure::arguments("--url names no user"));
    }
    Ok(config)
}

/// `host:port/database`, for messages.
pub fn describe(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(path)) => path.display().to_string(),
        None => String::new(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let database = config.get_dbname().or(config.get_user()).unwrap_or_default();
    format!("{host}:{port}/{database}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_the_url_is_refused_and_not_repeated() {
        let failure = parse("postgres://user:hunter2@host/db").unwrap_err();
        assert!(failure.message.contains("--password-file"));
        assert!(!failure.message.contains("hunter2"));
        let failure = parse("postgres://user@host/db?password=hunter2").unwrap_err();
        assert!(!failure.message.contains("hunter2"));
    }

    #[test]
    fn a_url_of_another_engine_or_without_host_or_user_is_refused() {
        assert!(parse("mysql://root@host/db").is_err());
        assert!(parse("postgres://user@/db").unwrap_err().message.contains("host"));
        assert!(parse("postgres://host/db").unwrap_err().message.contains("user"));
        assert!(parse("postgres://u@host:99999/db").is_err());
        assert!(parse("postgres://u@host/db?sslmode=require").unwrap_err().message.contains("TLS"));
    }

    #[test]
    fn the_description_names_host_port_and_database_only() {
        let config = parse("postgres://user@db.example:6543/bench").unwrap();
        assert_eq!(describe(&config), "db.example:6543/bench");
        assert_eq!(describe(&parse("postgres://user@h").unwrap()), "h:5432/user");
    }
}

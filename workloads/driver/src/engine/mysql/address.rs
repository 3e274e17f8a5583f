//! The URL of a MySQL server.

use mysql_async::Opts;

use crate::failure::Failure;

/// Parses a URL. Messages never repeat it, because what is wrong in it may be a password.
pub fn parse(url: &str) -> Result<Opts, Failure> {
    let Some(rest) = url.strip_prefix("mysql://") else {
        return Err(Failure::arguments("--url must begin with mysql://"));
    };
    let parameters = rest.split_once('?').map_or("", |(_, parameters)| parameters);
    for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
        if ["sslmode=", "sslrootcert="].iter().any(|name| parameter.starts_with(name)) {
            return Err(Failure::arguments(
                "--url asks for TLS, which the driver speaks to PostgreSQL alone",
            ));
        }
        if !parameter.starts_with("socket=") {
            return Err(Failure::arguments(
                "--url has a parameter that is not known: socket=PATH is the only one for mysql://",
            ));
        }
    }
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    if user.contains(':') {
        return Err(Failure::arguments(
            "--url carries a password: give it in a file with --password-file or in DBBENCH_PASSWORD",
        ));
    }
    if user.is_empty() {
        return Err(Failure::arguments("--url names no user"));
    }
    if host.is_empty() || host.starts_with(':') {
        return Err(Failure::arguments("--url names no host"));
    }
    Opts::from_url(url).map_err(|_| {
        Failure::arguments("--url cannot be read: it must have the form mysql://user@host:3306/database")
    })
}

/// `host:port/database`, for messages.
pub fn describe(options: &Opts) -> String {
    let database = options.db_name().unwrap_or_default();
    match options.socket() {
        Some(socket) => format!("{socket}/{database}"),
        None => format!("{}:{}/{database}", options.ip_or_hostname(), options.tcp_port()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_the_url_is_refused_and_not_repeated() {
        let failure = parse("mysql://user:hunter2@host/db").unwrap_err();
        assert!(failure.message.contains("--password-file"));
        assert!(!failure.message.contains("hunter2"));
        let failure = parse("mysql://user@host/db?password=hunter2").unwrap_err();
        assert!(failure.message.contains("socket=PATH") && !failure.message.contains("hunter2"));
    }

    #[test]
    fn a_url_of_another_engine_or_without_host_or_user_is_refused() {
        assert!(parse("postgres://root@host/db").is_err());
        assert!(parse("mysql://user@/db").unwrap_err().message.contains("host"));
        assert!(parse("mysql://user@:3306/db").unwrap_err().message.contains("host"));
        assert!(parse("mysql://host/db").unwrap_err().message.contains("user"));
        assert!(parse("mysql://u@host:99999/db").is_err());
        assert!(parse("mysql://u@host/db?require_ssl=true").is_err());
        let failure = parse("mysql://u@host/db?sslmode=verify-full").unwrap_err();
        assert!(failure.message.contains("to PostgreSQL alone"), "{failure}");
    }

    #[test]
    fn the_description_names_host_port_and_database_only() {
        let described = |url| describe(&parse(url).unwrap());
        assert_eq!(described("mysql://user@db.example:3307/bench"), "db.example:3307/bench");
        assert_eq!(described("mysql://user@h"), "h:3306/");
        assert_eq!(described("mysql://u@localhost/b?socket=/run/my.sock"), "/run/my.sock/b");
    }
}

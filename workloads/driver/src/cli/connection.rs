//! Where the database is and as whom to ask: from options, or from a folder whose contents stay out of sight.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use percent_encoding::{utf8_percent_encode, AsciiSet, NON_ALPHANUMERIC};

use super::Common;
use crate::engine::SslMode;
use crate::failure::Failure;

/// What a host may have beside letters and digits.
const HOST: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.').remove(b'-').remove(b':').remove(b'[').remove(b']');
const NAME: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_');

/// The file of root certificates, as Kubernetes calls it.
const ROOT_CERTIFICATES: &str = "ca.crt";

/// What speaks at the other end of --connection-files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Protocol {
    Postgres,
    Mysql,
    Hyper,
}

impl Protocol {
    fn scheme(self) -> &'static str {
        match self {
            Protocol::Postgres => "postgres",
            Protocol::Mysql => "mysql",
            Protocol::Hyper => "hyper",
        }
    }
}

/// A URL without a password, the password, and what of both nobody may read.
#[derive(Debug)]
pub struct Connection {
    pub url: String,
    pub password: Option<String>,
    /// What stands for the URL in the result.
    pub shown: String,
    covered: BTreeSet<String>,
}

impl Connection {
    /// From --url or --connection-files.
    pub fn of(common: &Common) -> Result<Self, Failure> {
        match (&common.url, &common.connection_files, common.engine) {
            (Some(url), ..) => Ok(Connection {
                url: url.clone(),
                password: common.password()?,
                shown: url.clone(),
                covered: BTreeSet::new(),
            }),
            (None, Some(folder), Some(engine)) => Connection::read(engine, folder),
            _ => Err(Failure::arguments("give --url, or --connection-files with --engine")),
        }
    }

    /// From a folder. Messages name its files, never what is in them.
    fn read(engine: Protocol, folder: &Path) -> Result<Self, Failure> {
        let files = Files(folder.to_path_buf());
        let host = files.needed(&["host"])?;
        let user = files.needed(&["user", "username"])?;
        let password = files.needed(&["password"])?;
        let database = files.first(&["database", "dbname"])?;
        let mut authority = utf8_percent_encode(&user, NAME).to_string() + "@";
        match host.contains(':') && !host.starts_with('[') {
            true => authority += &format!("[{host}]"),
            false => authority.extend(utf8_percent_encode(&host, HOST)),
        }
        if let Some(port) = files.first(&["port"])? {
            match port.parse::<u16>() {
                Ok(port) if port > 0 => authority += &format!(":{port}"),
                _ => return Err(files.wrong("port", "is no port: a number from 1 to 65535")),
            }
        }
        let path = database.as_deref().map(|name| utf8_percent_encode(name, NAME).to_string());
        let tls = files.tls(engine)?;
        let url = format!("{}://{authority}/{}{tls}", engine.scheme(), path.unwrap_or_default());
        let covered = [Some(host), Some(user), Some(password.clone()), database].into_iter().flatten();
        Ok(Connection {
            url,
            password: Some(password),
            shown: format!("{}://", engine.scheme()),
            covered: covered.collect(),
        })
    }

    /// A failure whose message has `***` for everything that came from the folder, where it stands as a word.
    pub fn cover(&self, failure: Failure) -> Failure {
        // The longest first: one may be a part of another.
        let mut values: Vec<&String> = self.covered.iter().collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        let message = values.iter().fold(failure.message, |text, value| without(&text, value));
        Failure { message, ..failure }
    }
}

/// Replaces a word by `***`.
fn without(text: &str, word: &str) -> String {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let (before, after) = (&rest[..at], &rest[at + word.len()..]);
        let whole = !before.chars().next_back().is_some_and(inside) && !after.starts_with(inside);
        out.push_str(before);
        out.push_str(if whole { "***" } else { word });
        rest = after;
    }
    out + rest
}

/// The files of a connection: one value in each, with or without a line end.
struct Files(PathBuf);

impl Files {
    /// The first of these files that is there and not empty.
    fn first(&self, names: &[&str]) -> Result<Option<String>, Failure> {
        for name in names {
            match std::fs::read_to_string(self.0.join(name)) {
                Ok(text) => {
                    let value = text.strip_suffix('\n').map_or(text.as_str(), |t| t.trim_end_matches('\r'));
                    if !value.is_empty() {
                        return Ok(Some(value.to_string()));
                    }
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(self.wrong(name, &format!("cannot be read: {error}"))),
            }
        }
        Ok(None)
    }

    /// The parameters of the URL that ask for TLS.
    fn tls(&self, engine: Protocol) -> Result<String, Failure> {
        let mode = self.first(&["sslmode"])?;
        let root_certificates = self.first(&[ROOT_CERTIFICATES])?.map(|_| self.0.join(ROOT_CERTIFICATES));
        let asked =
            SslMode::parse(mode.as_deref(), root_certificates.as_deref()).map_err(|(name, what)| {
                let file = if name == "sslrootcert" { ROOT_CERTIFICATES } else { name };
                self.wrong(file, &what)
            })?;
        if asked != SslMode::Disable && engine != Protocol::Postgres {
            return Err(self.wrong("sslmode", "asks for TLS, which the driver speaks to PostgreSQL alone"));
        }
        let parameter = |name: &str, value: &str| format!("{name}={}", utf8_percent_encode(value, NAME));
        Ok(match (asked, mode) {
            (SslMode::Disable, _) | (_, None) => String::new(),
            (_, Some(mode)) => {
                let file = root_certificates.map(|file| file.to_string_lossy().into_owned());
                let file = file.map(|file| "&".to_string() + &parameter("sslrootcert", &file));
                format!("?{}{}", parameter("sslmode", &mode), file.unwrap_or_default())
            }
        })
    }

    fn needed(&self, names: &[&str]) -> Result<String, Failure> {
        let missing = || self.wrong(&names.join(" or "), "is missing or empty");
        self.first(names)?.ok_or_else(missing)
    }

    fn wrong(&self, file: &str, what: &str) -> Failure {
        Failure::arguments(format!("--connection-files {}: file {file} {what}", self.0.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Exit;

    fn read(engine: Protocol, files: &[(&str, &str)]) -> Result<Connection, Failure> {
        let folder = tempfile::tempdir().unwrap();
        for (name, value) in files {
            std::fs::write(folder.path().join(name), value).unwrap();
        }
        Connection::read(engine, folder.path())
    }

    const NAMES: [(&str, &str); 5] = [
        ("host", "db.example\n"),
        ("port", "6543"),
        ("username", "a@b"),
        ("password", "hunter2"),
        ("dbname", "my db"),
    ];

    #[test]
    fn a_folder_gives_a_url_and_a_password_apart() {
        let found = read(Protocol::Postgres, &NAMES).unwrap();
        assert_eq!(found.url, "postgres://a%40b@db.example:6543/my%20db");
        assert_eq!(found.password.as_deref(), Some("hunter2"));
        assert_eq!(found.shown, "postgres://");
        let plain = [("host", "::1"), ("user", "root"), ("password", "x"), ("sslmode", "disable")];
        assert_eq!(read(Protocol::Mysql, &plain).unwrap().url, "mysql://root@[::1]/");
    }

    #[test]
    fn the_mode_of_tls_and_the_path_of_the_certificates_are_parameters_of_the_url() {
        let of = |files: &[(&str, &str)]| {
            let url = read(Protocol::Postgres, &[&NAMES, files].concat()).unwrap().url;
            url.split_once('?').map(|(_, parameters)| parameters.to_string()).unwrap_or_default()
        };
        assert_eq!(of(&[]), "");
        assert_eq!(of(&[("sslmode", "disable"), ("ca.crt", "x")]), "");
        assert_eq!(of(&[("sslmode", "require\n")]), "sslmode=require");
        let both = of(&[("sslmode", "verify-full"), ("ca.crt", "x")]);
        assert!(
            both.starts_with("sslmode=verify-full&sslrootcert=%2F") && both.ends_with("ca%2Ecrt"),
            "{both}"
        );
    }

    #[test]
    fn tls_that_cannot_be_is_refused_by_the_name_of_the_file() {
        for engine in [Protocol::Mysql, Protocol::Hyper] {
            let failure = read(engine, &[&NAMES[..], &[("sslmode", "require")]].concat()).unwrap_err();
            assert!(failure.message.contains("file sslmode asks for TLS"), "{failure}");
        }
        for (mode, says) in
            [("prefer", "file sslmode is prefer or allow"), ("verify-ca", "file ca.crt is missing")]
        {
            let failure = read(Protocol::Postgres, &[&NAMES[..], &[("sslmode", mode)]].concat()).unwrap_err();
            assert!(failure.message.contains(says), "{failure}");
        }
    }

    #[test]
    fn a_file_that_is_missing_or_wrong_is_named_without_what_is_in_it() {
        for (name, value, says) in [
            ("host", "", "host is missing or empty"),
            ("username", "", "user or username is missing or empty"),
            ("password", "", "password is missing or empty"),
            ("port", "hunter", "from 1 to 65535"),
            ("port", "65536", "from 1 to 65535"),
            ("sslmode", "hunter", "file sslmode must be one of disable"),
            ("ca.crt", "hunter", "file sslmode is missing"),
        ] {
            let others = NAMES.iter().copied().filter(|(one, _)| *one != name);
            let files: Vec<(&str, &str)> = others.chain([(name, value)]).collect();
            let failure = read(Protocol::Postgres, &files).unwrap_err();
            assert_eq!(failure.exit, Exit::Arguments);
            assert!(failure.message.contains(says), "{failure}");
            assert!(value.is_empty() || !failure.message.contains(value), "{failure}");
        }
    }

    #[test]
    fn messages_are_covered_word_by_word() {
        let found = read(Protocol::Postgres, &NAMES).unwrap();
        let cover = |text: &str| found.cover(Failure::unreachable(text)).message;
        assert_eq!(cover("no connection to db.example:6543/my db: x"), "no connection to ***:6543/***: x");
        assert_eq!(cover("user \"a@b\" has hunter2 and hunter22"), "user \"***\" has *** and hunter22");
    }
}

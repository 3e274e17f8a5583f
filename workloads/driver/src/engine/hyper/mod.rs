//! Hyper, which speaks PostgreSQL's protocol with a dialect of its own.

mod plan;
mod session;
mod split;

use std::sync::Arc;

use super::pgwire::{self, Address, Line};
use super::{quote_identifier, Dialect, Engine, EngineError, ErrorKind, SslMode};
use crate::failure::Failure;

pub use session::{HyperSession, Statement};

/// Where `hyperd` listens unless told otherwise.
const DEFAULT_PORT: u16 = 7483;

/// SQLSTATE of a database whose file is not there.
const NO_DATABASE: &str = "58S01";

/// A Hyper server, a user, a database file and a schema in it.
#[derive(Clone)]
pub struct Hyper {
    address: Arc<Address>,
    database: String,
    schema: String,
    password: Option<String>,
}

impl Hyper {
    /// Reads a URL `hyper://user@host:port/database`; the database is a path on the server, relative to
    /// its working folder, or absolute where it begins with a second slash.
    pub fn new(url: &str, password: Option<String>, schema: &str) -> Result<Self, Failure> {
        let address = Address::parse(url, &["hyper"], DEFAULT_PORT)?;
        if address.mode != SslMode::Disable {
            return Err(Failure::arguments(
                "--url asks for TLS with sslmode, which the driver does not speak to Hyper",
            ));
        }
        let Some(database) = address.database.clone() else {
            return Err(Failure::arguments(
                "--url names no database: hyper://user@host:port/database.hyper, a file on the server",
            ));
        };
        Ok(Hyper { address: Arc::new(address), database, schema: schema.to_string(), password })
    }

    /// A connection to the server, without a database: Hyper takes one whose name is the user's for none.
    async fn open(&self) -> Result<Line, EngineError> {
        pgwire::open(&self.address, None, self.password.as_deref(), None).await.map_err(in_hyper)
    }

    /// Makes the tables of the schema visible; false when there is no such database.
    async fn attach(&self, line: &Line) -> Result<bool, EngineError> {
        let attach = format!("ATTACH DATABASE {} AS dbbench", quote_identifier(&self.database));
        match line.script(&attach).await {
            Ok(()) => {}
            Err(error) if error.class == NO_DATABASE => return Ok(false),
            Err(error) => return Err(in_hyper(error)),
        }
        line.script(&format!("SET search_path TO {}", quote_identifier(&self.schema))).await?;
        Ok(true)
    }

    /// Creates the database unless it is there.
    async fn create(&self, line: &Line) -> Result<(), EngineError> {
        let create = format!("CREATE DATABASE IF NOT EXISTS {}", quote_identifier(&self.database));
        line.script(&create).await.map_err(in_hyper)
    }
}

impl Engine for Hyper {
    type Session = HyperSession;

    async fn connect(&self) -> Result<HyperSession, EngineError> {
        let line = self.open().await?;
        let attached = self.attach(&line).await?;
        Ok(HyperSession::new(self.clone(), line, attached))
    }

    fn address(&self) -> String {
        self.address.describe()
    }

    fn dialect(&self) -> Dialect {
        Dialect::Hyper
    }
}

/// Hyper has some SQLSTATEs of its own, and uses a few of PostgreSQL's for something else.
fn in_hyper(error: EngineError) -> EngineError {
    let kind = match error.class.as_str() {
        "53S01" => ErrorKind::Timeout,
        NO_DATABASE => ErrorKind::Rejected,
        "42501" if error.message.starts_with("could not connect as") => ErrorKind::Authentication,
        _ => error.kind,
    };
    EngineError { kind, ..error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_names_a_database_and_keeps_its_slashes() {
        let of = |url: &str| Hyper::new(url, None, "tpch").map(|hyper| hyper.database);
        assert_eq!(of("hyper://u@h/bench.hyper").unwrap(), "bench.hyper");
        assert_eq!(of("hyper://u@h:7483//data/bench.hyper").unwrap(), "/data/bench.hyper");
        assert!(of("hyper://u@h").unwrap_err().message.contains("names no database"));
        assert!(of("postgres://u@h/x").unwrap_err().message.contains("hyper://"));
        assert!(of("hyper://u@h/x?sslmode=require").unwrap_err().message.contains("does not speak to Hyper"));
        assert!(of("hyper://u:hunter2@h/x").unwrap_err().message.contains("--password-file"));
    }

    #[test]
    fn hypers_own_states_are_known() {
        let kind = |class: &str, message: &str| {
            in_hyper(EngineError::new(ErrorKind::Other, class, message.to_string())).kind
        };
        assert_eq!(kind("53S01", "the query exceeded its limit"), ErrorKind::Timeout);
        assert_eq!(kind("58S01", "no database"), ErrorKind::Rejected);
        assert_eq!(kind("42501", "could not connect as 'x'"), ErrorKind::Authentication);
        assert_eq!(kind("42601", "syntax"), ErrorKind::Other);
    }
}

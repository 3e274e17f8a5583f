//! MySQL and MariaDB over their common protocol.
//!
//! What the driver calls a schema is a database there. The database of the URL is the one that sessions are
//! opened on; the workload's own one follows as soon as it exists.

mod address;
mod error;
mod load;
mod placeholder;
mod plan;
mod session;
mod settings;
mod value;

use std::time::Duration;

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, OptsBuilder};

use super::{Dialect, Engine, EngineError, ErrorKind};
use crate::failure::Failure;

pub use load::MySqlCopy;
pub use session::{MySqlSession, MySqlStatement};

/// How long one attempt to connect may take: a server behind a forwarded port can accept and stay silent.
const ATTEMPT_LIMIT: Duration = Duration::from_secs(10);

/// Largest packet that the driver would send, in bytes. Given so that the library need not ask the server.
const LARGEST_PACKET: usize = 16 << 20;

/// What every session begins with, so that equal statements do equal work whatever the server's defaults are:
/// values that do not fit are errors, times are UTC, tables have transactions, and a session that waits for a long
/// load stays open.
const BEGINNING: &str =
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ZERO_DATE,NO_ZERO_IN_DATE,\
     NO_ENGINE_SUBSTITUTION', time_zone = '+00:00', default_storage_engine = InnoDB, autocommit = 1, \
     wait_timeout = 604800";

/// A MySQL or MariaDB server, a user and a schema.
#[derive(Clone)]
pub struct MySql {
    options: Opts,
    schema: String,
    address: String,
    /// Values that must never reach a document.
    secret: Option<String>,
}

impl MySql {
    /// Reads a URL `mysql://user@host:port/database`. A password in it is refused.
    pub fn new(url: &str, password: Option<String>, schema: &str) -> Result<Self, Failure> {
        let parsed = address::parse(url)?;
        let address = address::describe(&parsed);
        let database = parsed.db_name().filter(|name| !name.is_empty()).map(str::to_string);
        let options = OptsBuilder::from_opts(parsed)
            .db_name(database)
            .pass(password.clone())
            .prefer_socket(false)
            // The workloads count the rows that an UPDATE finds, whether or not the new value is another one.
            .client_found_rows(true)
            // The library closes statements that fall out of its cache; the workloads keep their own.
            .stmt_cache_size(0)
            .max_allowed_packet(Some(LARGEST_PACKET))
            .wait_timeout(Some(28_800))
            .tcp_keepalive(Some(Duration::from_secs(15)))
            .connect_attribute("program_name", "dbbench-driver")
            .into();
        Ok(MySql { options, schema: schema.to_string(), address, secret: password })
    }
}

impl Engine for MySql {
    type Session = MySqlSession;

    async fn connect(&self) -> Result<MySqlSession, EngineError> {
        let attempt = tokio::time::timeout(ATTEMPT_LIMIT, Conn::new(self.options.clone())).await;
        let mut conn = match attempt {
            Ok(Ok(conn)) => conn,
            Ok(Err(error)) => return Err(error::of_connecting(&error)),
            Err(_) => {
                return Err(EngineError::new(
                    ErrorKind::NotReady,
                    "timeout",
                    format!("no answer within {} s", ATTEMPT_LIMIT.as_secs()),
                ))
            }
        };
        conn.query_drop(BEGINNING).await.map_err(|e| error::of_statement(&e))?;
        match conn
            .query_drop(format!("USE {}", quote(&self.schema)))
            .await
            .map_err(|e| error::of_statement(&e))
        {
            Err(error) if error.kind != ErrorKind::MissingObject => return Err(error),
            // A load is about to create it; everything else asks first what is there.
            _ => {}
        }
        Ok(MySqlSession::new(conn, self.secret.clone()))
    }

    fn address(&self) -> String {
        self.address.clone()
    }

    fn dialect(&self) -> Dialect {
        Dialect::MySql
    }
}

/// The database that a URL `mysql://` names.
pub fn database(url: &str) -> Option<String> {
    address::parse(url).ok()?.db_name().filter(|name| !name.is_empty()).map(str::to_string)
}

/// Quotes a name for use in SQL.
fn quote(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// Quotes a text for use in SQL.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

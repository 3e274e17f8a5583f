//! PostgreSQL over its own protocol.

mod plan;
mod session;

use super::pgwire::{self, Address};
use super::tls::Tls;
use super::{quote_identifier, Dialect, Engine, EngineError, Session};
use crate::failure::Failure;

pub use session::PostgresSession;

/// A PostgreSQL server, a user and a schema.
#[derive(Clone)]
pub struct Postgres {
    address: Address,
    tls: Option<Tls>,
    schema: String,
    password: Option<String>,
}

impl Postgres {
    /// Reads a URL `postgres://user@host:port/database`. A password in it is refused.
    pub fn new(url: &str, password: Option<String>, schema: &str) -> Result<Self, Failure> {
        let address = Address::parse(url, &["postgres", "postgresql"], 5432)?;
        let tls = address.tls()?;
        Ok(Postgres { address, tls, schema: schema.to_string(), password })
    }
}

impl Engine for Postgres {
    type Session = PostgresSession;

    async fn connect(&self) -> Result<PostgresSession, EngineError> {
        let database = self.address.database.as_deref();
        let line = pgwire::open(&self.address, self.tls.as_ref(), self.password.as_deref(), database).await?;
        let session = PostgresSession::new(line, self.password.clone());
        session
            .script(&format!(
                "SET client_min_messages TO warning; SET search_path TO {}",
                quote_identifier(&self.schema)
            ))
            .await?;
        Ok(session)
    }

    fn address(&self) -> String {
        self.address.describe()
    }

    fn dialect(&self) -> Dialect {
        Dialect::PostgreSql
    }
}

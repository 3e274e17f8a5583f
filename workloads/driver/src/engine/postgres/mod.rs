//! PostgreSQL over its own protocol.

mod address;
mod error;
mod plan;
mod session;
mod settings;
mod value;

use std::time::Duration;

use tokio_postgres::{Config, NoTls};

use super::{Dialect, Engine, EngineError, ErrorKind, Session};
use crate::failure::Failure;

pub use session::PostgresSession;

/// How long one attempt to connect may take: a server behind a forwarded port can accept and stay silent.
const ATTEMPT_LIMIT: Duration = Duration::from_secs(10);

/// A PostgreSQL server, a user and a schema.
#[derive(Clone)]
pub struct Postgres {
    config: Config,
    schema: String,
    address: String,
    /// Values that must never reach a document.
    secret: Option<String>,
}

impl Postgres {
    /// Reads a URL `postgres://user@host:port/database`. A password in it is refused.
    pub fn new(url: &str, password: Option<String>, schema: &str) -> Result<Self, Failure> {
        let mut config = address::parse(url)?;
        if let Some(password) = &password {
            config.password(password);
        }
        config.application_name("dbbench-driver");
        config.connect_timeout(ATTEMPT_LIMIT);
        config.keepalives_idle(Duration::from_secs(15));
        config.tcp_user_timeout(Duration::from_secs(60));
        let address = address::describe(&config);
        Ok(Postgres { config, schema: schema.to_string(), address, secret: password })
    }
}

impl Engine for Postgres {
    type Session = PostgresSession;

    async fn connect(&self) -> Result<PostgresSession, EngineError> {
        let attempt = tokio::time::timeout(ATTEMPT_LIMIT, self.config.connect(NoTls)).await;
        let (client, connection) = match attempt {
            Ok(Ok(pair)) => pair,
            Ok(Err(error)) => return Err(error::of_connecting(&error)),
            Err(_) => {
                return Err(EngineError::new(
                    ErrorKind::NotReady,
                    "timeout",
                    format!("no answer within {} s", ATTEMPT_LIMIT.as_secs()),
                ))
            }
        };
        let session = PostgresSession::new(client, connection, self.secret.clone());
        session
            .script(&format!(
                "SET client_min_messages TO warning; SET search_path TO {}",
                super::quote_identifier(&self.schema)
            ))
            .await?;
        Ok(session)
    }

    fn address(&self) -> String {
        self.address.clone()
    }

    fn dialect(&self) -> Dialect {
        Dialect::PostgreSql
    }
}

//! A connection that a session and its bulk load share.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use super::connection::Connection;
use super::error::of_driver;
use super::statement::values;
use crate::engine::{Answer, EngineError};

/// A connection, used by one at a time.
#[derive(Clone)]
pub struct Line(Rc<Cell<Option<Box<Connection>>>>);

/// The right to use the connection; it goes back when this is dropped, be it halfway.
pub struct Lease<'a> {
    home: &'a Cell<Option<Box<Connection>>>,
    connection: Option<Box<Connection>>,
}

impl Line {
    pub(super) fn new(connection: Connection) -> Self {
        Line(Rc::new(Cell::new(Some(Box::new(connection)))))
    }

    pub fn lease(&self) -> Result<Lease<'_>, EngineError> {
        match self.0.take() {
            None => Err(of_driver("a session runs one statement at a time")),
            connection => Ok(Lease { home: &self.0, connection }),
        }
    }

    /// Runs statements that return nothing of interest.
    pub async fn script(&self, sql: &str) -> Result<(), EngineError> {
        self.lease()?.simple(sql, |_| {}).await
    }

    /// Runs a query given as text and collects its answer.
    pub async fn answer(&self, sql: &str) -> Result<Answer, EngineError> {
        let mut rows = Vec::new();
        let text = |value: Option<&[u8]>| Some(String::from_utf8_lossy(value?).trim_end().to_string());
        self.lease()?
            .simple(sql, |row| rows.push(values(row).into_iter().flatten().map(text).collect()))
            .await?;
        Ok(rows)
    }

    /// Runs a query given as text; returns its rows as text, with empty texts for nulls.
    pub async fn text_rows(&self, sql: &str) -> Result<Vec<Vec<String>>, EngineError> {
        let mut rows = Vec::new();
        let text = |value: Option<&[u8]>| String::from_utf8_lossy(value.unwrap_or_default()).into_owned();
        self.lease()?
            .simple(sql, |row| rows.push(values(row).into_iter().flatten().map(text).collect()))
            .await?;
        Ok(rows)
    }

    /// Runs a query given as text; returns the number of its rows.
    pub async fn drain(&self, sql: &str) -> Result<u64, EngineError> {
        let mut rows = 0;
        self.lease()?.simple(sql, |_| rows += 1).await?;
        Ok(rows)
    }

    /// Says goodbye to the server; one that does not listen any more is not told.
    pub async fn close(self) {
        let goodbye = async {
            if let Ok(mut connection) = self.lease() {
                let _ = connection.close().await;
            }
        };
        let _ = tokio::time::timeout(std::time::Duration::from_secs(5), goodbye).await;
    }
}

impl Deref for Lease<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection.as_ref().expect("a lease holds its connection until it is dropped")
    }
}

impl DerefMut for Lease<'_> {
    fn deref_mut(&mut self) -> &mut Connection {
        self.connection.as_mut().expect("a lease holds its connection until it is dropped")
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        self.home.set(self.connection.take());
    }
}

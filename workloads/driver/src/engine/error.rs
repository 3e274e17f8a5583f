//! Errors of a database, reduced to what the driver decides on.

use std::fmt;

use crate::failure::{Exit, Failure};

/// What kind of trouble the database reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Not there yet: refused, reset, no such host, starting up. Worth another try.
    NotReady,
    /// Wrong password or user, or a method of authentication that is not supported.
    Authentication,
    /// Reachable, but this connection will never be allowed (no such database, bad host).
    Rejected,
    /// No TLS, or not with somebody who is trusted.
    Tls,
    /// The user lacks a right.
    Permission,
    /// A schema, table or column that does not exist.
    MissingObject,
    /// Serialization failure or deadlock: the transaction may be tried again.
    Conflict,
    /// An index or a constraint of this name is there already.
    Exists,
    /// A primary key or unique constraint refused the row.
    Duplicate,
    /// A foreign key refused the row.
    ForeignKey,
    /// A lock was not granted in time.
    Locked,
    /// The statement ran into its time limit.
    Timeout,
    /// The disk or memory of the server is full.
    OutOfSpace,
    /// The engine has no such feature.
    Unsupported,
    /// The user's own script asks for what cannot be done.
    Script,
    /// An established connection broke.
    ConnectionLost,
    /// Anything else.
    Other,
}

/// An error of the database. `class` is the SQLSTATE where there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineError {
    pub kind: ErrorKind,
    pub class: String,
    pub message: String,
}

impl EngineError {
    pub fn new(kind: ErrorKind, class: impl Into<String>, message: impl Into<String>) -> Self {
        EngineError { kind, class: class.into(), message: message.into() }
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for EngineError {}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        let (exit, reason) = match error.kind {
            ErrorKind::NotReady | ErrorKind::Rejected => (Exit::Unreachable, "DatabaseUnreachable"),
            ErrorKind::Tls => (Exit::Unreachable, "TLSFailed"),
            ErrorKind::Authentication => (Exit::Unreachable, "AuthenticationFailed"),
            ErrorKind::Permission => (Exit::Unreachable, "PermissionDenied"),
            ErrorKind::ConnectionLost => (Exit::Unreachable, "DatabaseLost"),
            ErrorKind::Locked => (Exit::Unreachable, "SchemaLocked"),
            ErrorKind::Script => (Exit::Arguments, "InvalidScript"),
            ErrorKind::Unsupported => (Exit::Arguments, "Unsupported"),
            ErrorKind::MissingObject => (Exit::Inconsistent, "SchemaMissing"),
            ErrorKind::OutOfSpace => (Exit::Invalid, "DatabaseOutOfSpace"),
            ErrorKind::Timeout => (Exit::Invalid, "StatementTimeout"),
            ErrorKind::Conflict
            | ErrorKind::Exists
            | ErrorKind::Duplicate
            | ErrorKind::ForeignKey
            | ErrorKind::Other => (Exit::Invalid, "DatabaseError"),
        };
        Failure::new(exit, reason, error.message)
    }
}

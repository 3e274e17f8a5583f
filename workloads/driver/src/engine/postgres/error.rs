//! From errors of PostgreSQL to those of the driver.

use std::error::Error as _;

use tokio_postgres::error::SqlState;
use tokio_postgres::Error;

use crate::engine::{EngineError, ErrorKind};

/// An error while connecting: everything that time may heal is [`ErrorKind::NotReady`].
pub fn of_connecting(error: &Error) -> EngineError {
    if error.as_db_error().is_some() {
        return of_statement(error);
    }
    let message = chain(error);
    // The library keeps the class of these errors to itself; its wording is all there is to go by.
    let kind = if message.contains("password missing") || message.contains("authentication") {
        ErrorKind::Authentication
    } else if message.contains("invalid configuration") || message.contains("TLS") {
        ErrorKind::Rejected
    } else {
        ErrorKind::NotReady
    };
    let message = match kind {
        ErrorKind::Authentication if message.contains("password missing") => {
            "the server asks for a password and none was given (--password-file or DBBENCH_PASSWORD)".into()
        }
        _ => message,
    };
    EngineError::new(kind, "connect", message)
}

/// An error of a statement on an open connection.
pub fn of_statement(error: &Error) -> EngineError {
    match error.as_db_error() {
        Some(db) => {
            let code = db.code();
            let mut message = format!("{} (SQLSTATE {})", db.message(), code.code());
            if let Some(detail) = db.detail() {
                message.push_str(&format!("; {detail}"));
            }
            EngineError::new(kind_of(code), code.code(), message)
        }
        None if error.is_closed() || caused_by_io(error) => EngineError::new(
            ErrorKind::ConnectionLost,
            "connection",
            format!("the connection broke: {}", chain(error)),
        ),
        None => EngineError::new(ErrorKind::Other, "driver", chain(error)),
    }
}

fn kind_of(code: &SqlState) -> ErrorKind {
    match code.code() {
        "40001" | "40P01" => ErrorKind::Conflict,
        "23505" => ErrorKind::Duplicate,
        "23503" => ErrorKind::ForeignKey,
        "57014" => ErrorKind::Timeout,
        "28000" | "28P01" => ErrorKind::Authentication,
        "3D000" => ErrorKind::Rejected,
        "42501" => ErrorKind::Permission,
        "42P01" | "42703" | "3F000" => ErrorKind::MissingObject,
        "53100" | "53200" => ErrorKind::OutOfSpace,
        "55P03" => ErrorKind::Locked,
        // starting up, shutting down; at run time the server ends the connection with the same codes
        "57P03" | "53300" => ErrorKind::NotReady,
        "57P01" | "57P02" => ErrorKind::ConnectionLost,
        code if code.starts_with("08") => ErrorKind::ConnectionLost,
        _ => ErrorKind::Other,
    }
}

fn caused_by_io(error: &Error) -> bool {
    let mut cause = error.source();
    while let Some(inner) = cause {
        if inner.is::<std::io::Error>() {
            return true;
        }
        cause = inner.source();
    }
    false
}

fn chain(error: &Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let text = inner.to_string();
        if !message.contains(&text) {
            message.push_str(": ");
            message.push_str(&text);
        }
        cause = inner.source();
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlstates_decide_whether_a_transaction_may_be_tried_again() {
        assert_eq!(kind_of(&SqlState::T_R_SERIALIZATION_FAILURE), ErrorKind::Conflict);
        assert_eq!(kind_of(&SqlState::T_R_DEADLOCK_DETECTED), ErrorKind::Conflict);
        assert_eq!(kind_of(&SqlState::UNIQUE_VIOLATION), ErrorKind::Duplicate);
        assert_eq!(kind_of(&SqlState::FOREIGN_KEY_VIOLATION), ErrorKind::ForeignKey);
        assert_eq!(kind_of(&SqlState::CANNOT_CONNECT_NOW), ErrorKind::NotReady);
        assert_eq!(kind_of(&SqlState::DIVISION_BY_ZERO), ErrorKind::Other);
    }
}

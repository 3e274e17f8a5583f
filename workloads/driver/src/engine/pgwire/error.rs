//! From errors of the protocol to those of the driver.

use std::io;

use crate::engine::{EngineError, ErrorKind};

/// An established connection that broke.
pub fn lost(cause: impl std::fmt::Display) -> EngineError {
    EngineError::new(ErrorKind::ConnectionLost, "connection", format!("the connection broke: {cause}"))
}

/// An error before the session was open: time may heal it.
pub fn not_ready(cause: impl std::fmt::Display) -> EngineError {
    EngineError::new(ErrorKind::NotReady, "connect", cause.to_string())
}

/// Something that the driver itself could not make sense of.
pub fn of_driver(cause: impl std::fmt::Display) -> EngineError {
    EngineError::new(ErrorKind::Other, "driver", cause.to_string())
}

/// What the server sent is not what the protocol allows here.
pub fn unexpected(what: impl std::fmt::Display) -> EngineError {
    lost(format!("the server's answer is not of PostgreSQL's protocol ({what})"))
}

pub fn of_io(error: io::Error) -> EngineError {
    match error.kind() {
        // TLS has a farewell of its own, which a server that dies does not send.
        io::ErrorKind::UnexpectedEof => lost("the server closed it"),
        _ => lost(error),
    }
}

/// Reads the fields of an ErrorResponse: one letter and a text for each.
pub fn of_response(body: &[u8]) -> EngineError {
    let (mut code, mut message, mut detail) = (String::new(), String::new(), None);
    for field in body.split(|byte| *byte == 0) {
        let Some((letter, text)) = field.split_first() else { break };
        let text = String::from_utf8_lossy(text);
        match letter {
            b'C' => code = text.into_owned(),
            b'M' => message = text.into_owned(),
            b'D' => detail = Some(text.into_owned()),
            _ => {}
        }
    }
    let mut text = format!("{message} (SQLSTATE {code})");
    // Hyper's details repeat the statement on several lines; a message has one.
    if let Some(detail) = detail.filter(|detail| !detail.trim().is_empty() && !detail.contains('\n')) {
        text.push_str(&format!("; {detail}"));
    }
    let kind = match FULL.iter().any(|words| message.contains(words)) {
        true => ErrorKind::OutOfSpace,
        false => kind_of(&code),
    };
    EngineError::new(kind, code, text)
}

/// What servers say of a file system that is full under codes that have other causes, too: PostgreSQL of input and
/// output in general, and of the file that it writes when a connection begins; Hyper of several things, an object in
/// use among them.
const FULL: [&str; 3] =
    ["No space left on device", "could not write init file", "growing the database file failed"];

fn kind_of(code: &str) -> ErrorKind {
    match code {
        "40001" | "40P01" => ErrorKind::Conflict,
        "23505" => ErrorKind::Duplicate,
        "23503" => ErrorKind::ForeignKey,
        // 53S01 is Hyper's.
        "57014" | "53S01" => ErrorKind::Timeout,
        "28000" | "28P01" => ErrorKind::Authentication,
        "3D000" => ErrorKind::Rejected,
        "42501" => ErrorKind::Permission,
        "42P01" | "42703" | "3F000" => ErrorKind::MissingObject,
        "53100" | "53200" => ErrorKind::OutOfSpace,
        "55P03" => ErrorKind::Locked,
        "0A000" => ErrorKind::Unsupported,
        // starting up, shutting down; at run time the server ends the connection with the same codes
        "57P03" | "53300" => ErrorKind::NotReady,
        "57P01" | "57P02" => ErrorKind::ConnectionLost,
        code if code.starts_with("08") => ErrorKind::ConnectionLost,
        _ => ErrorKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlstates_decide_whether_a_transaction_may_be_tried_again() {
        assert_eq!(kind_of("40001"), ErrorKind::Conflict);
        assert_eq!(kind_of("40P01"), ErrorKind::Conflict);
        assert_eq!(kind_of("23505"), ErrorKind::Duplicate);
        assert_eq!(kind_of("23503"), ErrorKind::ForeignKey);
        assert_eq!(kind_of("57P03"), ErrorKind::NotReady);
        assert_eq!(kind_of("22012"), ErrorKind::Other);
    }

    #[test]
    fn a_response_gives_its_message_its_state_and_a_detail_of_one_line() {
        let error = of_response(b"SERROR\0C23505\0Mduplicate key\0DKey (a)=(1) exists.\0\0");
        assert_eq!(error.kind, ErrorKind::Duplicate);
        assert_eq!(error.class, "23505");
        assert_eq!(error.message, "duplicate key (SQLSTATE 23505); Key (a)=(1) exists.");
        for full in [
            b"C55006\0Munable to write: growing the database file failed\0\0".as_slice(),
            b"CXX000\0Mcould not write init file\0\0",
            b"C58030\0Mcould not write to file \"base/1/2\": No space left on device\0\0",
        ] {
            assert_eq!(of_response(full).kind, ErrorKind::OutOfSpace);
        }
        let error = of_response(b"C42601\0Mno\0D\nline 1\n\0\0");
        assert_eq!(error.message, "no (SQLSTATE 42601)");
    }
}

//! Asking the database, by its own protocol, whether it accepts connections.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::config::{Protocol, Readiness};

const TIMEOUT: Duration = Duration::from_secs(5);
/// Protocol 3.0 (PostgreSQL documentation, "Message Formats", StartupMessage).
const PROTOCOL_3_0: u32 = 196_608;
/// SQLSTATE cannot_connect_now: starting up, shutting down or in recovery.
const CANNOT_CONNECT_NOW: &str = "57P03";

/// Tells whether the database on 127.0.0.1 accepts connections by TCP; the error says why it does not.
pub fn check(readiness: &Readiness) -> Result<(), String> {
    match readiness.protocol {
        Protocol::PostgreSQL => postgresql(SocketAddr::from(([127, 0, 0, 1], readiness.port))),
    }
}

/// Sends a startup packet. A server that is ready asks for a password, or refuses this user for a reason
/// that only a working server can give; one that is not ready says so with SQLSTATE 57P03.
fn postgresql(address: SocketAddr) -> Result<(), String> {
    let refused = |error: std::io::Error| format!("{address}: {error}");
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT).map_err(refused)?;
    stream.set_read_timeout(Some(TIMEOUT)).map_err(refused)?;
    stream.set_write_timeout(Some(TIMEOUT)).map_err(refused)?;
    stream.write_all(&startup_packet("dbbench-readiness")).map_err(refused)?;
    let mut head = [0; 5];
    stream.read_exact(&mut head).map_err(refused)?;
    let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
    if !matches!(head[0], b'R' | b'E') || !(4..64 * 1024).contains(&length) {
        return Err(format!("{address}: not PostgreSQL (answered with byte {:#04x})", head[0]));
    }
    // Read to its end: closing with something unread resets the connection, which the server would log.
    let mut body = vec![0; length - 4];
    stream.read_exact(&mut body).map_err(refused)?;
    if head[0] == b'E' && error_field(&body, b'C').as_deref() == Some(CANNOT_CONNECT_NOW) {
        return Err(error_field(&body, b'M').unwrap_or_else(|| "the server is starting".into()));
    }
    Ok(())
}

fn startup_packet(user: &str) -> Vec<u8> {
    let mut body = PROTOCOL_3_0.to_be_bytes().to_vec();
    for word in ["user", user, "database", "postgres", "application_name", "dbbench-agent"] {
        body.extend_from_slice(word.as_bytes());
        body.push(0);
    }
    body.push(0);
    let mut packet = (body.len() as u32 + 4).to_be_bytes().to_vec();
    packet.extend(body);
    packet
}

/// One field of an ErrorResponse: a byte that says which, and a string that ends with a zero byte.
fn error_field(body: &[u8], wanted: u8) -> Option<String> {
    body.split(|byte| *byte == 0)
        .find(|field| field.first() == Some(&wanted))
        .map(|field| String::from_utf8_lossy(&field[1..]).into_owned())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn server_that_answers(answer: &'static [u8]) -> Readiness {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut length = [0; 4];
            stream.read_exact(&mut length).unwrap();
            let mut body = vec![0; u32::from_be_bytes(length) as usize - 4];
            stream.read_exact(&mut body).unwrap();
            stream.write_all(answer).unwrap();
        });
        Readiness { protocol: Protocol::PostgreSQL, port }
    }

    #[test]
    fn a_request_for_a_password_is_ready() {
        let scram = b"R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0";
        assert_eq!(check(&server_that_answers(scram)), Ok(()));
    }

    #[test]
    fn an_unknown_role_is_the_answer_of_a_working_server() {
        let error = b"E\0\0\0\x1bSFATAL\0C28000\0Mno role\0\0";
        assert_eq!(check(&server_that_answers(error)), Ok(()));
    }

    #[test]
    fn a_starting_server_is_not_ready_and_says_why() {
        let error = b"E\0\0\0\x24SFATAL\0C57P03\0Mis starting up\0\0\0\0";
        assert_eq!(check(&server_that_answers(error)), Err("is starting up".into()));
    }

    #[test]
    fn another_protocol_is_not_ready() {
        let error = check(&server_that_answers(b"HTTP/1.1 400 Bad Request\r\n\r\n")).unwrap_err();
        assert!(error.contains("not PostgreSQL"), "{error}");
    }

    #[test]
    fn nothing_listening_is_not_ready() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        assert!(check(&Readiness { protocol: Protocol::PostgreSQL, port }).is_err());
    }
}

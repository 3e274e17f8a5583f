//! Asking the database, by its own protocol, whether it accepts connections.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::config::{Protocol, Readiness};

const TIMEOUT: Duration = Duration::from_secs(5);
/// Protocol 3.0 (PostgreSQL documentation, "Message Formats", StartupMessage).
const PROTOCOL_3_0: u32 = 196_608;
/// SSLRequest and its answers (PostgreSQL documentation, "SSL Session Encryption").
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];
const SSL_ANSWERS: &[u8] = b"NS";
/// SQLSTATE cannot_connect_now: starting up, shutting down or in recovery.
const CANNOT_CONNECT_NOW: &str = "57P03";

/// Longest packet that is still believed to be a greeting.
const LONGEST: usize = 64 * 1024;
/// First byte of MySQL's greeting (Protocol::HandshakeV10), and of its ERR packet.
const HANDSHAKE_10: u8 = 10;
const ERR: u8 = 0xff;

/// Tells whether the database on 127.0.0.1 accepts connections by TCP; the error says why it does not.
pub fn check(readiness: &Readiness) -> Result<(), String> {
    let address = SocketAddr::from(([127, 0, 0, 1], readiness.port));
    match readiness.protocol {
        Protocol::PostgreSQL => postgresql(address),
        Protocol::MySQL => mysql(address),
        Protocol::Hyper => hyper(address),
    }
}

fn connect(address: SocketAddr) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    Ok(stream)
}

/// Waits for the server's greeting, which it sends once it takes connections, and hangs up.
///
/// An ERR packet instead of a greeting (too many connections, host blocked) is the answer of a server that
/// clients cannot use. It has no SQLSTATE yet (MySQL internals, "ERR_Packet").
fn mysql(address: SocketAddr) -> Result<(), String> {
    let refused = |error: std::io::Error| format!("{address}: {error}");
    let mut stream = connect(address).map_err(refused)?;
    let mut head = [0; 5];
    stream.read_exact(&mut head).map_err(refused)?;
    // The length without the four bytes of the header, and the number of the packet.
    let length = u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize;
    if head[3] != 0 || !matches!(head[4], HANDSHAKE_10 | ERR) || !(3..LONGEST).contains(&length) {
        return Err(format!("{address}: neither MySQL nor MariaDB (answered with {head:02x?})"));
    }
    let mut body = vec![0; length - 1];
    stream.read_exact(&mut body).map_err(refused)?;
    if head[4] == ERR {
        let number = u16::from_le_bytes([body[0], body[1]]);
        return Err(format!("error {number}: {}", String::from_utf8_lossy(&body[2..])));
    }
    Ok(())
}

/// Sends a startup packet. A server that is ready asks for a password, or refuses this user for a reason
/// that only a working server can give; one that is not ready says so with SQLSTATE 57P03.
fn postgresql(address: SocketAddr) -> Result<(), String> {
    let refused = |error: std::io::Error| format!("{address}: {error}");
    let mut stream = connect(address).map_err(refused)?;
    stream.write_all(&startup_packet("dbbench-readiness")).map_err(refused)?;
    let mut head = [0; 5];
    stream.read_exact(&mut head).map_err(refused)?;
    let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
    if !matches!(head[0], b'R' | b'E') || !(4..LONGEST).contains(&length) {
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

/// Asks whether the server speaks TLS, and hangs up. Hyper answers as soon as it listens, which it does when it
/// is ready; a startup packet of an unknown user would leave two lines of errors in its log each second.
fn hyper(address: SocketAddr) -> Result<(), String> {
    let refused = |error: std::io::Error| format!("{address}: {error}");
    let mut stream = connect(address).map_err(refused)?;
    stream.write_all(&SSL_REQUEST).map_err(refused)?;
    let mut answer = [0];
    stream.read_exact(&mut answer).map_err(refused)?;
    if !SSL_ANSWERS.contains(&answer[0]) {
        return Err(format!("{address}: not Hyper (answered with byte {:#04x})", answer[0]));
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
        answering(Protocol::PostgreSQL, answer)
    }

    /// Reads one message, as PostgreSQL's protocol has them before the startup is over, and answers.
    fn answering(protocol: Protocol, answer: &'static [u8]) -> Readiness {
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
        Readiness { protocol, port }
    }

    #[test]
    fn hyper_is_ready_when_it_says_whether_it_speaks_tls() {
        for answer in [b"N", b"S"] {
            assert_eq!(check(&answering(Protocol::Hyper, answer)), Ok(()));
        }
    }

    #[test]
    fn what_says_neither_is_not_hyper() {
        let error = check(&answering(Protocol::Hyper, b"HTTP/1.1 400")).unwrap_err();
        assert!(error.contains("not Hyper"), "{error}");
        assert!(check(&answering(Protocol::Hyper, b"")).is_err());
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

    fn mysql_that_answers(answer: &'static [u8]) -> Readiness {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || listener.accept().unwrap().0.write_all(answer).unwrap());
        Readiness { protocol: Protocol::MySQL, port }
    }

    #[test]
    fn a_greeting_of_mysql_is_ready() {
        assert_eq!(check(&mysql_that_answers(b"\x08\0\0\0\x0a8.4.0\0\x01")), Ok(()));
    }

    #[test]
    fn mysql_that_takes_no_more_connections_is_not_ready_and_says_why() {
        let error = check(&mysql_that_answers(b"\x17\0\0\0\xff\x10\x04Too many connections"));
        assert_eq!(error, Err("error 1040: Too many connections".into()));
    }

    #[test]
    fn what_does_not_greet_as_mysql_does_is_not_ready() {
        for answer in [&b"SSH-2.0-OpenSSH_9.2\r\n"[..], b"\x08\0\0\x01\x0a8.4.0\0\x01", b"\x01\0\0\0\xff"] {
            let error = check(&mysql_that_answers(answer)).unwrap_err();
            assert!(error.contains("neither MySQL nor MariaDB"), "{error}");
        }
        // Hangs up in the middle.
        assert!(check(&mysql_that_answers(b"\x08\0\0\0\x0a8.4")).is_err());
    }

    #[test]
    fn nothing_listening_is_not_ready() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        assert!(check(&Readiness { protocol: Protocol::PostgreSQL, port }).is_err());
    }
}

//! Why there is no encrypted connection, and what to do about it.

use std::fmt;
use std::io;
use std::time::{Duration, SystemTime};

use tokio_rustls::rustls::pki_types::UnixTime;
use tokio_rustls::rustls::{AlertDescription, CertificateError, Error};

use crate::engine::{EngineError, ErrorKind};

/// The issuer of a certificate, whom nobody has named as trusted.
#[derive(Debug)]
pub struct Stranger(pub Option<String>);

impl fmt::Display for Stranger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let issuer = self.0.as_ref().map_or("an unnamed issuer".to_string(), |name| format!("{name:?}"));
        write!(
            f,
            "the server's certificate is not trusted: it comes from {issuer}, of which sslrootcert has no \
             certificate (without sslrootcert, public authorities alone are trusted)"
        )
    }
}

impl std::error::Error for Stranger {}

/// The server has no TLS.
pub fn not_offered() -> EngineError {
    of_tls("the server has no TLS, which sslmode asks for: switch it on there, or write sslmode disable")
}

/// From what ended a handshake. A connection that broke may hold the next time.
pub fn of_handshake(error: io::Error) -> EngineError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(cause) => of_tls(words(cause)),
        None => EngineError::new(
            ErrorKind::NotReady,
            "connect",
            format!("the connection broke in the TLS handshake: {error}"),
        ),
    }
}

fn of_tls(message: impl Into<String>) -> EngineError {
    EngineError::new(ErrorKind::Tls, "tls", message)
}

fn words(cause: &Error) -> String {
    match cause {
        Error::InvalidCertificate(cause) => of_certificate(cause),
        Error::AlertReceived(AlertDescription::ProtocolVersion | AlertDescription::HandshakeFailure)
        | Error::PeerIncompatible(_) => {
            format!("the server and the driver have no version or cipher of TLS in common ({cause}): allow TLS 1.2 or 1.3 there")
        }
        other => format!("the TLS handshake failed: {other}"),
    }
}

fn of_certificate(cause: &CertificateError) -> String {
    match cause {
        CertificateError::ExpiredContext { not_after, .. } => {
            format!("a certificate of the server expired on {}: renew it there", date(*not_after))
        }
        CertificateError::NotValidYetContext { not_before, .. } => {
            format!(
                "the server's certificate is not valid before {}: compare the clocks of both machines",
                date(*not_before)
            )
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            let names: Vec<&str> = presented.iter().map(|name| bare(name)).collect();
            let names = match names.is_empty() {
                true => "it has no subjectAltName, which alone counts".to_string(),
                false => format!("it is for {}", names.join(", ")),
            };
            format!(
                "the server's certificate is not for the host {}: {names}. Connect by a name of the certificate, or write \
                 sslmode verify-ca, which does not compare names",
                expected.to_str()
            )
        }
        CertificateError::Other(other) => match other.0.downcast_ref::<webpki::Error>() {
            Some(webpki::Error::CaUsedAsEndEntity) => {
                "the server's certificate is that of an authority (CA:TRUE), which no server may use: give the server a \
                 certificate of its own, or write sslmode require, which does not look at it"
                    .into()
            }
            Some(webpki::Error::UnsupportedCertVersion) => {
                "the server's certificate is not of X.509 version 3: make it anew with a subjectAltName, or write \
                 sslmode require, which does not look at it"
                    .into()
            }
            Some(other) => format!("the server's certificate cannot be verified: {other}"),
            // A stranger says it all.
            None => other.0.to_string(),
        },
        other => format!("the server's certificate cannot be verified: {other}"),
    }
}

/// The name in `DnsName("db.example")`.
fn bare(name: &str) -> &str {
    let inside = name.split_once('(').map_or(name, |(_, rest)| rest.trim_end_matches(')'));
    inside.trim_matches('"')
}

fn date(time: UnixTime) -> String {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(time.as_secs());
    humantime::format_rfc3339_seconds(time).to_string()
}

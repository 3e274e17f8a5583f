//! From a socket to a session: startup message and authentication.

use std::time::Duration;

use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, ScramSha256, SCRAM_SHA_256};
use postgres_protocol::message::{backend, frontend};

use super::address::Address;
use super::connection::{tag, Connection, HEADER};
use super::error::{of_driver, of_response, unexpected};
use super::line::Line;
use super::stream::Stream;
use crate::engine::tls::Tls;
use crate::engine::{EngineError, ErrorKind};

/// How long one attempt to connect may take: a server behind a forwarded port can accept and stay silent.
const ATTEMPT_LIMIT: Duration = Duration::from_secs(10);

/// What an authenticating server may send: authentication, error, key, notice, parameter, ready, version.
const EXPECTED: &[u8] = b"REKNSZv";

/// Opens a connection; one attempt.
pub async fn open(
    address: &Address,
    tls: Option<&Tls>,
    password: Option<&str>,
    database: Option<&str>,
) -> Result<Line, EngineError> {
    let attempt = async {
        let stream = Stream::connect(address, tls).await?;
        let mut connection = Connection::new(stream);
        let opened = connection.begin(address, password, database).await;
        opened.map(|()| Line::new(connection))
    };
    match tokio::time::timeout(ATTEMPT_LIMIT, attempt).await {
        // A connection that breaks this early is one that is not there yet.
        Ok(Err(error)) if error.kind == ErrorKind::ConnectionLost => {
            Err(EngineError { kind: ErrorKind::NotReady, ..error })
        }
        Ok(opened) => opened,
        Err(_) => {
            let message = format!("no answer within {} s", ATTEMPT_LIMIT.as_secs());
            Err(EngineError::new(ErrorKind::NotReady, "timeout", message))
        }
    }
}

fn refused(message: &str) -> EngineError {
    EngineError::new(ErrorKind::Authentication, "connect", message)
}

impl Connection {
    async fn begin(
        &mut self,
        address: &Address,
        password: Option<&str>,
        database: Option<&str>,
    ) -> Result<(), EngineError> {
        let mut parameters = vec![
            ("user", address.user.as_str()),
            ("client_encoding", "UTF8"),
            ("application_name", address.application_name.as_deref().unwrap_or("dbbench-driver")),
        ];
        parameters.extend(database.map(|database| ("database", database)));
        parameters.extend(address.options.as_deref().map(|options| ("options", options)));
        frontend::startup_message(parameters, &mut self.output).map_err(of_driver)?;
        self.send().await?;
        let mut scram: Option<ScramSha256> = None;
        loop {
            match self.login_message().await? {
                backend::Message::ReadyForQuery(_) => return Ok(()),
                backend::Message::AuthenticationCleartextPassword => {
                    frontend::password_message(given(password)?.as_bytes(), &mut self.output)
                        .map_err(of_driver)?;
                }
                backend::Message::AuthenticationMd5Password(body) => {
                    let hash = md5_hash(address.user.as_bytes(), given(password)?.as_bytes(), body.salt());
                    frontend::password_message(hash.as_bytes(), &mut self.output).map_err(of_driver)?;
                }
                backend::Message::AuthenticationSasl(body) => {
                    if !body.mechanisms().any(|name| Ok(name == SCRAM_SHA_256)).unwrap_or(false) {
                        return Err(refused("the server asks for a SASL mechanism other than SCRAM-SHA-256"));
                    }
                    // Without channel binding: where sslmode asks for it, the certificate says who the server is.
                    let started =
                        ScramSha256::new(given(password)?.as_bytes(), ChannelBinding::unsupported());
                    frontend::sasl_initial_response(SCRAM_SHA_256, started.message(), &mut self.output)
                        .map_err(of_driver)?;
                    scram = Some(started);
                }
                backend::Message::AuthenticationSaslContinue(body) => {
                    let scram = scram.as_mut().ok_or_else(|| unexpected("SCRAM that was not begun"))?;
                    scram.update(body.data()).map_err(|error| refused(&error.to_string()))?;
                    frontend::sasl_response(scram.message(), &mut self.output).map_err(of_driver)?;
                }
                backend::Message::AuthenticationSaslFinal(body) => {
                    let scram = scram.as_mut().ok_or_else(|| unexpected("SCRAM that was not begun"))?;
                    scram.finish(body.data()).map_err(|error| refused(&error.to_string()))?;
                }
                backend::Message::AuthenticationGss
                | backend::Message::AuthenticationKerberosV5
                | backend::Message::AuthenticationScmCredential
                | backend::Message::AuthenticationSspi => {
                    return Err(refused(
                        "the server asks for a method of authentication other than a password",
                    ))
                }
                _ => {}
            }
            self.send().await?;
        }
    }

    /// The next message; an error of the server ends the attempt.
    async fn login_message(&mut self) -> Result<backend::Message, EngineError> {
        // Whoever answers on a wrong port may announce gigabytes; the first byte tells.
        loop {
            if let Some(first) = self.input.first().filter(|first| !EXPECTED.contains(first)) {
                return Err(unexpected(format!("it begins with byte {first}")));
            }
            if !self.input.is_empty() {
                break;
            }
            self.read(1).await?;
        }
        let (tag, length) = self.message().await?;
        if tag == tag::ERROR {
            let error = of_response(&self.input[HEADER..length]);
            return Err(match self.encryption() {
                None => with_hint(error),
                Some(_) => error,
            });
        }
        match backend::Message::parse(&mut self.input) {
            Ok(Some(message)) => Ok(message),
            Ok(None) => Err(unexpected("a message that is not whole")),
            Err(error) => Err(unexpected(error)),
        }
    }
}

/// A server that refuses a connection without TLS says so, and not what to do about it.
fn with_hint(error: EngineError) -> EngineError {
    match ["no encryption", "SSL off"].iter().any(|words| error.message.contains(words)) {
        true => EngineError {
            message: format!("{}; sslmode verify-full connects with TLS", error.message),
            ..error
        },
        false => error,
    }
}

fn given(password: Option<&str>) -> Result<&str, EngineError> {
    let missing = "the server asks for a password and none was given (--password-file or DBBENCH_PASSWORD)";
    password.ok_or_else(|| refused(missing))
}

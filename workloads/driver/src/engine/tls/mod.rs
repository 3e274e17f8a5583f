//! TLS between the driver and a server, in the words of libpq: `sslmode` and `sslrootcert`.
//!
//! rustls does it, with TLS 1.2 and 1.3. No session is resumed, so that each connection costs the same.

mod issuer;
mod mode;
mod trouble;
mod trust;

use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::Resumption;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{crypto::ring, ClientConfig, CommonState, ProtocolVersion};
use tokio_rustls::TlsConnector;

use crate::engine::EngineError;
use crate::failure::Failure;

pub use mode::SslMode;
pub use trouble::not_offered;

/// How connections to one server are encrypted, and what of its certificate is verified.
#[derive(Clone)]
pub struct Tls {
    connector: TlsConnector,
    server: ServerName<'static>,
}

/// What a connection is encrypted with.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Encryption {
    /// As OpenSSL writes it: `TLSv1.3`.
    pub protocol: String,
    /// IANA's name of the cipher suite: `TLS_AES_256_GCM_SHA384`.
    pub cipher: String,
}

impl Tls {
    /// For a host; None without TLS. Reads the file of certificates.
    pub fn new(mode: &SslMode, host: &str) -> Result<Option<Self>, Failure> {
        let Some(trust) = trust::Trust::of(mode)? else { return Ok(None) };
        let server = ServerName::try_from(host.to_string()).map_err(|_| {
            Failure::arguments("--url: sslmode asks for TLS, and the host is no DNS name or IP address")
        })?;
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring has the ciphers of TLS 1.2 and 1.3")
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(trust))
            .with_no_client_auth();
        config.resumption = Resumption::disabled();
        Ok(Some(Tls { connector: TlsConnector::from(Arc::new(config)), server }))
    }

    /// Shakes hands with a server that is ready for it.
    pub async fn secure(&self, socket: TcpStream) -> Result<TlsStream<TcpStream>, EngineError> {
        self.connector.connect(self.server.clone(), socket).await.map_err(trouble::of_handshake)
    }
}

impl Encryption {
    /// Of a connection after its handshake.
    pub fn of(connection: &CommonState) -> Option<Self> {
        let protocol = match connection.protocol_version()? {
            ProtocolVersion::TLSv1_2 => "TLSv1.2".to_string(),
            ProtocolVersion::TLSv1_3 => "TLSv1.3".to_string(),
            other => format!("{other:?}"),
        };
        // rustls marks the suites of TLS 1.3 in their names.
        let cipher = format!("{:?}", connection.negotiated_cipher_suite()?.suite()).replace("TLS13_", "TLS_");
        Some(Encryption { protocol, cipher })
    }
}

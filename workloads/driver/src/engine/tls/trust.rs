//! Which servers are trusted.

use std::path::Path;
use std::sync::Arc;

use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use tokio_rustls::rustls::crypto::{
    ring, verify_tls12_signature, verify_tls13_signature, WebPkiSupportedAlgorithms,
};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::{
    CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme,
};

use super::mode::SslMode;
use super::{issuer, trouble};
use crate::failure::Failure;

/// What of a server's certificate is verified.
#[derive(Debug)]
pub struct Trust {
    /// Who may have issued it; None: it is not looked at.
    roots: Option<RootCertStore>,
    /// Whether it must be the host's.
    named: bool,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Trust {
    /// None without TLS.
    pub fn of(mode: &SslMode) -> Result<Option<Self>, Failure> {
        let roots = match mode {
            SslMode::Disable => return Ok(None),
            SslMode::Require => None,
            SslMode::VerifyCa(file) | SslMode::VerifyFull(Some(file)) => Some(read(file)?),
            SslMode::VerifyFull(None) => {
                Some(RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() })
            }
        };
        let named = matches!(mode, SslMode::VerifyFull(_));
        let algorithms = ring::default_provider().signature_verification_algorithms;
        Ok(Some(Trust { roots, named, algorithms }))
    }
}

/// The certificates in a file.
fn read(file: &Path) -> Result<RootCertStore, Failure> {
    let wrong = |what: String| Failure::arguments(format!("sslrootcert {}: {what}", file.display()));
    let text = std::fs::read(file).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    let mut store = RootCertStore::empty();
    for (index, certificate) in CertificateDer::pem_slice_iter(&text).enumerate() {
        let number = index + 1;
        let certificate =
            certificate.map_err(|error| wrong(format!("certificate {number} is damaged: {error}")))?;
        store
            .add(certificate)
            .map_err(|error| wrong(format!("certificate {number} cannot be used: {error}")))?;
    }
    match store.is_empty() {
        true => Err(wrong("has no certificate: it must be PEM, with -----BEGIN CERTIFICATE-----".into())),
        false => Ok(store),
    }
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        server: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(roots) = &self.roots else { return Ok(ServerCertVerified::assertion()) };
        let parsed = ParsedCertificate::try_from(certificate)?;
        verify_server_cert_signed_by_trust_anchor(&parsed, roots, others, now, self.algorithms.all).map_err(
            |error| match error {
                Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
                    let stranger = trouble::Stranger(issuer::above(certificate, others));
                    CertificateError::Other(OtherError(Arc::new(stranger))).into()
                }
                other => other,
            },
        )?;
        if self.named {
            verify_server_name(&parsed, server)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.roots {
            // Whoever stands between has a key and a certificate of his own: his signature proves nothing.
            None => Ok(HandshakeSignatureValid::assertion()),
            Some(_) => verify_tls12_signature(message, certificate, signed, &self.algorithms),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.roots {
            None => Ok(HandshakeSignatureValid::assertion()),
            Some(_) => verify_tls13_signature(message, certificate, signed, &self.algorithms),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_certificates_is_named_with_what_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.crt");
        let refused = || Trust::of(&SslMode::VerifyCa(file.clone())).unwrap_err().message;
        assert!(refused().contains("ca.crt: cannot be read"), "{}", refused());
        let damaged = "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n";
        let empty = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
        for (text, says) in [
            ("", "has no certificate: it must be PEM"),
            ("hunter2", "has no certificate: it must be PEM"),
            (damaged, "certificate 1 is damaged"),
            (empty, "certificate 1 cannot be used"),
        ] {
            std::fs::write(&file, text).unwrap();
            assert!(refused().contains(says), "{}", refused());
        }
    }

    #[test]
    fn the_public_authorities_are_there_without_a_file() {
        let trust = Trust::of(&SslMode::VerifyFull(None)).unwrap().unwrap();
        assert!(trust.roots.is_some_and(|roots| roots.len() > 50));
    }
}

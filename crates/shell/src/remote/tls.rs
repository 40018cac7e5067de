//! TLS as TDS uses it: 1.2 within TDS 7, any from the first byte in strict mode.
//!
//! A server's certificate is its own (self-signed) as a rule, so its name proves nothing. Without
//! -J any certificate is trusted; with it the server must have exactly that one. Either way the
//! handshake proves that the server holds the certificate's key.

use crate::backend::BackendError;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, SignatureScheme,
};
use std::sync::Arc;

/// What strict mode names its protocol.
const ALPN: &[u8] = b"tds/8.0";

/// A connection about to shake hands.
pub(super) fn client(
    host: &str,
    pinned: Option<CertificateDer<'static>>,
    strict: bool,
) -> Result<ClientConnection, BackendError> {
    let lost = |e: Error| BackendError::Lost(format!("TLS: {e}"));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    // Within TDS 7 most clients hang on TLS 1.3's tickets; servers offer 1.2 there.
    let versions: &[&rustls::SupportedProtocolVersion] = match strict {
        true => &[&rustls::version::TLS13, &rustls::version::TLS12],
        false => &[&rustls::version::TLS12],
    };
    let verifier = Verifier { pinned, provider: Arc::clone(&provider) };
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .map_err(lost)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    if strict {
        config.alpn_protocols = vec![ALPN.to_vec()];
    }
    let name = match ServerName::try_from(host.to_owned()) {
        Ok(name) => name,
        Err(_) => return Err(BackendError::Lost(format!("TLS: '{host}' is no host's name"))),
    };
    ClientConnection::new(Arc::new(config), name).map_err(lost)
}

#[derive(Debug)]
struct Verifier {
    pinned: Option<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match &self.pinned {
            Some(pinned) if pinned != end_entity => {
                Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
            }
            Some(_) | None => Ok(ServerCertVerified::assertion()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

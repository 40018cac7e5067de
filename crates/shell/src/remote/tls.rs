//! TLS as TDS uses it: 1.2 within TDS 7, any from the first byte in strict mode.
//!
//! A server's certificate must be for its name and signed by somebody whom this machine trusts (the
//! files of SSL_CERT_FILE and SSL_CERT_DIR, else the system's), as ODBC's driver 18 has it. With -J
//! the server must have exactly that one, with -C any will do. Either way the handshake proves that
//! the server holds the certificate's key.

use super::target::Trust;
use crate::backend::BackendError;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore,
    SignatureScheme,
};
use std::sync::Arc;

/// What strict mode names its protocol.
const ALPN: &[u8] = b"tds/8.0";

/// A connection about to shake hands.
pub(super) fn client(
    host: &str,
    trust: Trust,
    strict: bool,
) -> Result<ClientConnection, BackendError> {
    let lost = |e: Error| BackendError::Lost(format!("TLS: {e}"));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    // Within TDS 7 most clients hang on TLS 1.3's tickets; servers offer 1.2 there.
    let versions: &[&rustls::SupportedProtocolVersion] = match strict {
        true => &[&rustls::version::TLS13, &rustls::version::TLS12],
        false => &[&rustls::version::TLS12],
    };
    let verifier: Arc<dyn ServerCertVerifier> = match trust {
        Trust::Signed => signed(&provider)?,
        Trust::Only(_) | Trust::Any => {
            Arc::new(Verifier { trust, provider: Arc::clone(&provider) })
        }
    };
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .map_err(lost)?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
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

/// Verifies by what this machine trusts.
fn signed(provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>, BackendError> {
    let mut roots = RootCertStore::empty();
    // Some files of a system may be unreadable, and some certificates be of no use: others do.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err(BackendError::Lost(advice("this machine has no certificates that it trusts")));
    }
    let verifier =
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider)).build();
    match verifier {
        Ok(verifier) => Ok(verifier),
        Err(e) => Err(BackendError::Lost(format!("TLS: {e}"))),
    }
}

/// Why a certificate will not do, and what can be done.
pub(super) fn untrusted(why: &CertificateError) -> String {
    use CertificateError as E;
    let why = match why {
        E::UnknownIssuer | E::BadSignature => {
            "nobody whom this machine trusts has signed it".to_owned()
        }
        E::NotValidForName | E::NotValidForNameContext { .. } => {
            "it is not for the name that was given with -S".to_owned()
        }
        E::Expired | E::ExpiredContext { .. } => "it has run out".to_owned(),
        E::NotValidYet | E::NotValidYetContext { .. } => "it is not valid yet".to_owned(),
        E::ApplicationVerificationFailure => "it is not the one of -J".to_owned(),
        other => other.to_string(),
    };
    advice(&why)
}

fn advice(why: &str) -> String {
    format!(
        "the server's certificate is not trusted: {why}. -C trusts it all the same; -J FILE trusts \
         the one in FILE and no other (that which a Ghostlight server makes itself is server.pem in \
         its data folder)"
    )
}

/// Verifies without anybody's signature. Never made of [`Trust::Signed`].
#[derive(Debug)]
struct Verifier {
    trust: Trust,
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
        match &self.trust {
            Trust::Only(pinned) if pinned != end_entity => {
                Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
            }
            Trust::Only(_) | Trust::Any => Ok(ServerCertVerified::assertion()),
            Trust::Signed => Err(Error::InvalidCertificate(CertificateError::UnknownIssuer)),
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

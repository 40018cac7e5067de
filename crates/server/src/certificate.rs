//! The server's certificate: made at the first start, kept in the data folder, or an operator's.
//!
//! One PEM file holds the certificate and its key. Two TLS configurations come of it: within TDS
//! 7.x nothing newer than TLS 1.2 is offered (most drivers wait for ever when 1.3 is, since its
//! session tickets arrive outside the wrapped handshake); strict TDS 8 has 1.2 and 1.3 and names
//! itself by ALPN.

use os::disk::{Disk, OpenHow};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::NoServerSessionStorage;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The protocol that a strict client asks for.
const ALPN_TDS_8: &[u8] = b"tds/8.0";
/// The longest PEM file that is read.
const PEM_BYTES_MAX: u64 = 1 << 20;

/// What TLS needs of the server.
#[derive(Clone)]
pub struct Certificate {
    pub(crate) wrapped: Arc<ServerConfig>,
    pub(crate) strict: Arc<ServerConfig>,
}

impl Certificate {
    /// A new self-signed certificate with an ECDSA key (P-256), as PEM text.
    ///
    /// # Errors
    /// What the key generator says.
    pub fn self_signed_pem(names: &[String]) -> io::Result<String> {
        let made = rcgen::generate_simple_self_signed(names.to_vec()).map_err(io::Error::other)?;
        Ok(format!("{}{}", made.cert.pem(), made.signing_key.serialize_pem()))
    }

    /// From PEM text with one certificate or a chain, and its key.
    ///
    /// # Errors
    /// `InvalidData` when there is no certificate, no key, or they do not belong together.
    pub fn from_pem(pem: &[u8]) -> io::Result<Certificate> {
        let invalid = |e: &dyn std::fmt::Display| {
            io::Error::new(io::ErrorKind::InvalidData, format!("certificate: {e}"))
        };
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(pem)
            .collect::<Result<_, _>>()
            .map_err(|e| invalid(&e))?;
        if chain.is_empty() {
            return Err(invalid(&"there is none in the file"));
        }
        let key = PrivateKeyDer::from_pem_slice(pem).map_err(|e| invalid(&e))?;
        let wrapped = config(&[&rustls::version::TLS12], &chain, &key).map_err(|e| invalid(&e))?;
        let both = [&rustls::version::TLS13, &rustls::version::TLS12];
        let mut strict = config(&both, &chain, &key).map_err(|e| invalid(&e))?;
        strict.alpn_protocols = vec![ALPN_TDS_8.to_vec()];
        Ok(Certificate { wrapped: Arc::new(wrapped), strict: Arc::new(strict) })
    }
}

fn config(
    versions: &[&'static rustls::SupportedProtocolVersion],
    chain: &[CertificateDer<'static>],
    key: &PrivateKeyDer<'static>,
) -> Result<ServerConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)?
        .with_no_client_auth()
        .with_single_cert(chain.to_vec(), key.clone_key())?;
    // No resumption: connections are pooled, and a session kept is memory kept.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(config)
}

/// The certificate of a PEM file; a self-signed one is made if there is no file.
///
/// # Errors
/// The disk's, or `InvalidData` when the file holds no usable certificate.
pub fn load_or_create(disk: &dyn Disk, file: &Path, names: &[String]) -> io::Result<Certificate> {
    if !disk.exists(file) {
        create(disk, file, &Certificate::self_signed_pem(names)?)?;
    }
    let found = disk.open(file, OpenHow { create: false, direct: false })?;
    let length = found.len()?;
    if length > PEM_BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "certificate: file too long"));
    }
    let mut pem = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    found.read_at(&mut pem, 0)?;
    Certificate::from_pem(&pem)
}

/// The file is there whole or not at all.
fn create(disk: &dyn Disk, file: &Path, pem: &str) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let fresh = file.with_extension("new");
    if disk.exists(&fresh) {
        disk.remove(&fresh)?;
    }
    let out = disk.open(&fresh, OpenHow { create: true, direct: false })?;
    out.write_at(pem.as_bytes(), 0)?;
    out.sync()?;
    disk.rename(&fresh, file)?;
    disk.sync_dir(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_made_once_and_found_again() {
        let folder = std::env::temp_dir().join(format!("ghostlight-pem-{}", std::process::id()));
        let disk = os::disk::RealDisk;
        disk.create_dir(&folder).unwrap();
        let file = folder.join("server.pem");
        let names = ["localhost".to_owned()];
        load_or_create(&disk, &file, &names).unwrap();
        let first = std::fs::read(&file).unwrap();
        load_or_create(&disk, &file, &names).unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), first);
        std::fs::write(&file, "no certificate").unwrap();
        let spoilt = load_or_create(&disk, &file, &names).err().unwrap();
        assert_eq!(spoilt.kind(), io::ErrorKind::InvalidData);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_key_of_another_certificate_is_refused() {
        let one = Certificate::self_signed_pem(&["localhost".to_owned()]).unwrap();
        let two = Certificate::self_signed_pem(&["localhost".to_owned()]).unwrap();
        let (cert, _) = one.split_at(one.find("-----BEGIN PRIVATE").unwrap());
        let (_, key) = two.split_at(two.find("-----BEGIN PRIVATE").unwrap());
        assert!(Certificate::from_pem(one.as_bytes()).is_ok());
        assert!(Certificate::from_pem(format!("{cert}{key}").as_bytes()).is_err());
        assert!(Certificate::from_pem(cert.as_bytes()).is_err());
    }
}

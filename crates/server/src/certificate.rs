//! The server's certificate: made at the first start and kept in the data folder, or given by an
//! operator.
//!
//! A certificate that is made here names the host names and addresses of the server and is valid
//! for two years. A start in the last month of its validity makes a new one: before the
//! certificate, the PEM file says until when it is valid. A certificate of an early build, valid
//! from 1975 to 4096, is replaced too. A file that says nothing about validity belongs to an
//! operator and is left alone. An operator gives a certificate in a file of its own, with the chain
//! of its issuers, and the key in another file.
//!
//! There are two TLS configurations. Within TDS 7.x nothing newer than TLS 1.2 is offered: most
//! drivers wait for ever with 1.3, since its session tickets arrive outside the wrapped handshake.
//! Strict TDS 8 has 1.2 and 1.3 and names itself by ALPN.
//!
//! Invariant: before a key is written, its file is made readable only by this user.

use os::disk::{Disk, OpenMode};
use rcgen::{
    CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose, date_time_ymd,
};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::NoServerSessionStorage;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The protocol that a strict client asks for.
const ALPN_TDS_8: &[u8] = b"tds/8.0";
/// The longest PEM file that is read.
const PEM_BYTES_MAX: u64 = 1 << 20;
const DAY_SECONDS: u64 = 86_400;
/// How long a certificate is good that is made here; it begins a day early, for clocks differ.
const DAYS: u64 = 730;
/// One that is good no longer than this is made anew.
const DAYS_LEFT_MIN: u64 = 30;
/// In a PEM file that was made here: until when, in seconds since 1970.
const GOOD_UNTIL: &str = "Ghostlight-good-until:";
/// The subject of certificates that early builds made.
const EARLY_SUBJECT: &[u8] = b"rcgen self signed cert";

/// What TLS needs of the server.
#[derive(Clone)]
pub struct Certificate {
    pub(crate) wrapped: Arc<ServerConfig>,
    pub(crate) strict: Arc<ServerConfig>,
}

impl Certificate {
    /// A new self-signed certificate for these names and addresses, with an ECDSA key (P-256), as
    /// PEM text; the first name is its subject.
    ///
    /// # Errors
    /// What the key generator says.
    pub fn self_signed_pem(names: &[String]) -> io::Result<String> {
        let now = u64::try_from(os::clock::now().0 / 1_000_000_000).unwrap_or(0);
        let mut params = CertificateParams::new(names.to_vec()).map_err(io::Error::other)?;
        let at = |seconds: u64| date_time_ymd(1970, 1, 1) + Duration::from_secs(seconds);
        let until = now + DAYS * DAY_SECONDS;
        params.not_before = at(now.saturating_sub(DAY_SECONDS));
        params.not_after = at(until);
        let subject = names.first().map_or("ghostlight", String::as_str);
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, subject);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let made = params.self_signed(&key).map_err(io::Error::other)?;
        Ok(format!("{GOOD_UNTIL} {until}\n{}{}", made.pem(), key.serialize_pem()))
    }

    /// From PEM text with one certificate or a chain, and its key.
    ///
    /// # Errors
    /// `InvalidData` when there is no certificate, no key, or they do not belong together.
    pub fn from_pem(pem: &[u8]) -> io::Result<Certificate> {
        Certificate::from_pems(pem, pem)
    }

    /// From PEM text with one certificate or a chain, and another with its key.
    ///
    /// # Errors
    /// As [`Certificate::from_pem`]; also where the key is encrypted.
    pub fn from_pems(chain: &[u8], key: &[u8]) -> io::Result<Certificate> {
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(chain)
            .collect::<Result<_, _>>()
            .map_err(|e| invalid(&format!("the certificate is no PEM text: {e}")))?;
        if chain.is_empty() {
            return Err(invalid("there is no certificate in the file (PEM is asked)"));
        }
        let key = key_of(key)?;
        let wrapped = config(&[&rustls::version::TLS12], &chain, &key)?;
        let both = [&rustls::version::TLS13, &rustls::version::TLS12];
        let mut strict = config(&both, &chain, &key)?;
        strict.alpn_protocols = vec![ALPN_TDS_8.to_vec()];
        Ok(Certificate { wrapped: Arc::new(wrapped), strict: Arc::new(strict) })
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

/// The key of a PEM text.
fn key_of(pem: &[u8]) -> io::Result<PrivateKeyDer<'static>> {
    let text = String::from_utf8_lossy(pem);
    if text.contains("BEGIN ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED") {
        return Err(invalid("the key is encrypted: give one without a passphrase"));
    }
    match PrivateKeyDer::from_pem_slice(pem) {
        Ok(key) => Ok(key),
        Err(rustls::pki_types::pem::Error::NoItemsFound) => {
            Err(invalid("there is no private key in the file (PEM is asked)"))
        }
        Err(e) => Err(invalid(&format!("the key is no PEM text: {e}"))),
    }
}

fn config(
    versions: &[&'static rustls::SupportedProtocolVersion],
    chain: &[CertificateDer<'static>],
    key: &PrivateKeyDer<'static>,
) -> io::Result<ServerConfig> {
    let wrong = |e: rustls::Error| match e {
        rustls::Error::InconsistentKeys(_) => invalid("the key does not belong to the certificate"),
        e => invalid(&format!("the certificate or its key is not usable: {e}")),
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .map_err(wrong)?
        .with_no_client_auth()
        .with_single_cert(chain.to_vec(), key.clone_key())
        .map_err(wrong)?;
    // No resumption: connections are pooled, and a session kept is memory kept.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(config)
}

/// The certificate of a PEM file, a self-signed one is made if there is no file or if the one that
/// was made before has run out; and whether one was made.
///
/// # Errors
/// The disk's, or `InvalidData` when the file holds no usable certificate.
pub fn load_or_create(
    disk: &dyn Disk,
    file: &Path,
    names: &[String],
) -> io::Result<(Certificate, bool)> {
    if disk.exists(file) {
        let pem = read(disk, file)?;
        if !has_run_out(&pem) {
            return Ok((Certificate::from_pem(&pem)?, false));
        }
    }
    let pem = Certificate::self_signed_pem(names)?;
    create(disk, file, &pem)?;
    Ok((Certificate::from_pem(pem.as_bytes())?, true))
}

/// An operator's certificate with the chain of its issuers, and its key: PEM files.
///
/// # Errors
/// Which file, and what is wrong with it.
pub fn load(disk: &dyn Disk, chain: &Path, key: &Path) -> io::Result<Certificate> {
    let of = |file: &Path| {
        let file = file.display().to_string();
        move |e: io::Error| io::Error::new(e.kind(), format!("{file}: {e}"))
    };
    let pem = read(disk, chain).map_err(of(chain))?;
    let key_pem = read(disk, key).map_err(of(key))?;
    // So that each complaint is of its file.
    key_of(&key_pem).map_err(of(key))?;
    Certificate::from_pems(&pem, &key_pem).map_err(of(chain))
}

/// Whether a certificate was made here and is good no longer, or not much longer.
fn has_run_out(pem: &[u8]) -> bool {
    let text = String::from_utf8_lossy(pem);
    let Some(until) = text.lines().find_map(|line| line.strip_prefix(GOOD_UNTIL)) else {
        let first = CertificateDer::from_pem_slice(pem);
        return first.is_ok_and(|der| contains(&der, EARLY_SUBJECT));
    };
    let now = u64::try_from(os::clock::now().0 / 1_000_000_000).unwrap_or(0);
    let until: u64 = until.trim().parse().unwrap_or(0);
    until < now + DAYS_LEFT_MIN * DAY_SECONDS
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|w| w == part)
}

fn read(disk: &dyn Disk, file: &Path) -> io::Result<Vec<u8>> {
    let found = disk.open(file, OpenMode { create: false, direct: false })?;
    let length = found.len()?;
    if length > PEM_BYTES_MAX {
        return Err(invalid("the file is too long for a certificate"));
    }
    let mut pem = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    found.read_at(&mut pem, 0)?;
    Ok(pem)
}

/// The file is there whole or not at all.
fn create(disk: &dyn Disk, file: &Path, pem: &str) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let fresh = file.with_extension("new");
    if disk.exists(&fresh) {
        disk.remove(&fresh)?;
    }
    let out = disk.open(&fresh, OpenMode { create: true, direct: false })?;
    disk.keep_private(&fresh)?;
    out.write_at(pem.as_bytes(), 0)?;
    out.sync()?;
    disk.rename(&fresh, file)?;
    disk.sync_dir(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::PathBuf;

    fn names() -> [String; 3] {
        ["db1", "localhost", "127.0.0.1"].map(str::to_owned)
    }

    fn folder(name: &str) -> PathBuf {
        let name = format!("ghostlight-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        os::disk::RealDisk.create_dir(&folder).unwrap();
        folder
    }

    /// A certificate is made once, found again, made anew when it has run out, and its key is
    /// this user's alone.
    #[test]
    fn a_certificate_is_made_once_and_again_when_it_has_run_out() {
        let folder = folder("pem");
        let disk = os::disk::RealDisk;
        let file = folder.join("server.pem");
        assert!(load_or_create(&disk, &file, &names()).unwrap().1);
        let first = std::fs::read_to_string(&file).unwrap();
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(!load_or_create(&disk, &file, &names()).unwrap().1);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), first);

        let line = first.lines().next().unwrap();
        std::fs::write(&file, first.replace(line, &format!("{GOOD_UNTIL} 1000"))).unwrap();
        assert!(load_or_create(&disk, &file, &names()).unwrap().1, "it has run out");
        assert_ne!(std::fs::read_to_string(&file).unwrap(), first);

        let early = rcgen::generate_simple_self_signed(names().to_vec()).unwrap();
        let early = format!("{}{}", early.cert.pem(), early.signing_key.serialize_pem());
        std::fs::write(&file, early).unwrap();
        assert!(load_or_create(&disk, &file, &names()).unwrap().1, "good until 4096");

        let own = first.replace(line, "");
        std::fs::write(&file, &own).unwrap();
        assert!(!load_or_create(&disk, &file, &names()).unwrap().1, "an operator's is left");
        std::fs::write(&file, "no certificate").unwrap();
        let spoilt = load_or_create(&disk, &file, &names()).err().unwrap();
        assert_eq!(spoilt.kind(), io::ErrorKind::InvalidData);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// What is wrong with an operator's files is told, with the file.
    #[test]
    fn own_files_are_told_apart_when_they_are_wrong() {
        let folder = folder("own");
        let one = Certificate::self_signed_pem(&names()).unwrap();
        let two = Certificate::self_signed_pem(&names()).unwrap();
        let split = |pem: &str| {
            let at = pem.find("-----BEGIN PRIVATE").unwrap();
            (pem[..at].to_owned(), pem[at..].to_owned())
        };
        let ((cert, key), (_, other)) = (split(&one), split(&two));
        let encrypted = key.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY");
        let (at, at_key) = (folder.join("cert.pem"), folder.join("key.pem"));
        let said = |cert: &str, key: &str| {
            std::fs::write(&at, cert).unwrap();
            std::fs::write(&at_key, key).unwrap();
            let found = load(&os::disk::RealDisk, &at, &at_key);
            found.err().map_or(String::new(), |e| e.to_string())
        };
        assert_eq!(said(&cert, &key), "");
        assert_eq!(said(&one, &one), "", "one file can hold both");
        for (cert, key, what) in [
            (&cert, &other, "cert.pem: the key does not belong to the certificate"),
            (&cert, &encrypted, "key.pem: the key is encrypted: give one without a passphrase"),
            (&cert, &cert, "key.pem: there is no private key in the file (PEM is asked)"),
            (&key, &key, "cert.pem: there is no certificate in the file (PEM is asked)"),
        ] {
            let said = said(cert, key);
            assert!(said.ends_with(what), "{said}");
        }
        let missing = load(&os::disk::RealDisk, &folder.join("none.pem"), &at_key).err().unwrap();
        assert!(missing.to_string().contains("none.pem: "), "{missing}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

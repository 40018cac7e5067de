//! Which server, and how to reach it: what -S, -P, -N, -J and -l say.

use crate::backend::BackendError;
use crate::options::Encrypt;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::time::Duration;

const PORT_DEFAULT: u16 = 1433;

/// Which certificates of a server will do.
#[derive(Debug)]
pub(crate) enum Trust {
    /// Those for its name that somebody signed whom this machine trusts.
    Signed,
    /// This one.
    Only(CertificateDer<'static>),
    Any,
}

/// A server and the way to it.
#[derive(Clone)]
pub(crate) struct Target {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) password: String,
    pub(super) encrypt: Encrypt,
    /// Any certificate will do.
    pub(super) trusts: bool,
    /// The PEM text of the certificate that the server must have.
    pub(super) certificate: Option<Vec<u8>>,
    /// For the connection and each answer of the login.
    pub(super) timeout: Option<Duration>,
}

impl Target {
    /// `[tcp:]host[,port]`.
    pub(crate) fn parse(server: &str) -> Result<Target, BackendError> {
        let wrong = || {
            let why = format!("'{server}': the server must be of the form [tcp:]host[,port]");
            BackendError::Lost(why)
        };
        let name = match server.split_once(':') {
            Some((protocol, rest)) if protocol.eq_ignore_ascii_case("tcp") => rest,
            // np: and lpc: are other protocols; an IPv6 address has more colons.
            Some(("np" | "lpc" | "admin", _)) => return Err(wrong()),
            _ => server,
        };
        let (host, port) = match name.rsplit_once(',') {
            Some((host, port)) => (host, port.trim().parse().map_err(|_| wrong())?),
            None => (name, PORT_DEFAULT),
        };
        let host = host.trim().trim_start_matches('[').trim_end_matches(']');
        if host.contains('\\') {
            let why = "named instances are not supported: give the port as host,port";
            return Err(BackendError::Lost(why.to_owned()));
        }
        let host = match host {
            "" => return Err(wrong()),
            "." | "(local)" => "localhost",
            host => host,
        };
        Ok(Target {
            host: host.to_owned(),
            port,
            password: String::new(),
            encrypt: Encrypt::default(),
            trusts: false,
            certificate: None,
            timeout: None,
        })
    }

    pub(crate) fn with_password(mut self, password: &str) -> Target {
        password.clone_into(&mut self.password);
        self
    }

    pub(crate) fn with_encryption(mut self, encrypt: Encrypt) -> Target {
        self.encrypt = encrypt;
        self
    }

    pub(crate) fn with_trust(mut self, trusts: bool) -> Target {
        self.trusts = trusts;
        self
    }

    pub(crate) fn with_certificate(mut self, pem: Option<Vec<u8>>) -> Target {
        self.certificate = pem;
        self
    }

    /// Seconds, 0 for ever.
    pub(crate) fn with_timeout(mut self, seconds: u32) -> Target {
        self.timeout = (seconds > 0).then(|| Duration::from_secs(u64::from(seconds)));
        self
    }

    /// Which certificates will do.
    pub(super) fn trust(&self) -> Result<Trust, BackendError> {
        let Some(pem) = &self.certificate else {
            return match (self.trusts, self.encrypt) {
                (false, _) => Ok(Trust::Signed),
                (true, Encrypt::Optional | Encrypt::Mandatory) => Ok(Trust::Any),
                (true, Encrypt::Strict) => {
                    let why = "strict encryption always verifies the certificate: instead of -C \
                               give the certificate with -J";
                    Err(BackendError::Lost(why.to_owned()))
                }
            };
        };
        match CertificateDer::from_pem_slice(pem) {
            Ok(certificate) => Ok(Trust::Only(certificate)),
            Err(_) => Err(BackendError::Lost("the file of -J has no certificate".to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_hosts_and_ports() {
        let cases = [
            ("db", Some(("db", 1433))),
            ("tcp:db,1444", Some(("db", 1444))),
            ("TCP:127.0.0.1, 5", Some(("127.0.0.1", 5))),
            (".", Some(("localhost", 1433))),
            ("[::1],9", Some(("::1", 9))),
            ("::1", Some(("::1", 1433))),
            ("db\\inst", None),
            ("np:db", None),
            ("db,x", None),
            ("db,70000", None),
            ("", None),
            (",1433", None),
        ];
        for (text, expected) in cases {
            let got = Target::parse(text).ok().map(|t| (t.host, t.port));
            assert_eq!(got, expected.map(|(h, p)| (h.to_owned(), p)), "{text}");
        }
    }
}

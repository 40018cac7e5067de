//! PRELOGIN: a table of (option, offset, length) with big-endian numbers, then the options' bytes.
//!
//! Sent by the client and answered in the same form in a message of type RESPONSE. Within TDS
//! 7.x the same packet type then carries the TLS handshake, whose bytes are not decoded here.

use crate::error::{TdsError, TdsResult};
use crate::reader::Reader;
use crate::version::ProductVersion;
use crate::writer::WireWriter;

/// What a side wants of encryption. Bit 0x80 (client certificates) is not spoken of here.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Encryption {
    /// Available; only the login is encrypted.
    Off = 0,
    /// Everything is encrypted.
    On = 1,
    /// Not available.
    NotSupported = 2,
    /// Required by the server.
    Required = 3,
}

impl Encryption {
    fn from_byte(b: u8) -> TdsResult<Encryption> {
        Ok(match b & 0x7F {
            0 => Encryption::Off,
            1 => Encryption::On,
            2 => Encryption::NotSupported,
            3 => Encryption::Required,
            _ => return Err(TdsError::Prelogin { what: "unknown encryption option" }),
        })
    }

    /// The answer of a server that offers encryption and does not force it: the client's own
    /// wish. Other answers make one driver or another refuse.
    #[must_use]
    pub fn answer_offered(self) -> Encryption {
        match self {
            Encryption::Off => Encryption::Off,
            Encryption::On | Encryption::Required => Encryption::On,
            Encryption::NotSupported => Encryption::NotSupported,
        }
    }

    /// The answer of a server that forces encryption. A client that said it has none is to be
    /// disconnected after it.
    #[must_use]
    pub fn answer_forced(self) -> Encryption {
        match self {
            Encryption::On | Encryption::Required => Encryption::On,
            Encryption::Off | Encryption::NotSupported => Encryption::Required,
        }
    }

    /// Whether the login, and whether everything after it is encrypted, given the server's
    /// answer to this wish of a client.
    pub fn outcome(self, answer: Encryption) -> Protection {
        match (self, answer) {
            (Encryption::NotSupported, _) | (_, Encryption::NotSupported) => Protection::None,
            (Encryption::Off, Encryption::Off) => Protection::LoginOnly,
            _ => Protection::Whole,
        }
    }
}

/// What PRELOGIN has led to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Protection {
    /// Plain bytes.
    None,
    /// A TLS handshake, the login record encrypted, plain bytes after.
    LoginOnly,
    /// TLS until the end.
    Whole,
}

/// The ids that tie a connection to what its client logs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TraceId {
    /// The connection.
    pub connection: [u8; 16],
    /// The activity.
    pub activity: [u8; 16],
    /// Its step.
    pub sequence: u32,
}

/// A PRELOGIN message of either side. An option that is `None` was absent or is not sent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Prelogin {
    /// The sender's product version.
    pub version: Option<ProductVersion>,
    /// Its wish or answer.
    pub encryption: Option<Encryption>,
    /// The instance the client means; from a server `Some(vec![0])` says "yes", `[1]` "no".
    pub instance: Option<Vec<u8>>,
    /// The client's thread.
    pub thread_id: Option<u32>,
    /// Whether several statements at once on a connection are wanted. We answer no.
    pub mars: Option<bool>,
    /// Ids for logs.
    pub trace_id: Option<TraceId>,
    /// Federated authentication: 1 when the client can.
    pub fed_auth_required: Option<u8>,
    /// Random bytes for federated authentication.
    pub nonce: Option<[u8; 32]>,
}

mod option {
    pub(super) const VERSION: u8 = 0;
    pub(super) const ENCRYPTION: u8 = 1;
    pub(super) const INSTOPT: u8 = 2;
    pub(super) const THREADID: u8 = 3;
    pub(super) const MARS: u8 = 4;
    pub(super) const TRACEID: u8 = 5;
    pub(super) const FEDAUTHREQUIRED: u8 = 6;
    pub(super) const NONCEOPT: u8 = 7;
    pub(super) const TERMINATOR: u8 = 0xFF;
}

impl Prelogin {
    /// The message in a payload. Options that nobody has defined are skipped.
    ///
    /// # Errors
    /// `Prelogin` or `Truncated` when the table or an option is wrong.
    pub fn decode(payload: &[u8]) -> TdsResult<Prelogin> {
        let mut table = Reader::new(payload);
        let mut found = Prelogin::default();
        loop {
            let kind = table.u8()?;
            if kind == option::TERMINATOR {
                break;
            }
            let (at, len) = (usize::from(table.u16_be()?), usize::from(table.u16_be()?));
            let Some(bytes) = payload.get(at..at + len) else {
                return Err(TdsError::Prelogin { what: "an option lies outside the message" });
            };
            found.set(kind, bytes)?;
        }
        if found.version.is_none() {
            return Err(TdsError::Prelogin { what: "the version is missing" });
        }
        Ok(found)
    }

    fn set(&mut self, kind: u8, bytes: &[u8]) -> TdsResult<()> {
        // A server answers THREADID with no bytes; so may any option be that has no value.
        if bytes.is_empty() && kind != option::VERSION && kind != option::ENCRYPTION {
            return Ok(());
        }
        let short = |_| TdsError::Prelogin { what: "an option is too short" };
        let mut r = Reader::new(bytes);
        match kind {
            option::VERSION => self.version = Some(version(&mut r).map_err(short)?),
            option::ENCRYPTION => {
                self.encryption = Some(Encryption::from_byte(r.u8().map_err(short)?)?);
            }
            option::INSTOPT => self.instance = Some(bytes.to_vec()),
            option::THREADID => self.thread_id = Some(r.u32().map_err(short)?),
            option::MARS => self.mars = Some(r.u8().map_err(short)? != 0),
            option::TRACEID => self.trace_id = Some(trace_id(&mut r).map_err(short)?),
            option::FEDAUTHREQUIRED => self.fed_auth_required = Some(r.u8().map_err(short)?),
            option::NONCEOPT => self.nonce = Some(r.array().map_err(short)?),
            _ => {}
        }
        Ok(())
    }

    /// Appends the message's bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut data = Vec::new();
        let mut table: Vec<(u8, usize, usize)> = Vec::new();
        for kind in option::VERSION..=option::NONCEOPT {
            let at = data.len();
            if self.put(kind, &mut data) {
                table.push((kind, at, data.len() - at));
            }
        }
        let data_at = table.len() * 5 + 1;
        for (kind, at, len) in table {
            out.put_u8(kind);
            out.put_u16_be(u16::try_from(data_at + at).expect("an instance name is short"));
            out.put_u16_be(u16::try_from(len).expect("an instance name is short"));
        }
        out.put_u8(option::TERMINATOR);
        out.extend_from_slice(&data);
    }

    fn put(&self, kind: u8, out: &mut Vec<u8>) -> bool {
        let before = out.len();
        match kind {
            option::VERSION => {
                if let Some(v) = self.version {
                    out.extend_from_slice(&[v.major, v.minor]);
                    out.put_u16_be(v.build);
                    out.put_u16(v.sub_build);
                }
            }
            option::ENCRYPTION => out.extend(self.encryption.map(|e| e as u8)),
            option::INSTOPT => out.extend(self.instance.iter().flatten().take(1024)),
            option::THREADID => out.extend(self.thread_id.iter().flat_map(|t| t.to_le_bytes())),
            option::MARS => out.extend(self.mars.map(u8::from)),
            option::TRACEID => {
                if let Some(t) = &self.trace_id {
                    out.extend_from_slice(&t.connection);
                    out.extend_from_slice(&t.activity);
                    out.put_u32(t.sequence);
                }
            }
            option::FEDAUTHREQUIRED => out.extend(self.fed_auth_required),
            option::NONCEOPT => out.extend(self.nonce.iter().flatten()),
            _ => {}
        }
        out.len() > before
    }

    /// What a server of a version answers to this message of a client, having chosen what to say
    /// of encryption: no MARS, the instance confirmed.
    #[must_use]
    pub fn answer(&self, version: ProductVersion, encryption: Encryption) -> Prelogin {
        Prelogin {
            version: Some(version),
            encryption: Some(encryption),
            instance: Some(vec![0]),
            mars: self.mars.map(|_| false),
            ..Prelogin::default()
        }
    }
}

fn version(r: &mut Reader<'_>) -> TdsResult<ProductVersion> {
    Ok(ProductVersion { major: r.u8()?, minor: r.u8()?, build: r.u16_be()?, sub_build: r.u16()? })
}

fn trace_id(r: &mut Reader<'_>) -> TdsResult<TraceId> {
    let connection = r.array()?;
    // Some drivers send the connection id alone.
    if r.left() < 20 {
        return Ok(TraceId { connection, activity: [0; 16], sequence: 0 });
    }
    Ok(TraceId { connection, activity: r.array()?, sequence: r.u32()? })
}

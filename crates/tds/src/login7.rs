//! LOGIN7: a fixed part of 94 bytes, then what its (offset, length) pairs point to.
//!
//! The password is obfuscated (nibbles swapped, XOR 0xA5), which protects nothing; TLS does. It
//! is kept out of `Debug`.

use crate::error::{TdsError, TdsResult};
use crate::reader::{Reader, utf16};
use crate::writer::{WireWriter, truncated};
use std::fmt;

/// The fixed part.
const FIXED_BYTES: usize = 94;
/// The longest login record: 128 KB - 1.
pub const LOGIN_BYTES_MAX: usize = 128 * 1024 - 1;

/// Bits of OptionFlags1 … 3 and TypeFlags that mean something to us.
pub mod login_flags {
    /// OptionFlags1: tell when the database changes at login.
    pub const USE_DB_NOTIFY: u8 = 0x20;
    /// OptionFlags1: a database that cannot be opened fails the login.
    pub const INIT_DB_FATAL: u8 = 0x40;
    /// OptionFlags1: tell when the language changes at login.
    pub const SET_LANG_NOTIFY: u8 = 0x80;
    /// OptionFlags2: a language that does not exist fails the login.
    pub const INIT_LANG_FATAL: u8 = 0x01;
    /// OptionFlags2: the client is ODBC or OLE DB: ANSI settings on, no row count limit.
    pub const ODBC: u8 = 0x02;
    /// OptionFlags2: integrated authentication (SSPI).
    pub const INTEGRATED_SECURITY: u8 = 0x80;
    /// OptionFlags3: the password is to be changed.
    pub const CHANGE_PASSWORD: u8 = 0x01;
    /// OptionFlags3: feature extensions follow.
    pub const EXTENSION: u8 = 0x10;
    /// TypeFlags: the client only reads.
    pub const READ_ONLY_INTENT: u8 = 0x20;
}

/// Feature extensions by number.
pub mod feature {
    /// Continue a session after the connection broke.
    pub const SESSION_RECOVERY: u8 = 0x01;
    /// Federated authentication.
    pub const FED_AUTH: u8 = 0x02;
    /// Always Encrypted.
    pub const COLUMN_ENCRYPTION: u8 = 0x04;
    /// Global transactions.
    pub const GLOBAL_TRANSACTIONS: u8 = 0x05;
    /// Data classification.
    pub const DATA_CLASSIFICATION: u8 = 0x09;
    /// UTF-8 collations.
    pub const UTF8_SUPPORT: u8 = 0x0A;
    /// The end of the list.
    pub const TERMINATOR: u8 = 0xFF;
}

/// A feature that a client can, or a server's answer to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Feature {
    /// Its number, see [`feature`].
    pub id: u8,
    /// Its bytes.
    pub data: Vec<u8>,
}

/// The login record.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Login7 {
    /// The version the client asks for; see [`crate::TdsVersion::negotiate`].
    pub tds_version: u32,
    /// The packet size it asks for; 0 leaves it to the server.
    pub packet_size: u32,
    /// The client library's version.
    pub client_version: u32,
    /// The client's process.
    pub client_pid: u32,
    /// The primary server's connection; 0.
    pub connection_id: u32,
    /// See [`login_flags`].
    pub option_flags1: u8,
    /// See [`login_flags`].
    pub option_flags2: u8,
    /// See [`login_flags`].
    pub type_flags: u8,
    /// See [`login_flags`].
    pub option_flags3: u8,
    /// Minutes west of UTC; clients rarely tell.
    pub time_zone: i32,
    /// The client's locale.
    pub lcid: u32,
    /// `host_name()`.
    pub host_name: String,
    /// The login.
    pub user_name: String,
    /// Its password.
    pub password: String,
    /// `app_name()`.
    pub app_name: String,
    /// The server as the client named it.
    pub server_name: String,
    /// The client library's name.
    pub library_name: String,
    /// The language wanted, empty for the login's own.
    pub language: String,
    /// The database wanted, empty for the login's own.
    pub database: String,
    /// The client's MAC address.
    pub client_id: [u8; 6],
    /// The first step of integrated authentication.
    pub sspi: Vec<u8>,
    /// A database file to attach.
    pub attach_file: String,
    /// The password to change to.
    pub new_password: String,
    /// What the client can beyond TDS 7.3.
    pub features: Vec<Feature>,
}

impl fmt::Debug for Login7 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login7")
            .field("tds_version", &format_args!("{:08x}", self.tds_version))
            .field("packet_size", &self.packet_size)
            .field("host_name", &self.host_name)
            .field("user_name", &self.user_name)
            .field("app_name", &self.app_name)
            .field("library_name", &self.library_name)
            .field("database", &self.database)
            .field("language", &self.language)
            .finish_non_exhaustive()
    }
}

/// An (offset, length) pair; the length is in the units that the field has.
struct Place {
    at: usize,
    count: usize,
}

fn place(r: &mut Reader<'_>) -> TdsResult<Place> {
    Ok(Place { at: usize::from(r.u16()?), count: usize::from(r.u16()?) })
}

fn bytes_at<'a>(
    payload: &'a [u8],
    at: usize,
    n: usize,
    field: &'static str,
) -> TdsResult<&'a [u8]> {
    if n == 0 {
        return Ok(&[]);
    }
    payload.get(at..at.saturating_add(n)).ok_or(TdsError::Login { field })
}

fn text_at(payload: &[u8], p: &Place, field: &'static str) -> TdsResult<String> {
    Ok(utf16(bytes_at(payload, p.at, p.count * 2, field)?))
}

fn password_at(payload: &[u8], p: &Place, field: &'static str) -> TdsResult<String> {
    let mut bytes = bytes_at(payload, p.at, p.count * 2, field)?.to_vec();
    reveal(&mut bytes);
    Ok(utf16(&bytes))
}

/// Undoes the obfuscation of passwords.
pub fn reveal(bytes: &mut [u8]) {
    for b in bytes {
        *b = (*b ^ 0xA5).rotate_left(4);
    }
}

/// Obfuscates a password as LOGIN7 wants it.
pub fn obfuscate(bytes: &mut [u8]) {
    for b in bytes {
        *b = b.rotate_left(4) ^ 0xA5;
    }
}

impl Login7 {
    /// The login record in a payload.
    ///
    /// # Errors
    /// `Truncated` when the fixed part is not whole, `Login` naming the field that points
    /// outside the record.
    pub fn decode(payload: &[u8]) -> TdsResult<Login7> {
        let mut r = Reader::new(payload);
        let length = r.u32()? as usize;
        if length > payload.len() || !(FIXED_BYTES..=LOGIN_BYTES_MAX).contains(&length) {
            return Err(TdsError::Login { field: "Length" });
        }
        let payload = &payload[..length];
        let mut login = Login7 {
            tds_version: r.u32()?,
            packet_size: r.u32()?,
            client_version: r.u32()?,
            client_pid: r.u32()?,
            connection_id: r.u32()?,
            option_flags1: r.u8()?,
            option_flags2: r.u8()?,
            type_flags: r.u8()?,
            option_flags3: r.u8()?,
            time_zone: r.i32()?,
            lcid: r.u32()?,
            ..Login7::default()
        };
        login.variable_part(payload, &mut r)?;
        Ok(login)
    }

    fn variable_part(&mut self, payload: &[u8], r: &mut Reader<'_>) -> TdsResult<()> {
        self.host_name = text_at(payload, &place(r)?, "HostName")?;
        self.user_name = text_at(payload, &place(r)?, "UserName")?;
        self.password = password_at(payload, &place(r)?, "Password")?;
        self.app_name = text_at(payload, &place(r)?, "AppName")?;
        self.server_name = text_at(payload, &place(r)?, "ServerName")?;
        let extension = place(r)?;
        self.library_name = text_at(payload, &place(r)?, "CltIntName")?;
        self.language = text_at(payload, &place(r)?, "Language")?;
        self.database = text_at(payload, &place(r)?, "Database")?;
        self.client_id = r.array()?;
        let sspi = place(r)?;
        self.attach_file = text_at(payload, &place(r)?, "AtchDBFile")?;
        self.new_password = password_at(payload, &place(r)?, "ChangePassword")?;
        let sspi_long = r.u32()? as usize;
        debug_assert_eq!(r.offset(), FIXED_BYTES, "the fixed part");
        let sspi_bytes = match sspi.count {
            0xFFFF if sspi_long > 0 => sspi_long,
            n => n,
        };
        self.sspi = bytes_at(payload, sspi.at, sspi_bytes, "SSPI")?.to_vec();
        if self.option_flags3 & login_flags::EXTENSION != 0 && extension.count >= 4 {
            self.features = features_at(payload, &extension)?;
        }
        Ok(())
    }

    /// Appends the record's bytes. Fields are cut at what LOGIN7 holds (128 characters).
    pub fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        let flags3 = match self.features.is_empty() {
            true => self.option_flags3 & !login_flags::EXTENSION,
            false => self.option_flags3 | login_flags::EXTENSION,
        };
        for v in [0, self.tds_version, self.packet_size, self.client_version] {
            out.put_u32(v);
        }
        out.put_u32(self.client_pid);
        out.put_u32(self.connection_id);
        let flags = [self.option_flags1, self.option_flags2, self.type_flags, flags3];
        out.extend_from_slice(&flags);
        out.put_i32(self.time_zone);
        out.put_u32(self.lcid);

        let mut tail = Tail::default();
        tail.text(&self.host_name, out);
        tail.text(&self.user_name, out);
        tail.password(&self.password, out);
        tail.text(&self.app_name, out);
        tail.text(&self.server_name, out);
        let extension_at = tail.extension(!self.features.is_empty(), out);
        tail.text(&self.library_name, out);
        tail.text(&self.language, out);
        tail.text(&self.database, out);
        out.extend_from_slice(&self.client_id);
        let sspi_long = tail.sspi(&self.sspi, out);
        tail.text(truncated(&self.attach_file, 260), out);
        tail.password(&self.new_password, out);
        out.put_u32(sspi_long);
        debug_assert_eq!(out.len() - start, FIXED_BYTES, "the fixed part");

        if let Some(at) = extension_at {
            let features_at = u32::try_from(FIXED_BYTES + tail.0.len()).expect("below 64 KB");
            tail.0[at..at + 4].copy_from_slice(&features_at.to_le_bytes());
            encode_features(&self.features, &mut tail.0);
        }
        out.extend_from_slice(&tail.0);
        let length = u32::try_from(out.len() - start).expect("fields are cut");
        out[start..start + 4].copy_from_slice(&length.to_le_bytes());
    }
}

/// The variable part as it grows; each field writes its place into the fixed part.
#[derive(Default)]
struct Tail(Vec<u8>);

impl Tail {
    fn place(&self, count: usize, out: &mut Vec<u8>) {
        out.put_u16(u16::try_from(FIXED_BYTES + self.0.len()).expect("fields are cut"));
        out.put_u16(u16::try_from(count).expect("fields are cut"));
    }

    fn text(&mut self, s: &str, out: &mut Vec<u8>) {
        let s = truncated(s, 260);
        self.place(s.encode_utf16().count(), out);
        self.0.put_utf16(s);
    }

    fn password(&mut self, s: &str, out: &mut Vec<u8>) {
        let at = self.0.len();
        self.text(s, out);
        obfuscate(&mut self.0[at..]);
    }

    /// The field that points to the features; their own offset is filled in later.
    fn extension(&mut self, present: bool, out: &mut Vec<u8>) -> Option<usize> {
        self.place(if present { 4 } else { 0 }, out);
        present.then(|| {
            self.0.put_u32(0);
            self.0.len() - 4
        })
    }

    fn sspi(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> u32 {
        let bytes = &bytes[..bytes.len().min(8000)];
        self.place(bytes.len(), out);
        self.0.extend_from_slice(bytes);
        0
    }
}

fn features_at(payload: &[u8], extension: &Place) -> TdsResult<Vec<Feature>> {
    let pointer = bytes_at(payload, extension.at, 4, "Extension")?;
    let at = u32::from_le_bytes(pointer.try_into().expect("four bytes were asked for")) as usize;
    let bytes = payload.get(at..).ok_or(TdsError::Login { field: "FeatureExt" })?;
    decode_features(&mut Reader::new(bytes)).map_err(|_| TdsError::Login { field: "FeatureExt" })
}

pub(crate) fn decode_features(r: &mut Reader<'_>) -> TdsResult<Vec<Feature>> {
    let mut features = Vec::new();
    loop {
        let id = r.u8()?;
        if id == feature::TERMINATOR {
            return Ok(features);
        }
        features.push(Feature { id, data: r.sized_u32()?.to_vec() });
    }
}

pub(crate) fn encode_features(features: &[Feature], out: &mut Vec<u8>) {
    for feature in features {
        debug_assert_ne!(feature.id, feature::TERMINATOR, "a terminator is no feature");
        out.put_u8(feature.id);
        out.put_u32(u32::try_from(feature.data.len()).expect("a feature is short"));
        out.extend_from_slice(&feature.data);
    }
    out.put_u8(feature::TERMINATOR);
}

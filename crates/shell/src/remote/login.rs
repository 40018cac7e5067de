//! From the first byte to a logged-in session: PRELOGIN, TLS, LOGIN7, its answer.

use super::target::{Target, Trust};
use super::wire::Wire;
use crate::backend::BackendError;
use crate::options::Encrypt;
use base::SqlError;
use session::Login;
use tds::{
    Encryption, EnvChange, Login7, PACKET_SIZE_DEFAULT, PacketType, Prelogin, ProductVersion,
    Protection, ResponseReader, TdsVersion, Token, login_flags,
};

/// This client's version.
const VERSION: ProductVersion = ProductVersion { major: 0, minor: 1, build: 0, sub_build: 0 };

/// Logs in; the server's name.
pub(super) fn log_in(
    wire: &mut Wire,
    target: &Target,
    login: &Login,
) -> Result<String, BackendError> {
    let protection = negotiate(wire, target)?;
    if protection != Protection::None && target.encrypt != Encrypt::Strict {
        // As ODBC's: of one that hides the login alone, when nobody asked for more.
        let unasked = protection == Protection::LoginOnly && target.certificate.is_none();
        wire.encrypt(target, if unasked { Trust::Any } else { target.trust()? })?;
    }
    let mut payload = Vec::new();
    record(target, login).encode(&mut payload);
    wire.send(PacketType::Login, payload)?;
    if protection == Protection::LoginOnly {
        wire.end_encryption();
    }
    let answer = wire.message()?;
    let outcome = read(&answer.payload)?;
    wire.logged_in(outcome.packet_size)?;
    Ok(outcome.server.unwrap_or_else(|| target.host.clone()))
}

/// PRELOGIN, and what it leads to.
fn negotiate(wire: &mut Wire, target: &Target) -> Result<Protection, BackendError> {
    let wish = match target.encrypt {
        Encrypt::Optional => Encryption::Off,
        Encrypt::Mandatory => Encryption::On,
        // TLS is there already.
        Encrypt::Strict => Encryption::NotSupported,
    };
    let mine = Prelogin {
        version: Some(VERSION),
        encryption: Some(wish),
        instance: Some(vec![0]),
        thread_id: Some(std::process::id()),
        mars: Some(false),
        ..Prelogin::default()
    };
    let mut payload = Vec::new();
    mine.encode(&mut payload);
    wire.send(PacketType::Prelogin, payload)?;
    let answer = wire.message()?;
    let theirs = Prelogin::decode(&answer.payload).map_err(not_understood)?;
    if target.encrypt == Encrypt::Strict {
        return Ok(Protection::Whole);
    }
    let protection = wish.outcome(theirs.encryption.unwrap_or(Encryption::NotSupported));
    let demanded = target.encrypt == Encrypt::Mandatory || target.certificate.is_some();
    if protection == Protection::None && demanded {
        let why = "the server does not support encryption: -N o goes without";
        return Err(BackendError::Lost(why.to_owned()));
    }
    Ok(protection)
}

fn not_understood(e: tds::TdsError) -> BackendError {
    BackendError::Lost(format!("the server's answer to the login is not understood: {e}"))
}

fn record(target: &Target, login: &Login) -> Login7 {
    let version = match target.encrypt {
        Encrypt::Strict => TdsVersion::V8_0,
        Encrypt::Optional | Encrypt::Mandatory => TdsVersion::V7_4,
    };
    let odbc = if login.odbc_defaults { login_flags::ODBC } else { 0 };
    Login7 {
        tds_version: version.0,
        packet_size: login.packet_bytes,
        client_version: 0x0001_0000,
        client_pid: login.process_id,
        option_flags1: login_flags::USE_DB_NOTIFY
            | login_flags::INIT_DB_FATAL
            | login_flags::SET_LANG_NOTIFY,
        option_flags2: login_flags::INIT_LANG_FATAL | odbc,
        host_name: login.host.clone(),
        user_name: login.user.clone(),
        password: target.password.clone(),
        app_name: login.application.clone(),
        server_name: target.host.clone(),
        library_name: login.library.clone(),
        language: login.language.clone(),
        database: login.database.clone(),
        ..Login7::default()
    }
}

#[derive(Debug, Default)]
struct Outcome {
    server: Option<String>,
    packet_size: u16,
    accepted: bool,
    error: Option<SqlError>,
}

/// The answer to LOGIN7. Messages of a successful one (5701, 5703) are not shown, as sqlcmd
/// doesn't.
fn read(payload: &[u8]) -> Result<Outcome, BackendError> {
    let mut reader = ResponseReader::new();
    reader.feed(payload);
    let mut outcome = Outcome { packet_size: PACKET_SIZE_DEFAULT, ..Outcome::default() };
    while let Some(token) = reader.next_token().map_err(not_understood)? {
        match token {
            Token::LoginAck(_) => outcome.accepted = true,
            Token::EnvChange(EnvChange::PacketSize { new, .. }) => {
                outcome.packet_size = u16::try_from(new).unwrap_or(u16::MAX);
            }
            Token::Info(notice) => outcome.server = Some(notice.server),
            Token::Error(notice) => {
                // The first tells why; what follows says that the login failed.
                outcome.error.get_or_insert(notice.into());
            }
            _ => {}
        }
    }
    match outcome.error.take() {
        Some(e) if !outcome.accepted => Err(BackendError::Refused(e)),
        None if !outcome.accepted => {
            Err(BackendError::Lost("the server ended the login without a word".to_owned()))
        }
        _ => Ok(outcome),
    }
}

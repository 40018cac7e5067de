//! LOGIN7: checks the login and its password, and answers.

use crate::engine::Engine;
use crate::entrance::Place;
use crate::handshake::{Greeting, HandshakeFailure, greet, message};
use crate::link::{Channel, Link, Speech};
use crate::listener::House;
use crate::response::{Response, last_errors};
use crate::throttle::Origin;
use base::{SqlError, SqlResult, messages};
use session::Login;
use std::sync::Arc;
use std::time::Duration;
use tds::{
    DoneKind, DoneStatus, DoneToken, EnvChange, Login7, LoginAck, Message, PACKET_SIZE_DEFAULT,
    PACKET_SIZE_MAX, PACKET_SIZE_MIN, PacketAssembler, PacketType, ProductVersion, Protection,
    TdsError, TdsVersion, acknowledge_features, login_flags,
};
use tokio::sync::oneshot;

/// What a client may send before it has logged in: LOGIN7's 128 KB.
const LOGIN_MESSAGE_BYTES_MAX: usize = tds::LOGIN_BYTES_MAX;
/// The largest packet within TLS: one record.
const ENCRYPTED_PACKET_MAX: u16 = 16_383;
/// Before a session has a number.
const NO_SPEECH: Speech =
    Speech { version: TdsVersion::V7_4, packet_bytes: PACKET_SIZE_DEFAULT, spid: 0 };

/// From accept to a session that has been told so. None when the connection ends instead; the
/// client has been told why where it understands.
pub(crate) async fn admit(
    house: &Arc<House>,
    link: &Arc<Link>,
    at_door: Place,
) -> Option<Box<Channel>> {
    let leave = at_door.leave();
    let entering = tokio::time::timeout(house.options.login_timeout, enter(house, link, at_door));
    let entered = tokio::select! {
        entered = entering => entered,
        () = leave.notified() => {
            house.log_failure(link, "gave way to others before it logged in");
            return None;
        }
        () = house.stopped() => return None,
    };
    let broken = match entered {
        Ok(Ok(entered)) => return entered,
        Ok(Err(broken)) => broken,
        Err(_) => {
            let timeout = house.options.login_timeout.as_secs();
            house.log_failure(link, &format!("no login within {timeout} s"));
            return None;
        }
    };
    match broken {
        HandshakeFailure::Silent => {}
        HandshakeFailure::Io(e) => house.log_failure(link, &format!("login broke off: {e}")),
        HandshakeFailure::Tds(e) => {
            house.log_failure(link, &format!("login: {e}"));
            let error = SqlError::from(e);
            // The client may not be reading any more; the log has it.
            let _ = link.wire.send(&last_errors(NO_SPEECH, &[error], house.engine.server_name()));
        }
    }
    None
}

async fn enter(
    house: &Arc<House>,
    link: &Arc<Link>,
    at_door: Place,
) -> Result<Option<Box<Channel>>, HandshakeFailure> {
    let mut input = PacketAssembler::new(LOGIN_MESSAGE_BYTES_MAX);
    let strictness = house.options.encryption;
    let greeting = greet(&link.wire, &mut input, &house.certificate, strictness).await?;
    let Greeting { protection, strict, login } = greeting;
    let asked = match login {
        Some(message) => message,
        None => message(&link.wire, &mut input).await?,
    };
    if protection == Protection::LoginOnly {
        link.wire.end_tls();
    }
    let login = decode(&asked, strict)?;
    drop(input);
    // What it says is known: others may stand at the door.
    drop(at_door);
    match authenticate(house, link, login, protection).await {
        Ok(channel) => Ok(Some(channel)),
        Err(refused) => {
            let name = house.engine.server_name();
            let user = &refused.user;
            house.log_failure(link, &format!("login of '{user}' refused: {}", refused.error));
            let mut errors = vec![refused.error];
            if errors[0].number() == messages::CANNOT_OPEN_DATABASE.number {
                // Drivers look for the second.
                errors.push(SqlError::new(messages::LOGIN_FAILED, &[&refused.user]));
            }
            link.wire.send(&last_errors(NO_SPEECH, &errors, name))?;
            Ok(None)
        }
    }
}

/// A login as it was asked for.
struct LoginRequest {
    record: Login7,
    version: TdsVersion,
}

struct LoginRefusal {
    user: String,
    error: SqlError,
}

fn decode(message: &Message, strict: bool) -> Result<LoginRequest, HandshakeFailure> {
    if message.kind != PacketType::Login {
        return Err(HandshakeFailure::Tds(TdsError::PacketType { found: message.kind as u8 }));
    }
    let record = Login7::decode(&message.payload)?;
    let version = TdsVersion::negotiate(record.tds_version)?;
    if version == TdsVersion::V8_0 && !strict {
        return Err(HandshakeFailure::Tds(TdsError::Version { asked: record.tds_version }));
    }
    Ok(LoginRequest { record, version })
}

/// What a login may ask for that we do not have.
fn unsupported(record: &Login7) -> Option<SqlError> {
    let feature = |name: &str| Some(SqlError::new(messages::FEATURE_NOT_SUPPORTED, &[&name]));
    if record.option_flags2 & login_flags::INTEGRATED_SECURITY != 0 || !record.sspi.is_empty() {
        return Some(SqlError::new(messages::LOGIN_UNTRUSTED, &[]));
    }
    if record.features.iter().any(|f| f.id == tds::feature::FED_AUTH) {
        return feature("federated authentication");
    }
    if record.option_flags3 & login_flags::CHANGE_PASSWORD != 0 || !record.new_password.is_empty() {
        return feature("change of password at login");
    }
    if !record.attach_file.is_empty() {
        return feature("AttachDBFilename");
    }
    None
}

async fn authenticate(
    house: &Arc<House>,
    link: &Arc<Link>,
    asked: LoginRequest,
    protection: Protection,
) -> Result<Box<Channel>, Box<LoginRefusal>> {
    let user = asked.record.user_name.clone();
    let refuse = |error: SqlError| Box::new(LoginRefusal { user: user.clone(), error });
    if let Some(error) = unsupported(&asked.record) {
        return Err(refuse(error));
    }
    if house.is_full() {
        let max = house.options.connections_max;
        return Err(refuse(SqlError::new(messages::CONNECTIONS_FULL, &[&max])));
    }
    let failed = || SqlError::new(messages::LOGIN_FAILED, &[&user]);
    let wait_ns = house.throttle.wait_ns(origin(link), &user, os::clock::monotonic_ns());
    let Some(wait_ns) = wait_ns else { return Err(refuse(failed())) };
    if wait_ns > 0 {
        tokio::time::sleep(Duration::from_nanos(wait_ns)).await;
    }
    // On a worker: the check is slow on purpose, and a session's begin may wait.
    let (tell, told) = oneshot::channel();
    let (theirs, their_link) = (Arc::clone(house), Arc::clone(link));
    house.workers.submit(move || {
        let begun = begin(&theirs, &their_link, asked, protection);
        if let Err(Ok(channel)) = tell.send(begun) {
            // The client gave up meanwhile.
            crate::request::end(theirs.engine.as_ref(), channel);
        }
    });
    match told.await {
        Ok(begun) => begun.map_err(refuse),
        Err(_) => Err(refuse(SqlError::new(messages::INTERNAL, &[&"login"]))),
    }
}

/// The worker's part: password, session, answer.
fn begin(
    house: &House,
    link: &Link,
    asked: LoginRequest,
    protection: Protection,
) -> SqlResult<Box<Channel>> {
    let LoginRequest { record, version } = asked;
    let engine = house.engine.as_ref();
    check_password(house, link, engine, &record)?;
    let packet_bytes = packet_bytes(&record, protection, house.options.packet_bytes);
    let login = session_login(&record, version, packet_bytes, protection, link.wire.peer());
    let connection = engine.connect(login)?;
    let spid = connection.session_id().0.unsigned_abs();
    let waiter = connection.waiter();
    let speech = Speech { version, packet_bytes, spid };
    let mut channel = Box::new(Channel { connection, waiter, speech });
    link.begin_session(&channel.waiter);
    welcome(house, link, &mut channel, &record);
    Ok(channel)
}

/// Where a client comes from. One that is gone meanwhile counts with the others that are.
fn origin(link: &Link) -> Origin {
    Origin::of(link.wire.address())
}

fn check_password(
    house: &House,
    link: &Link,
    engine: &dyn Engine,
    record: &Login7,
) -> SqlResult<()> {
    let user = &record.user_name;
    let from = origin(link);
    match engine.authenticate(user, &record.password) {
        Ok(()) => {
            house.throttle.succeeded(from, user, os::clock::monotonic_ns());
            Ok(())
        }
        Err(e) => {
            house.throttle.failed(from, user, os::clock::monotonic_ns());
            Err(e)
        }
    }
}

/// The size that both can: the client's wish, or ours when it has none.
fn packet_bytes(record: &Login7, protection: Protection, default: u16) -> u16 {
    let most = match protection {
        Protection::Whole => ENCRYPTED_PACKET_MAX,
        Protection::None | Protection::LoginOnly => PACKET_SIZE_MAX,
    };
    match record.packet_size {
        0 => default,
        asked => u16::try_from(asked).unwrap_or(most).clamp(PACKET_SIZE_MIN, most),
    }
}

fn session_login(
    record: &Login7,
    version: TdsVersion,
    packet_bytes: u16,
    protection: Protection,
    address: String,
) -> Login {
    Login {
        user: record.user_name.clone(),
        host: record.host_name.clone(),
        application: record.app_name.clone(),
        library: record.library_name.clone(),
        process_id: record.client_pid,
        database: record.database.clone(),
        language: record.language.clone(),
        language_or_nothing: record.option_flags2 & login_flags::INIT_LANG_FATAL != 0,
        odbc_defaults: record.option_flags2 & login_flags::ODBC != 0,
        address,
        encrypted: protection == Protection::Whole,
        packet_bytes: u32::from(packet_bytes),
        protocol_version: version.0,
    }
}

/// The answer to a login that succeeded: environment, LOGINACK, packet size, features, DONE.
fn welcome(house: &House, link: &Link, channel: &mut Channel, record: &Login7) {
    let Speech { version, packet_bytes, spid } = channel.speech;
    // Still in packets of the size of before.
    let speech = Speech { version, packet_bytes: PACKET_SIZE_DEFAULT, spid };
    let waiter = Arc::clone(&channel.waiter);
    let output_bytes_max = house.options.output_bytes_max;
    let name = house.engine.server_name();
    let mut response = Response::new(link, &waiter, name, speech, output_bytes_max);
    channel.connection.greet(&mut response);
    response.append(|out| {
        LoginAck::new(version, ProductVersion::SERVER).encode(out);
        let new = u32::from(packet_bytes);
        EnvChange::PacketSize { new, old: u32::from(PACKET_SIZE_DEFAULT) }.encode(out);
        acknowledge_features(&record.features, version, out);
    });
    response.end_with(DoneToken::new(DoneKind::Done, DoneStatus::FINAL));
}

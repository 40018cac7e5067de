//! From the first byte to encryption: PRELOGIN, TLS within it, or strict TLS around everything.

use crate::certificate::Certificate;
use crate::options::Strictness;
use crate::wire::{ReadOutcome, Wire};
use rustls::ServerConnection;
use std::io::{self, ErrorKind};
use tds::{
    Encryption, Message, PACKET_SIZE_DEFAULT, PacketAssembler, PacketStatus, PacketType, Prelogin,
    ProductVersion, Protection, TdsError, frame,
};

/// The first byte of a TLS record that begins a handshake.
const TLS_HANDSHAKE: u8 = 0x16;

/// What a handshake has led to.
pub(crate) struct Greeting {
    pub(crate) protection: Protection,
    /// TLS came first: TDS 8.
    pub(crate) strict: bool,
    /// The login, when the client sent no PRELOGIN.
    pub(crate) login: Option<Message>,
}

/// Why there is no login.
#[derive(Debug)]
pub(crate) enum HandshakeFailure {
    /// The client is gone, or its TLS is wrong.
    Io(io::Error),
    /// What it sent is no TDS.
    Tds(TdsError),
    /// It closed before saying anything: a port scan or a check of the port.
    Silent,
}

impl From<io::Error> for HandshakeFailure {
    fn from(e: io::Error) -> HandshakeFailure {
        HandshakeFailure::Io(e)
    }
}

impl From<TdsError> for HandshakeFailure {
    fn from(e: TdsError) -> HandshakeFailure {
        HandshakeFailure::Tds(e)
    }
}

/// The next whole message of a client that has not logged in.
pub(crate) async fn message(
    wire: &Wire,
    input: &mut PacketAssembler,
) -> Result<Message, HandshakeFailure> {
    loop {
        if let Some(message) = input.next_message()? {
            return Ok(message);
        }
        more(wire, input).await?;
    }
}

/// Waits for more bytes.
async fn more(wire: &Wire, input: &mut PacketAssembler) -> Result<(), HandshakeFailure> {
    wire.ready(true).await?;
    wire.push()?;
    match wire.receive(input)? {
        ReadOutcome::Open => Ok(()),
        ReadOutcome::End => Err(HandshakeFailure::Io(ErrorKind::UnexpectedEof.into())),
    }
}

/// Everything before LOGIN7.
pub(crate) async fn greet(
    wire: &Wire,
    input: &mut PacketAssembler,
    certificate: &Certificate,
    strictness: Strictness,
) -> Result<Greeting, HandshakeFailure> {
    let Some(first) = wire.first_byte().await? else { return Err(HandshakeFailure::Silent) };
    if first != TLS_HANDSHAKE {
        return negotiate(wire, input, certificate, strictness).await;
    }
    let tls = ServerConnection::new(certificate.strict.clone()).map_err(io::Error::other)?;
    wire.begin_tls(Box::new(tls), &[], input)?;
    while wire.is_handshaking() {
        more(wire, input).await?;
    }
    let asked = message(wire, input).await?;
    let login = match asked.kind {
        PacketType::Prelogin => {
            let theirs = Prelogin::decode(&asked.payload)?;
            answer(wire, &theirs, theirs.encryption.unwrap_or(Encryption::NotSupported))?;
            None
        }
        _ => Some(asked),
    };
    Ok(Greeting { protection: Protection::Whole, strict: true, login })
}

/// PRELOGIN, and the TLS that it agrees on.
async fn negotiate(
    wire: &Wire,
    input: &mut PacketAssembler,
    certificate: &Certificate,
    strictness: Strictness,
) -> Result<Greeting, HandshakeFailure> {
    let asked = message(wire, input).await?;
    let theirs = match asked.kind {
        PacketType::Prelogin => Prelogin::decode(&asked.payload)?,
        PacketType::Login if strictness == Strictness::Offered => {
            let login = Some(asked);
            return Ok(Greeting { protection: Protection::None, strict: false, login });
        }
        kind => return Err(HandshakeFailure::Tds(TdsError::PacketType { found: kind as u8 })),
    };
    let wish = theirs.encryption.unwrap_or(Encryption::NotSupported);
    let ours = match strictness {
        Strictness::Offered => wish.answer_offered(),
        Strictness::Forced => wish.answer_forced(),
    };
    answer(wire, &theirs, ours)?;
    let protection = wish.outcome(ours);
    if strictness == Strictness::Forced && protection != Protection::Whole {
        return Err(HandshakeFailure::Tds(TdsError::Prelogin {
            what: "the client has no encryption",
        }));
    }
    if protection != Protection::None {
        wrapped_tls(wire, input, certificate).await?;
    }
    Ok(Greeting { protection, strict: false, login: None })
}

/// Our PRELOGIN. There is no MARS here, a client that asks for it comes in without. How to say so
/// depends on who asks: Microsoft's ODBC driver hangs up at a no, and goes without when nothing is
/// said, as by a server that has never heard of it; SqlClient takes nothing for a yes, and goes
/// without at a no. The latter also asks whether federated authentication is required, the former
/// does not.
fn answer(wire: &Wire, theirs: &Prelogin, encryption: Encryption) -> Result<(), HandshakeFailure> {
    let unsaid = theirs.mars == Some(true) && theirs.fed_auth_required.is_none();
    let ours = Prelogin {
        version: Some(ProductVersion::SERVER),
        encryption: Some(encryption),
        instance: Some(vec![0]),
        mars: (!unsaid).then_some(false),
        ..Prelogin::default()
    };
    let (mut payload, mut packets) = (Vec::new(), Vec::new());
    ours.encode(&mut payload);
    let kind = PacketType::Response;
    frame(kind, PacketStatus::default(), PACKET_SIZE_DEFAULT, payload, &mut packets);
    wire.send(&packets)?;
    Ok(())
}

/// The TLS handshake in PRELOGIN packets. What follows them raw may have come with the last.
async fn wrapped_tls(
    wire: &Wire,
    input: &mut PacketAssembler,
    certificate: &Certificate,
) -> Result<(), HandshakeFailure> {
    let tls = ServerConnection::new(certificate.wrapped.clone()).map_err(io::Error::other)?;
    let mut tls = Box::new(tls);
    while tls.is_handshaking() {
        let Some((header, mut body)) = input.next_packet()? else {
            more(wire, input).await?;
            continue;
        };
        if header.kind != PacketType::Prelogin {
            return Err(HandshakeFailure::Tds(TdsError::PacketType { found: header.kind as u8 }));
        }
        let mut state = Ok(());
        while state.is_ok() && !body.is_empty() {
            tls.read_tls(&mut body)?;
            state = tls.process_new_packets().map(|_| ());
        }
        send_wrapped(wire, &mut tls)?;
        state.map_err(|e| io::Error::new(ErrorKind::InvalidData, e))?;
    }
    let rest = input.take_rest();
    wire.begin_tls(tls, &rest, input)?;
    Ok(())
}

/// What TLS has to say, as one message of PRELOGIN packets.
fn send_wrapped(wire: &Wire, tls: &mut ServerConnection) -> io::Result<()> {
    let mut raw = Vec::new();
    while tls.wants_write() {
        tls.write_tls(&mut raw)?;
    }
    if raw.is_empty() {
        return Ok(());
    }
    let mut packets = Vec::new();
    let kind = PacketType::Prelogin;
    frame(kind, PacketStatus::default(), PACKET_SIZE_DEFAULT, raw, &mut packets);
    wire.send(&packets)?;
    Ok(())
}

//! The bytes of a connection: packets over TCP, with TLS around them or, in its handshake,
//! within them.
//!
//! Reads wake up every so often, so that an attention can be sent while an answer is awaited.
//! TLS begins and ends here; everybody else sees packets.

use super::target::{Target, Trust};
use super::tls;
use crate::backend::BackendError;
use rustls::ClientConnection;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;
use tds::{
    Message, PACKET_SIZE_DEFAULT, PacketAssembler, PacketHeader, PacketStatus, PacketType, frame,
};

/// How long a wanted attention waits at most until it is sent.
const POLL: Duration = Duration::from_millis(25);
const READ_BYTES: usize = 32 * 1024;
/// Only the pre-login answer and handshake are put together whole; a row has no limit here.
const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// A connection to a server.
pub(super) struct Wire {
    tcp: TcpStream,
    tls: Option<Box<ClientConnection>>,
    packets: PacketAssembler,
    packet_size: u16,
    input: Box<[u8]>,
    out: Vec<u8>,
}

fn lost(e: io::Error) -> BackendError {
    BackendError::Lost(format!("the connection to the server is broken: {e}"))
}

fn malformed(e: tds::TdsError) -> BackendError {
    BackendError::Lost(format!("the server's answer is not understood: {e}"))
}

impl Wire {
    /// A TCP connection, for strict mode within TLS already.
    pub(super) fn connect(target: &Target) -> Result<Wire, BackendError> {
        let tcp = dial(target)?;
        tcp.set_nodelay(true).map_err(lost)?;
        let mut wire = Wire {
            tcp,
            tls: None,
            packets: PacketAssembler::new(MESSAGE_BYTES_MAX),
            packet_size: PACKET_SIZE_DEFAULT,
            input: vec![0; READ_BYTES].into_boxed_slice(),
            out: Vec::new(),
        };
        wire.set_timeout(target.timeout)?;
        if target.encrypt == crate::options::Encrypt::Strict {
            let mut tls = Box::new(tls::client(&target.host, target.trust()?, true)?);
            while tls.is_handshaking() {
                tls.complete_io(&mut wire.tcp).map_err(handshake)?;
            }
            wire.tls = Some(tls);
        }
        Ok(wire)
    }

    /// How long a read blocks; `None` for ever.
    fn set_timeout(&self, timeout: Option<Duration>) -> Result<(), BackendError> {
        self.tcp.set_read_timeout(timeout).map_err(lost)
    }

    /// The login is over: reads wake up for attentions from now on.
    pub(super) fn logged_in(&mut self, packet_size: u16) -> Result<(), BackendError> {
        self.packet_size = packet_size;
        self.set_timeout(Some(POLL))
    }

    /// Sends a message.
    pub(super) fn send(&mut self, kind: PacketType, payload: Vec<u8>) -> Result<(), BackendError> {
        self.out.clear();
        frame(kind, PacketStatus::default(), self.packet_size, payload, &mut self.out);
        match &mut self.tls {
            None => self.tcp.write_all(&self.out).map_err(lost),
            Some(tls) => {
                // The records that wait are limited: what doesn't fit is written in turns.
                let mut rest = self.out.as_slice();
                while !rest.is_empty() {
                    let n = tls.writer().write(rest).map_err(lost)?;
                    rest = &rest[n..];
                    while tls.wants_write() {
                        tls.write_tls(&mut self.tcp).map_err(lost)?;
                    }
                }
                Ok(())
            }
        }
    }

    /// Takes the packets that have come; when there are none, waits a while for some.
    pub(super) fn poll(
        &mut self,
        mut take: impl FnMut(PacketHeader, &[u8]) -> Result<(), BackendError>,
    ) -> Result<(), BackendError> {
        let mut any = false;
        while let Some((header, body)) = self.packets.next_packet().map_err(malformed)? {
            any = true;
            take(header, body)?;
        }
        if !any {
            self.fill()?;
        }
        Ok(())
    }

    /// The next whole message, within the time limit.
    pub(super) fn message(&mut self) -> Result<Message, BackendError> {
        loop {
            if let Some(message) = self.packets.next_message().map_err(malformed)? {
                return Ok(message);
            }
            if !self.fill()? {
                return Err(BackendError::Lost("the server does not answer: login timeout".into()));
            }
        }
    }

    /// Begins TLS: the handshake travels within pre-login packets, everything after around
    /// packets.
    pub(super) fn encrypt(&mut self, target: &Target, trust: Trust) -> Result<(), BackendError> {
        debug_assert!(self.tls.is_none(), "TLS begins once");
        let mut tls = Box::new(tls::client(&target.host, trust, false)?);
        loop {
            let mut records = Vec::new();
            while tls.wants_write() {
                tls.write_tls(&mut records).map_err(handshake)?;
            }
            if !records.is_empty() {
                self.send(PacketType::Prelogin, records)?;
            }
            if !tls.is_handshaking() {
                break;
            }
            let message = self.message()?;
            take_records(&mut tls, &message.payload)?;
        }
        // What came behind the last wrapped packet is a record already.
        take_records(&mut tls, &self.packets.take_rest())?;
        self.tls = Some(tls);
        Ok(())
    }

    /// Ends TLS behind the login record: the rest is plain.
    pub(super) fn end_encryption(&mut self) {
        self.tls = None;
    }

    /// Reads what has come; false when that is nothing.
    fn fill(&mut self) -> Result<bool, BackendError> {
        let n = match &mut self.tls {
            None => self.tcp.read(&mut self.input),
            Some(tls) => read_tls(tls, &mut self.tcp, &mut self.input),
        };
        match n {
            Ok(0) => Err(lost(ErrorKind::UnexpectedEof.into())),
            Ok(n) => {
                self.packets.feed(&self.input[..n]);
                Ok(true)
            }
            Err(e) if is_pause(&e) => Ok(false),
            Err(e) => Err(lost(e)),
        }
    }
}

/// The read timed out, or a signal came.
fn is_pause(e: &io::Error) -> bool {
    matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

fn read_tls(tls: &mut ClientConnection, tcp: &mut TcpStream, out: &mut [u8]) -> io::Result<usize> {
    loop {
        match tls.reader().read(out) {
            Err(e) if e.kind() == ErrorKind::WouldBlock => {}
            done => return done,
        }
        if tls.read_tls(tcp)? == 0 {
            return Ok(0);
        }
        tls.process_new_packets().map_err(io::Error::other)?;
    }
}

fn take_records(tls: &mut ClientConnection, mut records: &[u8]) -> Result<(), BackendError> {
    while !records.is_empty() {
        tls.read_tls(&mut records).map_err(handshake)?;
        tls.process_new_packets().map_err(|e| handshake(io::Error::other(e)))?;
    }
    Ok(())
}

fn handshake(e: io::Error) -> BackendError {
    let of_tls = e.get_ref().and_then(|e| e.downcast_ref::<rustls::Error>());
    if let Some(rustls::Error::InvalidCertificate(why)) = of_tls {
        return BackendError::Lost(tls::untrusted(why));
    }
    BackendError::Lost(format!("TLS handshake with the server: {e}"))
}

fn dial(target: &Target) -> Result<TcpStream, BackendError> {
    let place = (target.host.as_str(), target.port);
    let lost = |e: io::Error| {
        BackendError::Lost(format!("no connection to {},{}: {e}", target.host, target.port))
    };
    let mut last = io::Error::new(ErrorKind::NotFound, "the name has no address");
    for address in place.to_socket_addrs().map_err(lost)? {
        let tried = match target.timeout {
            Some(timeout) => TcpStream::connect_timeout(&address, timeout),
            None => TcpStream::connect(address),
        };
        match tried {
            Ok(tcp) => return Ok(tcp),
            Err(e) => last = e,
        }
    }
    Err(lost(last))
}

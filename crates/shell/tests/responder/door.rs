//! The bytes of the scripted server: packets, TLS within and around them.

use super::Disconnection;
use rustls::{ServerConfig, ServerConnection};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;
use tds::{Message, PacketAssembler, PacketType, PacketWriter};

pub(super) struct Door {
    tcp: TcpStream,
    tls: Option<Box<ServerConnection>>,
    packets: PacketAssembler,
    writer: PacketWriter,
}

type ServeResult<T> = Result<T, Disconnection>;

impl Door {
    pub(super) fn open(tcp: TcpStream) -> Door {
        let packets = PacketAssembler::new(1 << 20);
        let writer = PacketWriter::new(PacketType::Response, 4096, 51);
        Door { tcp, tls: None, packets, writer }
    }

    pub(super) fn set_packet_size(&mut self, size: u16) {
        self.writer.set_packet_size(size);
    }

    pub(super) fn is_encrypted(&self) -> bool {
        self.tls.is_some()
    }

    /// TLS from here on, as strict mode begins.
    pub(super) fn encrypt(&mut self, config: &Arc<ServerConfig>) -> ServeResult<()> {
        let mut tls =
            Box::new(ServerConnection::new(Arc::clone(config)).map_err(|_| Disconnection)?);
        while tls.is_handshaking() {
            tls.complete_io(&mut self.tcp).map_err(|_| Disconnection)?;
        }
        self.tls = Some(tls);
        Ok(())
    }

    /// TLS whose handshake travels within packets.
    pub(super) fn encrypt_within(&mut self, config: &Arc<ServerConfig>) -> ServeResult<()> {
        let mut tls =
            Box::new(ServerConnection::new(Arc::clone(config)).map_err(|_| Disconnection)?);
        while tls.is_handshaking() {
            let message = self.message()?;
            let mut records = message.payload.as_slice();
            while !records.is_empty() {
                tls.read_tls(&mut records).map_err(|_| Disconnection)?;
                tls.process_new_packets().map_err(|_| Disconnection)?;
            }
            let mut answer = Vec::new();
            while tls.wants_write() {
                tls.write_tls(&mut answer).map_err(|_| Disconnection)?;
            }
            if !answer.is_empty() {
                self.send(PacketType::Prelogin, answer)?;
            }
        }
        // The login may have come with the end of the handshake.
        let rest = self.packets.take_rest();
        let mut rest = rest.as_slice();
        while !rest.is_empty() {
            tls.read_tls(&mut rest).map_err(|_| Disconnection)?;
            tls.process_new_packets().map_err(|_| Disconnection)?;
        }
        self.tls = Some(tls);
        Ok(())
    }

    pub(super) fn end_encryption(&mut self) {
        self.tls = None;
    }

    pub(super) fn message(&mut self) -> ServeResult<Message> {
        loop {
            if let Some(message) = self.packets.next_message().map_err(|_| Disconnection)? {
                return Ok(message);
            }
            self.fill()?;
        }
    }

    fn fill(&mut self) -> ServeResult<bool> {
        let mut input = [0; 4096];
        let n = match &mut self.tls {
            None => self.tcp.read(&mut input),
            Some(tls) => loop {
                match tls.reader().read(&mut input) {
                    Err(e) if e.kind() == ErrorKind::WouldBlock => {}
                    done => break done,
                }
                match tls.read_tls(&mut self.tcp) {
                    Ok(0) => break Ok(0),
                    Ok(_) => {
                        tls.process_new_packets().map_err(|_| Disconnection)?;
                    }
                    Err(e) => break Err(e),
                }
            },
        };
        match n {
            Ok(0) => Err(Disconnection),
            Ok(n) => {
                self.packets.feed(&input[..n]);
                Ok(true)
            }
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => Ok(false),
            Err(_) => Err(Disconnection),
        }
    }

    pub(super) fn send(&mut self, kind: PacketType, payload: Vec<u8>) -> ServeResult<()> {
        self.writer.set_kind(kind);
        *self.writer.payload() = payload;
        let mut out = Vec::new();
        self.writer.finish(&mut out);
        self.write(&out)
    }

    fn write(&mut self, bytes: &[u8]) -> ServeResult<()> {
        match &mut self.tls {
            None => self.tcp.write_all(bytes).map_err(|_| Disconnection),
            Some(tls) => rustls::Stream::new(tls.as_mut(), &mut self.tcp)
                .write_all(bytes)
                .map_err(|_| Disconnection),
        }
    }

    /// A message whose end nobody knows yet.
    pub(super) fn begin_stream(&mut self) {
        self.writer.set_kind(PacketType::Response);
    }

    pub(super) fn stream(&mut self, bytes: Vec<u8>) -> ServeResult<()> {
        self.writer.payload().extend_from_slice(&bytes);
        let mut out = Vec::new();
        self.writer.flush_full(&mut out);
        self.write(&out)
    }

    pub(super) fn end_stream(&mut self, bytes: Vec<u8>) -> ServeResult<()> {
        self.writer.payload().extend_from_slice(&bytes);
        let mut out = Vec::new();
        self.writer.finish(&mut out);
        self.write(&out)
    }

    /// Whether an attention has come; doesn't wait for one.
    pub(super) fn has_attention(&mut self) -> ServeResult<bool> {
        self.tcp.set_read_timeout(Some(Duration::from_millis(1))).map_err(|_| Disconnection)?;
        let came = self.fill();
        self.tcp.set_read_timeout(None).map_err(|_| Disconnection)?;
        came?;
        let message = self.packets.next_message().map_err(|_| Disconnection)?;
        Ok(message.is_some_and(|m| m.kind == PacketType::Attention))
    }
}

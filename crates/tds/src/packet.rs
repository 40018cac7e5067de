//! Packets: the 8-byte header, messages put together from packets and cut into them.
//!
//! Invariants
//!  1. An assembler holds at most its message limit and one packet (64 KB) beyond what was fed.
//!  2. The last packet of a written message carries EOM and, unless the message is empty, bytes.

use crate::error::{TdsError, TdsResult};

/// The packet header.
pub const HEADER_BYTES: usize = 8;
/// The packet size before LOGIN7 has negotiated another.
pub const PACKET_SIZE_DEFAULT: u16 = 4096;
/// The smallest packet size a client may ask for.
pub const PACKET_SIZE_MIN: u16 = 512;
/// What an idle connection's buffers may keep each.
const IDLE_BYTES_MAX: usize = 8 * 1024;
/// The largest packet size a client may ask for.
pub const PACKET_SIZE_MAX: u16 = 32767;

/// By how much the buffer of a long message grows.
const STEP_BYTES: usize = 1 << 20;

/// What a message is, from the first byte of its packets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum PacketType {
    /// A batch of T-SQL.
    Batch = 0x01,
    /// A call of procedures with parameters.
    Rpc = 0x03,
    /// The server's answer to anything.
    Response = 0x04,
    /// Cancel what is running.
    Attention = 0x06,
    /// Rows of a bulk load.
    BulkLoad = 0x07,
    /// A federated authentication token.
    FedAuth = 0x08,
    /// Begin, commit, roll back, save.
    Transaction = 0x0E,
    /// The login record.
    Login = 0x10,
    /// A step of integrated authentication.
    Sspi = 0x11,
    /// Negotiation before login, and the TLS handshake wrapped.
    Prelogin = 0x12,
}

impl PacketType {
    /// The type a byte names.
    ///
    /// # Errors
    /// `PacketType` for any other byte.
    pub fn from_byte(b: u8) -> TdsResult<PacketType> {
        Ok(match b {
            0x01 => PacketType::Batch,
            0x03 => PacketType::Rpc,
            0x04 => PacketType::Response,
            0x06 => PacketType::Attention,
            0x07 => PacketType::BulkLoad,
            0x08 => PacketType::FedAuth,
            0x0E => PacketType::Transaction,
            0x10 => PacketType::Login,
            0x11 => PacketType::Sspi,
            0x12 => PacketType::Prelogin,
            found => return Err(TdsError::PacketType { found }),
        })
    }
}

/// The status byte of a packet header.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct PacketStatus(pub u8);

impl PacketStatus {
    /// The last packet of its message.
    pub const EOM: PacketStatus = PacketStatus(0x01);
    /// With EOM: the client gave the message up, forget it.
    pub const IGNORE: PacketStatus = PacketStatus(0x02);
    /// Make the session as after login before running this.
    pub const RESET_CONNECTION: PacketStatus = PacketStatus(0x08);
    /// The same, but the transaction stays.
    pub const RESET_CONNECTION_SKIP_TRAN: PacketStatus = PacketStatus(0x10);

    /// Whether all bits of `other` are set.
    pub const fn has(self, other: PacketStatus) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both.
    #[must_use]
    pub const fn and(self, other: PacketStatus) -> PacketStatus {
        PacketStatus(self.0 | other.0)
    }
}

/// The header of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketHeader {
    /// The type of the message the packet belongs to.
    pub kind: PacketType,
    /// Its status bits.
    pub status: PacketStatus,
    /// The packet's length with its header.
    pub length: u16,
    /// The session that answers; 0 from clients.
    pub spid: u16,
    /// A counter modulo 256, from 1; nobody checks it.
    pub id: u8,
}

impl PacketHeader {
    /// The header at the start of some bytes.
    ///
    /// # Errors
    /// `Truncated` when there are fewer than 8 bytes, else what is wrong with them.
    pub fn decode(bytes: &[u8]) -> TdsResult<PacketHeader> {
        let Some(h) = bytes.first_chunk::<HEADER_BYTES>() else {
            return Err(TdsError::Truncated { offset: bytes.len(), needed: HEADER_BYTES });
        };
        // What is no packet of TDS has no length of one either.
        let kind = PacketType::from_byte(h[0])?;
        let length = u16::from_be_bytes([h[2], h[3]]);
        if usize::from(length) < HEADER_BYTES {
            return Err(TdsError::PacketLength { length });
        }
        Ok(PacketHeader {
            kind,
            status: PacketStatus(h[1]),
            length,
            spid: u16::from_be_bytes([h[4], h[5]]),
            id: h[6],
        })
    }

    /// The eight bytes; the last, "window", is always 0.
    pub fn encode(self) -> [u8; HEADER_BYTES] {
        assert!(usize::from(self.length) >= HEADER_BYTES, "a packet contains its header");
        let [l1, l0] = self.length.to_be_bytes();
        let [s1, s0] = self.spid.to_be_bytes();
        [self.kind as u8, self.status.0, l1, l0, s1, s0, self.id, 0]
    }
}

/// A whole message: the payloads of its packets, one after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// What it is.
    pub kind: PacketType,
    /// The status bits of all its packets together: RESET_CONNECTION stands on the first,
    /// IGNORE and EOM on the last.
    pub status: PacketStatus,
    /// From the first packet.
    pub spid: u16,
    /// The bytes.
    pub payload: Vec<u8>,
}

/// Puts messages together from bytes as they arrive.
#[derive(Debug)]
pub struct PacketAssembler {
    limit: usize,
    input: Vec<u8>,
    /// Bytes of `input` already consumed.
    at: usize,
    partial: Option<Message>,
    /// The rest of the partial message is read and not kept; so much of it was not.
    forgotten: Option<usize>,
    spare: Vec<u8>,
}

impl PacketAssembler {
    /// An assembler that refuses messages of more than `limit` bytes of payload.
    pub fn new(limit: usize) -> Self {
        PacketAssembler {
            limit,
            input: Vec::new(),
            at: 0,
            partial: None,
            forgotten: None,
            spare: Vec::new(),
        }
    }

    /// Another limit from the next packet on: small until login, larger after.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Bytes that came from the peer. Call [`PacketAssembler::next_message`] until it has none
    /// before feeding again: that bounds what is held.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.at == self.input.len() {
            self.input.clear();
        } else if self.at > 0 {
            self.input.drain(..self.at);
        }
        self.at = 0;
        self.input.extend_from_slice(bytes);
    }

    /// The next whole message, if it has arrived.
    ///
    /// An attention takes the place of a message that it interrupts: the rest of that message
    /// will not come.
    ///
    /// # Errors
    /// A bad header, a packet of another type inside a message, or a message too long. The
    /// stream has lost its framing then.
    pub fn next_message(&mut self) -> TdsResult<Option<Message>> {
        while let Some((header, body)) = self.locate_packet()? {
            let whole = self.accept(header, body)?;
            if let Some(message) = whole {
                return Ok(Some(message));
            }
        }
        Ok(None)
    }

    /// The next whole packet, for a client that reads a long response as it arrives. Not to be
    /// mixed with [`PacketAssembler::next_message`] within one message.
    ///
    /// # Errors
    /// A bad header.
    pub fn next_packet(&mut self) -> TdsResult<Option<(PacketHeader, &[u8])>> {
        debug_assert!(self.partial.is_none(), "not within a message that is being put together");
        Ok(self.locate_packet()?.map(|(header, body)| (header, &self.input[body])))
    }

    /// The header of the next packet and where its body lies in `input`, when all of it is there.
    fn locate_packet(&mut self) -> TdsResult<Option<(PacketHeader, std::ops::Range<usize>)>> {
        let bytes = &self.input[self.at..];
        if bytes.len() < HEADER_BYTES {
            return Ok(None);
        }
        let header = PacketHeader::decode(bytes)?;
        let length = usize::from(header.length);
        if bytes.len() < length {
            return Ok(None);
        }
        let body = self.at + HEADER_BYTES..self.at + length;
        self.at += length;
        debug_assert!(self.at <= self.input.len(), "the packet is whole");
        Ok(Some((header, body)))
    }

    fn accept(
        &mut self,
        header: PacketHeader,
        body: std::ops::Range<usize>,
    ) -> TdsResult<Option<Message>> {
        if header.kind == PacketType::Attention {
            self.partial = None;
        }
        let mut message = match self.partial.take() {
            Some(m) if m.kind == header.kind => m,
            Some(_) => return Err(TdsError::PacketType { found: header.kind as u8 }),
            None => {
                self.forgotten = None;
                Message {
                    kind: header.kind,
                    status: PacketStatus::default(),
                    spid: header.spid,
                    payload: std::mem::take(&mut self.spare),
                }
            }
        };
        let before = self.forgotten.unwrap_or(0) + message.payload.len();
        if before + body.len() > self.limit {
            return Err(TdsError::MessageTooLong { limit: self.limit });
        }
        match &mut self.forgotten {
            Some(bytes) => *bytes += body.len(),
            None => append(&mut message.payload, &self.input[body]),
        }
        message.status = message.status.and(header.status);
        if header.status.has(PacketStatus::EOM) || header.kind == PacketType::Attention {
            return Ok(Some(message));
        }
        self.partial = Some(message);
        Ok(None)
    }

    /// A message's buffer back, for the next one. Large ones are let go: a thousand idle
    /// connections hold theirs all day.
    pub fn recycle(&mut self, mut payload: Vec<u8>) {
        if self.at == self.input.len() && self.input.capacity() > IDLE_BYTES_MAX {
            self.input = Vec::new();
            self.at = 0;
        }
        if payload.capacity() <= IDLE_BYTES_MAX && payload.capacity() > self.spare.capacity() {
            payload.clear();
            self.spare = payload;
        }
    }

    /// What is kept of a message whose end has not come.
    pub fn partial_bytes(&self) -> usize {
        self.partial.as_ref().map_or(0, |m| m.payload.capacity())
    }

    /// What a message is whose end has not come.
    pub fn partial_kind(&self) -> Option<PacketType> {
        self.partial.as_ref().map(|m| m.kind)
    }

    /// What has come of that message: the rest comes by itself, in parts or with its end. The limit
    /// is for what is kept here at a time.
    pub fn take_partial(&mut self) -> Option<Message> {
        let message = self.partial.as_mut()?;
        let payload = std::mem::take(&mut message.payload);
        Some(Message { payload, ..message.clone() })
    }

    /// Keeps nothing of that message: it comes without payload when its end does.
    pub fn forget_partial(&mut self) {
        if let Some(message) = &mut self.partial {
            let payload = std::mem::take(&mut message.payload);
            self.forgotten = Some(self.forgotten.unwrap_or(0) + payload.len());
        }
    }

    /// Whether part of a message or of a packet has arrived.
    pub fn is_midway(&self) -> bool {
        self.partial.is_some() || self.at < self.input.len()
    }

    /// Takes the bytes that belong to no packet yet. When TLS begins inside TDS, the first raw
    /// record may have come together with the last wrapped packet.
    pub fn take_rest(&mut self) -> Vec<u8> {
        let rest = self.input.split_off(self.at);
        self.input.clear();
        self.at = 0;
        rest
    }
}

/// Appends; a long payload's buffer grows by a quarter at least, so that it is copied a few times
/// only, and not by doubling.
fn append(payload: &mut Vec<u8>, bytes: &[u8]) {
    let grows = payload.capacity() - payload.len() < bytes.len();
    if grows && payload.len() > STEP_BYTES {
        payload.reserve_exact(STEP_BYTES.max(bytes.len()).max(payload.len() / 4));
    }
    payload.extend_from_slice(bytes);
}

/// Cuts messages into packets. Tokens are appended to [`PacketWriter::payload`], whole packets
/// moved out by [`PacketWriter::flush_full`], the last one by [`PacketWriter::finish`].
#[derive(Debug)]
pub struct PacketWriter {
    kind: PacketType,
    packet_size: u16,
    spid: u16,
    next_id: u8,
    first_status: PacketStatus,
    pending: Vec<u8>,
}

impl PacketWriter {
    /// A writer of messages of a type. The size is brought within what TDS allows.
    pub fn new(kind: PacketType, packet_size: u16, spid: u16) -> Self {
        let mut writer = PacketWriter {
            kind,
            packet_size: PACKET_SIZE_DEFAULT,
            spid,
            next_id: 1,
            first_status: PacketStatus::default(),
            pending: Vec::new(),
        };
        writer.set_packet_size(packet_size);
        writer
    }

    /// The size that LOGIN7 and ENVCHANGE have agreed on. Takes effect with the next packet.
    pub fn set_packet_size(&mut self, packet_size: u16) {
        self.packet_size = packet_size.clamp(PACKET_SIZE_MIN, PACKET_SIZE_MAX);
    }

    /// The session's number, once it has one.
    pub fn set_spid(&mut self, spid: u16) {
        self.spid = spid;
    }

    /// The type of the next message; only between messages.
    pub fn set_kind(&mut self, kind: PacketType) {
        debug_assert!(self.pending.is_empty() && self.next_id == 1, "between messages");
        self.kind = kind;
    }

    /// Status bits for the first packet of the next message (RESET_CONNECTION).
    pub fn set_first_status(&mut self, status: PacketStatus) {
        self.first_status = status;
    }

    /// Where the message's bytes are appended.
    pub fn payload(&mut self) -> &mut Vec<u8> {
        &mut self.pending
    }

    /// Whether a whole packet is waiting.
    pub fn is_full(&self) -> bool {
        self.pending.len() > self.body_bytes()
    }

    fn body_bytes(&self) -> usize {
        usize::from(self.packet_size) - HEADER_BYTES
    }

    /// Appends all packets that are full to `out`; keeps at least a byte for the last.
    pub fn flush_full(&mut self, out: &mut Vec<u8>) {
        let body = self.body_bytes();
        let mut done = 0;
        while self.pending.len() - done > body {
            self.emit(done..done + body, PacketStatus::default(), out);
            done += body;
        }
        self.pending.drain(..done);
        debug_assert!(!self.is_full(), "every full packet is out");
    }

    /// Appends the rest of the message to `out`, the last packet with EOM; ready for the next.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.flush_full(out);
        self.emit(0..self.pending.len(), PacketStatus::EOM, out);
        self.pending.clear();
        if self.pending.capacity() > IDLE_BYTES_MAX {
            self.pending = Vec::new();
        }
        self.next_id = 1;
    }

    fn emit(&mut self, body: std::ops::Range<usize>, status: PacketStatus, out: &mut Vec<u8>) {
        let length = u16::try_from(body.len() + HEADER_BYTES).expect("at most the packet size");
        let header = PacketHeader {
            kind: self.kind,
            status: status.and(std::mem::take(&mut self.first_status)),
            length,
            spid: self.spid,
            id: self.next_id,
        };
        self.next_id = self.next_id.wrapping_add(1);
        out.extend_from_slice(&header.encode());
        out.extend_from_slice(&self.pending[body]);
    }
}

/// A whole message as packets: for messages that are built at once, as clients' are.
pub fn frame(
    kind: PacketType,
    status: PacketStatus,
    packet_size: u16,
    payload: Vec<u8>,
    out: &mut Vec<u8>,
) {
    let mut writer = PacketWriter::new(kind, packet_size, 0);
    writer.set_first_status(status);
    writer.pending = payload;
    writer.finish(out);
}

//! One socket and its TLS, if any: bytes in, bytes out, neither blocking.
//!
//! Only the connection's task reads. Both the task and a worker write. What the socket does not
//! take at once stays here, and the task sends it later.
//!
//! Invariants
//!  1. Encrypted bytes leave in the order in which they were encrypted: both happen under one lock.
//!  2. A thread that leaves bytes here wakes the task, which then waits for room in the socket.

use os::sync::Mutex;
use rustix::net::RecvFlags;
use rustls::ServerConnection;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr};
use tds::PacketAssembler;
use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::sync::Notify;

/// One read of a socket.
const READ_BYTES: usize = 16 * 1024;
/// One read of what TLS has decrypted.
const PLAIN_BYTES: usize = 4 * 1024;
/// What an idle connection may keep for output.
const IDLE_BYTES_MAX: usize = 1024;

#[derive(Default)]
struct Bytes {
    tls: Option<Box<ServerConnection>>,
    out: Vec<u8>,
    /// Bytes of `out` that the socket has taken.
    sent: usize,
    /// A worker waits until fewer than this are left.
    room_wanted: Option<usize>,
}

/// What came of a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReadOutcome {
    /// Bytes, or nothing this time.
    Open,
    /// The client has closed.
    End,
}

/// The socket.
pub(crate) struct Wire {
    socket: TcpStream,
    /// The client's, also when it is gone.
    from: SocketAddr,
    bytes: Mutex<Bytes>,
    wake: Notify,
}

impl Wire {
    pub(crate) fn new(socket: TcpStream, from: SocketAddr) -> Wire {
        Wire { socket, from, bytes: Mutex::default(), wake: Notify::new() }
    }

    /// Wakes the task out of [`Wire::ready`].
    pub(crate) fn wake(&self) {
        self.wake.notify_one();
    }

    /// Waits for a wake alone.
    pub(crate) async fn woken(&self) {
        self.wake.notified().await;
    }

    /// The first byte that the client sent, without taking it; none when it closed.
    pub(crate) async fn first_byte(&self) -> io::Result<Option<u8>> {
        let mut first = [0];
        let n = self.socket.peek(&mut first).await?;
        Ok((n > 0).then_some(first[0]))
    }

    /// Waits until there is something to read (unless the caller wants nothing), room for what
    /// is left to send, or a wake.
    pub(crate) async fn ready(&self, reads: bool) -> io::Result<()> {
        let interest = match (reads, self.unsent() > 0) {
            (true, true) => Interest::READABLE | Interest::WRITABLE,
            (true, false) => Interest::READABLE,
            (false, true) => Interest::WRITABLE,
            (false, false) => {
                self.wake.notified().await;
                return Ok(());
            }
        };
        tokio::select! {
            () = self.wake.notified() => Ok(()),
            ready = self.socket.ready(interest) => ready.map(|_| ()),
        }
    }

    /// Takes what has come, decrypts it, feeds it.
    ///
    /// # Errors
    /// The socket's, or `InvalidData` for what is not TLS.
    pub(crate) fn receive(&self, input: &mut PacketAssembler) -> io::Result<ReadOutcome> {
        let mut buffer = [0; READ_BYTES];
        let n = match self.read(&mut buffer) {
            Ok(0) => return Ok(ReadOutcome::End),
            Ok(n) => n,
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                return Ok(ReadOutcome::Open);
            }
            Err(e) => return Err(e),
        };
        let mut bytes = self.bytes.lock();
        let bytes = &mut *bytes;
        let Some(tls) = &mut bytes.tls else {
            input.feed(&buffer[..n]);
            return Ok(ReadOutcome::Open);
        };
        let received = decrypt(tls, &buffer[..n], input);
        collect(tls, &mut bytes.out)?;
        self.push_locked(bytes)?;
        if bytes.room_wanted.is_some() {
            // There may be room now, which the task tells when it pushes.
            self.wake();
        }
        received
    }

    /// What has come, up to a buffer full. Less than that was all there was: the socket counts as
    /// read empty, and is not asked again before more has come.
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut last = 0;
        let read = self.socket.try_io(Interest::READABLE, || {
            let n = rustix::net::recv(&self.socket, &mut *buffer, RecvFlags::empty())?.0;
            if n == 0 || n == buffer.len() {
                return Ok(n);
            }
            last = n;
            Err(ErrorKind::WouldBlock.into())
        });
        match read {
            Err(e) if e.kind() == ErrorKind::WouldBlock && last > 0 => Ok(last),
            read => read,
        }
    }

    /// Encrypts and sends; returns how many bytes are left, having told the task.
    ///
    /// # Errors
    /// The socket's: the client is gone.
    pub(crate) fn send(&self, plain: &[u8]) -> io::Result<usize> {
        let mut bytes = self.bytes.lock();
        let bytes = &mut *bytes;
        match &mut bytes.tls {
            None if bytes.out.is_empty() => {
                // Straight to the socket; only the rest is copied.
                let taken = self.write(plain)?;
                bytes.out.extend_from_slice(&plain[taken..]);
            }
            None => bytes.out.extend_from_slice(plain),
            Some(tls) => {
                // TLS takes some 64 KB at a time.
                let mut rest = plain;
                while !rest.is_empty() {
                    let taken = tls.writer().write(rest)?;
                    rest = &rest[taken..];
                    collect(tls, &mut bytes.out)?;
                }
            }
        }
        self.push_locked(bytes)?;
        let left = bytes.out.len() - bytes.sent;
        if left > 0 {
            self.wake();
        }
        Ok(left)
    }

    /// Sends what is left, as much as the socket takes. True when a worker that waited for room
    /// has it now.
    ///
    /// # Errors
    /// The socket's: the client is gone.
    pub(crate) fn push(&self) -> io::Result<bool> {
        let mut bytes = self.bytes.lock();
        self.push_locked(&mut bytes)?;
        let left = bytes.out.len() - bytes.sent;
        let has_room = bytes.room_wanted.is_some_and(|below| left < below);
        if has_room {
            bytes.room_wanted = None;
        }
        Ok(has_room)
    }

    /// Asks for a signal when fewer than so many bytes are left; false when that is so already.
    pub(crate) fn wants_room(&self, below: usize) -> bool {
        let mut bytes = self.bytes.lock();
        let wants = bytes.out.len() - bytes.sent >= below;
        bytes.room_wanted = wants.then_some(below);
        wants
    }

    /// Bytes that the socket has not taken yet.
    pub(crate) fn unsent(&self) -> usize {
        let bytes = self.bytes.lock();
        bytes.out.len() - bytes.sent
    }

    fn push_locked(&self, bytes: &mut Bytes) -> io::Result<()> {
        if bytes.out.is_empty() {
            return Ok(());
        }
        bytes.sent += self.write(&bytes.out[bytes.sent..])?;
        if bytes.sent == bytes.out.len() {
            bytes.sent = 0;
            bytes.out.clear();
            if bytes.out.capacity() > IDLE_BYTES_MAX {
                bytes.out = Vec::new();
            }
        } else if bytes.sent > bytes.out.len() / 2 {
            bytes.out.drain(..bytes.sent);
            bytes.sent = 0;
        }
        Ok(())
    }

    /// What the socket takes of some bytes.
    fn write(&self, mut rest: &[u8]) -> io::Result<usize> {
        let all = rest.len();
        while !rest.is_empty() {
            match self.socket.try_write(rest) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(n) => rest = &rest[n..],
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(all - rest.len())
    }

    /// From here on the bytes are TLS; `rest` has come already.
    pub(crate) fn begin_tls(
        &self,
        mut tls: Box<ServerConnection>,
        rest: &[u8],
        input: &mut PacketAssembler,
    ) -> io::Result<()> {
        let mut bytes = self.bytes.lock();
        debug_assert!(bytes.tls.is_none(), "TLS begins once");
        let fed = decrypt(&mut tls, rest, input);
        collect(&mut tls, &mut bytes.out)?;
        bytes.tls = Some(tls);
        self.push_locked(&mut bytes)?;
        fed.map(|_| ())
    }

    /// From here on the bytes are plain: only the login was to be encrypted.
    pub(crate) fn end_tls(&self) {
        self.bytes.lock().tls = None;
    }

    /// Whether the TLS handshake goes on.
    pub(crate) fn is_handshaking(&self) -> bool {
        self.bytes.lock().tls.as_ref().is_some_and(|tls| tls.is_handshaking())
    }

    /// Says goodbye: after what is left nothing more is sent.
    pub(crate) fn close_sending(&self) -> io::Result<()> {
        let mut bytes = self.bytes.lock();
        let bytes = &mut *bytes;
        if let Some(tls) = &mut bytes.tls {
            tls.send_close_notify();
            collect(tls, &mut bytes.out)?;
            self.push_locked(bytes)?;
        }
        Ok(rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Write)?)
    }

    /// Reads and forgets; true when the client has closed.
    pub(crate) fn discard(&self) -> bool {
        let mut buffer = [0; READ_BYTES];
        match self.socket.try_read(&mut buffer) {
            Ok(n) => n == 0,
            Err(e) => e.kind() != ErrorKind::WouldBlock,
        }
    }

    /// The client's address.
    pub(crate) fn address(&self) -> IpAddr {
        self.from.ip()
    }

    /// The client's address and port, as the log tells them.
    pub(crate) fn peer(&self) -> String {
        self.from.to_string()
    }
}

fn decrypt(
    tls: &mut ServerConnection,
    mut cipher: &[u8],
    input: &mut PacketAssembler,
) -> io::Result<ReadOutcome> {
    while !cipher.is_empty() {
        if tls.read_tls(&mut cipher)? == 0 {
            return Ok(ReadOutcome::End);
        }
        let state = tls.process_new_packets();
        state.map_err(|e| io::Error::new(ErrorKind::InvalidData, e))?;
        let mut plain = [0; PLAIN_BYTES];
        loop {
            match tls.reader().read(&mut plain) {
                Ok(0) => return Ok(ReadOutcome::End),
                Ok(n) => input.feed(&plain[..n]),
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(e) => return Err(e),
            }
        }
    }
    Ok(ReadOutcome::Open)
}

/// Moves what TLS wants to send to the output.
fn collect(tls: &mut ServerConnection, out: &mut Vec<u8>) -> io::Result<()> {
    while tls.wants_write() {
        tls.write_tls(out)?;
    }
    Ok(())
}

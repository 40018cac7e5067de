//! A server behind TDS: our own blocking client.
//!
//! Invariants
//!  1. The password leaves this machine only within TLS to a server whose certificate will do,
//!     unless
//!     -N o lets it go without: then within what TLS the server has.
//!  2. Between requests nothing of an answer is left unread.

mod answer;
mod login;
mod target;
mod tls;
mod wire;

pub(crate) use target::Target;

use crate::backend::{Backend, BackendError, Cancel, Connector};
use answer::{Answer, End};
use session::{Login, ResultSink};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use tds::{Headers, PacketStatus, PacketType, encode_batch};
use wire::Wire;

/// Connects to one server.
pub(crate) struct RemoteConnector {
    target: Target,
}

impl RemoteConnector {
    pub(crate) fn new(target: Target) -> RemoteConnector {
        RemoteConnector { target }
    }
}

impl Connector for RemoteConnector {
    fn connect(&self, login: &Login) -> Result<Box<dyn Backend>, BackendError> {
        let mut wire = Wire::connect(&self.target)?;
        let server = login::log_in(&mut wire, &self.target, login)?;
        Ok(Box::new(RemoteConnection {
            wire,
            server,
            transaction: 0,
            attention: Arc::new(Attention::default()),
        }))
    }
}

struct RemoteConnection {
    wire: Wire,
    server: String,
    /// The descriptor of the open transaction, which every request tells.
    transaction: u64,
    attention: Arc<Attention>,
}

/// An attention that somebody wants sent. The task that reads sends it: it owns the connection.
#[derive(Default)]
struct Attention(AtomicBool);

impl Attention {
    fn is_wanted(&self) -> bool {
        self.0.load(SeqCst)
    }

    fn clear(&self) {
        self.0.store(false, SeqCst);
    }
}

impl Cancel for Attention {
    fn cancel(&self) {
        self.0.store(true, SeqCst);
    }
}

impl Backend for RemoteConnection {
    fn server_name(&self) -> &str {
        &self.server
    }

    fn run(&mut self, batch: &str, sink: &mut dyn ResultSink) -> Result<(), BackendError> {
        self.attention.clear();
        let mut payload = Vec::with_capacity(batch.len() * 2 + 64);
        encode_batch(&Headers::new(self.transaction), batch, &mut payload);
        self.wire.send(PacketType::Batch, payload)?;
        let mut answer = Answer::new(sink, self.transaction);
        let (mut asked, mut ended) = (false, false);
        while !ended {
            if !asked && (self.attention.is_wanted() || answer.is_unwanted()) {
                self.wire.send(PacketType::Attention, Vec::new())?;
                answer.discard();
                asked = true;
            }
            self.wire.poll(|header, body| {
                answer.packet(body)?;
                if header.status.has(PacketStatus::EOM) {
                    // The answer to an attention may come as a message of its own.
                    ended = answer.end()? == End::Attention || !asked;
                }
                Ok(())
            })?;
        }
        self.transaction = answer.transaction();
        Ok(())
    }

    fn cancel_handle(&self) -> Arc<dyn Cancel> {
        self.attention.clone()
    }
}

//! What a connection's task and the worker that runs its request share.
//!
//! Invariants
//!  1. Whether a response has ended, and whether an attention came before its end, is decided under
//!     the lock of `turn`. So exactly one of the two answers an attention, once.
//!  2. A session that the worker returns waits here until the task looks, which the next message
//!     makes it do. The task is woken only if it has said, under the lock, that it waits for the
//!     session, or if the connection must end.

use crate::inflow::Inflow;
use crate::response::last_words;
use crate::wire::Wire;
use os::sync::Mutex;
use os::wait::{CancelReason, Waiter};
use session::Connection;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use tds::{DoneKind, DoneStatus, DoneToken, TdsVersion};

/// A session and what its responses are made with.
pub(crate) struct Channel {
    pub(crate) connection: Box<dyn Connection>,
    pub(crate) waiter: Arc<Waiter>,
    pub(crate) speech: Speech,
}

impl Channel {
    /// Whether its session was killed.
    pub(crate) fn is_killed(&self) -> bool {
        self.waiter.cancellation() == Some(CancelReason::Kill)
    }
}

/// How responses are encoded.
#[derive(Clone, Copy)]
pub(crate) struct Speech {
    pub(crate) version: TdsVersion,
    pub(crate) packet_bytes: u16,
    pub(crate) spid: u16,
}

#[derive(Default)]
struct Turn {
    /// A request runs and its response has not ended; where it waits.
    running: Option<Arc<Waiter>>,
    /// An attention is to be answered at the response's end.
    attention: bool,
    /// The session, given back by the worker.
    channel: Option<Box<Channel>>,
    /// The task waits for it.
    awaited: bool,
    /// The worker is done and gave no session back: the connection ends.
    over: bool,
}

/// The connection.
pub(crate) struct Link {
    pub(crate) wire: Wire,
    /// The rest of the message whose request runs, if it comes while that runs.
    pub(crate) inflow: Inflow,
    turn: Mutex<Turn>,
    /// Mirrors `Turn::attention` for every row.
    attention: AtomicBool,
    /// The server or KILL ends the connection.
    ended: AtomicBool,
    /// Where the session's requests wait: what KILL cancels.
    waiter: OnceLock<Arc<Waiter>>,
}

/// What a worker left for the task.
pub(crate) enum Leftover {
    /// It still runs, or nothing ran.
    Nothing,
    /// The session, for the next request.
    Channel(Box<Channel>),
    /// The connection ends.
    Over,
}

impl Link {
    pub(crate) fn new(wire: Wire) -> Link {
        Link {
            wire,
            inflow: Inflow::default(),
            turn: Mutex::default(),
            attention: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            waiter: OnceLock::new(),
        }
    }

    /// A request is about to be given to a worker.
    pub(crate) fn begin(&self, waiter: &Arc<Waiter>) {
        let mut turn = self.turn.lock();
        assert!(turn.running.is_none(), "a connection runs one request at a time");
        turn.running = Some(Arc::clone(waiter));
        turn.attention = false;
        turn.awaited = false;
        self.attention.store(false, Relaxed);
    }

    /// An attention came: ends the request that runs, or is answered at once. A request that
    /// `waited` while the one before it was put away is answered as one that was cut off.
    pub(crate) fn attention(&self, speech: Speech, waited: bool) -> std::io::Result<()> {
        let mut turn = self.turn.lock();
        if let Some(waiter) = turn.running.clone() {
            turn.attention = true;
            self.attention.store(true, Relaxed);
            waiter.cancel(CancelReason::Attention);
            return Ok(());
        }
        let mut packets = Vec::new();
        if waited {
            packets.extend(last_words(speech, DoneToken::new(DoneKind::Done, DoneStatus::ERROR)));
        }
        packets.extend(last_words(speech, DoneToken::new(DoneKind::Done, DoneStatus::ATTENTION)));
        self.wire.send(&packets).map(|_| ())
    }

    /// Whether what the request yields is still wanted.
    pub(crate) fn has_attention(&self) -> bool {
        self.attention.load(Relaxed)
    }

    /// Ends the response: `last` is told whether an attention came and gives the last packets.
    pub(crate) fn finish(&self, last: impl FnOnce(bool) -> Vec<u8>) {
        let mut turn = self.turn.lock();
        turn.running = None;
        let attention = std::mem::take(&mut turn.attention);
        if self.wire.send(&last(attention)).is_err() {
            // The response has a hole: nothing more can be said.
            self.ended.store(true, Relaxed);
        }
    }

    /// The worker is done with the request. Whoever ends the connection from now on finds the
    /// session here and wakes the task himself; who did before is seen here.
    pub(crate) fn give_back(&self, channel: Option<Box<Channel>>) {
        let mut turn = self.turn.lock();
        turn.running = None;
        turn.over = channel.is_none();
        turn.channel = channel;
        let killed = turn.channel.as_deref().is_some_and(Channel::is_killed);
        let wakes = turn.awaited || turn.over || killed || self.is_ended();
        drop(turn);
        if wakes {
            self.wire.wake();
        }
    }

    /// The task is going to wait for the session: false when it is here already.
    pub(crate) fn awaits_back(&self) -> bool {
        let mut turn = self.turn.lock();
        turn.awaited = turn.channel.is_none() && !turn.over;
        turn.awaited
    }

    /// What the worker has given back.
    pub(crate) fn take_back(&self) -> Leftover {
        let mut turn = self.turn.lock();
        match turn.channel.take() {
            Some(channel) => Leftover::Channel(channel),
            None if turn.over => Leftover::Over,
            None => Leftover::Nothing,
        }
    }

    /// Signals a worker that waits for room, or for more of its message.
    pub(crate) fn signal(&self) {
        if let Some(waiter) = &self.turn.lock().running {
            waiter.signal();
        }
    }

    /// Ends the request that runs.
    pub(crate) fn cancel(&self, why: CancelReason) {
        if let Some(waiter) = &self.turn.lock().running {
            waiter.cancel(why);
        }
    }

    /// Ends the connection: its request now, itself as soon as the task looks.
    pub(crate) fn end(&self, why: CancelReason) {
        self.ended.store(true, Relaxed);
        self.cancel(why);
        self.wire.wake();
    }

    /// The login has succeeded.
    pub(crate) fn begin_session(&self, waiter: &Arc<Waiter>) {
        let first = self.waiter.set(Arc::clone(waiter)).is_ok();
        assert!(first, "a connection has one session");
    }

    /// Has the task look at an idle session that was killed.
    pub(crate) fn wake_if_killed(&self) {
        let killed = |w: &Arc<Waiter>| w.cancellation() == Some(CancelReason::Kill);
        if self.waiter.get().is_some_and(killed) {
            self.wire.wake();
        }
    }

    /// Whether the connection is to end.
    pub(crate) fn is_ended(&self) -> bool {
        self.ended.load(Relaxed)
    }
}

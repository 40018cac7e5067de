//! The rest of a long message, between the connection's task and the worker that runs the request.
//!
//! ```text
//! task    begin ── push … push ── finish
//! worker        take … take ── Taken::End
//! ```
//! The task stops reading the socket while the worker is behind by [`BYTES_MAX`]. A worker that
//! needs no more closes the inflow; the task then reads the message to its end and drops it.
//!
//! Invariants
//!  1. At most [`BYTES_MAX`] and one read of the socket wait here.
//!  2. After an attention or the client's end no more bytes come; the worker learns of both from
//!     its waiter.

use os::sync::Mutex;

/// How far the worker may be behind.
const BYTES_MAX: usize = 256 << 10;

#[derive(Default)]
struct State {
    bytes: Vec<u8>,
    /// All has come.
    ended: bool,
    /// The client has given the message up before its end.
    given_up: bool,
    /// The worker wants no more.
    closed: bool,
}

/// See the module.
#[derive(Default)]
pub(crate) struct Inflow {
    state: Mutex<State>,
}

/// What a worker gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Intake {
    /// Bytes more.
    Some,
    /// None now.
    Nothing,
    /// None ever.
    End,
    /// The message is not to be run.
    GivenUp,
}

impl Inflow {
    /// A message begins.
    pub(crate) fn begin(&self) {
        *self.state.lock() = State::default();
    }

    /// Bytes more of it.
    pub(crate) fn push(&self, bytes: &[u8]) {
        let mut state = self.state.lock();
        if !state.closed {
            state.bytes.extend_from_slice(bytes);
        }
    }

    /// Its end has come.
    pub(crate) fn finish(&self, given_up: bool) {
        let mut state = self.state.lock();
        state.ended = true;
        state.given_up = given_up;
    }

    /// Whether the worker is behind.
    pub(crate) fn is_full(&self) -> bool {
        self.state.lock().bytes.len() >= BYTES_MAX
    }

    /// Moves what has come behind `out`.
    pub(crate) fn take(&self, out: &mut Vec<u8>) -> Intake {
        let mut state = self.state.lock();
        if state.given_up {
            return Intake::GivenUp;
        }
        if state.bytes.is_empty() {
            return if state.ended { Intake::End } else { Intake::Nothing };
        }
        out.extend_from_slice(&state.bytes);
        state.bytes.clear();
        Intake::Some
    }

    /// The worker is done with it.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        state.bytes = Vec::new();
    }
}

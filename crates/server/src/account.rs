//! The engine memory that a connection's requests take while they arrive, wait and run.
//!
//! A request longer than [`FREE_BYTES`] is charged with twice its bytes: as they came, and decoded.
//! When the limit has no room for a request, it is read to its end, so that the connection can go
//! on, but it is not kept: it is answered with error 701.
//!
//! Invariants
//!  1. Everything that a connection holds of requests is charged, except `FREE_BYTES` a request,
//!     and what one read and one step of the assembler's buffer bring.
//!  2. The charge moves with the request: to the queue, to its worker. It ends with the request's
//!     last byte.

use os::memory::{Clerk, Memory, Reservation};
use os::values::ValueMemory;
use std::sync::Arc;
use tds::{Message, PacketAssembler};

/// Requests up to here cost nothing.
const FREE_BYTES: usize = 16 << 10;
/// The charge grows by this much at a time.
const STEP_BYTES: usize = 256 << 10;

/// Whose memory it is.
#[derive(Clone)]
pub(crate) struct Lender {
    memory: Arc<Memory>,
    clerk: Arc<Clerk>,
    /// What decoded tables are charged to.
    values: Arc<ValueMemory>,
}

impl Lender {
    pub(crate) fn new(memory: Arc<Memory>) -> Lender {
        let clerk = memory.clerk("OBJECTSTORE_SNI_PACKET");
        let values = Arc::new(ValueMemory::new(&memory));
        Lender { memory, clerk, values }
    }
}

/// A request that has come whole.
pub(crate) struct WholeRequest {
    pub(crate) message: Message,
    /// There was no memory for it: only its head is here.
    pub(crate) refused: bool,
    /// Its beginning: the rest comes through the link's inflow.
    pub(crate) streamed: bool,
    /// What it is charged; goes with it.
    _charge: Option<Reservation>,
}

/// The request that is being read.
pub(crate) struct Account {
    lender: Option<Lender>,
    charge: Option<Reservation>,
    refused: bool,
}

impl Account {
    pub(crate) fn new(lender: Option<Lender>) -> Account {
        Account { lender, charge: None, refused: false }
    }

    /// The account of the values that requests bring, for the thread that runs one.
    pub(crate) fn values(&self) -> Option<Arc<ValueMemory>> {
        self.lender.as_ref().map(|l| Arc::clone(&l.values))
    }

    /// Charges what has come of a request so far; has it forgotten when there is no memory.
    pub(crate) fn watch(&mut self, input: &mut PacketAssembler) {
        if !self.refused && !self.covers(input.partial_bytes()) {
            self.refuse();
        }
        if self.refused {
            input.forget_partial();
        }
    }

    /// The request has come whole.
    pub(crate) fn close(&mut self, mut message: Message) -> WholeRequest {
        if !self.refused && !self.covers(message.payload.capacity()) {
            self.refuse();
        }
        let refused = std::mem::take(&mut self.refused);
        if refused {
            message.payload = Vec::new();
        }
        let charge = self.charge.take();
        debug_assert!(charge.is_none() || !refused, "what is not kept costs nothing");
        WholeRequest { message, refused, streamed: false, _charge: charge }
    }

    /// A request has begun to come that is run while it comes.
    pub(crate) fn begin(&mut self, message: Message) -> WholeRequest {
        let (refused, charge) = (std::mem::take(&mut self.refused), self.charge.take());
        WholeRequest { message, refused, streamed: true, _charge: charge }
    }

    /// The request will not come whole: an attention took its place.
    pub(crate) fn give_up(&mut self) {
        self.charge = None;
        self.refused = false;
    }

    fn refuse(&mut self) {
        self.charge = None;
        self.refused = true;
    }

    /// Whether so many bytes are free of charge, or charged now.
    pub(crate) fn covers(&mut self, bytes: usize) -> bool {
        let Some(lender) = &self.lender else { return true };
        if bytes <= FREE_BYTES {
            return true;
        }
        let wanted = bytes.saturating_mul(2);
        let held = self.charge.as_ref().map_or(0, Reservation::bytes);
        let Some(more) = wanted.checked_sub(held).filter(|more| *more > 0) else { return true };
        let more = more.next_multiple_of(STEP_BYTES);
        match &mut self.charge {
            Some(charge) => charge.grow(more).is_ok(),
            none => {
                *none = lender.memory.reserve(&lender.clerk, more).ok();
                none.is_some()
            }
        }
    }
}

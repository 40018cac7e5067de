//! The only event session: `system_health`, which keeps deadlock reports in a ring buffer in
//! memory, as SQL Server's session of that name does.
//!
//! ```text
//!   deadlock monitor ── report ──▶ ring: oldest … newest, at most RING_BYTES ── views copy it
//! ```
//! Invariants
//!  1. The ring never uses more than `RING_BYTES`, and never more than it has reserved.
//!  2. Every event is in the ring or counted as dropped.
//!
//! Not here: CREATE EVENT SESSION, other events, files.

use crate::cell::iso_ms;
use crate::deadlock::{Surroundings, report};
use lock::Deadlock;
use os::clock;
use os::memory::{Memory, Reservation};
use os::sync::Mutex;
use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::Arc;

/// The most bytes of the ring. SQL Server's ring has 4 MB; its documentation recommends no more
/// than this, because a document of more than 4 MB is shown only in part.
const RING_BYTES: usize = 1 << 20;
/// SQL Server's name of the memory for events.
const CLERK: &str = "MEMORYCLERK_XE";
/// The bytes of an event beside its text.
const EVENT_BYTES: usize = size_of::<Arc<str>>();

/// An event session with its target.
pub struct EventSession {
    created_at: i64,
    ring: Mutex<Ring>,
}

struct Ring {
    events: VecDeque<Arc<str>>,
    bytes_max: usize,
    bytes: usize,
    /// `None` if even an empty reservation failed.
    reservation: Option<Reservation>,
    counts: Counts,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    processed: u64,
    dropped: u64,
    written_bytes: u64,
    busy_ns: u64,
}

/// The figures of the session and its target, for views.
pub(crate) struct SessionSummary {
    pub(crate) created_at: i64,
    pub(crate) processed: u64,
    pub(crate) busy_ns: u64,
    pub(crate) written_bytes: u64,
    pub(crate) ring_bytes: usize,
    pub(crate) target_data: String,
}

fn bytes_of(event: &str) -> usize {
    event.len() + EVENT_BYTES
}

impl Ring {
    fn new(memory: &Arc<Memory>, bytes_max: usize) -> Ring {
        let reservation = memory.reserve(&memory.clerk(CLERK), 0).ok();
        let (events, counts) = (VecDeque::new(), Counts::default());
        Ring { events, bytes_max, bytes: 0, reservation, counts }
    }

    /// Adds an event and removes the oldest ones to make room. An event that does not fit alone is
    /// dropped.
    fn add(&mut self, event: String) {
        let bytes = bytes_of(&event);
        self.counts.processed += 1;
        if bytes > self.bytes_max {
            self.counts.dropped += 1;
            return;
        }
        while !self.has_room(bytes) {
            self.counts.dropped += 1;
            let Some(oldest) = self.events.pop_front() else { return };
            self.bytes -= bytes_of(&oldest);
        }
        self.bytes += bytes;
        self.counts.written_bytes += event.len() as u64;
        self.events.push_back(event.into());
        let reserved = self.reservation.as_ref().map_or(0, Reservation::bytes);
        assert!(self.bytes <= self.bytes_max && self.bytes <= reserved, "invariant 1");
        let all = self.events.len() as u64 + self.counts.dropped;
        assert_eq!(all, self.counts.processed, "invariant 2");
    }

    /// Whether the ring has room for more bytes. It never gives a reservation back: the room of a
    /// removed event stays reserved.
    fn has_room(&mut self, bytes: usize) -> bool {
        let Some(reservation) = &mut self.reservation else { return false };
        let all = self.bytes + bytes;
        let more = all.saturating_sub(reservation.bytes());
        all <= self.bytes_max && (more == 0 || reservation.grow(more).is_ok())
    }
}

impl EventSession {
    /// The session, without events.
    pub fn new(memory: &Arc<Memory>) -> EventSession {
        let ring = Mutex::new(Ring::new(memory, RING_BYTES));
        EventSession { created_at: clock::now().0, ring }
    }

    /// Keeps a report of a deadlock, and returns it.
    pub fn deadlock(&self, deadlock: &Deadlock, around: &Surroundings<'_>) -> String {
        let began_ns = clock::monotonic_ns();
        let report = report(deadlock, around);
        let event = event("xml_deadlock_report", "xml_report", &report);
        let mut ring = self.ring.lock();
        ring.add(event);
        ring.counts.busy_ns += clock::monotonic_ns().saturating_sub(began_ns);
        report
    }

    /// The present figures.
    pub(crate) fn told(&self) -> SessionSummary {
        let ring = self.ring.lock();
        let (events, bytes, counts) = (ring.events.clone(), ring.bytes, ring.counts);
        drop(ring);
        SessionSummary {
            created_at: self.created_at,
            processed: counts.processed,
            busy_ns: counts.busy_ns,
            written_bytes: counts.written_bytes,
            ring_bytes: bytes,
            target_data: target_data(&events, bytes, &counts),
        }
    }
}

/// An event with the present time and one field of XML.
fn event(name: &str, field: &str, document: &str) -> String {
    let at = iso_ms(clock::now().0);
    format!(
        "<event name=\"{name}\" package=\"sqlserver\" timestamp=\"{at}Z\"><data name=\"{field}\">\
         <type name=\"xml\" package=\"package0\"/><value>{document}</value></data></event>"
    )
}

/// The ring as a document.
fn target_data(events: &VecDeque<Arc<str>>, bytes: usize, counts: &Counts) -> String {
    let mut text = String::with_capacity(bytes + 256);
    let (processing_ms, count) = (counts.busy_ns / 1_000_000, events.len());
    let Counts { processed, dropped, .. } = counts;
    let _ = write!(
        text,
        "<RingBufferTarget truncated=\"0\" processingTime=\"{processing_ms}\" \
         totalEventsProcessed=\"{processed}\" eventCount=\"{count}\" droppedCount=\"{dropped}\" \
         memoryUsed=\"{bytes}\">"
    );
    events.iter().for_each(|e| text.push_str(e));
    text.push_str("</RingBufferTarget>");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(ring: &Ring) -> Vec<&str> {
        ring.events.iter().map(|e| &**e).collect()
    }

    /// The oldest events are removed, and the whole ring is reserved.
    #[test]
    fn the_ring_keeps_the_newest_events_that_have_room() {
        let memory = Memory::new(1 << 20);
        let mut ring = Ring::new(&memory, 3 * (EVENT_BYTES + 10));
        for n in 0..5 {
            ring.add(format!("event {n}..."));
        }
        assert_eq!(kept(&ring), ["event 2...", "event 3...", "event 4..."]);
        assert_eq!((ring.counts.processed, ring.counts.dropped), (5, 2));
        assert_eq!(memory.reserved_bytes(), ring.bytes);
        ring.add("x".repeat(EVENT_BYTES + 20));
        assert_eq!(kept(&ring).len(), 2, "a long one takes the place of two");
        ring.add("x".repeat(4 * EVENT_BYTES + 40));
        assert_eq!(kept(&ring).len(), 2, "one that is too long takes nobody's");
        assert_eq!((ring.counts.processed, ring.counts.dropped), (7, 5));
        assert_eq!(memory.reserved_bytes(), 3 * (EVENT_BYTES + 10));
    }

    #[test]
    fn without_memory_nothing_is_kept_and_all_is_counted() {
        let memory = Memory::new(EVENT_BYTES + 10);
        let mut ring = Ring::new(&memory, 1 << 20);
        ring.add("event 1...".to_owned());
        ring.add("event 2...".to_owned());
        assert_eq!(kept(&ring), ["event 2..."]);
        ring.add("event 3, which is longer".to_owned());
        assert_eq!((kept(&ring).len(), ring.counts.dropped), (0, 3));
    }

    #[test]
    fn the_target_tells_what_it_has() {
        let session = EventSession::new(&Memory::new(1 << 20));
        session.ring.lock().add("<event/>".to_owned());
        let told = session.told();
        assert_eq!((told.processed, told.written_bytes), (1, 8));
        let bytes = 8 + EVENT_BYTES;
        let want = format!(
            "<RingBufferTarget truncated=\"0\" processingTime=\"0\" totalEventsProcessed=\"1\" \
             eventCount=\"1\" droppedCount=\"0\" memoryUsed=\"{bytes}\"><event/></RingBufferTarget>"
        );
        assert_eq!((told.ring_bytes, told.target_data), (bytes, want));
    }
}

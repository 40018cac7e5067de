//! Links: queues for rows between producers and consumers.
//!
//! ```text
//! producers ──packet──> lane 0 ──> consumer 0        ordered: a lane for each producer,
//!           ──packet──> lane 1 ──> consumer 1        all of them read by one consumer
//! ```
//! A packet is some rows as bytes (`memory/codec.rs`), so that no lock is taken for each row. A
//! lane holds a few packets. A thread that finds the lane full or empty waits at its own waiter.
//!
//! Invariants
//!  1. A closed lane takes no packet: its producers go on without it.
//!  2. A waiting thread is registered under the lane's mutex, and a thread that changes what it
//!     waits for signals it afterwards. So no wake-up is lost.

use super::stop::Stop;
use base::SqlResult;
use os::sync::{Condvar, Mutex};
use os::wait::{WaitKind, Waiter, Wake};
use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes at which a packet is sent.
pub(crate) const PACKET_BYTES: usize = 32 * 1024;
/// How many unread packets a producer may have in a lane.
const PACKETS_AHEAD: usize = 4;

/// Some rows.
#[derive(Default)]
pub(crate) struct Packet {
    pub(crate) bytes: Vec<u8>,
    pub(crate) rows: usize,
}

/// The queues for the rows of one exchange.
pub(crate) struct Link {
    lanes: Vec<Mutex<Lane>>,
    ordered: bool,
    /// Whether a consumer wants rows, or none ever will.
    begun: Mutex<bool>,
    begins: Condvar,
}

#[derive(Default)]
struct Lane {
    packets: VecDeque<Packet>,
    packets_max: usize,
    /// Buffers to be used again.
    free: Vec<Vec<u8>>,
    /// Producers that may still send.
    producers: usize,
    closed: bool,
    reader: Option<Arc<Waiter>>,
    writers: Vec<Arc<Waiter>>,
}

impl Link {
    /// A link between these numbers of producers and consumers.
    pub(crate) fn new(producers: usize, consumers: usize, ordered: bool) -> Link {
        let (lanes, each) = if ordered { (producers, 1) } else { (consumers, producers) };
        let lane = |_| {
            let packets_max = PACKETS_AHEAD * each;
            Mutex::new(Lane { producers: each, packets_max, ..Lane::default() })
        };
        Link {
            lanes: (0..lanes).map(lane).collect(),
            ordered,
            begun: Mutex::new(false),
            begins: Condvar::new(),
        }
    }

    pub(crate) fn lanes(&self) -> usize {
        self.lanes.len()
    }

    /// Rows are wanted: producers begin. It is also called at the end of the statement, to dismiss
    /// them.
    pub(crate) fn begin(&self) {
        *self.begun.lock() = true;
        self.begins.notify_all();
    }

    /// Waits until rows are wanted.
    pub(crate) fn wait_for_begin(&self) {
        let mut begun = self.begun.lock();
        while !*begun {
            self.begins.wait(&mut begun);
        }
    }

    /// Gives a packet to a lane and takes an empty one; waits while the lane is full. The rows are
    /// dropped if the lane has no reader any more.
    ///
    /// # Errors
    /// The statement must end.
    pub(crate) fn send(
        &self,
        lane: usize,
        packet: Packet,
        waiter: &Arc<Waiter>,
        stop: &Stop,
    ) -> SqlResult<Packet> {
        loop {
            stop.check()?;
            {
                let mut lane = self.lanes[lane].lock();
                if lane.closed {
                    return Ok(Packet { bytes: emptied(packet.bytes), rows: 0 });
                }
                if lane.packets.len() < lane.packets_max {
                    lane.packets.push_back(packet);
                    let bytes = lane.free.pop().unwrap_or_default();
                    let reader = lane.reader.take();
                    drop(lane);
                    if let Some(reader) = reader {
                        reader.signal();
                    }
                    return Ok(Packet { bytes, rows: 0 });
                }
                lane.writers.push(Arc::clone(waiter));
            }
            wait(waiter, WaitKind::CxPacket, stop)?;
        }
    }

    /// The next packet of a lane; `None` when there will be none. `used` is an empty packet for
    /// reuse.
    ///
    /// # Errors
    /// The statement must end.
    pub(crate) fn receive(
        &self,
        lane: usize,
        used: Packet,
        waiter: &Arc<Waiter>,
        stop: &Stop,
    ) -> SqlResult<Option<Packet>> {
        let mut used = Some(emptied(used.bytes)).filter(|bytes| bytes.capacity() > 0);
        loop {
            stop.check()?;
            {
                let mut lane = self.lanes[lane].lock();
                lane.free.extend(used.take());
                if let Some(packet) = lane.packets.pop_front() {
                    // All of them are woken: one place is free, but the first to wake may have no
                    // packet left.
                    let writers = std::mem::take(&mut lane.writers);
                    drop(lane);
                    writers.iter().for_each(|w| w.signal());
                    return Ok(Some(packet));
                }
                if lane.producers == 0 {
                    return Ok(None);
                }
                lane.reader = Some(Arc::clone(waiter));
            }
            wait(waiter, WaitKind::CxConsumer, stop)?;
        }
    }

    /// A producer has sent all it has.
    pub(crate) fn done(&self, producer: usize) {
        let own = |&(at, _): &(usize, _)| !self.ordered || at == producer;
        for (_, lane) in self.lanes.iter().enumerate().filter(own) {
            let mut lane = lane.lock();
            lane.producers -= 1;
            let reader = if lane.producers == 0 { lane.reader.take() } else { None };
            drop(lane);
            if let Some(reader) = reader {
                reader.signal();
            }
        }
    }

    /// Whether no lane has a reader any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.lanes.iter().all(|lane| lane.lock().closed)
    }

    /// The rows of a lane are no longer needed.
    pub(crate) fn close(&self, lane: usize) {
        let mut lane = self.lanes[lane].lock();
        lane.closed = true;
        lane.packets.clear();
        lane.free.clear();
        let writers = std::mem::take(&mut lane.writers);
        drop(lane);
        writers.iter().for_each(|w| w.signal());
    }
}

fn emptied(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.clear();
    bytes
}

fn wait(waiter: &Waiter, kind: WaitKind, stop: &Stop) -> SqlResult<()> {
    match waiter.wait(kind, None) {
        Wake::Signalled | Wake::TimedOut => Ok(()),
        Wake::Cancelled(why) => {
            stop.check()?;
            Err(why.into())
        }
    }
}

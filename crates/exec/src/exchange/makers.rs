//! Makers: workers of a statement that has no plan, such as an index build. Each makes rows in an
//! order of its own. The statement's thread reads them from one lane for each maker.
//!
//! ```text
//! statement's thread:  read ◄── lane 0 ◄── packets ── maker 0
//!                           ◄── lane 1 ◄── packets ── maker 1
//! ```
//! Only a row's maker and its reader know its form: here it is bytes. Ends, errors, attentions and
//! panics travel as among the workers of a plan (README.md, rules 1 to 6). Threads also come from
//! [`Workers`](crate::Workers), and the waits have the same names.
//!
//! Invariants
//!  1. All threads have ended when [`ThreadReservation::make`] returns, whatever happened.
//!  2. A maker's transaction is the statement's. It reads and writes only spill files.

use super::link::{Link, PACKET_BYTES, Packet};
use super::stop::Stop;
use super::worker::{Reader, Turn};
use super::workers::ThreadReservation;
use base::{SqlError, SqlResult, messages};
use os::sync::Mutex;
use os::task::{self, Scope};
use os::values::{self, ValueMemory};
use os::wait::{CancelReason, WaitTotals, Waiter};
use std::ops::Range;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use work::{ReaderSeed, Work};

/// What a maker does: its rows go to [`Maker::send`].
pub type MakerTask<'m> = dyn Fn(&mut Maker<'_>) -> SqlResult<()> + Sync + 'm;

/// What makers have done beside the statement's thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MakersWork {
    /// Processor time of all of them.
    pub cpu_ns: u64,
    /// Locks that they requested.
    pub lock_requests: u64,
}

impl MakersWork {
    /// Adds what others did.
    pub fn add(&mut self, more: MakersWork) {
        self.cpu_ns += more.cpu_ns;
        self.lock_requests += more.lock_requests;
    }
}

/// A maker on its thread.
pub struct Maker<'m> {
    number: usize,
    reader: Reader<'m>,
    waiter: &'m Arc<Waiter>,
    link: &'m Link,
    stop: &'m Stop,
    packet: Packet,
}

impl Maker<'_> {
    /// From 0.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The unit of work that reads for the statement's transaction.
    pub fn work(&mut self) -> &mut Work {
        &mut self.reader.work
    }

    /// Its waiter.
    pub fn waiter(&self) -> &Arc<Waiter> {
        self.waiter
    }

    /// Whether it may go on.
    ///
    /// # Errors
    /// The statement must end.
    pub fn check(&self) -> SqlResult<()> {
        self.stop.check()?;
        self.waiter.check().map_err(SqlError::from)
    }

    /// Gives a row to the reader.
    ///
    /// # Errors
    /// The statement must end.
    pub fn send(&mut self, row: &[u8]) -> SqlResult<()> {
        let length = u32::try_from(row.len()).expect("a row is below 4 GB");
        self.packet.bytes.extend_from_slice(&length.to_le_bytes());
        self.packet.bytes.extend_from_slice(row);
        self.packet.rows += 1;
        match self.packet.bytes.len() < PACKET_BYTES {
            true => Ok(()),
            false => self.flush(),
        }
    }

    fn flush(&mut self) -> SqlResult<()> {
        let packet = std::mem::take(&mut self.packet);
        self.packet = self.link.send(self.number, packet, self.waiter, self.stop)?;
        Ok(())
    }
}

/// The reading end of one maker's rows.
pub struct MadeRows<'m> {
    maker: usize,
    link: &'m Link,
    stop: &'m Stop,
    root: Arc<Waiter>,
    packet: Packet,
    /// The bytes of the current row within the packet.
    row: Range<usize>,
}

impl MadeRows<'_> {
    /// Moves to the maker's next row, and waits for it; false when the maker has no more.
    ///
    /// # Errors
    /// An error of any maker; the statement must end.
    pub fn advance(&mut self) -> SqlResult<bool> {
        while self.packet.rows == 0 {
            let used = std::mem::take(&mut self.packet);
            self.row = 0..0;
            match self.link.receive(self.maker, used, &self.root, self.stop)? {
                None => return Ok(false),
                Some(packet) => self.packet = packet,
            }
        }
        let at = self.row.end;
        let length = self.packet.bytes[at..].first_chunk::<4>();
        let length = u32::from_le_bytes(*length.expect("a packet has whole rows")) as usize;
        self.row = at + 4..at + 4 + length;
        self.packet.rows -= 1;
        Ok(true)
    }

    /// The current row.
    pub fn row(&self) -> &[u8] {
        &self.packet.bytes[self.row.clone()]
    }
}

/// All makers of a statement, and what they share.
struct Makers<'m> {
    making: &'m MakerTask<'m>,
    seed: ReaderSeed,
    stop: Stop,
    link: Link,
    waiters: Vec<Arc<Waiter>>,
    root: Arc<Waiter>,
    did: Mutex<MakersWork>,
    values: Option<Arc<ValueMemory>>,
    served: Option<Arc<WaitTotals>>,
}

impl Makers<'_> {
    fn start<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) {
        for number in 0..self.waiters.len() {
            if !task::start_within(scope, "parallel", move || self.work(number)) {
                let what = "the system starts no more threads";
                self.fail(SqlError::new(messages::INTERNAL, &[&what]));
                return;
            }
        }
    }

    /// Runs a maker to its end.
    fn work(&self, number: usize) {
        let _lent = values::lend(self.values.clone());
        let _attended = values::attend(Arc::clone(&self.root), 0);
        let _serving = os::wait::serve(self.served.clone());
        match std::panic::catch_unwind(AssertUnwindSafe(|| self.make(number))) {
            Ok(Ok(did)) => self.did.lock().add(did),
            Ok(Err(error)) => self.fail(error),
            Err(payload) => {
                self.stop.panicked(payload);
                self.fail(SqlError::new(messages::INTERNAL, &[&"a worker panicked"]));
            }
        }
    }

    fn make(&self, number: usize) -> SqlResult<MakersWork> {
        let _turn = Turn::taken();
        let waiter = &self.waiters[number];
        let reader = Reader::new(&self.seed, waiter);
        let (link, stop, packet) = (&self.link, &self.stop, Packet::default());
        let mut maker = Maker { number, reader, waiter, link, stop, packet };
        (self.making)(&mut maker)?;
        if maker.packet.rows > 0 {
            maker.flush()?;
        }
        drop(maker);
        link.done(number);
        let cpu_ns = os::clock::thread_cpu_ns();
        Ok(MakersWork { cpu_ns, lock_requests: work::lock_requests() })
    }

    /// Ends the statement with this error, unless it ends with another already.
    fn fail(&self, error: SqlError) {
        if self.stop.fail(error) {
            self.send_home();
            self.root.signal();
        }
    }

    fn send_home(&self) {
        self.waiters.iter().for_each(|w| w.cancel(CancelReason::Attention));
    }
}

/// Dismisses the makers, also when the reader panics.
struct Dismissal<'d, 'm>(&'d Makers<'m>);

impl Drop for Dismissal<'_, '_> {
    fn drop(&mut self) {
        self.0.stop.end();
        self.0.send_home();
    }
}

impl ThreadReservation<'_> {
    /// Runs as many makers as there are threads, and reads their rows. Returns what `read` returns,
    /// even if that did not read all rows. [`MadeRows::advance`] returns an error of a maker.
    pub fn make<R>(
        &self,
        work: &mut Work,
        making: &MakerTask<'_>,
        read: impl FnOnce(&mut Work, Vec<MadeRows<'_>>) -> R,
    ) -> (R, MakersWork) {
        let makers = Makers {
            making,
            seed: work.reader_seed(),
            stop: Stop::default(),
            link: Link::new(self.degree, 1, true),
            waiters: (0..self.degree).map(|_| Arc::default()).collect(),
            root: Arc::clone(work.owner().waiter()),
            did: Mutex::default(),
            values: values::lent(),
            served: os::wait::served(),
        };
        let Makers { link, stop, root, .. } = &makers;
        let rows = |maker| {
            let (root, packet) = (Arc::clone(root), Packet::default());
            MadeRows { maker, link, stop, root, packet, row: 0..0 }
        };
        let result = task::scope(|scope| {
            let _dismissed = Dismissal(&makers);
            makers.start(scope);
            read(work, (0..self.degree).map(rows).collect())
        });
        // A packet may have been announced to a thread that no longer waits for it.
        makers.root.clear_signal();
        if let Some(payload) = makers.stop.take_panic() {
            std::panic::resume_unwind(payload);
        }
        let did = *makers.did.lock();
        (result, did)
    }
}

//! A worker: a thread with a copy of a branch's operators, which sends the rows of that branch.
//!
//! It reads under the session's transaction (`work::ReaderSeed`), has the values that the
//! statement's variables had when the run began, and asks the session for nothing but the clock.

use super::crew::{Crew, Report};
use super::link::{Link, PACKET_BYTES, Packet};
use super::stop::Stop;
use super::team::{Team, Worker};
use crate::memory::{codec, hash_row};
use crate::run::{IdentitySource, NoCallout, Run, WorkerLoan};
use access::TableReads;
use base::{DatabaseId, ObjectId, SqlError, SqlResult, messages};
use builtins::{Fact, Question, SessionFacts};
use os::wait::Waiter;
use plan::{ExchangeKind, IdentityColumn, Slot};
use std::sync::Arc;
use types::datetime::{Dialect, Moment};
use types::{Collation, Value};
use work::{ReaderSeed, Work};

/// Rows of the first packet: a consumer that needs only a few gets them soon.
const ROWS_FIRST: usize = 16;

/// Runs a branch to its end.
pub(super) fn run(crew: &Crew<'_>, branch: usize, number: usize) -> SqlResult<Report> {
    let _turn = Turn::taken();
    let of = &crew.lent.branches[branch];
    let waiter = crew.waiter(branch, number);
    let mut reader = Reader::new(&crew.seed, waiter);
    let facts = WorkerFacts {
        now: crew.lent.now,
        date_first: &crew.lent.date_first,
        dialect: crew.lent.dialect,
    };
    let mut tree = (crew.lent.make_tree)(of)?;
    let mut variables = crew.lent.variables.clone();
    let mut frame = vec![Value::Null; crew.lent.slots];
    let tallies = crew.tallies(branch, number);
    let mut past = vec![TableReads::default(); crew.lent.cursors];
    let mut run = Run::of_worker(WorkerLoan {
        work: &mut reader.work,
        resolver: crew.lent.resolver,
        spill: crew.lent.spill,
        variables: &mut variables,
        facts: &facts,
        identity: &NoIdentity,
        callout: &NoCallout,
        hobts: crew.lent.hobts,
        frame: &mut frame,
        counts: tallies,
        past: &mut past,
        grant: crew.lent.grant.of_worker(),
        isolation: crew.lent.isolation,
        as_of: crew.lent.as_of,
        team: crew,
        worker: Worker { number },
    });
    let link = crew.link(branch);
    let mut sender = Sender::new(&of.kind, &of.columns, &link, number, waiter, &crew.stop);
    tree.open(&mut run)?;
    while tree.next(&mut run)? {
        run.tick()?;
        if !sender.push(&run)? {
            break;
        }
    }
    if run.outcome.nulls_eliminated {
        crew.note_nulls();
    }
    sender.finish()?;
    link.done(number);
    run.note_past_reads();
    drop(run);
    tree.close();
    let cpu_ns = os::clock::thread_cpu_ns();
    Ok(Report {
        thread: number + 1,
        tallies: Arc::clone(tallies),
        reads: past,
        cpu_ns,
        lock_requests: work::lock_requests(),
        waits: os::wait::thread_waits(),
    })
}

/// A turn to compute, which is always given back.
pub(super) struct Turn;

impl Turn {
    pub(super) fn taken() -> Turn {
        os::turn::enter();
        Turn
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        os::turn::release();
    }
}

/// A reader whose locks always go to its transaction.
pub(super) struct Reader<'s> {
    seed: &'s ReaderSeed,
    pub(super) work: Work,
}

impl<'s> Reader<'s> {
    pub(super) fn new(seed: &'s ReaderSeed, waiter: &Arc<Waiter>) -> Reader<'s> {
        Reader { seed, work: seed.reader(Arc::clone(waiter)) }
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        self.seed.done(&self.work);
    }
}

/// Puts rows into packets and sends those that are full.
struct Sender<'s> {
    columns: &'s [Slot],
    /// The keys whose hash chooses a row's lane; empty when there is one lane.
    keys: &'s [(Slot, Collation)],
    link: &'s Link,
    waiter: &'s Arc<Waiter>,
    stop: &'s Stop,
    /// The lane of the first packet.
    first: usize,
    packets: Vec<Packet>,
    rows_max: usize,
}

impl<'s> Sender<'s> {
    fn new(
        kind: &'s ExchangeKind,
        columns: &'s [Slot],
        link: &'s Link,
        number: usize,
        waiter: &'s Arc<Waiter>,
        stop: &'s Stop,
    ) -> Sender<'s> {
        let (first, lanes, keys) = match kind {
            ExchangeKind::Gather => (0, 1, &[][..]),
            ExchangeKind::GatherOrdered(_) => (number, 1, &[][..]),
            ExchangeKind::Repartition(keys) => (0, link.lanes(), &keys[..]),
        };
        let packets = (0..lanes).map(|_| Packet::default()).collect();
        Sender { columns, keys, link, waiter, stop, first, packets, rows_max: ROWS_FIRST }
    }

    /// Takes the row in the frame; false when no more rows are wanted.
    fn push(&mut self, run: &Run<'_>) -> SqlResult<bool> {
        let lane = self.lane(run);
        let packet = &mut self.packets[lane];
        self.columns.iter().for_each(|&s| codec::encode(run.slot(s), &mut packet.bytes));
        packet.rows += 1;
        if packet.bytes.len() < PACKET_BYTES && packet.rows < self.rows_max {
            return Ok(true);
        }
        self.rows_max = self.rows_max.saturating_mul(2);
        self.send(lane)?;
        Ok(!self.link.is_closed())
    }

    /// The hash bits that choose the lane differ from those that choose hash tables and files.
    fn lane(&self, run: &Run<'_>) -> usize {
        if self.packets.len() == 1 {
            return 0;
        }
        let values = self.keys.iter().map(|&(slot, collation)| (run.slot(slot), collation));
        let hash = hash_row(values, true).unwrap_or(0);
        let mixed = (hash ^ (hash >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
        mixed as usize % self.packets.len()
    }

    fn send(&mut self, lane: usize) -> SqlResult<()> {
        let packet = std::mem::take(&mut self.packets[lane]);
        self.packets[lane] = self.link.send(self.first + lane, packet, self.waiter, self.stop)?;
        Ok(())
    }

    /// Sends the last packets.
    fn finish(mut self) -> SqlResult<()> {
        for lane in 0..self.packets.len() {
            if self.packets[lane].rows > 0 {
                self.send(lane)?;
            }
        }
        Ok(())
    }
}

/// Workers give no identity values.
struct NoIdentity;

fn refused() -> SqlError {
    SqlError::new(messages::INTERNAL, &[&"a worker asks what only a session knows"])
}

impl IdentitySource for NoIdentity {
    fn next(
        &self,
        _: &mut Work,
        _: DatabaseId,
        _: ObjectId,
        _: &IdentityColumn,
    ) -> SqlResult<i128> {
        Err(refused())
    }

    fn given(
        &self,
        _: &mut Work,
        _: DatabaseId,
        _: ObjectId,
        _: &IdentityColumn,
        _: i128,
    ) -> SqlResult<()> {
        Err(refused())
    }
}

/// The optimizer puts no expression below an exchange that needs other facts.
struct WorkerFacts<'f> {
    now: Moment,
    date_first: &'f Value,
    dialect: Dialect,
}

impl SessionFacts for WorkerFacts<'_> {
    fn fact(&self, fact: Fact) -> SqlResult<Value> {
        match fact {
            Fact::DateFirst => Ok(self.date_first.clone()),
            _ => Err(refused()),
        }
    }

    fn resolve(&self, _: Question, _: &[Value]) -> SqlResult<Value> {
        Err(refused())
    }

    fn clock(&self) -> Moment {
        self.now
    }

    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn random(&self) -> u64 {
        os::entropy::random_u64()
    }
}

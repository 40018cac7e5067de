//! The commit table: it maps a transaction's sequence number (Xsn) to its commit time.
//!
//! It consists of chunks of atomics above a low-water mark. Every transaction below the mark has
//! committed and is visible to all. A commit is one store; it does not touch the rows that the
//! transaction wrote. When all transactions of a chunk have ended, and no snapshot was taken
//! between their commits, the chunk becomes one time for all of them, and neighbours like that are
//! merged. So a snapshot that stays open for days costs no memory.
//!
//! Invariants
//!  1. A number goes from active to committed or aborted once, and never back.
//!  2. The commit time is drawn and stored and the clock advanced inside one short latch. So every
//!     commit at or before the clock is in the table.
//!  3. A number is listed as active before any thread can meet it on a page. Until the clock
//!     reaches a commit's time, its writer counts as active for every thread that asks. Otherwise a
//!     thread could decide that no snapshot needs a version that this writer superseded, while a
//!     snapshot from before the commit is yet to be taken.
//!  4. A merged range of ended numbers gives every registered snapshot the same answer as each
//!     number gave. Later snapshots see all of them. Aborted ones are on no page any more, so no
//!     thread asks for them.

use base::Xsn;
use os::latch::LatchClass;
use os::sync::{Mutex, PaddedCell, RwLock};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::*};

/// When a transaction was committed, in commit order; 0 is before every commit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct CommitTime(pub u64);

/// What became of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It has not ended.
    Active,
    /// It was committed then.
    Committed(CommitTime),
    /// It never happened.
    Aborted,
}

const CHUNK: u64 = 4096;
const ABORTED: u64 = u64::MAX;

/// The numbers of a chunk: 0 while active.
struct Chunk {
    times: Box<[AtomicU64]>,
    /// How many have not ended; numbers that were not given yet are among them.
    open: AtomicU32,
}

impl Chunk {
    fn fresh(of: u64) -> Chunk {
        let times = (0..CHUNK).map(|_| AtomicU64::new(0)).collect();
        let chunk = Chunk { times, open: AtomicU32::new(CHUNK as u32) };
        if of == 0 {
            // Xsn::NONE is nobody's.
            chunk.end(0, ABORTED);
        }
        chunk
    }

    fn end(&self, number: u64, mark: u64) {
        let before = self.times[(number % CHUNK) as usize].swap(mark, Release);
        assert_eq!(before, 0, "a transaction ends once");
        let open = self.open.fetch_sub(1, AcqRel);
        assert!(open > 0, "no more end than a chunk has");
    }

    /// The first and the last of its commits; where there are none, a span that holds nothing.
    fn span(&self) -> (u64, u64) {
        let committed = || self.times.iter().map(|t| t.load(Acquire)).filter(|t| *t != ABORTED);
        (committed().min().unwrap_or(u64::MAX), committed().max().unwrap_or(0))
    }
}

/// Chunks from `first` to `last` whose transactions have all ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct PastChunks {
    first: u64,
    last: u64,
    /// Their first commit and their last.
    lowest: u64,
    highest: u64,
}

#[derive(Default)]
struct ChunkDirectory {
    chunks: BTreeMap<u64, Chunk>,
    /// In order of their numbers.
    past: Vec<PastChunks>,
}

impl ChunkDirectory {
    fn past_of(&self, chunk: u64) -> Option<&PastChunks> {
        let at = self.past.partition_point(|p| p.last < chunk);
        self.past.get(at).filter(|p| p.first <= chunk)
    }
}

/// From number to outcome.
pub struct CommitTable {
    front: PaddedCell<Front>,
    known: RwLock<ChunkDirectory>,
    low_water: PaddedCell<AtomicU64>,
    stamping: Mutex<()>,
}

/// On one cache line, because taking a snapshot reads both.
struct Front {
    last: AtomicU64,
    clock: AtomicU64,
}

impl Default for CommitTable {
    fn default() -> Self {
        CommitTable {
            front: PaddedCell(Front { last: AtomicU64::new(0), clock: AtomicU64::new(1) }),
            known: RwLock::default(),
            low_water: PaddedCell(AtomicU64::new(1)),
            stamping: Mutex::of(LatchClass::CommitTable, ()),
        }
    }
}

impl CommitTable {
    /// The number of a transaction that begins to write versions.
    pub fn begin(&self) -> Xsn {
        let number = self.front.last.fetch_add(1, Relaxed) + 1;
        assert!(number <= Xsn::MAX.0, "48 bits of sequence numbers last for centuries");
        let of = number / CHUNK;
        if !self.known.read().chunks.contains_key(&of) {
            let mut known = self.known.write();
            debug_assert!(
                known.past_of(of).is_none(),
                "a chunk has ended when all its numbers have"
            );
            known.chunks.entry(of).or_insert_with(|| Chunk::fresh(of));
        }
        debug_assert_eq!(self.outcome(Xsn(number)), Outcome::Active, "invariant 3");
        Xsn(number)
    }

    /// The number that was given last.
    pub fn last(&self) -> Xsn {
        Xsn(self.front.last.load(Relaxed))
    }

    /// Makes later numbers higher than one that a database has on its pages. Numbers at or below it
    /// that were not given belong to no transaction. Chunks that consist only of them are never
    /// made; those in the chunk from which numbers are given now count as ended.
    pub fn raise(&self, above: Xsn) {
        assert!(above <= Xsn::MAX, "a sequence number has 48 bits");
        // From the beginning of a chunk, so that no chunk is half given.
        let next = above.0.next_multiple_of(CHUNK);
        let mut known = self.known.write();
        let before = self.front.last.fetch_max(next, Relaxed);
        if before >= next {
            return;
        }
        let of = before / CHUNK;
        let chunk = known.chunks.entry(of).or_insert_with(|| Chunk::fresh(of));
        (before + 1..(of + 1) * CHUNK).for_each(|number| chunk.end(number, ABORTED));
        // The first number of the chunk that comes is not given either.
        let of = next / CHUNK;
        known.chunks.entry(of).or_insert_with(|| Chunk::fresh(of)).end(next, ABORTED);
    }

    /// What became of a transaction.
    pub fn outcome(&self, xsn: Xsn) -> Outcome {
        debug_assert_ne!(xsn, Xsn::NONE, "who wrote nothing has no outcome");
        if xsn.0 < self.low_water.load(Acquire) {
            return Outcome::Committed(CommitTime(0));
        }
        let (known, of) = (self.known.read(), xsn.0 / CHUNK);
        let Some(chunk) = known.chunks.get(&of) else {
            let time = known.past_of(of).map_or(0, |p| p.highest);
            return Outcome::Committed(CommitTime(time));
        };
        match chunk.times[(xsn.0 % CHUNK) as usize].load(Acquire) {
            0 => Outcome::Active,
            ABORTED => Outcome::Aborted,
            time => {
                let now = self.front.clock.load(SeqCst);
                debug_assert!(time <= now + 1, "the clock follows within one stamp");
                // Invariant 2.
                if time > now { Outcome::Active } else { Outcome::Committed(CommitTime(time)) }
            }
        }
    }

    /// The same without a look at the clock: a fault.
    #[cfg(feature = "mutations")]
    pub fn outcome_ahead(&self, xsn: Xsn) -> Outcome {
        let time = |c: &Chunk| c.times[(xsn.0 % CHUNK) as usize].load(Acquire);
        match self.known.read().chunks.get(&(xsn.0 / CHUNK)).map(time) {
            Some(time) if time != 0 && time != ABORTED => Outcome::Committed(CommitTime(time)),
            _ => self.outcome(xsn),
        }
    }

    /// Whether a snapshot sees what a transaction wrote.
    pub fn is_seen(&self, xsn: Xsn, at: CommitTime) -> bool {
        matches!(self.outcome(xsn), Outcome::Committed(time) if time <= at)
    }

    /// Whether no reader can need what a transaction superseded any more: every reader from the
    /// oldest moment on sees the transaction, or all that it wrote was undone.
    pub fn is_past(&self, xsn: Xsn, horizon: CommitTime) -> bool {
        match self.outcome(xsn) {
            Outcome::Committed(time) => time <= horizon,
            Outcome::Aborted => true,
            Outcome::Active => false,
        }
    }

    /// Commits: from now on snapshots see it. The caller has made its log durable (unless delayed
    /// durability allows otherwise).
    pub fn commit(&self, xsn: Xsn) -> CommitTime {
        self.commit_all(&[xsn])
    }

    /// Commits all numbers of a transaction, at one time: a snapshot sees all or none.
    pub fn commit_all(&self, numbers: &[Xsn]) -> CommitTime {
        let low = self.low_water.load(Acquire);
        assert!(numbers.iter().all(|xsn| xsn.0 >= low), "what goes on is not forgotten");
        let known = self.known.read();
        let _one = self.stamping.lock();
        let time = self.front.clock.load(Relaxed) + 1;
        assert!(time < ABORTED, "a commit time is no mark");
        for xsn in numbers {
            let chunk = known.chunks.get(&(xsn.0 / CHUNK)).expect("invariant 3");
            chunk.end(xsn.0, time);
            os::sched::switch_point();
        }
        self.front.clock.store(time, SeqCst);
        CommitTime(time)
    }

    /// Aborts: its versions never happened.
    pub fn abort(&self, xsn: Xsn) {
        assert!(xsn.0 >= self.low_water.load(Acquire), "what goes on is not forgotten");
        let known = self.known.read();
        known.chunks.get(&(xsn.0 / CHUNK)).expect("invariant 3").end(xsn.0, ABORTED);
    }

    /// The newest commit.
    pub fn clock(&self) -> CommitTime {
        CommitTime(self.front.clock.load(SeqCst))
    }

    /// The numbers below `below` whose changes a registered snapshot does not see, in order: their
    /// transactions are active, or committed after its moment. It goes over all chunks. Merged
    /// chunks behind the moment are left out. For views.
    pub fn unseen(&self, below: Xsn, at: CommitTime) -> Vec<Xsn> {
        let known = self.known.read();
        let chunks = known.chunks.range(..=below.0 / CHUNK);
        let numbers = chunks.flat_map(|(of, chunk)| {
            let first = of * CHUNK;
            let number = move |n: usize| first + n as u64;
            chunk.times.iter().enumerate().map(move |(n, t)| (number(n), t.load(Acquire)))
        });
        let is_unseen = |time: u64| time == 0 || time != ABORTED && time > at.0;
        let numbers = numbers.take_while(|(number, _)| *number < below.0);
        numbers.filter(|(_, time)| is_unseen(*time)).map(|(number, _)| Xsn(number)).collect()
    }

    /// A number such that everything written below it is past ([`Self::is_past`]). It is the lowest
    /// number that is not past, or less if that was merged with lower ones; if every number is
    /// past, the next one to be given.
    pub fn first_useful(&self, horizon: CommitTime) -> Xsn {
        let next = self.front.last.load(Relaxed) + 1;
        let known = self.known.read();
        let past = known.past.iter().find(|p| p.highest > horizon.0).map(|p| p.first * CHUNK);
        let is_useful = |time: u64| time == 0 || time != ABORTED && time > horizon.0;
        let of_chunk = |(of, chunk): (&u64, &Chunk)| {
            let at = chunk.times.iter().position(|t| is_useful(t.load(Acquire)))?;
            Some(of * CHUNK + at as u64)
        };
        let kept = known.chunks.iter().find_map(of_chunk);
        Xsn(past.unwrap_or(next).min(kept.unwrap_or(next)).min(next).max(1))
    }

    /// Merges ended transactions into one time, as far as no snapshot tells them apart. `points`
    /// returns the registered snapshots in order. It is called once, after the ended transactions
    /// were read: a snapshot that comes later sees all of those. A background step.
    pub fn collapse(&self, points: impl FnOnce() -> Vec<CommitTime>) {
        let ended = self.ended();
        let points = points();
        debug_assert!(points.is_sorted(), "in order");
        let apart = |lowest: u64, highest: u64| {
            let at = points.partition_point(|p| p.0 < lowest);
            points.get(at).is_some_and(|p| p.0 < highest)
        };
        let mut known = self.known.write();
        for (of, lowest, highest) in ended {
            if !apart(lowest, highest) {
                known.chunks.remove(&of);
                let at = known.past.partition_point(|p| p.last < of);
                known.past.insert(at, PastChunks { first: of, last: of, lowest, highest });
            }
        }
        known.past.dedup_by(|next, last| {
            let (lowest, highest) = (last.lowest.min(next.lowest), last.highest.max(next.highest));
            let joins = last.last + 1 == next.first && !apart(lowest, highest);
            if joins {
                *last = PastChunks { first: last.first, last: next.last, lowest, highest };
            }
            joins
        });
        self.forget(&mut known, points.first().copied());
    }

    /// Chunks whose transactions have all ended, with the span of their commits. Only commits up to
    /// the clock count, since a snapshot that comes later begins at the clock.
    fn ended(&self) -> Vec<(u64, u64, u64)> {
        let now = self.clock();
        let known = self.known.read();
        let ended = known.chunks.iter().filter(|(_, c)| c.open.load(Acquire) == 0);
        let spans = ended.map(|(of, chunk)| (*of, chunk.span().0, chunk.span().1));
        spans.filter(|(_, _, highest)| *highest <= now.0).collect()
    }

    /// Ranges at the lower end that everybody sees are below the low-water mark from now on.
    fn forget(&self, known: &mut ChunkDirectory, oldest: Option<CommitTime>) {
        while let Some(first) = known.past.first().copied() {
            let all_see = oldest.is_none_or(|s| first.highest <= s.0);
            let lowest = known.chunks.keys().next().is_none_or(|c| first.last < *c);
            if !all_see || !lowest {
                return;
            }
            known.past.remove(0);
            self.low_water.fetch_max((first.last + 1) * CHUNK, AcqRel);
        }
    }

    /// How many chunks and ranges the table keeps in memory.
    pub fn kept(&self) -> (usize, usize) {
        let known = self.known.read();
        (known.chunks.len(), known.past.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_ordered_and_what_all_have_seen_is_forgotten() {
        let t = CommitTable::default();
        t.raise(Xsn(1));
        let numbers: Vec<Xsn> = (0..CHUNK).map(|_| t.begin()).collect();
        assert_eq!(t.outcome(numbers[7]), Outcome::Active);
        let (a, b) = (t.commit(numbers[7]), t.commit(numbers[3]));
        assert!(a < b && t.clock() == b);
        t.abort(numbers[4]);
        assert_eq!(t.outcome(numbers[4]), Outcome::Aborted);
        assert!(t.is_seen(numbers[7], a) && !t.is_seen(numbers[3], a) && t.is_seen(numbers[3], b));
        t.collapse(Vec::new);
        assert_eq!(t.outcome(numbers[3]), Outcome::Committed(b), "one of its chunk goes on");
        for n in numbers.iter().filter(|n| t.outcome(**n) == Outcome::Active) {
            t.commit(*n);
        }
        t.collapse(Vec::new);
        assert_eq!(t.outcome(numbers[3]), Outcome::Committed(CommitTime(0)));
    }

    #[test]
    fn a_snapshot_that_stays_open_keeps_its_point_and_little_else() {
        let t = CommitTable::default();
        let before = t.begin();
        t.commit(before);
        let open = t.clock();
        let (mut first, mut last) = (None, before);
        for n in 0..100 * CHUNK {
            last = t.begin();
            first = first.or(Some(last));
            t.commit(last);
            if n % CHUNK == 0 {
                t.collapse(|| vec![open]);
                assert!(t.kept().0 + t.kept().1 <= 5, "{n}: {:?}", t.kept());
            }
        }
        assert!(t.is_seen(before, open) && !t.is_seen(last, open));
        assert!(!t.is_seen(first.unwrap(), open) && t.is_seen(last, t.clock()));
        t.collapse(Vec::new);
        assert!(t.is_seen(first.unwrap(), open), "nobody asks for the point any more");
    }

    #[test]
    fn what_a_snapshot_does_not_see_is_told_by_number() {
        let t = CommitTable::default();
        assert_eq!((t.unseen(Xsn(1), t.clock()), t.first_useful(t.clock())), (vec![], Xsn(1)));
        let numbers: Vec<Xsn> = (0..CHUNK + 10).map(|_| t.begin()).collect();
        t.commit(numbers[0]);
        t.abort(numbers[2]);
        let at = t.clock();
        assert_eq!(t.first_useful(at), numbers[1]);
        let below = *numbers.last().unwrap();
        let mut expected = numbers.clone();
        expected.retain(|n| ![numbers[0], numbers[2], below].contains(n));
        assert_eq!(t.unseen(below, at), expected);
        t.commit(numbers[1]);
        assert_eq!(t.unseen(below, at), expected, "behind the moment");
        assert_eq!(t.unseen(below, t.clock()), expected[1..]);
        assert_eq!((t.first_useful(at), t.first_useful(t.clock())), (numbers[1], numbers[3]));
        for n in &numbers[3..] {
            t.commit(*n);
        }
        t.collapse(|| vec![at]);
        assert_eq!(t.first_useful(t.clock()), Xsn(below.0 + 1));
        assert!(t.first_useful(at) <= numbers[1], "nothing that is useful is below it");
    }

    #[test]
    fn a_transaction_that_stays_open_is_active_whatever_ends_around_it() {
        let t = CommitTable::default();
        let long = t.begin();
        for _ in 0..10 * CHUNK {
            t.commit(t.begin());
        }
        t.collapse(Vec::new);
        assert_eq!((t.outcome(long), t.kept().1), (Outcome::Active, 1));
        let at = t.clock();
        let e = t.commit(long);
        assert!(e > at && !t.is_seen(long, at));
    }

    #[test]
    fn a_commit_that_the_clock_does_not_have_yet_is_none() {
        let t = CommitTable::default();
        t.raise(Xsn(1));
        let numbers: Vec<Xsn> = (0..CHUNK - 1).map(|_| t.begin()).collect();
        let (last, others) = numbers.split_last().unwrap();
        let times: Vec<CommitTime> = others.iter().map(|n| t.commit(*n)).collect();
        let before = t.clock();
        // As `commit` is between its stores.
        t.known.read().chunks[&(last.0 / CHUNK)].end(last.0, before.0 + 1);
        assert_eq!(t.outcome(*last), Outcome::Active);
        t.collapse(Vec::new);
        assert_eq!(t.outcome(others[7]), Outcome::Committed(times[7]), "its chunk has not ended");
        t.front.clock.store(before.0 + 1, SeqCst);
        assert!(t.is_seen(*last, t.clock()) && !t.is_seen(*last, before));
        t.collapse(Vec::new);
        assert_eq!(t.outcome(others[7]), Outcome::Committed(CommitTime(0)));
    }

    #[test]
    fn numbers_go_on_above_what_a_database_has_on_its_pages() {
        let t = CommitTable::default();
        let mine = t.begin();
        t.raise(Xsn(70_000));
        let next = t.begin();
        assert!(next.0 > 70_000, "{next:?}");
        t.raise(Xsn(5));
        assert_eq!(t.begin().0, next.0 + 1);
        t.commit(mine);
        t.collapse(Vec::new);
        assert!(t.is_seen(mine, t.clock()) && !t.is_seen(next, t.clock()));
    }
}

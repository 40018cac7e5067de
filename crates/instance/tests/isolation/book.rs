//! The reference: what every key was, by whom and in which order, and what a read may find of it.
//!
//! Values say who wrote them. A change is noted while its lock is held, so entries of a key stand
//! in the order of its locks. Time is counted in ticks, one for each thing that is noted: what a
//! transaction did lies between the tick before its first batch and the one after its last answer.
//!
//! What readers may find
//!  1. At a moment: of each key the last entry of the transactions whose row of the ledger `dbo.L`
//!     the same moment shows, or the reader's own.
//!  2. With locks: of a key that nobody else had touched, its last committed entry, once; of
//!     another, what was committed and not replaced before the statement began.
//!  3. Without locks: what somebody was about to write.
//!  4. By an OR of two indexes: each place once, whatever happens between the two.

use crate::story::Table;
use os::sync::Mutex;
use std::collections::{BTreeMap, BTreeSet};

/// A table, and a key in it.
pub(crate) type Key = (usize, i64);
/// Lines of the history that a failure prints.
const LINES: usize = 60;
/// Who filled the tables; the first entry of a key.
pub(crate) const NOBODY: i64 = 0;
/// Whose statement is a transaction by itself and changes nothing.
pub(crate) const ALONE: i64 = -1;

/// A row beside its key and filler.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Row {
    pub(crate) u: i64,
    pub(crate) v: i64,
    pub(crate) n: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Level {
    Uncommitted,
    Committed,
    Repeatable,
    Serializable,
    Snapshot,
}

/// What a transaction made of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) id: i64,
    pub(crate) tick: u64,
    /// What it was told was there before, if it was told.
    pub(crate) before: Option<Option<Row>>,
    pub(crate) now: Option<Row>,
    /// When a savepoint took it back.
    pub(crate) undone: Option<u64>,
}

/// That a transaction may have changed a key from this tick to its end.
#[derive(Clone, Copy, Debug)]
struct Touch {
    id: i64,
    removes: bool,
}

#[derive(Default)]
pub(crate) struct Slot {
    pub(crate) entries: Vec<Entry>,
    touches: Vec<Touch>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    Open,
    Committed,
    RolledBack,
}

#[derive(Debug)]
pub(crate) struct Transaction {
    pub(crate) level: Level,
    /// Its number is in the ledger.
    pub(crate) writes: bool,
    asked: Option<u64>,
    ended: Option<u64>,
    pub(crate) fate: Fate,
    /// Whose changes its moment shows.
    pub(crate) visible: Option<BTreeSet<i64>>,
    /// What it has read and must find again.
    held: BTreeMap<Key, Option<Row>>,
}

/// How a read of a key is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReadGuarantee {
    /// It was so when it was read.
    Loose,
    /// It stays so to the reader's end: this many entries were there.
    Locked(usize),
    /// It was so at the reader's moment.
    Moment,
}

/// What a transaction has found of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    pub(crate) id: i64,
    pub(crate) key: Key,
    pub(crate) found: Option<Row>,
    pub(crate) kept: ReadGuarantee,
    tick: u64,
}

/// Which rows a read asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadRequest {
    pub(crate) table: usize,
    pub(crate) keys: (i64, i64),
    pub(crate) lengths: (i64, i64),
    pub(crate) u: Option<i64>,
}

impl ReadRequest {
    pub(crate) fn holds(&self, row: &Row) -> bool {
        let (from, to) = self.lengths;
        (from..=to).contains(&row.n) && self.u.is_none_or(|u| u == row.u)
    }

    /// Whether it asks for every row of its keys.
    pub(crate) fn whole(&self) -> bool {
        self.lengths == ALL && self.u.is_none()
    }
}

/// Every length.
pub(crate) const ALL: (i64, i64) = (0, i64::MAX);

#[derive(Default)]
pub(crate) struct Book(Mutex<Pages>);

impl Book {
    pub(crate) fn open(&self) -> os::sync::MutexGuard<'_, Pages> {
        self.0.lock()
    }

    /// The end of the history, when its run is over.
    pub(crate) fn history(&self) -> String {
        self.open().lines()
    }
}

#[derive(Default)]
pub(crate) struct Pages {
    pub(crate) tables: Vec<Table>,
    clock: u64,
    pub(crate) keys: BTreeMap<Key, Slot>,
    pub(crate) transactions: BTreeMap<i64, Transaction>,
    pub(crate) reads: Vec<Read>,
    /// What was about to be written: table, key, number of the value.
    intents: BTreeSet<(usize, i64, i64)>,
    values: BTreeSet<i64>,
    lines: Vec<String>,
    /// Additions to each counter: acknowledged, and those that nothing is known of.
    pub(crate) added: BTreeMap<i64, (i64, i64)>,
    /// What was checked, by name.
    pub(crate) counts: BTreeMap<&'static str, u64>,
}

impl Pages {
    pub(crate) fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    pub(crate) fn count(&mut self, what: &'static str, n: usize) {
        *self.counts.entry(what).or_default() += n as u64;
    }

    pub(crate) fn say(&mut self, line: String) {
        let tick = self.tick();
        self.lines.push(format!("{tick:>6} {line}"));
    }

    fn lines(&self) -> String {
        let from = self.lines.len().saturating_sub(LINES);
        self.lines.get(from..).unwrap_or_default().join("\n")
    }

    pub(crate) fn fail(&self, key: Option<Key>, text: &str) -> ! {
        let mut history = self.lines();
        if let Some(slot) = key.and_then(|key| self.keys.get(&key)) {
            history.push_str(&format!("\nof {key:?}:"));
            for entry in &slot.entries {
                let fate = self.transactions.get(&entry.id).map(|t| (t.fate, t.asked, t.ended));
                history.push_str(&format!("\n  {entry:?} {fate:?}"));
            }
            history.push_str(&format!("\n  {:?}", slot.touches));
        }
        panic!("{text}\n{history}\n{text}");
    }

    pub(crate) fn begin(&mut self, id: i64, level: Level, writes: bool) -> u64 {
        let begun = self.tick();
        let new = Transaction {
            level,
            writes,
            asked: None,
            ended: None,
            fate: Fate::Open,
            visible: None,
            held: BTreeMap::new(),
        };
        self.transactions.insert(id, new);
        begun
    }

    fn of(&mut self, id: i64) -> &mut Transaction {
        self.transactions.get_mut(&id).expect("it has begun")
    }

    /// It may change a key from now on; with which value.
    pub(crate) fn touch(&mut self, id: i64, key: Key, removes: bool, value: i64) {
        self.intents.insert((key.0, key.1, value));
        self.values.insert(value);
        self.keys.entry(key).or_default().touches.push(Touch { id, removes });
    }

    pub(crate) fn note(
        &mut self,
        id: i64,
        key: Key,
        before: Option<Option<Row>>,
        now: Option<Row>,
    ) {
        let tick = self.tick();
        let entry = Entry { id, tick, before, now, undone: None };
        self.keys.entry(key).or_default().entries.push(entry);
    }

    /// Takes back what it did since a tick; locks since then are gone, too.
    pub(crate) fn undo(&mut self, id: i64, since: u64, held: BTreeMap<Key, Option<Row>>) {
        let now = self.tick();
        for slot in self.keys.values_mut() {
            let own = slot.entries.iter_mut().filter(|e| e.id == id && e.tick >= since);
            own.for_each(|e| e.undone = e.undone.or(Some(now)));
        }
        let after = self.reads.iter_mut().filter(|r| r.id == id && r.tick >= since);
        after
            .filter(|r| r.kept != ReadGuarantee::Moment)
            .for_each(|r| r.kept = ReadGuarantee::Loose);
        self.of(id).held = held;
    }

    pub(crate) fn held(&self, id: i64) -> BTreeMap<Key, Option<Row>> {
        self.transactions.get(&id).map(|t| t.held.clone()).unwrap_or_default()
    }

    pub(crate) fn ask(&mut self, id: i64) {
        let now = self.tick();
        self.of(id).asked = Some(now);
    }

    pub(crate) fn end(&mut self, id: i64, fate: Fate) {
        let now = self.tick();
        let of = self.of(id);
        (of.ended, of.fate) = (Some(now), fate);
    }

    pub(crate) fn committed(&self, id: i64) -> bool {
        self.transactions.get(&id).is_some_and(|t| t.fate == Fate::Committed)
    }

    fn ended_before(&self, id: i64, tick: u64) -> bool {
        let ended = self.transactions.get(&id).and_then(|t| t.ended);
        ended.is_some_and(|at| at < tick)
    }

    /// Its own last change of a key.
    fn own(&self, id: i64, key: Key) -> Option<&Entry> {
        let slot = self.keys.get(&key)?;
        slot.entries.iter().rfind(|e| e.id == id && e.undone.is_none())
    }

    /// The last entry of those who count.
    fn last(&self, key: Key, counts: impl Fn(i64) -> bool) -> Option<Row> {
        let slot = self.keys.get(&key)?;
        slot.entries.iter().rfind(|e| e.undone.is_none() && counts(e.id)).and_then(|e| e.now)
    }

    /// Nobody else may have changed it since a tick.
    fn quiet(&self, id: i64, key: Key, since: u64) -> bool {
        let Some(slot) = self.keys.get(&key) else { return true };
        slot.touches.iter().all(|t| t.id == id || self.ended_before(t.id, since))
    }

    fn at_moment(&self, id: i64, visible: &BTreeSet<i64>, key: Key) -> Option<Row> {
        match self.own(id, key) {
            Some(own) => own.now,
            None => self.last(key, |of| visible.contains(&of)),
        }
    }

    /// A moment shows all who had ended before a tick, and nobody who has not asked to commit.
    pub(crate) fn check_visible(&self, id: i64, visible: &BTreeSet<i64>, since: u64) {
        for (other, of) in self.transactions.iter().filter(|(other, _)| **other != id) {
            let shown = visible.contains(other);
            let over = of.fate == Fate::Committed && of.ended.is_some_and(|at| at < since);
            let may = of.asked.is_some() && of.fate != Fate::RolledBack;
            if shown && !may || !shown && over && of.writes {
                self.fail(None, &format!("{id}: its moment shows {other}: {shown}, {of:?}"));
            }
        }
    }

    /// Invariant 1.
    pub(crate) fn check_moment(
        &mut self,
        id: i64,
        visible: &BTreeSet<i64>,
        asked: &ReadRequest,
        rows: &[(i64, Row)],
        what: &str,
    ) {
        for k in asked.keys.0..=asked.keys.1 {
            let key = (asked.table, k);
            let expected = self.at_moment(id, visible, key).filter(|row| asked.holds(row));
            let given: Vec<Row> = rows.iter().filter(|r| r.0 == k).map(|r| r.1).collect();
            if given != expected.as_slice() {
                let text = format!("{id} {what}: {key:?} is {given:?}, must be {expected:?}");
                self.fail(Some(key), &text);
            }
        }
        self.within(id, asked, rows, what);
        self.count("rows at a moment", rows.len());
    }

    fn within(&self, id: i64, asked: &ReadRequest, rows: &[(i64, Row)], what: &str) {
        let (from, to) = asked.keys;
        let stray = rows.iter().find(|(k, _)| !(from..=to).contains(k));
        if let Some((k, row)) = stray {
            self.fail(Some((asked.table, *k)), &format!("{id} {what}: {k} {row:?} is given"));
        }
    }

    /// Invariant 2, for a statement that began at a tick.
    pub(crate) fn check_locked(
        &mut self,
        id: i64,
        since: u64,
        asked: &ReadRequest,
        rows: &[(i64, Row)],
        what: &str,
    ) {
        for k in asked.keys.0..=asked.keys.1 {
            let key = (asked.table, k);
            let given: Vec<Row> = rows.iter().filter(|r| r.0 == k).map(|r| r.1).collect();
            let own = self.own(id, key).map(|e| e.now);
            if own.is_some() || self.quiet(id, key, since) {
                let now = own.unwrap_or_else(|| self.last(key, |of| self.committed(of)));
                let expected = now.filter(|row| asked.holds(row));
                if given != expected.as_slice() {
                    let text = format!("{id} {what}: {key:?} is {given:?}, must be {expected:?}");
                    self.fail(Some(key), &text);
                }
                self.count("quiet keys", 1);
            }
            for row in &given {
                self.was_current(id, since, key, row, what);
            }
        }
        self.within(id, asked, rows, what);
    }

    /// It was committed, or is the reader's own, and nothing had replaced it before a tick.
    fn was_current(&self, id: i64, since: u64, key: Key, row: &Row, what: &str) {
        let slot = self.keys.get(&key);
        let entries = slot.map(|s| s.entries.as_slice()).unwrap_or_default();
        let may = |of: i64| {
            let asked = |t: &Transaction| t.asked.is_some() && t.fate != Fate::RolledBack;
            of == id || self.transactions.get(&of).is_some_and(asked)
        };
        let at = entries.iter().rposition(|e| e.now == Some(*row) && e.undone.is_none());
        let Some((entry, later)) = at.and_then(|at| entries.get(at..)?.split_first()) else {
            self.fail(Some(key), &format!("{id} {what}: {key:?} was never {row:?}"))
        };
        if !may(entry.id) {
            self.fail(Some(key), &format!("{id} {what}: {row:?} of {key:?} is not committed"));
        }
        let replaces = |e: &&Entry| {
            let over = self.committed(e.id) && self.ended_before(e.id, since);
            e.undone.is_none() && (e.id == entry.id || over)
        };
        if let Some(by) = later.iter().find(replaces) {
            let text = format!("{id} {what}: {row:?} of {key:?} was replaced by {}", by.id);
            self.fail(Some(key), &text);
        }
    }

    /// Invariant 4.
    pub(crate) fn check_once(&mut self, asked: &ReadRequest, rows: &[(i64, Row)], what: &str) {
        let mut keys = BTreeSet::new();
        for (k, row) in rows {
            if !keys.insert(*k) {
                let text = format!("{what}: {k} is given again, as {row:?}");
                self.fail(Some((asked.table, *k)), &text);
            }
        }
        self.count("rows of an OR", rows.len());
    }

    /// Invariant 3; `whole` says that a row was read in one place.
    pub(crate) fn check_dirty(
        &mut self,
        asked: &ReadRequest,
        rows: &[(i64, Row)],
        whole: bool,
        what: &str,
    ) {
        for (k, row) in rows {
            let value = row.v / 26;
            let known = match whole {
                true => self.intents.contains(&(asked.table, *k, value)),
                false => self.values.contains(&value),
            };
            if !known {
                self.fail(Some((asked.table, *k)), &format!("{what}: nobody wrote {k} {row:?}"));
            }
        }
        self.count("dirty rows", rows.len());
    }

    /// What a transaction has read stays; and what it reads now is to stay.
    pub(crate) fn check_held(
        &mut self,
        id: i64,
        asked: &ReadRequest,
        rows: &[(i64, Row)],
        what: &str,
    ) {
        let level = self.of(id).level;
        if !matches!(level, Level::Repeatable | Level::Serializable) {
            return;
        }
        for k in asked.keys.0..=asked.keys.1 {
            let key = (asked.table, k);
            if self.own(id, key).is_some() {
                continue;
            }
            let given = rows.iter().find(|r| r.0 == k).map(|r| r.1);
            if let Some(held) = self.of(id).held.get(&key).copied() {
                let expected = held.filter(|row| asked.holds(row));
                if given != expected {
                    let text = format!("{id} {what}: {key:?} was {held:?} and is {given:?}");
                    self.fail(Some(key), &text);
                }
                self.count("reads again", 1);
            }
            let gap = level == Level::Serializable && asked.whole();
            if given.is_some() || gap {
                self.of(id).held.insert(key, given);
            }
        }
    }

    /// Remembers what was read, for the circles of dependencies.
    pub(crate) fn keep(&mut self, id: i64, asked: &ReadRequest, rows: &[(i64, Row)]) {
        let Some(level) = self.transactions.get(&id).map(|t| t.level) else { return };
        let tick = self.tick();
        for k in asked.keys.0..=asked.keys.1 {
            let key = (asked.table, k);
            let found = rows.iter().find(|r| r.0 == k).map(|r| r.1);
            if self.own(id, key).is_some() || found.is_none() && !asked.whole() {
                continue;
            }
            let len = self.keys.get(&key).map_or(0, |s| s.entries.len());
            let kept = match level {
                Level::Snapshot => ReadGuarantee::Moment,
                Level::Serializable => ReadGuarantee::Locked(len),
                Level::Repeatable if found.is_some() => ReadGuarantee::Locked(len),
                Level::Committed if found.is_some() => ReadGuarantee::Loose,
                Level::Uncommitted | Level::Committed | Level::Repeatable => continue,
            };
            self.reads.push(Read { id, key, found, kept, tick });
        }
    }

    /// A statement that looked for a key to change it has found no row.
    pub(crate) fn check_missed(&mut self, id: i64, since: u64, key: Key, what: &str) {
        self.count("changes of no row", 1);
        let there = match self.own(id, key) {
            Some(own) => own.now.is_some(),
            None => {
                let Some(slot) = self.keys.get(&key) else { return };
                let over = |of| self.committed(of) && self.ended_before(of, since);
                let gone = |t: &Touch| t.removes && t.id != id && !self.ended_before(t.id, since);
                self.last(key, over).is_some() && !slot.touches.iter().any(gone)
            }
        };
        if there {
            self.fail(Some(key), &format!("{id} {what}: {key:?} is there and was not found"));
        }
    }

    /// A key was said to be there already.
    pub(crate) fn check_duplicate(&mut self, id: i64, since: u64, key: Key, what: &str) {
        self.count("duplicates", 1);
        let there = match self.own(id, key) {
            Some(own) => own.now.is_some(),
            None => {
                !self.quiet(id, key, since) || self.last(key, |of| self.committed(of)).is_some()
            }
        };
        if !there {
            self.fail(Some(key), &format!("{id} {what}: {key:?} is not there"));
        }
    }
}

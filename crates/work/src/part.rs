//! A transaction's part in one database: its chain in that log, and its right to more log.

use crate::entry::{Entry, PartState, PartVersions};
use crate::home::{CARRIED_BESIDE, CARRIED_OPEN_BYTES, Home};
use crate::loser::Loser;
use crate::undo_room::UndoRoom;
use base::{AllocUnitId, Lsn, SessionId, TransactionId, Xsn};
use buffer::{Change, Undo};
use lock::Owner;
use std::sync::Arc;
use txn::{
    AbortedTransaction, BEGIN_BYTES_MAX, Begin, EndPayload, KeptRecords, NumberPayload,
    TransactionName,
};
use wal::{Group, Kind, LogReservation, TransactionChain, WalError, kinds};

/// Log that a change may write beyond its own estimate: begin record, maps, block overhead.
const FORWARD_SLACK: u64 = 2048;
/// Least growth of a reservation, so that not every row asks.
const RESERVE_STEP: u64 = 8192;
/// What a request keeps from one transaction to its next, so that short ones neither ask nor give
/// back: two writes less to what all sessions write.
const KEPT: u64 = 2 * RESERVE_STEP;
/// Log that aborting a number takes, and carrying it in checkpoints from then on.
const ABORT_BYTES: u64 = AbortedTransaction::BYTES_MAX as u64 + CARRIED_BESIDE + 64;

/// A transaction's part in one database, to whoever waits for its end.
#[derive(Clone)]
pub struct PartMark {
    entry: Arc<Entry>,
    id: TransactionId,
}

impl PartMark {
    /// Whether nothing of what it did there will be taken back any more.
    pub fn is_over(&self) -> bool {
        !self.entry.may_roll_back(self.id)
    }

    /// Whether two are of one transaction.
    pub fn is_same(&self, other: &PartMark) -> bool {
        self.id == other.id
    }

    /// Its number in the log.
    pub fn chain(&self) -> u32 {
        self.id.0 as u32
    }
}

/// What a part has done under a number.
struct NumberUse {
    xsn: Xsn,
    /// The last record of the part before.
    after: Lsn,
    /// A record in the log says the number.
    said: bool,
    /// The units of the rows, ascending.
    units: Vec<AllocUnitId>,
}

/// A transaction's part in one database.
pub struct Part {
    /// The database.
    pub home: Arc<Home>,
    /// Scratch for changes: reused from row to row.
    pub group: Group,
    /// Its records.
    pub chain: TransactionChain,
    id: TransactionId,
    /// For its begin record.
    name: TransactionName,
    reservation: LogReservation,
    /// What undoing what was logged so far may write.
    undo_room: UndoRoom,
    entry: Arc<Entry>,
    entered: bool,
    /// The numbers in the tags of rows that it has changed, where these are its undo: ascending,
    /// without those that were aborted.
    numbers: Vec<NumberUse>,
    /// A number of it was aborted.
    has_aborted: bool,
    /// Its records, and those of them that only the log undoes, as of the last change.
    seen: (u64, u64),
    /// Recovery does not need its records, but those from there on.
    relies_before: Option<Lsn>,
    /// For so many numbers checkpoints have room.
    room_for_numbers: usize,
    /// Log that is reserved for checkpoints that log its records again (`secondary_log.rs`).
    for_kept: u64,
    /// Told what was logged: of a deadlock's participants the cheapest to undo is the victim.
    owner: Arc<Owner>,
}

impl Part {
    pub(crate) fn new(home: &Arc<Home>, owner: &Arc<Owner>) -> Part {
        debug_assert!(!owner.is_rolling_back(), "what is undone has its parts already");
        Part {
            home: Arc::clone(home),
            group: Group::new(),
            chain: TransactionChain::default(),
            id: TransactionId(0),
            name: TransactionName::default(),
            reservation: LogReservation::none(home.log()),
            undo_room: UndoRoom::new(home.undone_records_max()),
            entry: home.enlist(owner.session()),
            entered: false,
            numbers: Vec::new(),
            has_aborted: false,
            seen: (0, 0),
            relies_before: None,
            room_for_numbers: 0,
            for_kept: 0,
            owner: Arc::clone(owner),
        }
    }

    /// A loser's, with the records that are in the log and room for their undo.
    ///
    /// # Errors
    /// 9002.
    pub(crate) fn of_loser(
        home: &Arc<Home>,
        owner: &Arc<Owner>,
        id: TransactionId,
        loser: &Loser,
    ) -> Result<Part, WalError> {
        assert_ne!(loser.chain.id, 0, "records belong to a transaction");
        assert_ne!(loser.chain.first, Lsn::ZERO, "a loser has logged");
        let mut part = Part::new(home, owner);
        part.reservation.grow(loser.undo_bytes)?;
        (part.id, part.chain) = (id, loser.chain);
        part.undo_room = UndoRoom::of_loser(home.undone_records_max(), loser.undo_bytes);
        part.entered = true;
        home.enter_from(&part.entry, loser.chain.first);
        part.entry.begin(id);
        part.entry.begins_at(loser.began_at);
        part.entry.logged(&part.chain);
        part.entry.reserved(part.reservation.bytes());
        owner.add_log_bytes(loser.undo_bytes);
        Ok(part)
    }

    /// Before a change is begun: reserves log for it and for its undo.
    ///
    /// # Errors
    /// 9002.
    pub fn reserve(&mut self, change_bytes: usize) -> Result<(), WalError> {
        debug_assert_eq!(self.has_logged(), self.chain.first != Lsn::ZERO, "a chain has two ends");
        debug_assert!(self.entered || !self.has_logged(), "rule 4: known before the first record");
        if !self.entered {
            assert_ne!(self.chain.id, 0, "a part belongs to a transaction");
            // First: whoever is stopped on the way leaves the entry in the list.
            self.entered = true;
            self.home.enter(&self.entry);
            self.entry.begin(self.id);
            self.entry.reserved(self.reservation.bytes());
        }
        // To be carried and to be aborted, each of its numbers, the next among them.
        let each = CARRIED_OPEN_BYTES + ABORT_BYTES;
        let numbers = if self.home.is_accelerated() { self.numbers.len() as u64 + 1 } else { 0 };
        // What versions do not undo is logged again by checkpoints.
        let change = change_bytes as u64;
        let again = if self.home.is_accelerated() { self.for_kept + change } else { 0 };
        let carried = numbers * each + again;
        let need = self.undo_room.bytes(change) + 2 * change + FORWARD_SLACK + carried;
        if need > self.reservation.bytes() {
            let more = (need - self.reservation.bytes()).max(RESERVE_STEP);
            self.reservation.patiently(Some(self.owner.waiter()), |own| own.grow(more))?;
            assert!(self.reservation.bytes() >= need, "rule 3: log for undo comes first");
            self.entry.reserved(self.reservation.bytes());
            return Ok(());
        }
        // What was logged since the last growth is gone from the log: what others and this one
        // were promised for their undo must still be there.
        self.reservation.patiently(Some(self.owner.waiter()), LogReservation::confirm)
    }

    /// Within the first change: the begin record, in the same group.
    pub fn begin(&mut self) -> BeginRecord {
        debug_assert!(self.entered, "rule 4: a part is known before its begin record");
        debug_assert_ne!(self.chain.id, 0, "a begin record is a transaction's");
        // A change that was given up before it logged anything leaves the begin to the next.
        let wanted = !self.has_logged();
        let at = if wanted { os::clock::now().0 } else { 0 };
        if wanted {
            self.entry.begins_at(at);
        }
        let name = if wanted { self.name.clone() } else { TransactionName::default() };
        let last = self.numbers.last_mut().filter(|number| !number.said);
        let number = last.map(|number| {
            number.after = self.chain.last;
            number.xsn
        });
        BeginRecord { wanted, id: self.chain.id, at, name, number }
    }

    /// How operations of this transaction are logged that the log alone undoes.
    pub fn undo(&mut self) -> Undo {
        debug_assert_ne!(self.chain.id, 0, "operations belong to a transaction");
        self.needs_log();
        Undo::By(self.chain.id)
    }

    /// Recovery needs its records from here on, such as its end (`entry.rs`, 4), though it may not
    /// need those before.
    pub(crate) fn needs_log(&mut self) {
        if self.relies_before == Some(Lsn::MAX) {
            // Before the record: a checkpoint that does not see this began before it.
            let from = self.home.log().next_lsn();
            self.entry.needs_log_from(from);
            self.relies_before = Some(from);
            os::sched::switch_point();
        }
    }

    /// Versions undo what it has done to rows: recovery does not need these records.
    fn rely_on_versions(&mut self) {
        if !self.is_numbered() || self.relies_before == Some(Lsn::MAX) {
            return;
        }
        if self.relies_before.is_none() {
            if !self.has_room_for(self.numbers.len().max(1)) {
                return;
            }
            self.entry.has_room();
        }
        if self.chain.unversioned == 0 {
            self.entry.needs_log_from(Lsn::MAX);
            self.relies_before = Some(Lsn::MAX);
        } else if self.relies_before.is_none() {
            self.relies_before = Some(self.chain.first);
        }
    }

    /// Whether its rows name its numbers, and the log says these.
    fn is_numbered(&self) -> bool {
        self.has_aborted || self.numbers.first().is_some_and(|number| number.said)
    }

    /// Whether checkpoints have room for so many numbers of it.
    fn has_room_for(&mut self, numbers: usize) -> bool {
        while self.room_for_numbers < numbers {
            if !self.home.relies_on_versions() {
                return false;
            }
            self.room_for_numbers += 1;
        }
        true
    }

    /// Whether it may change rows under one number more.
    pub(crate) fn may_begin_number(&mut self) -> bool {
        self.relies_before.is_none() || self.has_room_for(self.numbers.len() + 1)
    }

    /// How a change of a row is logged. `xsn` is the number in the row's tag, where it has one. The
    /// same change calls [`Part::begin`] behind it. It costs a load, a compare, and a search among
    /// the units that the transaction has changed.
    pub fn undo_of_row(&mut self, xsn: Option<Xsn>, unit: AllocUnitId) -> Undo {
        let Some(xsn) = xsn.filter(|_| self.home.is_accelerated()) else { return self.undo() };
        let newest = self.numbers.last().map(|number| number.xsn);
        debug_assert!(newest.is_none_or(|newest| newest <= xsn), "numbers ascend");
        if newest != Some(xsn) {
            let after = self.chain.last;
            self.numbers.push(NumberUse { xsn, after, said: false, units: Vec::new() });
        }
        let units = &mut self.numbers.last_mut().expect("it was just put there").units;
        if let Err(at) = units.binary_search(&unit) {
            units.insert(at, unit);
            self.tell_versions();
        }
        Undo::ByVersions(self.chain.id)
    }

    fn tell_versions(&self) {
        let told = |n: &NumberUse| PartVersions { xsn: n.xsn, units: n.units.clone() };
        self.entry.has_versions(self.numbers.iter().map(told).collect());
    }

    /// A rollback may go back to here, as long as somebody holds the seat: it undoes from the log
    /// what is logged from now on under the current number.
    pub(crate) fn marked(&mut self, seat: &Arc<()>) {
        if !self.home.is_accelerated() {
            return;
        }
        self.entry.marked(seat, self.home.log().next_lsn());
        if self.undo_room.marked(seat) {
            self.give_back_for_undo();
        }
    }

    /// Another number is about to begin.
    pub(crate) fn number_begins(&mut self) {
        self.undo_room.number_begins();
    }

    /// Whether the log that undoes it behind a record is there. It stays until the end of the part,
    /// or until [`Part::unpin`].
    pub(crate) fn pin(&self, to: Lsn) -> bool {
        let from = if to == Lsn::ZERO { self.chain.first } else { to };
        self.entry.pin(from);
        os::sched::switch_point();
        let is_there = !self.home.is_accelerated() || self.home.has_log_from(from);
        if !is_there {
            self.unpin();
        }
        is_there
    }

    /// What an undo back to a record reads instead of log that is not there any more. It stays
    /// valid, and so does the log behind it, until the end of the part, or until [`Part::unpin`].
    pub(crate) fn kept_for_undo(&self, to: Lsn) -> Option<Arc<KeptRecords>> {
        if self.pin(to) {
            return None;
        }
        while let Some(kept) = self.entry.kept(self.id) {
            let until = kept.records.until();
            self.entry.pin(until);
            os::sched::switch_point();
            if self.entry.kept_until() == until {
                return Some(kept.records);
            }
        }
        None
    }

    pub(crate) fn unpin(&self) {
        self.entry.pin(Lsn::MAX);
    }

    /// After a change was finished: remembers what its undo may cost.
    pub fn logged(&mut self, change_bytes: usize) {
        debug_assert!(self.entered && self.has_logged(), "a finished change is in the log");
        debug_assert!(self.chain.first <= self.chain.last, "a chain goes forward");
        debug_assert!(self.chain.records > 0, "a chain with ends has records");
        self.entry.logged(&self.chain);
        let (records, unversioned) = (self.chain.records, self.chain.unversioned);
        let before = std::mem::replace(&mut self.seen, (records, unversioned));
        if let Some(number) = self.numbers.last_mut() {
            number.said = true;
        }
        self.rely_on_versions();
        let undo_bytes = change_bytes as u64 + 64;
        self.owner.add_log_bytes(undo_bytes);
        if unversioned > before.1 && self.home.is_accelerated() {
            self.promise_for_kept(self.for_kept + undo_bytes);
        }
        let how = (unversioned > before.1, self.relies_before.is_some());
        if self.undo_room.logged(undo_bytes, (records, records - before.0), how) {
            self.give_back_for_undo();
        }
    }

    fn promise_for_kept(&mut self, bytes: u64) {
        let before = std::mem::replace(&mut self.for_kept, bytes);
        if before != bytes {
            self.home.promise_for_kept(before, bytes);
        }
    }

    /// Versions undo the most of it: gives back the log that was reserved for that.
    fn give_back_for_undo(&mut self) {
        let numbers = self.numbers.len() as u64 + 1;
        let each = CARRIED_OPEN_BYTES + ABORT_BYTES;
        let kept = self.undo_room.bytes(0) + KEPT + numbers * each + self.for_kept;
        self.reservation.shrink(self.reservation.bytes().saturating_sub(kept));
        self.entry.reserved(self.reservation.bytes());
    }

    /// What tells others when the transaction is over here. A change was reserved.
    pub fn mark(&self) -> PartMark {
        assert!(self.entered, "rule 4: a part is known before its first record");
        PartMark { entry: Arc::clone(&self.entry), id: self.id }
    }

    /// Whether it has logged anything.
    pub fn has_logged(&self) -> bool {
        self.chain.last != Lsn::ZERO
    }

    pub(crate) fn start(&mut self, id: TransactionId, name: &TransactionName) {
        assert!(!self.entered && !self.has_logged());
        assert_ne!(id.0 as u32, 0, "0 logs for nobody");
        assert_eq!(self.undo_room.for_undo(), 0, "the room for an undo ended with it");
        debug_assert!(self.numbers.is_empty(), "the last one's went with it");
        self.chain = TransactionChain { id: id.0 as u32, ..TransactionChain::default() };
        self.id = id;
        self.name = name.clone();
    }

    /// What it tells others.
    pub(crate) fn entry(&self) -> &Arc<Entry> {
        &self.entry
    }

    /// Appends its commit record.
    pub(crate) fn append_commit(&mut self, payload: &[u8]) -> Lsn {
        debug_assert!(self.entered && self.has_logged(), "who has logged commits");
        let lsn = self.append_end(kinds::COMMIT, payload);
        os::sched::switch_point();
        self.entry.has_versions(Vec::new());
        self.entry.commits(&self.chain);
        lsn
    }

    /// Appends its prepare record: from now on another log says how it ends.
    pub(crate) fn append_prepare(&mut self, payload: &[u8]) -> Lsn {
        let lsn = self.append_end(kinds::PREPARE, payload);
        self.entry.logged(&self.chain);
        self.entry.is(PartState::Prepared);
        lsn
    }

    fn append_end(&mut self, kind: Kind, payload: &[u8]) -> Lsn {
        let before = self.chain.last;
        assert_ne!(self.chain.id, 0, "who has logged has a number");
        self.needs_log();
        self.group.clear();
        let pushed = self.group.push_plain(kind, self.chain.id, payload);
        assert!(pushed.is_ok(), "an empty group has room for an end");
        let appended = self.home.log().append(&mut self.group, &mut self.chain);
        assert!(before < appended.first, "an end is behind what it ends");
        assert_eq!(self.chain.last, appended.last, "an end is its transaction's last record");
        appended.last
    }

    /// A rollback has gone back to a record, or to its begin.
    pub(crate) fn rolled_back(&self, to: Lsn) {
        self.entry.logged(&self.chain);
        self.entry.rolled_back(to.max(self.chain.first));
    }

    /// Whether versions undo what it has done to rows: as undoing it from the log would take long,
    /// or as its log is not there any more. From where on the log has to undo the rest, if there is
    /// any.
    pub(crate) fn is_undone_by_versions(&self) -> Option<Option<Lsn>> {
        if !self.home.is_accelerated() || !self.is_numbered() {
            return None;
        }
        let is_long = self.chain.records > self.home.undone_records_max();
        let by_versions = is_long || self.has_aborted || !self.pin(Lsn::ZERO);
        by_versions.then(|| self.unversioned_from(Lsn::ZERO))
    }

    /// From where on the log undoes what versions do not, behind a record; `None` where there is
    /// nothing.
    pub(crate) fn unversioned_from(&self, to: Lsn) -> Option<Lsn> {
        let from = self.relies_before.unwrap_or(self.chain.first).max(Lsn(to.0 + 1));
        (self.chain.unversioned > 0).then_some(from)
    }

    /// Whether it has changed rows under a number above that one.
    pub(crate) fn has_number_above(&self, above: Xsn) -> bool {
        self.numbers.last().is_some_and(|number| number.xsn > above)
    }

    /// The last record before those under the numbers above one; `None` without such numbers.
    pub(crate) fn begin_of_numbers_above(&self, above: Xsn) -> Option<Lsn> {
        self.numbers.iter().find(|number| number.xsn > above).map(|number| number.after)
    }

    /// Aborts its numbers above one, the newest first: what it has done under them stays on its
    /// pages, and is in the aborted map from now on. The locks are held.
    pub(crate) fn abort_numbers(&mut self, above: Xsn) {
        while let Some(number) = self.numbers.pop_if(|number| number.xsn > above) {
            let entry = Arc::clone(&self.entry);
            let mut aborted = self.aborted_of(&number, true);
            let mut payload = EndPayload { at: os::clock::now().0 }.bytes().to_vec();
            aborted.spell(&mut payload);
            // Recovery reads the record (`entry.rs`, 4).
            self.needs_log();
            self.group.clear();
            let (kind, id) = (kinds::PART_ABORTED, self.chain.id);
            let pushed = self.group.push_compensation_of(kind, id, number.after, &payload);
            assert!(pushed.is_ok(), "an empty group has room for it");
            // Until it is in the map, recovery needs this record.
            let aborting = entry.aborting();
            aborted.end = self.home.log().append(&mut self.group, &mut self.chain).last;
            self.entry.logged(&self.chain);
            os::sched::switch_point();
            // In this order: a checkpoint that does not find it in the map finds it active.
            let promised = self.reservation.split(payload.len() as u64 + CARRIED_BESIDE);
            self.home.enter_aborted(aborted, promised);
            os::sched::switch_point();
            self.has_aborted = true;
            self.undo_room.number_aborted();
            self.tell_versions();
            drop(aborting);
        }
        self.entry.reserved(self.reservation.bytes());
    }

    fn aborted_of(&self, number: &NumberUse, nested: bool) -> AbortedTransaction {
        AbortedTransaction {
            xsn: number.xsn,
            id: self.id,
            began_at: self.entry.read().and_then(|part| part.began_at).unwrap_or(0),
            begin: self.chain.first,
            end: self.chain.last,
            nested,
            units: number.units.clone(),
        }
    }

    /// Rolls back the changes of rows without undoing them: the abort record says so, and the
    /// transaction is in the aborted map from now on, with each of its numbers. The rest was
    /// undone, and its locks are held.
    pub(crate) fn abort_by_versions(&mut self) {
        let first = self.numbers.first().map_or(Xsn::NONE, |number| number.xsn);
        self.abort_numbers(first);
        let aborted = self.numbers.first().map(|number| self.aborted_of(number, false));
        let mut payload = EndPayload { at: os::clock::now().0 }.bytes().to_vec();
        aborted.iter().for_each(|aborted| aborted.spell(&mut payload));
        let end = self.append_end(kinds::ABORT, &payload);
        self.undo_room.clear();
        if let Some(aborted) = aborted {
            // In this order: a checkpoint that does not find it in the map finds the part active.
            let none = LogReservation::none(self.home.log());
            let mut promised = std::mem::replace(&mut self.reservation, none);
            let room = payload.len() as u64 + CARRIED_BESIDE;
            promised.shrink(promised.bytes().saturating_sub(room));
            self.home.enter_aborted(AbortedTransaction { end, ..aborted }, promised);
        }
        self.entry.reserved(self.reservation.bytes());
        self.aborted();
    }

    /// Its abort record is in the log.
    pub(crate) fn aborted(&self) {
        self.entry.logged(&self.chain);
        self.entry.is(PartState::RolledBack);
    }

    /// From now on it tells another owner.
    pub(crate) fn belongs_to(&mut self, owner: &Arc<Owner>) {
        assert!(!Arc::ptr_eq(&self.owner, owner), "the owner left behind keeps its locks");
        self.owner = Arc::clone(owner);
    }

    /// Its rollback failed: the database keeps the log from its first record on, and is not
    /// closed clean, so that the next start finds it without an end.
    pub(crate) fn stays(&mut self) {
        assert!(self.entered, "what could not be undone was logged");
        assert!(self.has_logged(), "what could not be undone stands in the log");
        // The log that its undo takes stays promised until the database closes.
        let none = LogReservation::none(self.home.log());
        self.home.keep_for_undo(std::mem::replace(&mut self.reservation, none));
        // The entry stays in the list as it is, and so does the room that checkpoints have for it;
        // what comes next has another.
        (self.for_kept, self.room_for_numbers) = (0, 0);
        self.entry = self.home.enlist(self.owner.session());
        self.entered = false;
    }

    /// It is committed, and whatever of it may be met in the log is noted elsewhere: no log up to
    /// now is kept for it, nor for its undo. The database is not dropped yet.
    pub(crate) fn rests_on_notes(&mut self) {
        if self.entered {
            self.undo_room.clear();
            self.reservation.shrink(self.reservation.bytes().saturating_sub(KEPT));
            self.entry.reserved(self.reservation.bytes());
            self.home.pass(&self.entry);
        }
    }

    /// The transaction is over here; buffers stay for the next one.
    pub(crate) fn end(&mut self) {
        debug_assert!(self.chain.first <= self.chain.last, "a chain goes forward");
        debug_assert!(self.undo_room.for_undo() == 0 || self.has_logged(), "undo is of records");
        if std::mem::take(&mut self.entered) {
            self.entry.end();
            self.home.leave(&self.entry);
        }
        self.undo_room.clear();
        self.forget_versions();
        self.chain = TransactionChain::default();
        self.reservation.shrink(self.reservation.bytes().saturating_sub(KEPT));
        assert!(self.reservation.bytes() <= KEPT, "between transactions a part keeps little");
        debug_assert!(!self.has_logged(), "nothing is logged for the next one yet");
    }

    fn forget_versions(&mut self) {
        if !self.numbers.is_empty() || self.has_aborted {
            self.numbers.clear();
            self.entry.has_versions(Vec::new());
        }
        self.promise_for_kept(0);
        self.has_aborted = false;
        self.relies_before = None;
        self.seen = (0, 0);
        match std::mem::take(&mut self.room_for_numbers) {
            0 => {}
            numbers => self.home.relied_on_versions(numbers),
        }
    }

    /// The request is over: what idle sessions held would be log that nobody can use.
    pub(crate) fn rest(&mut self) {
        if !self.entered {
            self.reservation.shrink(self.reservation.bytes());
            debug_assert!(!self.has_logged(), "only an entered part has logged");
            assert_eq!(self.reservation.bytes(), 0, "an idle session holds no log");
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        debug_assert!(self.entered || !self.has_logged() || os::sched::crashed(), "rule 4");
        // Whoever goes without an end (a crash of the simulated machine) stays in the list.
        if !self.entered && !os::sched::crashed() {
            self.home.delist(&self.entry);
        }
    }
}

/// The begin record of a part, to be put into a change.
pub struct BeginRecord {
    wanted: bool,
    id: u32,
    at: i64,
    name: TransactionName,
    number: Option<Xsn>,
}

impl BeginRecord {
    /// Logs the begin record and the number in version tags, unless the log has them.
    pub fn log(self, change: &mut Change<'_>, session: SessionId) {
        if self.wanted {
            assert_ne!(self.id, 0, "a begin record is a transaction's");
            debug_assert_eq!(change.logged_bytes(), 0, "a transaction's first record is its begin");
            let id = TransactionId(u64::from(self.id));
            let begin = Begin { id, session, at: self.at, name: self.name.as_str() };
            change.log_plain(kinds::BEGIN, self.id, begin.spell(&mut [0; BEGIN_BYTES_MAX]));
        }
        if let Some(xsn) = self.number {
            change.log_plain(kinds::VERSION_NUMBER, self.id, &NumberPayload(xsn).bytes());
        }
    }
}

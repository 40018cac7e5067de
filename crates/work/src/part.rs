//! A transaction's part in one database: its chain in that log, and its right to more log.

use crate::entry::{Entry, PartState, PartVersions};
use crate::home::{CARRIED_BESIDE, CARRIED_OPEN_BYTES, Home};
use crate::loser::Loser;
use base::{AllocUnitId, Lsn, SessionId, TransactionId, Xsn};
use buffer::{Change, Undo};
use lock::Owner;
use std::sync::Arc;
use txn::{AbortedTransaction, BEGIN_BYTES_MAX, Begin, EndPayload, NumberPayload, TransactionName};
use wal::{Group, Kind, LogReservation, TransactionChain, WalError, kinds};

/// Log that a change may write beyond its own estimate: begin record, maps, block overhead.
const FORWARD_SLACK: u64 = 2048;
/// Least growth of a reservation, so that not every row asks.
const RESERVE_STEP: u64 = 8192;
/// What a request keeps from one transaction to its next, so that short ones neither ask nor give
/// back: two writes less to what all sessions write.
const KEPT: u64 = 2 * RESERVE_STEP;

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
    /// Bytes that undoing what was logged so far may write.
    undo_bytes: u64,
    entry: Arc<Entry>,
    entered: bool,
    /// The number in the tags of rows that it has changed, where these are its undo.
    number: Option<Xsn>,
    /// A record in the log says that number.
    numbered: bool,
    /// The units of those rows, ascending.
    units: Vec<AllocUnitId>,
    /// Recovery does not need its records, but those from there on.
    relies_before: Option<Lsn>,
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
            undo_bytes: 0,
            entry: home.enlist(owner.session()),
            entered: false,
            number: None,
            numbered: false,
            units: Vec::new(),
            relies_before: None,
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
        (part.id, part.chain, part.undo_bytes) = (id, loser.chain, loser.undo_bytes);
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
        let carried = if self.home.is_accelerated() { CARRIED_OPEN_BYTES } else { 0 };
        let need = self.undo_bytes + 2 * change_bytes as u64 + FORWARD_SLACK + carried;
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
        let number = self.number.filter(|_| !self.numbered);
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

    /// Versions undo all that it has done so far: recovery does not need its records.
    fn rely_on_versions(&mut self) {
        let whole = self.numbered && self.chain.unversioned == 0;
        if !whole || self.relies_before == Some(Lsn::MAX) {
            return;
        }
        if self.relies_before.is_some() || self.home.relies_on_versions() {
            self.entry.needs_log_from(Lsn::MAX);
            self.relies_before = Some(Lsn::MAX);
        }
    }

    /// How a change of a row is logged. `xsn` is the number in the row's tag, where it has one. The
    /// same change calls [`Part::begin`] behind it. It costs a load, a compare, and a search among
    /// the units that the transaction has changed.
    pub fn undo_of_row(&mut self, xsn: Option<Xsn>, unit: AllocUnitId) -> Undo {
        let Some(xsn) = xsn.filter(|_| self.home.is_accelerated()) else { return self.undo() };
        debug_assert!(self.number.is_none_or(|n| n == xsn), "a transaction has one number");
        self.number = Some(xsn);
        if let Err(at) = self.units.binary_search(&unit) {
            self.units.insert(at, unit);
            self.entry.has_versions(Some(PartVersions { xsn, units: self.units.clone() }));
        }
        Undo::ByVersions(self.chain.id)
    }

    /// After a change was finished: remembers what its undo may cost.
    pub fn logged(&mut self, change_bytes: usize) {
        debug_assert!(self.entered && self.has_logged(), "a finished change is in the log");
        debug_assert!(self.chain.first <= self.chain.last, "a chain goes forward");
        debug_assert!(self.chain.records > 0, "a chain with ends has records");
        self.entry.logged(&self.chain);
        self.numbered = self.number.is_some();
        self.rely_on_versions();
        self.undo_bytes += change_bytes as u64 + 64;
        self.owner.add_log_bytes(change_bytes as u64 + 64);
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
        assert_eq!(self.undo_bytes, 0, "what a transaction reserved for its undo ended with it");
        debug_assert!(
            self.number.is_none() && self.units.is_empty(),
            "the last one's went with it"
        );
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
        self.entry.has_versions(None);
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

    /// Whether versions are to undo what it has done to rows, as undoing it from the log would take
    /// long. From where on the log has to undo the rest, if there is any.
    pub(crate) fn is_undone_by_versions(&self) -> Option<Option<Lsn>> {
        let is_long = self.chain.records > self.home.undone_records_max();
        let by_versions = self.home.is_accelerated() && self.numbered && is_long;
        let from = self.relies_before.unwrap_or(self.chain.first);
        by_versions.then(|| (self.chain.unversioned > 0).then_some(from))
    }

    /// Rolls back the changes of rows without undoing them: the abort record says so, and the
    /// transaction is in the aborted map from now on. The rest was undone, and its locks are held.
    pub(crate) fn abort_by_versions(&mut self) {
        let mut aborted = AbortedTransaction {
            xsn: self.number.expect("its rows have its number"),
            id: self.id,
            began_at: self.entry.read().and_then(|part| part.began_at).unwrap_or(0),
            begin: self.chain.first,
            end: self.chain.last,
            units: self.units.clone(),
        };
        let mut payload = EndPayload { at: os::clock::now().0 }.bytes().to_vec();
        aborted.spell(&mut payload);
        aborted.end = self.append_end(kinds::ABORT, &payload);
        // In this order: a checkpoint that does not find it in the map finds the part active.
        let none = LogReservation::none(self.home.log());
        let mut promised = std::mem::replace(&mut self.reservation, none);
        let room = payload.len() as u64 + CARRIED_BESIDE;
        promised.shrink(promised.bytes().saturating_sub(room));
        self.undo_bytes = 0;
        self.entry.reserved(0);
        self.home.enter_aborted(aborted, promised);
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
        // The entry stays in the list as it is; what comes next has another.
        self.entry = self.home.enlist(self.owner.session());
        self.entered = false;
    }

    /// It is committed, and whatever of it may be met in the log is noted elsewhere: no log up to
    /// now is kept for it, nor for its undo. The database is not dropped yet.
    pub(crate) fn rests_on_notes(&mut self) {
        if self.entered {
            self.undo_bytes = 0;
            self.reservation.shrink(self.reservation.bytes().saturating_sub(KEPT));
            self.entry.reserved(self.reservation.bytes());
            self.home.pass(&self.entry);
        }
    }

    /// The transaction is over here; buffers stay for the next one.
    pub(crate) fn end(&mut self) {
        debug_assert!(self.chain.first <= self.chain.last, "a chain goes forward");
        debug_assert!(self.undo_bytes == 0 || self.has_logged(), "undo is of records");
        if std::mem::take(&mut self.entered) {
            self.entry.end();
            self.home.leave(&self.entry);
        }
        self.undo_bytes = 0;
        self.forget_versions();
        self.chain = TransactionChain::default();
        self.reservation.shrink(self.reservation.bytes().saturating_sub(KEPT));
        assert!(self.reservation.bytes() <= KEPT, "between transactions a part keeps little");
        debug_assert!(!self.has_logged(), "nothing is logged for the next one yet");
    }

    fn forget_versions(&mut self) {
        if self.number.take().is_some() {
            self.entry.has_versions(None);
        }
        if self.relies_before.take().is_some() {
            self.home.relied_on_versions();
        }
        self.numbered = false;
        self.units.clear();
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

//! Table hints: locks, and which index.

use crate::refusal::unsupported;
use base::{SqlError, SqlResult, messages};
use catalog::view::{IndexColumn, Table};
use plan::{Granule, Level, LockHints, Strength};
use tsql::ast::{self, IndexRef, TableHint, TableHintKind as K};
use types::Collation;

/// What a reference is used for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Use {
    /// It is read.
    Read,
    /// Rows of it are updated or deleted.
    Change,
    /// Rows are inserted into it.
    Insert,
}

/// All that hints say.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Hints {
    pub(crate) locks: LockHints,
    pub(crate) index: Option<usize>,
    pub(crate) further: Vec<usize>,
    pub(crate) force_seek: bool,
    pub(crate) seek_columns: usize,
    pub(crate) force_scan: bool,
}

/// Reads the hints of a table; `None` for something without indexes.
pub(crate) fn read(
    hints: &[TableHint],
    table: Option<&Table>,
    names: Collation,
    purpose: Use,
) -> SqlResult<Hints> {
    let mut out = Hints::default();
    let (mut granule, mut named) = (None, IndexHints::default());
    for hint in hints {
        one(&mut out, (&mut granule, &mut named), hint, table, names, purpose)
            .map_err(|e| e.at_line(hint.span.line))?;
    }
    let line = hints.first().map_or(0, |h| h.span.line);
    named.settle(&mut out).map_err(|e| e.at_line(line))?;
    let dirty = out.locks.level == Some(Level::ReadUncommitted);
    let strict = matches!(out.locks.level, Some(Level::Serializable | Level::RepeatableRead));
    let skips = out.locks.read_past;
    if (dirty && (out.locks.strength > Strength::Shared || skips))
        || (skips && out.locks.level == Some(Level::Serializable))
        || (dirty && strict)
    {
        return Err(SqlError::new(messages::HINTS_CONFLICT, &[]).at_line(line));
    }
    if purpose == Use::Change && out.locks.strength < Strength::Update {
        out.locks.strength = Strength::Update;
    }
    Ok(out)
}

fn one(
    out: &mut Hints,
    (granule, indexes): (&mut Option<Granule>, &mut IndexHints),
    hint: &TableHint,
    table: Option<&Table>,
    names: Collation,
    purpose: Use,
) -> SqlResult<()> {
    let line = hint.span.line;
    match &hint.kind {
        K::NoLock | K::ReadUncommitted if purpose != Use::Read => {
            Err(SqlError::new(messages::NOLOCK_ON_TARGET, &[]))
        }
        K::ReadCommittedLock if purpose == Use::Insert => {
            Err(SqlError::new(messages::READ_COMMITTED_LOCK_ON_INSERT, &[]))
        }
        K::Index(_) | K::ForceSeek(_) | K::ForceScan if purpose == Use::Insert => {
            Err(SqlError::new(messages::INDEX_HINT_ON_TARGET, &[]))
        }
        K::NoLock | K::ReadUncommitted => level(out, Level::ReadUncommitted),
        K::ReadCommitted => level(out, Level::ReadCommitted),
        K::ReadCommittedLock => level(out, Level::ReadCommittedLock),
        K::RepeatableRead => level(out, Level::RepeatableRead),
        K::Serializable | K::HoldLock => level(out, Level::Serializable),
        K::Snapshot => Err(unsupported("SNAPSHOT", line)),
        K::ReadPast => {
            out.locks.read_past = true;
            Ok(())
        }
        K::NoWait => {
            out.locks.no_wait = true;
            Ok(())
        }
        K::RowLock => locked(out, granule, Granule::Row),
        K::PageLock => locked(out, granule, Granule::Page),
        K::TableLock => locked(out, granule, Granule::Table),
        K::TableLockExclusive => {
            strength(out, Strength::Exclusive);
            locked(out, granule, Granule::Table)
        }
        K::UpdateLock => {
            strength(out, Strength::Update);
            Ok(())
        }
        K::ExclusiveLock => {
            strength(out, Strength::Exclusive);
            Ok(())
        }
        K::Index(_) | K::ForceSeek(_) | K::ForceScan => {
            indexes.hint(out, &hint.kind, table, names, line)
        }
        K::NoExpand => Err(unsupported("NOEXPAND", line)),
        K::KeepIdentity => Err(unsupported("KEEPIDENTITY", line)),
        K::KeepDefaults => Err(unsupported("KEEPDEFAULTS", line)),
        K::IgnoreConstraints => Err(unsupported("IGNORE_CONSTRAINTS", line)),
        K::IgnoreTriggers => Err(unsupported("IGNORE_TRIGGERS", line)),
        K::SpatialWindowMaxCells(_) => Err(unsupported("SPATIAL_WINDOW_MAX_CELLS", line)),
    }
}

/// Whether FORCESEEK names the key's first columns, in their order: 365, 362.
fn sought(
    out: &mut Hints,
    (table, at): (&Table, usize),
    named: &IndexRef,
    columns: &[ast::Name],
    names: Collation,
) -> SqlResult<()> {
    out.seek_columns = columns.len();
    let index = &table.indexes[at];
    let shown = index_shown(named);
    if columns.len() > index.key.len() {
        return Err(SqlError::new(messages::FORCESEEK_TOO_MANY, &[&table.name, &shown]));
    }
    let wrong =
        |(name, k): &(&ast::Name, &IndexColumn)| table.column(name, names) != Some(k.column);
    match columns.iter().zip(&index.key).find(wrong) {
        Some((name, _)) => {
            let args: [&dyn std::fmt::Display; 3] = [name, &table.name, &shown];
            Err(SqlError::new(messages::FORCESEEK_NO_KEY, &args))
        }
        None => Ok(()),
    }
}

fn index_shown(named: &IndexRef) -> String {
    match named {
        IndexRef::Id(n) => n.to_string(),
        IndexRef::Name(name) => name.to_string(),
    }
}

fn level(out: &mut Hints, level: Level) -> SqlResult<()> {
    if out.locks.level.is_some_and(|known| known != level) {
        return Err(SqlError::new(messages::HINTS_CONFLICT, &[]));
    }
    out.locks.level = Some(level);
    Ok(())
}

fn locked(out: &mut Hints, known: &mut Option<Granule>, granule: Granule) -> SqlResult<()> {
    if known.is_some_and(|k| k != granule) {
        return Err(SqlError::new(messages::HINTS_CONFLICT, &[]));
    }
    *known = Some(granule);
    out.locks.granule = granule;
    Ok(())
}

fn strength(out: &mut Hints, strength: Strength) {
    out.locks.strength = out.locks.strength.max(strength);
    out.locks.hold = true;
}

/// What hints say of indexes.
#[derive(Default)]
struct IndexHints {
    /// Positions among the table's, as they were named.
    positions: Vec<usize>,
    /// INDEX (0), and something else.
    whole: bool,
    others: bool,
    /// INDEX, FORCESEEK, FORCESCAN, and how often FORCESEEK with an index.
    listed: bool,
    seeks: bool,
    scans: bool,
    sought: usize,
}

/// An intersection has no more indexes.
const INDEXES_MAX: usize = 250;

impl IndexHints {
    /// Notes one hint.
    fn hint(
        &mut self,
        out: &mut Hints,
        kind: &K,
        table: Option<&Table>,
        names: Collation,
        line: u32,
    ) -> SqlResult<()> {
        match kind {
            K::Index(list) => {
                self.listed = true;
                self.index(list, table, names, line)
            }
            K::ForceSeek(Some((named, columns))) => {
                self.sought += 1;
                let before = self.positions.len();
                self.index(std::slice::from_ref(named), table, names, line)?;
                let (Some(table), Some(&at)) = (table, self.positions.get(before)) else {
                    return Ok(());
                };
                sought(out, (table, at), named, columns, names)
            }
            _ => {
                self.seeks |= matches!(kind, K::ForceSeek(None));
                self.scans |= matches!(kind, K::ForceScan);
                Ok(())
            }
        }
    }

    fn index(
        &mut self,
        list: &[IndexRef],
        table: Option<&Table>,
        names: Collation,
        line: u32,
    ) -> SqlResult<()> {
        let Some(table) = table else { return Err(unsupported("INDEX", line)) };
        for named in list {
            let base = matches!(named, IndexRef::Id(0));
            self.whole |= base;
            self.others |= !base;
            let position = position_of(named, table, names)?;
            if !self.positions.contains(&position) {
                self.positions.push(position);
            }
        }
        Ok(())
    }

    /// All of them together, in whatever order they came.
    ///
    /// # Errors
    /// 10746, 10747, 10750, and 8622 for 0 beside other indexes or FORCESEEK.
    fn settle(mut self, out: &mut Hints) -> SqlResult<()> {
        let refused = |message| Err(SqlError::new(message, &[]));
        if self.sought > 0 && (self.listed || self.seeks || self.sought > 1) {
            return refused(messages::FORCESEEK_WITH_INDEX);
        }
        out.force_seek = self.seeks || self.sought > 0;
        if self.scans && out.force_seek {
            return refused(messages::FORCESCAN_WITH_FORCESEEK);
        }
        if self.scans && self.positions.len() > 1 {
            return refused(messages::FORCESCAN_WITH_INDEXES);
        }
        let beside = self.whole && (self.others || out.force_seek);
        if beside || self.positions.len() > INDEXES_MAX {
            return refused(messages::HINTS_NO_PLAN);
        }
        if self.positions.len() > 1 {
            // What several give is fetched from the heap or the clustered index.
            self.positions.retain(|&p| p != 0);
        }
        out.force_scan = self.scans || self.whole;
        out.further = self.positions.split_off(self.positions.len().min(1));
        out.index = self.positions.first().copied();
        Ok(())
    }
}

/// Where a named index stands among its table's: 308 where it is none that can be read.
fn position_of(named: &IndexRef, table: &Table, names: Collation) -> SqlResult<usize> {
    let position = match named {
        IndexRef::Id(0) => Some(0),
        IndexRef::Id(n) => table.indexes.iter().position(|i| i.index_id.0 as u32 == *n),
        IndexRef::Name(name) => {
            let found = table.index(name, names).map(|i| i.index_id);
            table.indexes.iter().position(|i| Some(i.index_id) == found)
        }
    };
    position.filter(|&p| !table.indexes[p].disabled).ok_or_else(|| {
        let name = table.two_part_name();
        SqlError::new(messages::INDEX_HINT_UNKNOWN, &[&index_shown(named), &name])
    })
}

/// What an option says of a table.
pub(crate) struct TableHintOption {
    pub(crate) table: ast::ObjectName,
    pub(crate) hints: Vec<TableHint>,
    pub(crate) used: bool,
}

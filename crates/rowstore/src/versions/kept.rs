//! The stored versions and ghosts that are kept for readers as of a moment, and the readers that
//! need each of them.
//!
//! For views. Pages, or their tags, are copied under the latch that a reader takes, and evaluated
//! without it. So the figures for a version were true at one instant. Versions that come and go
//! meanwhile may be missing.

use crate::error::RowResult;
use crate::hobt::RowHobt;
use crate::versions::committed;
use access::StoredHobt;
use base::{DatabaseId, HobtId, PageId, SqlError, SqlResult, Xsn};
use os::wait::Waiter;
use page::{Previous, RecordKind, VersionTag};
use txn::{CommitTime, Lifetime, Outcome};
use version::{PageCopy, StoredVersion, VersionPtr};
use work::{Engine, GhostRule, Home};

/// A stored version.
#[derive(Clone, Copy, Debug)]
pub struct KeptVersion<'p> {
    /// Its place in the store.
    pub place: VersionPtr,
    /// The writer of the record that points here. It changed or deleted the row. If versions
    /// between them were freed, it did so later.
    pub superseder: Xsn,
    /// The database of the row.
    pub database: DatabaseId,
    /// The heap or index; for pieces of large values that of their rows.
    pub hobt: HobtId,
    /// The record as it was.
    pub record: &'p [u8],
}

/// The reason why a version is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeepReason {
    /// For the transaction that superseded it: it is active, or was aborted, so that this version
    /// is current.
    Writer(Xsn),
    /// For snapshots within this lifetime, if there are any.
    Snapshots(Lifetime),
    /// For no reader: its superseder was rolled back.
    Nobody,
}

/// Passes over the store in tempdb. `each` gets all versions of one page at a time.
///
/// # Errors
/// A page that cannot be read, the waiter's cancellation, those of `each`.
pub fn kept_versions(
    engine: &Engine,
    waiter: &Waiter,
    each: &mut dyn FnMut(&[KeptVersion<'_>]) -> SqlResult<()>,
) -> SqlResult<()> {
    let Some(store) = engine.find_shared_store() else { return Ok(()) };
    let mut copy = PageCopy::default();
    for page in store.pages() {
        waiter.check().map_err(SqlError::from)?;
        if !store.copy_page(page, &mut copy).map_err(|e| e.into_sql("tempdb"))? {
            continue;
        }
        let versions: Vec<_> = copy.versions().map(KeptVersion::of).collect();
        each(&versions)?;
    }
    Ok(())
}

impl<'p> KeptVersion<'p> {
    fn of((place, v): (VersionPtr, StoredVersion<'p>)) -> KeptVersion<'p> {
        let (superseder, record) = (v.superseder, v.record);
        KeptVersion { place, superseder, database: v.origin.database, hobt: v.origin.hobt, record }
    }

    /// The reason why it is kept. `home` is its database.
    pub fn kept_for(&self, home: &Home, engine: &Engine) -> KeepReason {
        debug_assert_eq!(home.database, self.database, "its own database");
        let tag = VersionTag::of(self.record);
        let creator = tag.map_or(Xsn::NONE, |t| t.writer);
        match tag.map(VersionTag::before) {
            // A ghost that is its own former version is kept only for that.
            Some(Previous::Itself(lived_by)) => between(home, engine, lived_by, creator),
            // It is kept for its in-row version, too.
            Some(Previous::InRow { born, .. }) => between(home, engine, born, self.superseder),
            Some(Previous::None | Previous::Stored(_) | Previous::Lost(_)) | None => {
                between(home, engine, creator, self.superseder)
            }
        }
    }

    /// The length of the fixed part of its record. An entry of a nonclustered index does not
    /// contain this length. It is unknown if that index is no longer open.
    pub fn fixed_bytes(&self, hobt: Option<&dyn StoredHobt>) -> Option<u16> {
        match RecordKind::of(self.record[0]).is_index() {
            true => hobt.map(|h| h.layout().min_len()),
            false => self.record.get(2..4).map(|b| u16::from_le_bytes([b[0], b[1]])),
        }
    }
}

/// The reason why a version is kept that `born` wrote and `ended` superseded.
fn between(home: &Home, engine: &Engine, born: Xsn, ended: Xsn) -> KeepReason {
    if home.aborted().contains(ended) {
        // The version before is current.
        return KeepReason::Writer(ended);
    }
    let e = match ended == Xsn::NONE || home.is_settled(ended) {
        true => CommitTime(0),
        // The table is read only once: an active transaction may commit meanwhile.
        false => match engine.transactions.commits.outcome(ended) {
            Outcome::Committed(e) => e,
            Outcome::Active => return KeepReason::Writer(ended),
            Outcome::Aborted => return KeepReason::Nobody,
        },
    };
    let lifetime = |b: CommitTime| KeepReason::Snapshots(Lifetime { b: b.min(e), e });
    committed(home, engine, born).map_or(KeepReason::Nobody, lifetime)
}

impl RowHobt {
    /// The ghosts on a page: for each, the lifetimes that keep it and the bytes of its record. A
    /// reader whose moment is in one of the lifetimes keeps the ghost. The lifetimes of one ghost
    /// do not overlap. By the rule INTERVAL they are the lifetimes of the row that it was, and of
    /// the versions behind it. By the rules of SQL Server there is one: all time before its
    /// deleter's commit. Ghosts of active deleters are left out.
    ///
    /// # Errors
    /// Pages that cannot be read.
    pub(crate) fn ghost_lifetimes(
        &self,
        (engine, rule): (&Engine, GhostRule),
        page: PageId,
    ) -> SqlResult<Vec<(Lifetime, usize)>> {
        let (mut kept, mut lifetimes) = (Vec::new(), Vec::new());
        for (tag, bytes) in self.ghost_tags(page).map_err(|e| self.sql(e))? {
            match rule {
                GhostRule::Interval => {
                    self.lifetimes_of(engine, tag, &mut lifetimes).map_err(|e| self.sql(e))?;
                }
                GhostRule::Statement | GhostRule::Transaction => {
                    let ended = committed(&self.home, engine, tag.writer);
                    lifetimes.extend(ended.map(|e| Lifetime { b: CommitTime(0), e }));
                }
            }
            kept.extend(lifetimes.drain(..).map(|of| (of, bytes)));
        }
        Ok(kept)
    }

    /// Adds the lifetimes of one ghost.
    pub(crate) fn lifetimes_of(
        &self,
        engine: &Engine,
        ghost: VersionTag,
        lifetimes: &mut Vec<Lifetime>,
    ) -> RowResult<()> {
        let kept = match self.former(ghost) {
            Previous::None => return Ok(()),
            Previous::Itself(since)
            | Previous::Lost(since)
            | Previous::InRow { born: since, .. } => {
                between(&self.home, engine, since, ghost.writer)
            }
            Previous::Stored(place) => {
                return self.lifetimes_behind(engine, (ghost.writer, place), lifetimes);
            }
        };
        if let KeepReason::Snapshots(lifetime) = kept {
            lifetimes.push(lifetime);
        }
        Ok(())
    }

    /// The tags of the ghosts on a page, and the bytes of their records.
    fn ghost_tags(&self, page: PageId) -> RowResult<Vec<(VersionTag, usize)>> {
        let guard = self.home.pages.read(page)?;
        let view = guard.view();
        if view.alloc_unit() != self.spec.unit || view.level() != 0 || view.ghost_count() == 0 {
            return Ok(Vec::new());
        }
        let slots = (0..view.slot_count()).filter_map(|s| Some((s, view.record(s)?)));
        let ghosts = slots.filter(|(_, record)| page::is_ghost_record(record));
        let tag = |(slot, record)| Some((self.tag_of(record, (page, slot))?, record.len()));
        Ok(ghosts.filter_map(tag).collect())
    }

    fn lifetimes_behind(
        &self,
        engine: &Engine,
        (mut named, mut place): (Xsn, VersionPtr),
        lifetimes: &mut Vec<Lifetime>,
    ) -> RowResult<()> {
        let stores = self.home.version_stores();
        loop {
            let looked = stores.look(place, named, |v| {
                let kept = KeptVersion::of((place, v)).kept_for(&self.home, engine);
                (VersionTag::of(v.record), kept)
            })?;
            // A version that is gone is not needed, nor are those behind it.
            let Some((tag, kept)) = looked else { return Ok(()) };
            if let KeepReason::Snapshots(lifetime) = kept {
                lifetimes.push(lifetime);
            }
            match tag.map(|tag| (tag.writer, self.former(tag))) {
                Some((writer, Previous::Stored(behind))) => (named, place) = (writer, behind),
                Some((writer, Previous::Lost(since))) => {
                    if let KeepReason::Snapshots(l) = between(&self.home, engine, since, writer) {
                        lifetimes.push(l);
                    }
                    return Ok(());
                }
                Some((_, Previous::None | Previous::Itself(_) | Previous::InRow { .. })) | None => {
                    return Ok(());
                }
            }
        }
    }
}

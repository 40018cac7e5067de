//! What the database must hold: an oracle that hears of groups, and a plain model of pages.
//!
//! A group is known to the oracle before it is appended, its LSN right after, and its
//! acknowledgement when a flush has returned. After each crash the log says which groups are
//! left; the oracle checks that none is missing that was promised, and that those which are lost
//! are the last ones. Then the model is what the surviving groups made.

use base::{Lsn, PageId};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Clone, Debug)]
pub(crate) enum Op {
    Create {
        unit: u32,
        head: PageId,
    },
    /// From here on the unit is to go.
    Drop {
        unit: u32,
    },
    Allocate {
        page: PageId,
        unit: u32,
    },
    Free {
        page: PageId,
    },
    Insert {
        page: PageId,
        slot: u16,
        record: Vec<u8>,
    },
    Remove {
        page: PageId,
        slot: u16,
    },
    Patch {
        page: PageId,
        slot: u16,
        within: usize,
        bytes: Vec<u8>,
    },
    InTransaction(u32),
    End(u32),
}

#[derive(Debug)]
struct Group {
    ops: Vec<Op>,
    lsn: Option<Lsn>,
    acknowledged: bool,
}

#[derive(Clone, Default)]
pub(crate) struct Model {
    /// Head of the IAM chain of each unit.
    pub units: BTreeMap<u32, PageId>,
    /// Those which are to go, if they are not gone.
    pub dropped: BTreeMap<u32, PageId>,
    pub pages: BTreeMap<PageId, (u32, Vec<Vec<u8>>)>,
    /// Transactions without end.
    pub open: BTreeMap<u32, ()>,
}

impl Model {
    fn apply(&mut self, op: &Op) {
        let page = |pages: &mut BTreeMap<PageId, (u32, Vec<Vec<u8>>)>,
                    id: &PageId,
                    f: &mut dyn FnMut(&mut Vec<Vec<u8>>)| {
            f(&mut pages.get_mut(id).expect("a page of the model").1);
        };
        match op {
            Op::Create { unit, head } => assert!(self.units.insert(*unit, *head).is_none()),
            Op::Drop { unit } => {
                let head = self.units.remove(unit).expect("a unit of the model");
                self.dropped.insert(*unit, head);
                self.pages.retain(|_, (u, _)| u != unit);
            }
            Op::Allocate { page, unit } => {
                assert!(self.pages.insert(*page, (*unit, Vec::new())).is_none(), "{page} twice");
            }
            Op::Free { page } => assert!(self.pages.remove(page).is_some()),
            Op::Insert { page: id, slot, record } => page(&mut self.pages, id, &mut |p| {
                p.insert(usize::from(*slot), record.clone());
            }),
            Op::Remove { page: id, slot } => page(&mut self.pages, id, &mut |p| {
                p.remove(usize::from(*slot));
            }),
            Op::Patch { page: id, slot, within, bytes } => page(&mut self.pages, id, &mut |p| {
                let record = &mut p[usize::from(*slot)];
                record[*within..within + bytes.len()].copy_from_slice(bytes);
            }),
            Op::InTransaction(id) => {
                self.open.insert(*id, ());
            }
            Op::End(id) => {
                self.open.remove(id);
            }
        }
    }
}

#[derive(Default)]
struct State {
    created: bool,
    next: u64,
    /// Groups of this process: nobody knows yet what a crash leaves of them.
    current: BTreeMap<u64, Group>,
    /// Groups that survived, and where they ended.
    history: BTreeMap<u64, Lsn>,
    model: Model,
}

/// What was promised. A std mutex: it has no switch point, and nothing switches while it is held.
#[derive(Default)]
pub(crate) struct Oracle(Mutex<State>);

impl Oracle {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn created(&self) -> bool {
        self.state().created
    }

    pub(crate) fn set_created(&self) {
        self.state().created = true;
    }

    pub(crate) fn next_number(&self) -> u64 {
        let mut s = self.state();
        s.next += 1;
        s.next
    }

    pub(crate) fn begin(&self, tag: u64, ops: Vec<Op>) {
        let group = Group { ops, lsn: None, acknowledged: false };
        assert!(self.state().current.insert(tag, group).is_none());
    }

    pub(crate) fn appended(&self, tag: u64, end: Lsn) {
        self.state().current.get_mut(&tag).expect("it was begun").lsn = Some(end);
    }

    pub(crate) fn acknowledge(&self, tag: u64) {
        self.state().current.get_mut(&tag).expect("it was begun").acknowledged = true;
    }

    /// The log has been opened: `found` are the groups in it from `min_lsn` on, with their ends.
    /// What is not there is lost for ever.
    pub(crate) fn settle(&self, min_lsn: Lsn, found: &[(u64, Lsn)]) -> Model {
        let mut s = self.state();
        let s = &mut *s;
        let mut survivors: Vec<(Lsn, u64)> = Vec::new();
        for (tag, group) in &s.current {
            if let Some(lsn) = group.lsn.filter(|&lsn| lsn < min_lsn) {
                survivors.push((lsn, *tag));
            }
        }
        for &(tag, lsn) in found {
            if let Some(group) = s.current.get(&tag) {
                assert!(group.lsn.is_none_or(|l| l == lsn), "group {tag} moved");
                survivors.push((lsn, tag));
            } else {
                let known = s.history.get(&tag);
                assert_eq!(known, Some(&lsn), "group {tag} came back from the dead");
            }
        }
        for (tag, lsn) in s.history.iter().filter(|(_, lsn)| **lsn >= min_lsn) {
            assert!(found.contains(&(*tag, *lsn)), "group {tag}, which survived, is gone");
        }
        survivors.sort_unstable();
        survivors.dedup();
        let newest = survivors.last().map_or(Lsn::ZERO, |l| l.0);
        let mut current = std::mem::take(&mut s.current);
        for (lsn, tag) in survivors {
            let group = current.remove(&tag).expect("a group survives once");
            s.history.insert(tag, lsn);
            group.ops.iter().for_each(|op| s.model.apply(op));
        }
        for (tag, group) in current {
            assert!(!group.acknowledged, "group {tag} was acknowledged and is lost");
            assert!(group.lsn.is_none_or(|l| l > newest), "lost group {tag} is not of a suffix");
        }
        s.model.clone()
    }

    /// A dropped unit is gone for good.
    pub(crate) fn gone(&self, unit: u32) {
        self.state().model.dropped.remove(&unit);
    }
}

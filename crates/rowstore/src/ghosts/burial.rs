//! Moves ghosts to the graveyard of their hobt (`ghosts/graveyard.rs`). For a thread that changes a
//! row it checks whether the thread's moment sees a row that lies there.

use crate::error::RowResult;
use crate::ghosts::graveyard::{Bound, GRAVE_BYTES, Grave};
use crate::hobt::RowHobt;
use crate::place::{NOWHERE, Place};
use crate::versions::{Visibility, conflict};
use access::LockPlan;
use btree::KeyBuf;
use page::{Field, VersionTag};
use std::ops::ControlFlow;
use std::sync::Arc;
use txn::{CommitTime, Lifetime};
use work::{Engine, Sexton, Work};

impl RowHobt {
    /// Moves a ghost that a snapshot needs off its page, which is latched. From now on it is found
    /// here, in a heap by its RID. False when it must stay. `epoch` was read before the ghost was
    /// found to be needed.
    pub(crate) fn bury(
        &self,
        engine: &Engine,
        (ghost, place): (&[u8], Place),
        home: Place,
        epoch: u32,
    ) -> bool {
        // Pieces of large values are found through their rows, and block no search.
        if self.spec.pieces || self.is_left_by_rule(engine) {
            return false;
        }
        let Some(tag) = self.tag_of(ghost, place) else { return false };
        let Some(ended) = self.committed(engine, tag.writer) else { return false };
        let mut record = ghost.to_vec();
        if !VersionTag::is_on(ghost) {
            tag.put(&mut record);
        }
        let grave = Grave { record: record.into(), home, ended };
        let list = || self.home.graveyards().list(self.arc());
        self.state.graves.put(self.tree.as_ref(), engine, grave, epoch, list)
    }

    /// Whether a ghost in the graveyard is still needed. If not, the versions behind it are freed.
    fn is_needed_still(&self, engine: &Engine, ghost: &[u8]) -> bool {
        if self.is_dropped() {
            return false;
        }
        let Some(tag) = VersionTag::of(ghost) else { return false };
        match self.row_need(engine, tag) {
            Ok(Some(dropped)) => {
                // If this fails, the store's reclaimer frees the versions later.
                let _ = dropped.finish();
                false
            }
            Ok(None) | Err(_) => true,
        }
    }

    /// Refuses to change or insert a key if the changer's moment sees a row with that key whose
    /// ghost is here: another transaction has deleted it since.
    pub(crate) fn judge_graves(
        &self,
        work: &Work,
        plan: &LockPlan,
        key: &[Field<'_>],
    ) -> RowResult<()> {
        let Some(at) = self.may_conflict(plan) else { return Ok(()) };
        let whole = Some(Bound { key: &KeyBuf::of(key), inclusive: true });
        self.state.graves.each(self.tree(), (whole, whole), false, &mut |ghost| {
            self.judge_grave(work, (plan, at), ghost).map(ControlFlow::Continue)
        })
    }

    /// The same for a row of a heap.
    pub(crate) fn judge_grave_at(
        &self,
        work: &Work,
        plan: &LockPlan,
        home: Place,
    ) -> RowResult<()> {
        let Some(at) = self.may_conflict(plan) else { return Ok(()) };
        self.state.graves.at(home, &mut |ghost| self.judge_grave(work, (plan, at), ghost))
    }

    /// The changer's moment, if it may see a ghost here.
    fn may_conflict(&self, plan: &LockPlan) -> Option<CommitTime> {
        plan.unchanged_since.filter(|at| self.state.graves.may_be_seen(*at))
    }

    fn judge_grave(
        &self,
        work: &Work,
        (plan, at): (&LockPlan, CommitTime),
        ghost: &[u8],
    ) -> RowResult<()> {
        match self.as_of(work, at, (ghost, NOWHERE), &mut Vec::new())? {
            Visibility::Nothing => Ok(()),
            Visibility::AsItIs | Visibility::Former => Err(conflict(work, plan)),
        }
    }
}

impl Sexton for RowHobt {
    fn sweep(&self, engine: &Engine) {
        self.state.graves.sweep(engine, &|ghost| self.is_needed_still(engine, ghost));
    }

    fn tell(&self, engine: &Engine, each: &mut dyn FnMut(Lifetime, usize)) -> base::SqlResult<()> {
        // Copied first: a thread that moves ghosts here waits for threads that look.
        let mut tags = Vec::new();
        self.state.graves.all(&mut |ghost| {
            tags.extend(VersionTag::of(ghost).map(|tag| (tag, GRAVE_BYTES + ghost.len())));
        });
        let mut lifetimes = Vec::new();
        for (tag, bytes) in tags {
            self.lifetimes_of(engine, tag, &mut lifetimes).map_err(|e| self.sql(e))?;
            lifetimes.drain(..).for_each(|of| each(of, bytes));
        }
        Ok(())
    }

    fn has_graves(&self) -> bool {
        !self.state.graves.is_empty()
    }

    fn identity(&self) -> usize {
        Arc::as_ptr(&self.state) as usize
    }
}

//! A run's memory: what its plan needs, what was granted, what it uses.
//!
//! A plan without sorts, hashes, spools and the like requests no grant. Where a row source may or
//! may not need memory (rows of a view, TOP PERCENT), it requests the memory when it needs it, and
//! does not wait for it.

use super::semaphore::{GrantRow, Kind, MemoryGrant, OPERATOR_BYTES, Request, Workspace};
use crate::run::GrantTerms;
use base::SqlResult;
use os::sync::Mutex;
use plan::{GrantHints, PhysicalPlan};
use work::Work;

/// What an operator may hold without a grant: with less it would spill row by row.
pub(crate) const WORKSPACE_BYTES: usize = 16 * 1024;
/// A plan of many operators requires no more; they seldom all work at a time.
const REQUIRED_BYTES_MAX: usize = 4 * OPERATOR_BYTES;

/// What a plan needs memory for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Needs {
    /// Operators that keep rows.
    pub(crate) operators: usize,
    /// It reads views and nothing else: that is a small grant.
    pub(crate) views_only: bool,
    /// How many workers have such operators each, where there are any.
    pub(crate) degree: usize,
}

impl Needs {
    /// The needs of a plan whose change keeps rows or keys of its own `kept_by_change` times.
    pub(crate) fn of(plan: &PhysicalPlan, kept_by_change: usize) -> Needs {
        let source = plan.statement.source();
        let many = source.is_some_and(|s| !s.gives_one_row());
        let kept = plan.statement.target().is_some_and(|t| t.references.kept.is_some());
        let operators = kept_by_change + usize::from(kept && many);
        let mut needs = Needs { operators, views_only: true, degree: 1 };
        let follow_ups = plan.follow_ups.iter().filter_map(|f| f.source());
        let subqueries = plan.subqueries.iter().map(|s| &s.source);
        for tree in source.into_iter().chain(subqueries).chain(follow_ups) {
            tree.for_each(&mut |node| {
                needs.operators += usize::from(node.keeps_rows());
                needs.views_only &= node.describe().stored().is_none();
            });
        }
        needs
    }
}

/// What a statement with these needs and hints asks for; none where a hint leaves it nothing.
fn request(workspace: &Workspace, needs: Needs, hints: GrantHints) -> Option<Request> {
    let part = |whole: usize, percent: f64| (whole as f64 * percent / 100.0) as usize;
    let hinted = |whole| hints.max_percent.map_or(whole, |percent| part(whole, percent));
    let whole = workspace.query_bytes_max.min(workspace.regular_bytes);
    let small = needs.views_only || hinted(whole) <= workspace.small_query_bytes_max;
    let (kind, ideal_bytes) = match small {
        true => (Kind::Small, workspace.small_query_bytes_max.min(workspace.small_bytes)),
        false => (Kind::Regular, whole),
    };
    let bytes_max = hinted(whole).min(ideal_bytes);
    let least = hints.min_percent.map_or(0, |percent| part(whole, percent));
    let most = REQUIRED_BYTES_MAX * needs.degree.max(1);
    let each = OPERATOR_BYTES * needs.degree.max(1);
    let usual = needs.operators.saturating_mul(each).min(most);
    let required_bytes = usual.max(least).min(bytes_max);
    let degree = needs.degree.max(1);
    (bytes_max > 0).then_some(Request { kind, required_bytes, bytes_max, ideal_bytes, degree })
}

/// The memory of one run.
pub(crate) struct Grant<'r> {
    terms: GrantTerms<'r>,
    needs: Needs,
    hints: GrantHints,
    used_bytes: usize,
    granted_bytes: usize,
    held: Option<MemoryGrant<'r>>,
    /// Set in a worker: the grant that the workers share, of which this is a part.
    shared: Option<&'r dyn GrantPool>,
}

/// The grant of a statement that several workers run: each takes memory from it in steps.
pub(crate) struct SharedGrant<'r> {
    whole: Mutex<Grant<'r>>,
    terms: GrantTerms<'r>,
    needs: Needs,
    hints: GrantHints,
    share_bytes: usize,
}

/// What a worker takes of a shared grant at a time.
const STEP_BYTES: usize = 256 * 1024;

/// A shared grant, as a worker sees it.
pub(crate) trait GrantPool: Sync {
    /// The part of a worker, which has nothing yet.
    fn of_worker(&self) -> Grant<'_>;

    /// What one operator of one worker may hold.
    fn share_bytes(&self) -> usize;

    /// Whether there is so much more.
    fn take(&self, bytes: usize, work: &Work) -> bool;
}

impl<'r> SharedGrant<'r> {
    /// What one operator of one worker may hold is its share among all of them.
    pub(crate) fn new(whole: Grant<'r>, degree: usize) -> SharedGrant<'r> {
        let needs = Needs { operators: whole.needs.operators * degree, ..whole.needs };
        let share_bytes = Grant::share_of(whole.held.as_ref(), needs.operators);
        let (terms, hints) = (whole.terms, whole.hints);
        SharedGrant { whole: Mutex::new(whole), terms, needs, hints, share_bytes }
    }

    /// What was asked, granted and used, where anything was.
    pub(crate) fn row(&self) -> Option<GrantRow> {
        self.whole.lock().row()
    }
}

impl GrantPool for SharedGrant<'_> {
    fn of_worker(&self) -> Grant<'_> {
        Grant {
            terms: self.terms,
            needs: self.needs,
            hints: self.hints,
            used_bytes: 0,
            granted_bytes: 0,
            held: None,
            shared: Some(self),
        }
    }

    fn share_bytes(&self) -> usize {
        self.share_bytes
    }

    fn take(&self, bytes: usize, work: &Work) -> bool {
        let mut whole = self.whole.lock();
        let wanted = whole.used_bytes + bytes;
        let taken =
            whole.held.is_some() && (wanted <= whole.granted_bytes || whole.grow_to(wanted, work));
        if taken {
            whole.set_used(wanted);
        }
        taken
    }
}

impl<'r> Grant<'r> {
    /// The grant of a run that begins: waits for what its plan requires.
    ///
    /// # Errors
    /// 8645 when it waited too long; the cancellation of the request.
    #[inline]
    pub(crate) fn ask(
        terms: GrantTerms<'r>,
        needs: Needs,
        hints: GrantHints,
        work: &Work,
    ) -> SqlResult<Grant<'r>> {
        let (used_bytes, granted_bytes, held, shared) = (0, 0, None, None);
        let mut grant = Grant { terms, needs, hints, used_bytes, granted_bytes, held, shared };
        if needs.operators > 0 {
            grant.begin(work)?;
        }
        Ok(grant)
    }

    #[cold]
    fn begin(&mut self, work: &Work) -> SqlResult<()> {
        let semaphores = self.terms.semaphores;
        if let Some(request) = request(semaphores.workspace(), self.needs, self.hints) {
            let held = semaphores.ask(work, request)?;
            self.granted_bytes = held.bytes();
            self.held = Some(held);
        }
        Ok(())
    }

    /// Memory within the grant for an operator that holds `held_bytes`; false when there is no
    /// more, or the rest is for the plan's other operators.
    pub(crate) fn take(&mut self, bytes: usize, held_bytes: usize, work: &Work) -> bool {
        let wanted = self.used_bytes + bytes;
        if let Some(shared) = self.shared {
            let taken = held_bytes + bytes <= shared.share_bytes()
                && (wanted <= self.granted_bytes || self.take_step(shared, wanted, work));
            self.used_bytes += if taken { bytes } else { 0 };
            return taken;
        }
        let taken = held_bytes + bytes <= self.share_bytes()
            && (wanted <= self.granted_bytes || self.grow_to(wanted, work));
        if taken {
            self.set_used(wanted);
        }
        taken
    }

    /// What one operator may hold: half an equal share is left to each of the others, so that
    /// the last one to begin doesn't work row by row.
    #[inline]
    fn share_bytes(&self) -> usize {
        Grant::share_of(self.held.as_ref(), self.needs.operators)
    }

    fn share_of(held: Option<&MemoryGrant<'_>>, operators: usize) -> usize {
        let most = held.map_or(usize::MAX, MemoryGrant::bytes_max);
        match operators {
            0 | 1 => most,
            n => most - (n - 1) * (most / (2 * n)),
        }
    }

    /// More of a shared grant: by a step, or as much as is wanted where that is not there.
    #[cold]
    fn take_step(&mut self, shared: &dyn GrantPool, wanted: usize, work: &Work) -> bool {
        let missing = wanted - self.granted_bytes;
        let step = [missing.max(STEP_BYTES), missing].into_iter();
        let Some(step) = step.into_iter().find(|&step| shared.take(step, work)) else {
            return false;
        };
        self.granted_bytes += step;
        true
    }

    #[cold]
    fn grow_to(&mut self, wanted: usize, work: &Work) -> bool {
        if self.held.is_none() && wanted <= WORKSPACE_BYTES {
            // An operator may have that in any case: a row or a few need no grant.
            return true;
        }
        let semaphores = self.terms.semaphores;
        if self.held.is_none() && self.needs.operators == 0 {
            // Whatever else it reads, its grant is a small one, and it does not wait.
            let needs = Needs { views_only: true, ..self.needs };
            let request = request(semaphores.workspace(), needs, self.hints);
            self.held = request.map(|request| semaphores.begin_empty(work, request));
        }
        let Some(held) = &self.held else { return false };
        if wanted > held.bytes_max() {
            return false;
        }
        self.granted_bytes = held.grow_to(wanted);
        wanted <= self.granted_bytes
    }

    /// What was asked, granted and used, where anything was.
    pub(crate) fn row(&self) -> Option<GrantRow> {
        self.held.as_ref().map(MemoryGrant::row)
    }

    /// Memory that cannot be done without: within the grant as far as that grows.
    pub(crate) fn overdraw(&mut self, bytes: usize, work: &Work) {
        let wanted = self.used_bytes + bytes;
        if wanted > self.granted_bytes {
            self.grow_to(wanted, work);
        }
        self.set_used(wanted);
    }

    /// Gives memory back, to be taken again by this run.
    pub(crate) fn give(&mut self, bytes: usize) {
        self.set_used(self.used_bytes.saturating_sub(bytes));
    }

    #[inline]
    fn set_used(&mut self, bytes: usize) {
        self.used_bytes = bytes;
        if let Some(held) = &self.held {
            held.note_used(bytes);
        }
    }
}

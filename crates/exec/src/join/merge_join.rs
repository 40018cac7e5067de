//! Merge join: two inputs in the order of their keys, read in parallel.
//!
//! ```text
//! left    1  2  2  5        both advance by the lesser key; where keys are equal, the right rows
//! right   0  2  2  2  6     with that key are a group that each equal left row meets
//! ```
//!
//! The row of each side lies in its slots. When those slots are needed for something else (NULLs
//! for a row without partner, rows of the group), the row is put aside and restored later. That
//! costs nothing when keys are unique.
//!
//! Invariants
//!  1. While a group is being joined, `aside_right` holds the first right row after it.
//!  2. Without `many_to_many` no two left rows have the same keys. So a right row is finished after
//!     one comparison that finds it equal, and there is no group.

use crate::expr::Cond;
use crate::memory::RowBuffer;
use crate::operator::{Node, Operator};
use crate::run::Run;
use base::SqlResult;
use plan::{JoinKind, MergeKey, Slot};
use std::cmp::Ordering;
use types::{Value, compare};

/// Joins two ordered inputs by equality.
pub(crate) struct MergeJoin {
    id: usize,
    kind: JoinKind,
    left: Side,
    right: Side,
    keys: Vec<MergeKey>,
    /// Whether right rows are gathered, because several left rows may join them.
    gathers: bool,
    residual: Option<Cond>,
    group: Group,
    /// Whether the left row has found a partner.
    matched: bool,
    /// What to do before the next comparison.
    step: Step,
}

/// An input.
struct Side {
    node: Node,
    /// Every slot of its rows that is read here or above.
    slots: Vec<Slot>,
    /// Its row, while its slots have other values.
    aside: Vec<Value>,
    /// There is a row.
    present: bool,
}

/// Right rows with equal keys.
struct Group {
    rows: RowBuffer,
    /// Their keys.
    keys: Vec<Value>,
    /// Which have found a partner, where rows without one are kept.
    matched: Vec<u64>,
    matched_bytes: usize,
    at: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Both rows are in their slots.
    Compare,
    /// Restore the right row, if it was put aside, and read the next left one.
    Left,
    /// Restore the left row, if it was put aside, and read the next right one.
    Right,
    /// The left row is to be joined with the group.
    Meet,
    /// The left row has been joined with the group.
    Met,
    /// Return the rows of the group that found no partner.
    Lonely,
    Done,
}

impl Side {
    fn new(node: Node, slots: Vec<Slot>) -> Side {
        Side { node, slots, aside: Vec::new(), present: false }
    }

    fn advance(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        run.tick()?;
        self.present = self.node.next(run)?;
        Ok(())
    }

    /// Keeps the row elsewhere; its slots are NULL.
    fn put_aside(&mut self, run: &mut Run<'_>) {
        debug_assert!(self.aside.is_empty(), "a row is aside already");
        if self.present {
            let take = |s: &Slot| std::mem::replace(&mut run.frame[s.0 as usize], Value::Null);
            self.aside.extend(self.slots.iter().map(take));
        } else {
            self.slots.iter().for_each(|&s| run.set(s, Value::Null));
        }
    }

    fn put_back(&mut self, run: &mut Run<'_>) {
        for (&slot, value) in self.slots.iter().zip(self.aside.drain(..)) {
            run.set(slot, value);
        }
    }
}

impl Group {
    fn clear(&mut self, run: &mut Run<'_>) {
        self.rows.clear(run);
        self.keys.clear();
        self.matched.clear();
        run.give_memory(std::mem::take(&mut self.matched_bytes));
    }

    /// The next row into its slots.
    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        self.at += 1;
        self.rows.next(run)
    }

    fn rewind(&mut self) -> SqlResult<()> {
        self.at = 0;
        self.rows.rewind()
    }

    /// Reserves memory for noting which rows find partners; the join cannot do without.
    fn watch(&mut self, run: &mut Run<'_>) {
        let words = self.rows.total().div_ceil(64) as usize;
        self.matched_bytes = words * size_of::<u64>();
        run.overdraw_memory(self.matched_bytes);
        self.matched.resize(words, 0);
    }

    fn place(&self) -> (usize, u64) {
        let row = self.at - 1;
        ((row / 64) as usize, 1 << (row % 64))
    }

    fn mark(&mut self) {
        let (word, bit) = self.place();
        if let Some(word) = self.matched.get_mut(word) {
            *word |= bit;
        }
    }

    fn is_marked(&self) -> bool {
        let (word, bit) = self.place();
        self.matched.get(word).is_some_and(|w| w & bit != 0)
    }
}

impl MergeJoin {
    pub(crate) fn new(
        id: usize,
        join: &plan::MergeJoin,
        left: Node,
        right: Node,
    ) -> SqlResult<MergeJoin> {
        let reads = join.residual.as_ref().map(|p| p.reads().slots).unwrap_or_default();
        let side = |own: &[Slot], written: Vec<Slot>, key: fn(&MergeKey) -> Slot| {
            let mut slots = own.to_vec();
            let read = written.into_iter().filter(|s| reads.contains(s));
            slots.extend(join.keys.iter().map(key).chain(read));
            slots.sort_unstable();
            slots.dedup();
            slots
        };
        let left_slots = side(&join.left_slots, join.left.written(), |k| k.left);
        let right_slots = side(&join.right_slots, join.right.written(), |k| k.right);
        let one_side = matches!(join.kind, JoinKind::Semi | JoinKind::Anti);
        let group = Group {
            rows: RowBuffer::new(right_slots.clone()),
            keys: Vec::new(),
            matched: Vec::new(),
            matched_bytes: 0,
            at: 0,
        };
        Ok(MergeJoin {
            id,
            kind: join.kind,
            left: Side::new(left, left_slots),
            right: Side::new(right, right_slots),
            keys: join.keys.clone(),
            gathers: join.many_to_many && !(one_side && join.residual.is_none()),
            residual: join.residual.as_ref().map(Cond::new).transpose()?,
            group,
            matched: false,
            step: Step::Done,
        })
    }

    fn keeps_left(&self) -> bool {
        matches!(self.kind, JoinKind::Left | JoinKind::Full | JoinKind::Anti)
    }

    fn keeps_right(&self) -> bool {
        matches!(self.kind, JoinKind::Right | JoinKind::Full)
    }

    fn pairs(&self) -> bool {
        !matches!(self.kind, JoinKind::Semi | JoinKind::Anti)
    }

    /// How the current rows compare. A left row with a NULL comes before every row that could equal
    /// it.
    fn order(&self, run: &Run<'_>) -> Ordering {
        for key in &self.keys {
            let (l, r) = (run.slot(key.left), run.slot(key.right));
            let order = compare(l, r, key.collation);
            if order.is_ne() {
                return if key.descending { order.reverse() } else { order };
            }
            if l.is_null() {
                return Ordering::Less;
            }
        }
        Ordering::Equal
    }

    /// Whether a row's keys are those of the group.
    fn in_group(&self, run: &Run<'_>, slot: fn(&MergeKey) -> Slot) -> bool {
        let mut pairs = self.keys.iter().zip(&self.group.keys);
        pairs.all(|(k, v)| compare(run.slot(slot(k)), v, k.collation).is_eq())
    }

    fn fits(&self, run: &mut Run<'_>) -> SqlResult<bool> {
        self.residual.as_ref().map_or(Ok(true), |p| p.holds(run))
    }

    fn begin(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.group.clear(run);
        self.left.aside.clear();
        self.right.aside.clear();
        self.left.advance(run)?;
        self.right.advance(run)?;
        self.matched = false;
        self.step = Step::Compare;
        Ok(())
    }

    /// Compares both rows; true when there is a row to return.
    fn compare_rows(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        let order = match (self.left.present, self.right.present) {
            (false, false) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (true, true) => match self.order(run) {
                Ordering::Equal => return self.meet(run),
                unequal => unequal,
            },
        };
        match order {
            Ordering::Less if self.keeps_left() => Ok(self.pass_left(run)),
            Ordering::Greater if self.keeps_right() => {
                self.left.put_aside(run);
                self.step = Step::Right;
                Ok(true)
            }
            Ordering::Less if self.right.present => Ok(self.then(Step::Left)),
            Ordering::Greater if self.left.present => Ok(self.then(Step::Right)),
            // The other side is at its end, and nothing is kept of this one.
            _ => Ok(self.then(Step::Done)),
        }
    }

    fn then(&mut self, step: Step) -> bool {
        self.step = step;
        false
    }

    /// No further right row equals the left one; true when the left row is returned without a
    /// partner.
    fn pass_left(&mut self, run: &mut Run<'_>) -> bool {
        if self.matched || !self.keeps_left() {
            return self.then(Step::Left);
        }
        if self.kind != JoinKind::Anti {
            self.right.put_aside(run);
        }
        self.step = Step::Left;
        true
    }

    /// The rows are equal.
    fn meet(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        if self.gathers {
            self.gather(run)?;
            return Ok(self.then(Step::Meet));
        }
        let fits = self.fits(run)?;
        self.matched |= fits;
        if !self.pairs() {
            if fits {
                self.step = Step::Left;
                return Ok(self.kind == JoinKind::Semi);
            }
            return Ok(self.then(Step::Right));
        }
        if fits {
            self.step = Step::Right;
            return Ok(true);
        }
        if self.keeps_right() {
            self.left.put_aside(run);
            self.step = Step::Right;
            return Ok(true);
        }
        Ok(self.then(Step::Right))
    }

    /// Saves all right rows that have the keys of the current one.
    fn gather(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.group.clear(run);
        self.group.keys.extend(self.keys.iter().map(|k| run.slot(k.right).clone()));
        loop {
            self.group.rows.push(run)?;
            self.right.advance(run)?;
            if !self.right.present || !self.in_group(run, |k| k.right) {
                break;
            }
        }
        self.right.put_aside(run);
        run.counts.of(self.id).spilled(self.group.rows.spilled_bytes());
        if self.keeps_right() {
            self.group.watch(run);
        }
        self.group.rewind()
    }

    /// Joins the left row with the rest of the group; true when there is a row to return.
    fn meet_group(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        while self.group.next(run)? {
            run.tick()?;
            if !self.fits(run)? {
                continue;
            }
            self.matched = true;
            self.group.mark();
            if self.pairs() {
                return Ok(true);
            }
            self.step = Step::Met;
            return Ok(self.kind == JoinKind::Semi);
        }
        self.step = Step::Met;
        if self.matched || !self.keeps_left() {
            return Ok(false);
        }
        self.right.slots.iter().for_each(|&s| run.set(s, Value::Null));
        Ok(true)
    }

    /// Reads the next left row: it joins the group too, or the group ends.
    fn leave_group(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        self.left.advance(run)?;
        self.matched = false;
        self.group.rewind()?;
        if self.left.present && self.in_group(run, |k| k.left) {
            return Ok(self.then(Step::Meet));
        }
        if self.keeps_right() {
            self.left.put_aside(run);
            return Ok(self.then(Step::Lonely));
        }
        self.right.put_back(run);
        Ok(self.then(Step::Compare))
    }

    fn give_lonely(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        while self.group.next(run)? {
            run.tick()?;
            if !self.group.is_marked() {
                return Ok(true);
            }
        }
        self.right.put_back(run);
        self.left.put_back(run);
        Ok(self.then(Step::Compare))
    }
}

impl Operator for MergeJoin {
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.left.node.open(run)?;
        self.right.node.open(run)?;
        self.begin(run)
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        loop {
            let gives = match self.step {
                Step::Compare => self.compare_rows(run)?,
                Step::Left => {
                    self.right.put_back(run);
                    self.left.advance(run)?;
                    self.matched = false;
                    self.then(Step::Compare)
                }
                Step::Right => {
                    self.left.put_back(run);
                    self.right.advance(run)?;
                    self.then(Step::Compare)
                }
                Step::Meet => self.meet_group(run)?,
                Step::Met => self.leave_group(run)?,
                Step::Lonely => self.give_lonely(run)?,
                Step::Done => return Ok(false),
            };
            if gives {
                return Ok(true);
            }
        }
    }

    fn rewind(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.left.node.rewind(run)?;
        self.right.node.rewind(run)?;
        self.begin(run)
    }

    fn close(&mut self) {
        self.group.rows.drop_rows();
        self.group.keys.clear();
        self.group.matched = Vec::new();
        self.group.matched_bytes = 0;
        self.left.aside.clear();
        self.right.aside.clear();
        self.step = Step::Done;
        self.left.node.close();
        self.right.node.close();
    }
}

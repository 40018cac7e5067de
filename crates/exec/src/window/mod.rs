//! Window functions over an input ordered by partition, then order.
//!
//! Some functions can answer for a row when it comes (ranks, ROWS UNBOUNDED PRECEDING), some when
//! its peers are known (the default frame), the rest when its partition is. The slowest of the
//! calls decides for all: rows up to there are kept, then returned with their answers. README.md
//! says how frames move.
//!
//! Invariants
//!  1. `starts` has a bit for each row kept: set if its peers begin with it.
//!  2. Both ends of a frame only move forward while a partition is returned.

mod call;
mod lane;
mod sliding;

use crate::memory::RowBuffer;
use crate::operator::{Node, Operator};
use crate::run::Run;
use base::SqlResult;
use call::{Call, Place, Unit};
use lane::Marks;
use plan::{Slot, WindowCall};
use std::collections::BTreeSet;
use types::{Collation, Value, compare};

/// Computes window functions.
pub(crate) struct Window {
    id: usize,
    input: Node,
    partition: Vec<(Slot, Collation)>,
    order: Vec<(Slot, Collation)>,
    calls: Vec<Call>,
    unit: Unit,
    rows: RowBuffer,
    /// Which of the rows kept begin a group of peers; the first of them is row `base`.
    starts: Marks,
    base: u64,
    /// Slots of the row that begins the next unit, its values, and whether it begins a partition.
    saved_slots: Vec<Slot>,
    saved: Option<(Vec<Value>, bool)>,
    /// Partition keys and order keys of the row before.
    partition_keys: Option<Vec<Value>>,
    order_keys: Option<Vec<Value>>,
    /// Where the next row stands.
    place: Place,
    giving: bool,
    ended: bool,
}

impl Window {
    pub(crate) fn new(
        id: usize,
        input: Node,
        partition: Vec<(Slot, Collation)>,
        order: Vec<(Slot, Collation)>,
        calls: &[WindowCall],
        carried: &[Slot],
    ) -> SqlResult<Window> {
        let kept = kept_slots(&partition, &order, calls, carried);
        let mut calls = calls.iter().map(Call::new).collect::<SqlResult<Vec<_>>>()?;
        let unit = calls.iter().map(Call::unit).max().unwrap_or(Unit::Row);
        calls.iter_mut().for_each(|c| c.settle(unit));
        Ok(Window {
            id,
            input,
            partition,
            order,
            calls,
            unit,
            rows: RowBuffer::new(kept.clone()),
            starts: Marks::default(),
            base: 0,
            saved_slots: kept,
            saved: None,
            partition_keys: None,
            order_keys: None,
            place: Place::default(),
            giving: false,
            ended: false,
        })
    }

    /// The row in the frame: does its partition begin with it, do its peers?
    fn begins(&mut self, run: &mut Run<'_>) -> (bool, bool) {
        let partition = !same(run, &self.partition, self.partition_keys.as_deref());
        let peers = partition || !same(run, &self.order, self.order_keys.as_deref());
        if partition {
            keep(run, &self.partition, &mut self.partition_keys);
        }
        if peers {
            keep(run, &self.order, &mut self.order_keys);
        }
        (partition, peers)
    }

    fn begin_partition(&mut self, run: &mut Run<'_>) {
        self.place = Place::default();
        self.calls.iter_mut().for_each(|c| c.begin(run));
    }

    /// Streaming: the row in the frame gets its values at once.
    fn next_streamed(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        if !self.input.next(run)? {
            return Ok(false);
        }
        let (partition, peers) = self.begins(run);
        if partition {
            self.begin_partition(run);
        }
        if peers {
            self.place.groups += 1;
            self.place.peers = (self.place.row, self.place.row + 1);
        }
        self.give(run)?;
        Ok(true)
    }

    /// Keeps the next unit; false when there is none.
    fn gather(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        self.rows.clear(run);
        self.starts.clear(run);
        let mut begins = match self.saved.take() {
            Some((saved, partition)) => {
                for (&slot, value) in self.saved_slots.iter().zip(saved) {
                    run.set(slot, value);
                }
                (partition, true)
            }
            None if self.ended || !self.input.next(run)? => return Ok(false),
            None => self.begins(run),
        };
        if begins.0 {
            self.begin_partition(run);
        }
        self.base = self.place.row;
        loop {
            run.tick()?;
            for c in &mut self.calls {
                c.gather(run, begins.1)?;
            }
            self.starts.push(run, begins.1);
            self.rows.push(run)?;
            if !self.input.next(run)? {
                self.ended = true;
                break;
            }
            begins = self.begins(run);
            if begins.0 || (begins.1 && self.unit == Unit::Peers) {
                let saved = self.saved_slots.iter().map(|&s| run.slot(s).clone());
                self.saved = Some((saved.collect(), begins.0));
                break;
            }
        }
        self.calls.iter_mut().try_for_each(|c| c.gathered(run))?;
        let in_lanes: u64 = self.calls.iter().map(Call::spilled_bytes).sum();
        run.counts.of(self.id).spilled(self.rows.spilled_bytes() + in_lanes);
        self.place.total = self.base + self.rows.total();
        self.rows.rewind()?;
        self.giving = true;
        Ok(true)
    }

    fn next_gathered(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        while !self.giving || !self.rows.next(run)? {
            if !self.gather(run)? {
                return Ok(false);
            }
        }
        if self.starts.get(self.place.row - self.base) {
            self.find_peers(run)?;
        }
        self.give(run)?;
        Ok(true)
    }

    /// The next row begins a group of peers: how far it goes.
    fn find_peers(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        let mut end = self.place.row + 1;
        while end < self.place.total && !self.starts.get(end - self.base) {
            run.tick()?;
            end += 1;
        }
        self.place.groups += 1;
        self.place.peers = (self.place.row, end);
        Ok(())
    }

    /// Puts the values of the row in the frame into their slots.
    fn give(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        for c in &mut self.calls {
            c.give(run, &self.place)?;
        }
        self.place.row += 1;
        Ok(())
    }
}

fn same(run: &Run<'_>, keys: &[(Slot, Collation)], values: Option<&[Value]>) -> bool {
    let same = |(k, v): (&(Slot, Collation), &Value)| compare(run.slot(k.0), v, k.1).is_eq();
    values.is_some_and(|values| keys.iter().zip(values).all(same))
}

fn keep(run: &Run<'_>, keys: &[(Slot, Collation)], values: &mut Option<Vec<Value>>) {
    let values = values.get_or_insert_default();
    values.clear();
    values.extend(keys.iter().map(|k| run.slot(k.0).clone()));
}

/// What a row keeps: what is asked for, and what this operator looks at.
fn kept_slots(
    partition: &[(Slot, Collation)],
    order: &[(Slot, Collation)],
    calls: &[WindowCall],
    carried: &[Slot],
) -> Vec<Slot> {
    let mut kept: BTreeSet<Slot> = carried.iter().copied().collect();
    kept.extend(partition.iter().chain(order).map(|k| k.0));
    let arguments = calls.iter().flat_map(|c| c.function.arguments());
    kept.extend(arguments.flat_map(|x| x.reads().slots));
    kept.into_iter().collect()
}

impl Operator for Window {
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.rows.clear(run);
        self.starts.clear(run);
        self.calls.iter_mut().for_each(|c| c.begin(run));
        self.saved = None;
        (self.partition_keys, self.order_keys) = (None, None);
        (self.giving, self.ended) = (false, false);
        self.place = Place::default();
        self.input.open(run)
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        run.tick()?;
        if self.unit == Unit::Row { self.next_streamed(run) } else { self.next_gathered(run) }
    }

    fn close(&mut self) {
        self.rows.drop_rows();
        self.starts.drop_bits();
        self.calls.iter_mut().for_each(Call::drop_values);
        self.saved = None;
        (self.partition_keys, self.order_keys) = (None, None);
        self.input.close();
    }
}

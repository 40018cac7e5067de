//! Zones: operators that each worker runs over its part of the rows.

use super::safe::{is_decomposed, own_is_safe, own_reads};
use super::{FEW_GROUPS, Part, Pass, inputs_at, with_inputs};
use crate::node::Slots;
use plan::{
    AggregateCall, AggregatePhase, Compute, Estimate, Filter, HashAggregate, Physical, Scalar,
    ScalarKind, ScalarType, Slot, Sort, StartupFilter, StreamAggregate, Top, TopRows, TopSort,
    Window,
};
use types::{Collation, SqlType, Value};

impl Pass<'_> {
    /// The part as each worker runs it; `None` where it cannot.
    pub(super) fn zone(&mut self, tree: &Physical, at: usize, needed: &Slots) -> Option<Part> {
        if !own_is_safe(tree) {
            return None;
        }
        let own = own_reads(tree, self.plan);
        let below: Slots = needed.union(&own).copied().collect();
        match tree {
            Physical::Access(a) => {
                if a.seek.as_ref().is_some_and(|s| s.unique) {
                    return None;
                }
                let mut access = a.clone();
                access.divided = true;
                let cost = self.own(at) / self.workers;
                let estimates = vec![Estimate { subtree: cost, ..self.estimate(at) }];
                let tree = Physical::Access(access);
                Some(Part { tree, estimates, cost, order: Vec::new(), spread: Vec::new() })
            }
            Physical::Filter(Filter { input, .. })
            | Physical::StartupFilter(StartupFilter { input, .. })
            | Physical::Compute(Compute { input, .. }) => {
                let zone = self.zone(input, at + 1, &below)?;
                Some(self.above(zone, at, |input| with_inputs(tree, vec![input])))
            }
            Physical::Lookup(l) => {
                let zone = self.zone(&l.input, at + 1, &below)?;
                Some(self.above(zone, at, |input| with_inputs(tree, vec![input])))
            }
            Physical::NestedLoops(j) => self.looped(tree, j, at, &below),
            Physical::HashJoin(j) => self.hashed_join(tree, j, at, &below),
            Physical::Sort(Sort { input, keys, distinct, .. }) => {
                let zone = match distinct {
                    false => self.zone(input, at + 1, &below)?,
                    true => {
                        let by: Vec<_> = keys.iter().map(|k| (k.slot, k.collation)).collect();
                        self.hashed(input, at + 1, &by, &below)?
                    }
                };
                let part = self.above(zone, at, |input| with_inputs(tree, vec![input]));
                Some(Part { order: keys.clone(), ..part })
            }
            Physical::HashAggregate(HashAggregate { keys, calls, .. }) if !keys.is_empty() => {
                self.groups(tree, keys, calls, at, &below)
            }
            Physical::StreamAggregate(StreamAggregate { input, keys, .. }) if !keys.is_empty() => {
                let Physical::Sort(_) = **input else { return None };
                let zone = self.hashed(input, at + 1, keys, &below)?;
                Some(self.above(zone, at, |input| with_inputs(tree, vec![input])))
            }
            Physical::Window(Window { input, partition, .. }) if !partition.is_empty() => {
                let Physical::Sort(_) = **input else { return None };
                let zone = self.hashed(input, at + 1, partition, &below)?;
                Some(self.above(zone, at, |input| with_inputs(tree, vec![input])))
            }
            Physical::Concatenation(_) => self.concatenated(tree, at, &below),
            _ => None,
        }
    }

    /// A zone whose rows that are equal in `keys` are one worker's: exchanged below its sort.
    pub(super) fn hashed(
        &mut self,
        tree: &Physical,
        at: usize,
        keys: &[(Slot, Collation)],
        needed: &Slots,
    ) -> Option<Part> {
        if let Physical::Sort(Sort { input, keys: order, .. }) = tree {
            let own = own_reads(tree, self.plan);
            let below: Slots = needed.union(&own).copied().collect();
            let zone = self.hashed(input, at + 1, keys, &below)?;
            let part = self.above(zone, at, |input| with_inputs(tree, vec![input]));
            return Some(Part { order: order.clone(), ..part });
        }
        let mut needed = needed.clone();
        needed.extend(keys.iter().map(|k| k.0));
        let zone = self.zone(tree, at, &needed)?;
        Some(self.repartitioned(zone, keys, &needed))
    }

    /// Groups that are one worker's each: made in part, exchanged, put together.
    fn groups(
        &mut self,
        tree: &Physical,
        keys: &[(Slot, Collation)],
        calls: &[AggregateCall],
        at: usize,
        needed: &Slots,
    ) -> Option<Part> {
        if calls.iter().any(AggregateCall::relies_on_order) {
            return None;
        }
        let [(place, input)] = inputs_at(tree, at)[..] else { return None };
        let zone = self.zone(input, place, needed)?;
        let whole = zone.spread == keys;
        let shrinks = self.estimate(at).rows * self.workers < self.estimate(place).rows;
        if whole || !shrinks || !calls.iter().all(is_decomposed) {
            let zone = self.repartitioned(zone, keys, needed);
            let part = self.above(zone, at, |input| with_inputs(tree, vec![input]));
            return Some(Part { order: Vec::new(), ..part });
        }
        let (partial, finals) = self.phases(calls);
        let own: Slots = keys.iter().map(|k| k.0).chain(partial.iter().map(|c| c.output)).collect();
        let part = self.above(zone, at, |input| aggregate(input, keys, partial));
        let mut part = Part { order: Vec::new(), spread: Vec::new(), ..part };
        // Each worker may meet every group.
        part.estimates[0].rows = self.estimate(at).rows * self.workers;
        let exchanged = self.repartitioned(part, keys, &own);
        let more = self.estimate(at).rows * 0.1 / crate::cost::UNIT;
        Some(self.finished(exchanged, at, more, |input| aggregate(input, keys, finals)))
    }

    /// Groups, or one row of all, put together in one thread from what workers made of theirs.
    pub(super) fn gathered_groups(
        &mut self,
        tree: &Physical,
        at: usize,
        needed: &Slots,
    ) -> Option<Part> {
        let (keys, calls) = match tree {
            Physical::HashAggregate(HashAggregate { keys, calls, .. }) => (keys, calls),
            Physical::StreamAggregate(StreamAggregate { keys, calls, .. }) if keys.is_empty() => {
                (keys, calls)
            }
            _ => return None,
        };
        let rows = self.estimate(at).rows;
        if !calls.iter().all(is_decomposed) || !own_is_safe(tree) || rows > FEW_GROUPS {
            return None;
        }
        let [(place, input)] = inputs_at(tree, at)[..] else { return None };
        let own = own_reads(tree, self.plan);
        let below: Slots = needed.union(&own).copied().collect();
        let zone = self.zone(input, place, &below)?;
        let (partial, finals) = self.phases(calls);
        let own: Slots = keys.iter().map(|k| k.0).chain(partial.iter().map(|c| c.output)).collect();
        let part = self.above(zone, at, |input| aggregate(input, keys, partial));
        let mut part = Part { order: Vec::new(), spread: Vec::new(), ..part };
        part.estimates[0].rows = rows * self.workers;
        let gathered = self.gather(part, Vec::new(), &own);
        let more = rows * self.workers * 0.1 / crate::cost::UNIT;
        Some(self.finished(gathered, at, more, |input| aggregate(input, keys, finals)))
    }

    /// The second of two steps above an exchange.
    fn finished(
        &self,
        below: Part,
        at: usize,
        more: f64,
        node: impl FnOnce(Physical) -> Physical,
    ) -> Part {
        let cost = below.cost + more;
        let own = Estimate { io: 0.0, cpu: more, subtree: cost, ..self.estimate(at) };
        let mut estimates = vec![own];
        estimates.extend_from_slice(&below.estimates);
        Part { tree: node(below.tree), estimates, cost, ..below }
    }

    /// The calls of the first step, and of the second.
    fn phases(&mut self, calls: &[AggregateCall]) -> (Vec<AggregateCall>, Vec<AggregateCall>) {
        let mut both = (Vec::with_capacity(calls.len()), Vec::with_capacity(calls.len()));
        for call in calls {
            let state = self.new_slot();
            let of = call.argument.as_ref().map(|x| x.ty);
            let ty = of.unwrap_or(ScalarType::new(SqlType::Int, false));
            both.0.push(AggregateCall {
                output: state,
                phase: AggregatePhase::Partial,
                ..call.clone()
            });
            both.1.push(AggregateCall {
                argument: Some(Scalar::column(state, ty)),
                phase: AggregatePhase::Final,
                ..call.clone()
            });
        }
        both
    }

    /// The first rows of all are among the first of each worker.
    pub(super) fn gathered_top(
        &mut self,
        tree: &Physical,
        sort: &TopSort,
        at: usize,
        needed: &Slots,
    ) -> Option<Part> {
        let TopSort { input, top, keys, carried } = sort;
        if top.percent || !own_is_safe(tree) {
            return None;
        }
        let number = |x: &Scalar| x.as_constant().and_then(Value::as_i64).filter(|n| *n >= 0);
        let offset = top.offset.as_ref().map_or(Some(0), number)?;
        let count = number(top.count.as_ref()?)?.checked_add(offset)?;
        let ty = top.count.as_ref()?.ty;
        let count = Scalar { kind: ScalarKind::Constant(Value::BigInt(count)), ty };
        let own = own_reads(tree, self.plan);
        let below: Slots = needed.union(&own).copied().collect();
        let zone = self.zone(input, at + 1, &below)?;
        let each = Top { count: Some(count), offset: None, ..top.clone() };
        let part = self.above(zone, at, |input| {
            Physical::TopSort(TopSort {
                input: Box::new(input),
                top: each,
                keys: keys.clone(),
                carried: carried.clone(),
            })
        });
        let mut part = Part { order: keys.clone(), ..part };
        part.estimates[0].rows = self.estimate(at).rows * self.workers;
        let gathered = self.gather(part, keys.clone(), needed);
        let more = self.estimate(at).rows * 0.01 / crate::cost::UNIT;
        let top = top.clone();
        Some(self.finished(gathered, at, more, |input| {
            Physical::Top(TopRows { input: Box::new(input), top })
        }))
    }

    /// Each worker has its part of every input.
    fn concatenated(&mut self, tree: &Physical, at: usize, needed: &Slots) -> Option<Part> {
        let mut cost = self.own(at) / self.workers;
        let mut estimates = vec![self.estimate(at)];
        let mut made = Vec::new();
        for (place, input) in inputs_at(tree, at) {
            let zone = self.zone(input, place, needed)?;
            cost += zone.cost;
            estimates.extend_from_slice(&zone.estimates);
            made.push(zone.tree);
        }
        estimates[0].subtree = cost;
        let (order, spread) = (Vec::new(), Vec::new());
        Some(Part { tree: with_inputs(tree, made), estimates, cost, order, spread })
    }
}

fn aggregate(input: Physical, keys: &[(Slot, Collation)], calls: Vec<AggregateCall>) -> Physical {
    let (input, keys) = (Box::new(input), keys.to_vec());
    match keys.is_empty() {
        true => Physical::StreamAggregate(StreamAggregate { input, keys, calls }),
        false => Physical::HashAggregate(HashAggregate { input, keys, calls }),
    }
}

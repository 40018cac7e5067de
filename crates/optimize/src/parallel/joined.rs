//! Joins in zones.

use super::safe::whole_is_safe;
use super::{Part, Pass, inputs_at, operators, with_inputs};
use crate::node::Slots;
use plan::{Estimate, HashJoin, JoinKind, NestedLoops, Physical};

impl Pass<'_> {
    /// Each worker opens the inner side for its rows of the outer.
    pub(super) fn looped(
        &mut self,
        tree: &Physical,
        join: &NestedLoops,
        at: usize,
        needed: &Slots,
    ) -> Option<Part> {
        if !whole_is_safe(&join.inner) {
            return None;
        }
        let zone = self.zone(&join.outer, at + 1, needed)?;
        let place = at + 1 + operators(&join.outer);
        let inner = self.as_it_is(&join.inner, place);
        // What is opened for each outer row is shared; what is filled once each worker fills.
        let share = if join.correlated { self.workers } else { 1.0 };
        let cost = zone.cost + inner.cost / share + self.own(at) / self.workers;
        let mut estimates = vec![Estimate { subtree: cost, ..self.estimate(at) }];
        estimates.extend_from_slice(&zone.estimates);
        estimates.extend_from_slice(&inner.estimates);
        let tree = with_inputs(tree, vec![zone.tree, inner.tree]);
        Some(Part { tree, estimates, cost, order: zone.order, spread: zone.spread })
    }

    /// A build side that each worker reads by itself, or both sides exchanged by their keys.
    pub(super) fn hashed_join(
        &mut self,
        tree: &Physical,
        join: &HashJoin,
        at: usize,
        needed: &Slots,
    ) -> Option<Part> {
        let [(build_at, build), (probe_at, probe)] = inputs_at(tree, at)[..] else { return None };
        let probed = self.zone(probe, probe_at, needed)?;
        let each = self.build_in_each(tree, join, (at, build_at), build, &probed);
        let exchanged = self.exchanged_join(tree, join, (at, build_at), build, probed, needed);
        match (each, exchanged) {
            (Some(a), Some(b)) => Some(if a.cost <= b.cost { a } else { b }),
            (a, b) => a.or(b),
        }
    }

    /// Rows of the build side without partner would come from every worker.
    fn build_in_each(
        &self,
        tree: &Physical,
        join: &HashJoin,
        (at, build_at): (usize, usize),
        build: &Physical,
        probed: &Part,
    ) -> Option<Part> {
        if matches!(join.kind, JoinKind::Right | JoinKind::Full) || !whole_is_safe(build) {
            return None;
        }
        let built = self.as_it_is(build, build_at);
        let (insert, look) = self.join_work(at, build_at);
        let cost = built.cost + insert + probed.cost + look / self.workers;
        Some(self.join(tree, at, cost, built, probed.clone()))
    }

    fn exchanged_join(
        &mut self,
        tree: &Physical,
        join: &HashJoin,
        (at, build_at): (usize, usize),
        build: &Physical,
        probed: Part,
        needed: &Slots,
    ) -> Option<Part> {
        let built = self.zone(build, build_at, needed)?;
        let build_keys: Vec<_> = join.keys.iter().map(|k| (k.0, k.2)).collect();
        let probe_keys: Vec<_> = join.keys.iter().map(|k| (k.1, k.2)).collect();
        let built = self.repartitioned(built, &build_keys, needed);
        let probed = self.repartitioned(probed, &probe_keys, needed);
        let cost = built.cost + probed.cost + self.own(at) / self.workers;
        let part = self.join(tree, at, cost, built, probed);
        let spread = match join.kind {
            JoinKind::Right | JoinKind::Full => Vec::new(),
            _ => probe_keys,
        };
        Some(Part { spread, ..part })
    }

    fn join(&self, tree: &Physical, at: usize, cost: f64, built: Part, probed: Part) -> Part {
        let mut estimates = vec![Estimate { subtree: cost, ..self.estimate(at) }];
        estimates.extend_from_slice(&built.estimates);
        estimates.extend_from_slice(&probed.estimates);
        let tree = with_inputs(tree, vec![built.tree, probed.tree]);
        Part { tree, estimates, cost, order: Vec::new(), spread: probed.spread }
    }

    /// What filling the table and looking into it cost, of the join's own.
    fn join_work(&self, at: usize, build_at: usize) -> (f64, f64) {
        let own = self.own(at);
        let built = self.estimate(build_at).rows;
        let rows = built + self.estimate(at).rows.max(1.0) + built;
        let insert = own * (2.0 * built / rows).min(1.0);
        (insert, own - insert)
    }
}

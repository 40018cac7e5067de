//! FULL joins: by hash or merge where there is an equality; else, or where a hint leaves loops
//! alone, all left rows with partners, then the right rows that have none.

use crate::convert::Optimizer;
use crate::node::{Node, Slots, Wish, writes};
use crate::order::{Joint, Key, merge_orders};
use base::{SqlError, SqlResult, messages};
use plan::{Compute, JoinHint, JoinKind, Logical, Physical, Predicate, Scalar, ScalarType, Slot};
use types::SqlType;

impl Optimizer<'_> {
    pub(crate) fn full_join(
        &mut self,
        tree: &Logical,
        filters: Vec<Predicate>,
        needed: &Slots,
    ) -> SqlResult<Node> {
        let Logical::Join { left, right, on, hint, .. } = tree else {
            return Err(SqlError::new(messages::INTERNAL, &[&"a FULL join is a join"]));
        };
        let mut inner_needed = needed.clone();
        filters.iter().for_each(|p| inner_needed.extend(self.reader().predicate(p)));
        let (left_slots, right_slots) = (writes(left), writes(right));
        let conditions = on.clone().conjuncts();
        let (keys, _) = self.keys(conditions.clone(), &left_slots, &right_slots);
        let asked = &self.hints.joins;
        let allows = |method| match hint {
            Some(hint) => *hint == method,
            None => asked.is_empty() || asked.contains(&method),
        };
        let (by_hash, by_loop) = (allows(JoinHint::Hash), allows(JoinHint::Loop));
        if keys.is_empty() || !by_hash && !allows(JoinHint::Merge) {
            if !by_loop {
                return Err(SqlError::new(messages::HINTS_NO_PLAN, &[]));
            }
            let node = self.full_by_parts(left, right, on, &inner_needed)?;
            return Ok(self.with_filter(node, filters));
        }
        let mut below = inner_needed.clone();
        conditions.iter().for_each(|p| below.extend(self.reader().predicate(p)));
        let of = |own: &Slots| below.intersection(own).copied().collect::<Slots>();
        let (left_below, right_below) = (of(&left_slots), of(&right_slots));
        let merges = !by_hash && keys.iter().all(Key::is_plain);
        let (left_order, right_order) = merge_orders(if merges { &keys } else { &[] });
        let wish = |order| Wish { order, ..Wish::NONE };
        let left = self.convert(left, Vec::new(), &left_below, wish(&left_order))?;
        let right = self.convert(right, Vec::new(), &right_below, wish(&right_order))?;
        let parts: Vec<&Predicate> = conditions.iter().collect();
        let pairs = left.rows * right.rows * self.estimator.all(&parts);
        let rows = pairs.max(left.rows).max(right.rows);
        let (kind, needed) = (JoinKind::Full, inner_needed);
        let left_whole = false;
        let joint = Joint {
            kind,
            left,
            left_slots,
            left_whole,
            right,
            right_slots,
            needed,
            conditions,
            rows,
        };
        let node = match by_hash {
            false => self.merged(joint),
            true => self.hashed(joint, false),
        };
        Ok(self.with_filter(node, filters))
    }

    fn full_by_parts(
        &mut self,
        left: &Logical,
        right: &Logical,
        on: &Predicate,
        needed: &Slots,
    ) -> SqlResult<Node> {
        let part = |kind, left: &Logical, right: &Logical| Logical::Join {
            kind,
            left: Box::new(left.clone()),
            right: Box::new(right.clone()),
            on: on.clone(),
            hint: None,
            apply: false,
        };
        let before = self.joined.clone();
        let first =
            self.convert(&part(JoinKind::Left, left, right), Vec::new(), needed, Wish::NONE)?;
        let joined = std::mem::replace(&mut self.joined, before);
        let second =
            self.convert(&part(JoinKind::Anti, right, left), Vec::new(), needed, Wish::NONE)?;
        // A subquery that one part has joined and the other has not is still run by the other.
        self.joined.retain(|id| joined.contains(id));
        let ty = ScalarType::new(SqlType::Int, true);
        let absent: Vec<(Slot, Scalar)> = needed
            .intersection(&writes(left))
            .map(|&slot| (slot, Scalar { ty, ..Scalar::null(SqlType::Int) }))
            .collect();
        let second = self.computed(second, absent);
        let both = writes(left).union(&writes(right)).copied().collect();
        let columns: Vec<Slot> = needed.intersection(&both).copied().collect();
        Ok(self.concatenated(vec![(first, columns.clone()), (second, columns.clone())], columns))
    }

    /// Columns computed above a node.
    pub(crate) fn computed(&self, node: Node, columns: Vec<(Slot, Scalar)>) -> Node {
        if columns.is_empty() {
            return node;
        }
        self.note_runs(node.rows, |reads| columns.iter().for_each(|(_, x)| x.read_into(reads)));
        let cost = self.prices.compute(node.rows, columns.len());
        let width = node.width + 8.0 * columns.len() as f64;
        let mut fixed = node.fixed.clone();
        let constant = columns.iter().filter(|(_, x)| x.as_constant().is_some());
        fixed.extend(constant.map(|(slot, _)| (*slot, None)));
        let node =
            node.over(cost, |input| Physical::Compute(Compute { input: Box::new(input), columns }));
        Node { width, fixed, ..node }
    }
}

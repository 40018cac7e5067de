//! EXISTS and IN over subqueries as semi joins, their negations as anti joins.
//!
//! NOT IN becomes a join only where neither side can be NULL: with NULLs it is three-valued, and
//! the expression that runs the subquery knows how.

use crate::convert::Optimizer;
use crate::join::Pairing;
use crate::node::{Node, Slots};
use base::SqlResult;
use plan::{CompareOp, JoinKind, Logical, Predicate, Quantifier, Scalar, SubqueryId};

/// A condition that is a join.
struct Semi {
    kind: JoinKind,
    subquery: SubqueryId,
    /// The operand of IN.
    equal: Option<(Scalar, types::Collation)>,
}

impl Optimizer<'_> {
    pub(crate) fn is_semi(&self, p: &Predicate) -> bool {
        self.as_semi(p).is_some()
    }

    fn as_semi(&self, p: &Predicate) -> Option<Semi> {
        match p {
            Predicate::Exists(subquery) => {
                Some(Semi { kind: JoinKind::Semi, subquery: *subquery, equal: None })
            }
            Predicate::Quantified {
                op: CompareOp::Equal,
                quantifier: Quantifier::Any,
                operand,
                subquery,
                collation,
            } if operand.reads().subqueries.is_empty() => {
                let equal = Some(((**operand).clone(), *collation));
                Some(Semi { kind: JoinKind::Semi, subquery: *subquery, equal })
            }
            Predicate::Not(inner) => {
                let semi = self.as_semi(inner)?;
                let nullable = semi.equal.as_ref().is_some_and(|(operand, _)| {
                    operand.ty.nullable || self.subqueries[semi.subquery.0 as usize].ty.nullable
                });
                let positive = semi.kind == JoinKind::Semi;
                (positive && !nullable).then_some(Semi { kind: JoinKind::Anti, ..semi })
            }
            _ => None,
        }
    }

    /// Keeps the rows of a node for which a semi-join condition holds.
    pub(crate) fn semi(
        &mut self,
        left: Node,
        left_slots: &Slots,
        p: Predicate,
        needed: &Slots,
    ) -> SqlResult<Node> {
        let Some(semi) = self.as_semi(&p) else {
            return Ok(crate::access::with_filter(left, vec![p]));
        };
        self.joined.insert(semi.subquery);
        let subquery = &self.subqueries[semi.subquery.0 as usize];
        let mut right = &subquery.source;
        let mut pair = Vec::new();
        match semi.equal {
            Some((operand, collation)) => pair.push(Predicate::Compare {
                op: CompareOp::Equal,
                left: Box::new(operand),
                right: Box::new(Scalar::column(subquery.columns[0], subquery.ty)),
                collation,
            }),
            // Nobody reads the columns of EXISTS.
            None => {
                while let Logical::Compute { input, .. } = right {
                    right = input;
                }
            }
        }
        // What ties the subquery to the row may be the join's condition.
        let mut right_filters = Vec::new();
        if let Logical::Filter { input, predicate } = right {
            for conjunct in predicate.clone().conjuncts() {
                let tied = !self.reader().predicate(&conjunct).is_disjoint(left_slots);
                if tied { pair.push(conjunct) } else { right_filters.push(conjunct) }
            }
            right = input;
        }
        // A side that still reads the row, or conditions within it, is opened for each row.
        let left_slots = left_slots.clone();
        let pairing =
            Pairing { kind: semi.kind, left, left_slots, right, right_filters, pair, hint: None };
        self.pair_up(pairing, needed)
    }
}

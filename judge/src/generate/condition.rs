//! Conditions.

use super::{Generator, Scope};
use crate::tree::{Cond, KINDS, Kind, Operator};

const OPERATORS: [Operator; 6] =
    [Operator("="), Operator("<>"), Operator("<"), Operator("<="), Operator(">"), Operator(">=")];
const PATTERNS: [&str; 6] = ["a%", "%b", "_a%", "%1%", "b_", "ab%"];

impl Generator<'_> {
    pub(super) fn condition(&mut self, scope: &Scope, depth: u32) -> Cond {
        if depth > 0 {
            match self.below(9) {
                0 | 1 => {
                    let of = self.several(scope, depth);
                    return Cond::And(of);
                }
                2 => {
                    let of = self.several(scope, depth);
                    return Cond::Or(of);
                }
                3 => return Cond::Not(Box::new(self.condition(scope, depth - 1))),
                _ => {}
            }
        }
        let kind = self.pick(&KINDS);
        let deep = depth.min(2);
        if !self.flat && self.sources > 0 && self.one_in(6) {
            return self.with_subquery(scope, kind);
        }
        let x = match self.column(scope, kind) {
            Some(column) if !self.one_in(4) => column,
            _ => self.value(scope, kind, deep),
        };
        let negated = self.one_in(3);
        match self.below(9) {
            0 => Cond::IsNull(x, negated),
            1 => {
                let (a, b) = (self.constant(kind), self.value(scope, kind, 0));
                Cond::Between(x, a, b, negated)
            }
            2 => {
                let n = 1 + self.below(4);
                let list = (0..n).map(|_| self.value(scope, kind, 0)).collect();
                Cond::InList(x, list, negated)
            }
            3 if kind == Kind::Text => Cond::Like(x, self.pick(&PATTERNS).to_owned(), negated),
            4 => Cond::Distinct(x, self.value(scope, kind, 0), negated),
            _ => {
                let (op, other) = (self.pick(&OPERATORS), self.value(scope, kind, deep));
                Cond::Compare(op, x, other)
            }
        }
    }

    fn several(&mut self, scope: &Scope, depth: u32) -> Vec<Cond> {
        let n = 2 + self.below(2);
        (0..n).map(|_| self.condition(scope, depth - 1)).collect()
    }

    fn with_subquery(&mut self, scope: &Scope, kind: Kind) -> Cond {
        let negated = self.one_in(3);
        match self.below(4) {
            0 | 1 => {
                let query = self.subquery(scope, kind);
                Cond::Exists(Box::new(query), negated)
            }
            2 => {
                let x = self.value(scope, kind, 1);
                let query = self.subquery(scope, kind);
                Cond::InQuery(x, Box::new(query), negated)
            }
            _ => {
                let x = self.value(scope, kind, 1);
                let (op, all) = (self.pick(&OPERATORS), self.one_in(2));
                let query = self.subquery(scope, kind);
                Cond::Quantified(op, x, Box::new(query), all)
            }
        }
    }

    /// A condition that joins two sides: mostly an equality of columns.
    pub(super) fn joining(&mut self, left: &Scope, right: &Scope) -> Cond {
        let equal = self.equality(left, right);
        let both: Scope = left.iter().chain(right).cloned().collect();
        match equal {
            Some(equal) if self.data.large || self.features.common => equal,
            Some(equal) => match self.below(6) {
                0 => {
                    let more = self.condition(&both, 1);
                    Cond::And(vec![equal, more])
                }
                1 => self.condition(&both, 1),
                _ => equal,
            },
            None => self.condition(&both, 1),
        }
    }

    fn equality(&mut self, left: &Scope, right: &Scope) -> Option<Cond> {
        if self.data.large {
            let unique = |scope: &Scope| scope.iter().find(|n| n.unique).cloned();
            let key = unique(right)?;
            let other = self.column(left, Kind::Int)?;
            return Some(Cond::Compare(Operator("="), other, key.expr()));
        }
        for _ in 0..4 {
            let kind = self.pick(&KINDS);
            if let (Some(a), Some(b)) = (self.column(left, kind), self.column(right, kind)) {
                return Some(Cond::Compare(Operator("="), a, b));
            }
        }
        None
    }
}

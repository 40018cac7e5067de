//! Walks over scalars and predicates: what they read, and how to rewrite them.
//!
//! Recursion is bounded by the depth that `bind` admits.

use crate::{LikeText, Predicate, Scalar, ScalarKind, Slot, SubqueryId, WindowFunction};
use std::collections::BTreeSet;

/// What an expression depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// Slots it reads, without those it writes itself.
    pub slots: BTreeSet<Slot>,
    /// Subqueries it runs (their own reads are not in here).
    pub subqueries: BTreeSet<SubqueryId>,
    /// It reads a variable or a fact of the session.
    pub session: bool,
    /// It has a function that may answer differently each time.
    pub volatile: bool,
    /// It has one that may do so within one statement.
    pub changing: bool,
    /// It has one that answers once in a statement, but elsewhere for each copy of it.
    pub drawn: bool,
}

impl Reads {
    /// It depends on nothing that changes while a statement runs.
    pub fn is_fixed(&self) -> bool {
        self.slots.is_empty() && self.subqueries.is_empty() && !self.volatile
    }
}

impl Scalar {
    /// What it reads.
    pub fn reads(&self) -> Reads {
        let mut reads = Reads::default();
        self.read_into(&mut reads);
        reads
    }

    /// Adds what it reads.
    pub fn read_into(&self, out: &mut Reads) {
        use ScalarKind as K;
        match &self.kind {
            K::Constant(_) => {}
            K::Column(slot) => {
                out.slots.insert(*slot);
            }
            K::Variable(_) | K::Global(_) => out.session = true,
            K::Negate(x) | K::BitNot(x) => x.read_into(out),
            K::Binary { left, right, .. } => {
                left.read_into(out);
                right.read_into(out);
            }
            K::Case { branches, otherwise } => {
                for (when, then) in branches {
                    when.read_into(out);
                    then.read_into(out);
                }
                if let Some(x) = otherwise {
                    x.read_into(out);
                }
            }
            K::Coalesce(list) => list.iter().for_each(|x| x.read_into(out)),
            K::Cast { operand, style, .. } => {
                operand.read_into(out);
                if let Some(x) = style {
                    x.read_into(out);
                }
            }
            K::Function { function, args, .. } => {
                out.volatile |= !function.deterministic;
                out.changing |= !function.is_runtime_constant();
                out.drawn |= function.is_drawn();
                args.iter().for_each(|x| x.read_into(out));
            }
            K::Method { args, .. } => args.iter().for_each(|x| x.read_into(out)),
            K::Call(call) => {
                out.volatile = true;
                out.changing = true;
                call.args.iter().for_each(|x| x.read_into(out));
            }
            K::Subquery(id) => {
                out.subqueries.insert(*id);
            }
            K::Let { slot, value, body } => {
                value.read_into(out);
                body.read_into(out);
                out.slots.remove(slot);
            }
        }
    }

    /// Rewrites every scalar within, innermost first, itself last.
    pub fn rewrite(&mut self, change: &mut dyn FnMut(&mut Scalar)) {
        use ScalarKind as K;
        match &mut self.kind {
            K::Constant(_) | K::Column(_) | K::Variable(_) | K::Global(_) | K::Subquery(_) => {}
            K::Negate(x) | K::BitNot(x) => x.rewrite(change),
            K::Binary { left, right, .. } => {
                left.rewrite(change);
                right.rewrite(change);
            }
            K::Case { branches, otherwise } => {
                for (when, then) in branches {
                    when.rewrite(change);
                    then.rewrite(change);
                }
                if let Some(x) = otherwise {
                    x.rewrite(change);
                }
            }
            K::Coalesce(list) => list.iter_mut().for_each(|x| x.rewrite(change)),
            K::Cast { operand, style, .. } => {
                operand.rewrite(change);
                if let Some(x) = style {
                    x.rewrite(change);
                }
            }
            K::Function { args, .. } => args.iter_mut().for_each(|x| x.rewrite(change)),
            K::Method { args, .. } => args.iter_mut().for_each(|x| x.rewrite(change)),
            K::Call(call) => call.args.iter_mut().for_each(|x| x.rewrite(change)),
            K::Let { value, body, .. } => {
                value.rewrite(change);
                body.rewrite(change);
            }
        }
        change(self);
    }
}

impl Predicate {
    /// What it reads.
    pub fn reads(&self) -> Reads {
        let mut reads = Reads::default();
        self.read_into(&mut reads);
        reads
    }

    /// Adds what it reads.
    pub fn read_into(&self, out: &mut Reads) {
        use Predicate as P;
        match self {
            P::Constant(_) => {}
            P::Compare { left, right, .. } | P::IsDistinct { left, right, .. } => {
                left.read_into(out);
                right.read_into(out);
            }
            P::IsNull(x) => x.read_into(out),
            P::Like { operand, pattern, .. } => {
                operand.read_into(out);
                if let LikeText::Dynamic { pattern, escape } = pattern {
                    pattern.read_into(out);
                    if let Some(x) = escape {
                        x.read_into(out);
                    }
                }
            }
            P::InList { operand, list, .. } => {
                operand.read_into(out);
                list.iter().for_each(|x| x.read_into(out));
            }
            P::Exists(id) => {
                out.subqueries.insert(*id);
            }
            P::Quantified { operand, subquery, .. } => {
                operand.read_into(out);
                out.subqueries.insert(*subquery);
            }
            P::Not(p) => p.read_into(out),
            P::And(parts) | P::Or(parts) => parts.iter().for_each(|p| p.read_into(out)),
            P::Let { slot, value, body } => {
                value.read_into(out);
                body.read_into(out);
                out.slots.remove(slot);
            }
        }
    }

    /// Rewrites every scalar within, innermost first.
    pub fn rewrite(&mut self, change: &mut dyn FnMut(&mut Scalar)) {
        use Predicate as P;
        match self {
            P::Constant(_) | P::Exists(_) => {}
            P::Compare { left, right, .. } | P::IsDistinct { left, right, .. } => {
                left.rewrite(change);
                right.rewrite(change);
            }
            P::IsNull(x) => x.rewrite(change),
            P::Like { operand, pattern, .. } => {
                operand.rewrite(change);
                if let LikeText::Dynamic { pattern, escape } = pattern {
                    pattern.rewrite(change);
                    if let Some(x) = escape {
                        x.rewrite(change);
                    }
                }
            }
            P::InList { operand, list, .. } => {
                operand.rewrite(change);
                list.iter_mut().for_each(|x| x.rewrite(change));
            }
            P::Quantified { operand, .. } => operand.rewrite(change),
            P::Not(p) => p.rewrite(change),
            P::And(parts) | P::Or(parts) => parts.iter_mut().for_each(|p| p.rewrite(change)),
            P::Let { value, body, .. } => {
                value.rewrite(change);
                body.rewrite(change);
            }
        }
    }
}

impl WindowFunction {
    /// Adds what it reads.
    pub fn read_into(&self, out: &mut Reads) {
        self.arguments().for_each(|x| x.read_into(out));
    }
}

//! A scalar subquery has one row at most.

use super::description::{Expression, Flow, InputOrder, Memory, Operator, RowBound, RowSlots};
use super::display::{Display, Item, Phrase};
use crate::held::{HeldBytes, operator_fields};
use crate::{CompareOp, Predicate, Scalar, ScalarKind, Slot};
use std::borrow::Cow;
use std::fmt;
use types::{Collation, SqlType, Value};

/// The value of a scalar subquery has one row at most: a second one is error 512.
#[derive(Clone, Debug, PartialEq)]
pub struct Assert<I> {
    /// Its rows.
    pub input: Box<I>,
    /// Which row it is, from 1.
    pub count: Slot,
}

operator_fields! { Assert: input; }

impl<I: HeldBytes> Operator<I> for Assert<I> {
    fn inputs(&self) -> Vec<&I> {
        vec![&self.input]
    }

    fn inputs_mut(&mut self) -> Vec<&mut I> {
        vec![&mut self.input]
    }

    fn output(&self) -> RowSlots {
        RowSlots::InputAnd(Vec::new())
    }

    fn expressions<'p>(&'p self, _visit: &mut dyn FnMut(Expression<'p>)) {}

    fn slots_read(&self) -> Vec<Slot> {
        Vec::new()
    }

    fn row_bound(&self) -> RowBound {
        RowBound::Found
    }

    fn memory(&self) -> Memory {
        Memory::None
    }

    fn flow(&self) -> Flow {
        Flow::Streams
    }

    fn runs_in_workers(&self) -> bool {
        false
    }

    fn orders(&self) -> Vec<InputOrder> {
        Vec::new()
    }

    fn line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Assert one row")
    }

    fn display(&self) -> Display<'_> {
        let refusal = Cow::<Scalar>::Owned(self.refusal());
        Display::new("Assert", "Assert", "Assert")
            .item(Item::Flag("StartupExpression", false))
            .inputs()
            .item(Item::Value("Predicate", refusal.clone()))
            .clause("WHERE:(", Phrase::Value(refusal))
    }
}

impl<I> Assert<I> {
    /// `CASE WHEN count > 1 THEN 0 ELSE NULL END`: what is not NULL refuses the row.
    fn refusal(&self) -> Scalar {
        let int = |n: i32| Scalar::constant(Value::Int(n), SqlType::Int);
        let row = Scalar::column(self.count, int(0).ty);
        let second = Predicate::Compare {
            op: CompareOp::Greater,
            left: Box::new(row),
            right: Box::new(int(1)),
            collation: Collation::default(),
        };
        let (ty, branches) = (int(0).ty, vec![(second, int(0))]);
        let otherwise = Some(Box::new(Scalar::null(SqlType::Int)));
        Scalar { kind: ScalarKind::Case { branches, otherwise }, ty }
    }
}

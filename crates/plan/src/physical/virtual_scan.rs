//! Rows of a system view or function.

use super::description::{Expression, Flow, InputOrder, Memory, Operator, RowBound, RowSlots};
use super::display::{Display, Item, Phrase};
use super::stored::{ScanColumn, scan_columns};
use crate::held::{HeldBytes, fields};
use crate::show::list;
use crate::{Predicate, Scalar, Slot};
use base::{DatabaseId, ObjectId};
use std::fmt;

/// A scan of a system view or function.
#[derive(Clone, Debug, PartialEq)]
pub struct VirtualScan {
    /// In whose context it answers.
    pub database: DatabaseId,
    /// Which.
    pub object: ObjectId,
    /// `sys.name`
    pub name: Box<str>,
    /// Arguments, evaluated when opened.
    pub arguments: Vec<Scalar>,
    /// What is read.
    pub columns: Vec<ScanColumn>,
    /// What must be true of a row.
    pub residual: Option<Predicate>,
}

fields! { VirtualScan: name, arguments, columns, residual; }

impl<I> Operator<I> for VirtualScan {
    fn inputs(&self) -> Vec<&I> {
        Vec::new()
    }

    fn inputs_mut(&mut self) -> Vec<&mut I> {
        Vec::new()
    }

    fn output(&self) -> RowSlots {
        RowSlots::Own(self.columns.iter().map(|c| c.slot).collect())
    }

    fn expressions<'p>(&'p self, visit: &mut dyn FnMut(Expression<'p>)) {
        self.arguments.iter().for_each(|x| visit(Expression::Value(x)));
        self.residual.iter().for_each(|p| visit(Expression::Test(p)));
    }

    fn slots_read(&self) -> Vec<Slot> {
        Vec::new()
    }

    fn row_bound(&self) -> RowBound {
        RowBound::Many
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
        write!(f, "Virtual {}(", self.name)?;
        list(f, &self.arguments, |f, x| write!(f, "{x}"))?;
        f.write_str(")")?;
        scan_columns(f, &self.columns)?;
        match &self.residual {
            Some(p) => write!(f, " where {p}"),
            None => Ok(()),
        }
    }

    fn display(&self) -> Display<'_> {
        let name = "Table-valued function";
        let residual = self.residual.as_ref();
        let display = Display::new(name, name, "TableValuedFunction")
            .item(Item::Read(self.columns.iter().map(|c| c.slot).collect()))
            .item(Item::Object(Some(self.database), &self.name))
            .condition("Predicate", residual)
            .clause("OBJECT:(", Phrase::Object(Some(self.database), &self.name))
            .tested(",  WHERE:(", residual);
        match self.arguments.is_empty() {
            true => display,
            false => display.item(Item::Parameters(&self.arguments)),
        }
    }
}

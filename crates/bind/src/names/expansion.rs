//! Views and functions whose text stands in the place of their names.

use catalog::view::{DatabaseView, Module};
use plan::{Predicate, Scalar, TableNo};
use std::ops::Range;
use std::sync::Arc;

/// A module that is being expanded.
pub(crate) struct Expansion {
    pub(crate) module: Arc<Module>,
    /// What its parameters are, in order.
    pub(crate) parameters: Vec<Scalar>,
}

/// What a view WITH CHECK OPTION asks of rows that are written through it.
pub(crate) struct CheckedView {
    pub(crate) name: Box<str>,
    /// The references of its body.
    pub(crate) tables: Range<u32>,
    pub(crate) conditions: Vec<Predicate>,
}

/// A view whose text was put in.
pub(crate) struct PassedView {
    pub(crate) database: Arc<DatabaseView>,
    pub(crate) module: Arc<Module>,
    /// The references of its body.
    pub(crate) tables: Range<usize>,
}

/// The modules of a statement: those that are being expanded, and those that were.
#[derive(Default)]
pub(crate) struct Expansions {
    /// The outermost first.
    open: Vec<Expansion>,
    checked: Vec<CheckedView>,
    passed: Vec<PassedView>,
}

impl Expansions {
    /// The module whose text is at hand; none for the statement's own.
    pub(crate) fn innermost(&self) -> Option<&Expansion> {
        self.open.last()
    }

    /// The statement's own text is at hand.
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// How many modules stand around the place at hand.
    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Whether a module stands around the place at hand.
    pub(crate) fn holds(&self, module: &Module) -> bool {
        self.open.iter().any(|e| e.module.object_id == module.object_id)
    }

    /// Begins a module's text.
    pub(crate) fn push(&mut self, expansion: Expansion) {
        self.open.push(expansion);
    }

    /// Ends the innermost module's text.
    pub(crate) fn pop(&mut self) {
        self.open.pop();
    }

    /// Notes a view WITH CHECK OPTION.
    pub(crate) fn note_checked(&mut self, view: CheckedView) {
        self.checked.push(view);
    }

    /// The views WITH CHECK OPTION above a reference.
    pub(crate) fn checked_above(&self, no: TableNo) -> impl Iterator<Item = &CheckedView> {
        self.checked.iter().filter(move |v| v.tables.contains(&no.0))
    }

    /// Notes a view that stands above some references.
    pub(crate) fn note_passed(&mut self, view: PassedView) {
        self.passed.push(view);
    }

    /// The views above a reference.
    pub(crate) fn passed_above(&self, no: TableNo) -> impl Iterator<Item = &PassedView> {
        self.passed.iter().filter(move |v| v.tables.contains(&(no.0 as usize)))
    }
}

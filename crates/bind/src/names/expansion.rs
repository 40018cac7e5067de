//! Views and functions whose text stands in the place of their names.

use catalog::view::{DatabaseView, Module};
use plan::{Predicate, Scalar};
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

/// A view whose text was put in, with the references of its tables.
pub(crate) type PassedView = (Arc<DatabaseView>, Arc<Module>, Range<usize>);

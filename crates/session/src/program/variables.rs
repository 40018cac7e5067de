//! The variables of a program, parameters first, found by name however many there are.
//!
//! A place sees those that were declared before it: it asks with their count.

use plan::VariableId;
use std::collections::HashMap;
use std::ops::Deref;
use types::SqlType;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct ProgramVariables {
    list: Vec<ProgramVariable>,
    /// The first of each name, which is kept without case.
    places: HashMap<Box<str>, usize>,
}

impl ProgramVariables {
    pub(crate) fn push(&mut self, variable: ProgramVariable) {
        let name = variable.name.to_lowercase().into();
        self.places.entry(name).or_insert(self.list.len());
        self.list.push(variable);
    }

    /// The place of a name among so many.
    pub(crate) fn find(&self, name: &str, count: usize) -> Option<usize> {
        self.places.get(&*name.to_lowercase()).copied().filter(|at| *at < count)
    }

    /// A scalar variable.
    pub(crate) fn scalar(&self, name: &str, count: usize) -> Option<(VariableId, SqlType)> {
        let at = self.find(name, count)?;
        let found = &self.list[at];
        (found.holds == VariableKind::Scalar).then_some((VariableId(at as u32), found.sql_type))
    }

    /// The number of a table variable.
    pub(crate) fn table(&self, name: &str, count: usize) -> Option<u16> {
        match self.list[self.find(name, count)?].holds {
            VariableKind::Table(number) => Some(number),
            VariableKind::Scalar | VariableKind::Cursor => None,
        }
    }
}

impl Deref for ProgramVariables {
    type Target = [ProgramVariable];

    fn deref(&self) -> &[ProgramVariable] {
        &self.list
    }
}

/// A variable.
#[derive(Debug)]
pub(crate) struct ProgramVariable {
    /// With its `@`.
    pub(crate) name: Box<str>,
    pub(crate) sql_type: SqlType,
    pub(crate) holds: VariableKind,
}

/// What a variable holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VariableKind {
    Scalar,
    /// Rows: the number in `Program::tables`.
    Table(u16),
    /// A cursor, by name in its scope.
    Cursor,
}

//! The variables of a program, parameters first. A lookup by name takes the same time however many
//! there are.
//!
//! A place sees the variables that were declared before it, so each lookup passes their count.

use plan::VariableId;
use std::collections::HashMap;
use std::ops::Deref;
use types::SqlType;

/// The variables of one program.
#[derive(Debug, Default)]
pub(crate) struct ProgramVariables {
    list: Vec<ProgramVariable>,
    /// The first variable of each name, in lower case.
    places: HashMap<Box<str>, usize>,
}

impl ProgramVariables {
    pub(crate) fn push(&mut self, variable: ProgramVariable) {
        let name = variable.name.to_lowercase().into();
        self.places.entry(name).or_insert(self.list.len());
        self.list.push(variable);
    }

    /// The position of a name among the first `count` variables.
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
    /// Including its `@`.
    pub(crate) name: Box<str>,
    pub(crate) sql_type: SqlType,
    pub(crate) holds: VariableKind,
}

/// The kind of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VariableKind {
    Scalar,
    /// A table: its number in `Program::tables`.
    Table(u16),
    /// A cursor, by name in its scope.
    Cursor,
}

//! Cursor parameters: cursors that procedures return to their callers.
//!
//! ```text
//!   EXEC p @c = @mine OUTPUT     @mine has no cursor (16951)
//!     → SET @c = CURSOR …; OPEN @c         a name of the procedure's level
//!     ← @mine refers to the cursor, if it is open
//! ```
//!
//! The rules are from the reference ("Using the cursor data type in an OUTPUT parameter"). The
//! error numbers, and which cursors are returned, are from a public project's recorded probes of
//! SQL Server.
//!
//! Invariants
//!  1. A returned cursor keeps the position where the procedure left it. From a forward-only cursor
//!     the caller gets the rows behind that position.
//!  2. A cursor that is closed, or that no OUTPUT argument asks for, ends with the procedure's
//!     names.
//!  3. Between the end of the procedure and its caller only the activation holds the cursor. So a
//!     failure in between releases it.

use crate::cursors::cursor::{Cursors, SharedCursor};
use crate::procedures::call::{CallArgument, GivenCursor, PassedObject};
use crate::request::activation::Activation;
use crate::session::state::State;
use base::{SqlError, SqlResult, messages};
use tsql::ast;

impl CallArgument {
    /// A cursor parameter accepts only a cursor variable (206) that has no cursor (16951). OUTPUT
    /// makes no difference, because the message names the parameter.
    pub(crate) fn check_cursor(&self, procedure: &str) -> SqlResult<()> {
        let clash = match &self.table {
            Some(PassedObject::Cursor(given)) if given.allocated => {
                return Err(SqlError::new(messages::CURSOR_ARGUMENT_ALLOCATED, &[&given.name]));
            }
            Some(PassedObject::Cursor(_)) => return Ok(()),
            Some(table) => table.clash("cursor"),
            None => {
                let args: [&dyn std::fmt::Display; 2] = [&self.sql_type.name(), &"cursor"];
                SqlError::new(messages::OPERAND_CLASH, &args)
            }
        };
        Err(if procedure.is_empty() { clash } else { clash.in_procedure(procedure) })
    }

    /// Returns the procedure's cursor to an OUTPUT argument.
    pub(crate) fn hand_back(&mut self, cursor: SharedCursor) {
        if let (true, Some(PassedObject::Cursor(given))) = (self.output, &mut self.table) {
            given.returned = Some(cursor);
        }
    }
}

impl State {
    /// A cursor variable as an argument.
    pub(crate) fn pass_cursor(&self, name: &str) -> PassedObject {
        let allocated = self.cursors.of_variable(name, self.nesting.level).is_some();
        PassedObject::Cursor(GivenCursor { name: name.into(), allocated, returned: None })
    }

    /// A program ends: keeps the open cursors of its parameters before the program's names are
    /// removed.
    pub(crate) fn return_cursors(&self, act: &mut Activation) {
        let program = &act.program.value;
        let level = self.nesting.level;
        for (at, variable) in program.variables.iter().enumerate().take(program.parameters.len()) {
            if !program.parameters[at].cursor {
                continue;
            }
            let cursor = self.cursors.of_variable(&variable.name, level);
            if let Some(cursor) = cursor.filter(|c| c.lock().is_open()) {
                act.returned.push((at, cursor));
            }
        }
    }

    /// Gives the caller's variable the cursor that its procedure returned, or none.
    pub(crate) fn take_returned(&mut self, variable: &str, argument: CallArgument) {
        let Some(PassedObject::Cursor(given)) = argument.table else { return };
        let level = self.nesting.level;
        match given.returned {
            Some(cursor) => self.refer(variable, level, cursor),
            None if !given.allocated => self.cursors.refer(variable, level, None),
            None => {}
        }
    }
}

impl Cursors {
    /// The cursor of a variable at a nesting level.
    fn of_variable(&self, name: &str, level: u32) -> Option<SharedCursor> {
        let name =
            ast::CursorName { global: false, name: ast::Name { text: name.into(), line: 0 } };
        self.find(&name, level).ok()
    }
}

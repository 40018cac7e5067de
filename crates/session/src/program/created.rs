//! The check of a module at its creation: it finds errors of the text before the first run.
//!
//! Invariants
//!  1. Variables, labels, cursors and options are checked whether or not tables exist. A statement
//!     whose objects exist is bound. A statement that names others waits for the first run, as in a
//!     batch (deferred name resolution).
//!  2. Errors of all statements are reported, in their order, and the module is not created.

use crate::program::compilation::Compilation;
use crate::program::programs::{Errors, is_deferred, program_of};
use crate::program::steps::{Place, Program, Source, StepKind, VisibleVariables};
use crate::request::trigger::given_tables;
use crate::session::Session;
use crate::session::state::{Origin, State};
use base::{DatabaseId, SqlError, SqlResult, messages};
use catalog::view::{Module, ModuleKind, Object, Table};
use std::sync::Arc;
use tsql::ast;
use tsql::ast::StatementKind as K;

impl Session {
    /// Checks the module that a statement has created, in the transaction that created it.
    pub(crate) fn check_made(&mut self, statement: &ast::Statement, from: Origin) -> SqlResult<()> {
        let name = match &statement.kind {
            K::Procedure(it) => &it.name,
            K::Function(it) => &it.name,
            K::Trigger(it) => &it.name,
            _ => return Ok(()),
        };
        let Some((database, Object::Module(module))) = self.state.find_object_from(name, from)
        else {
            return Ok(());
        };
        if matches!(module.kind, ModuleKind::View | ModuleKind::InlineFunction) {
            return Ok(());
        }
        let errors = match self.check_module(database, &module) {
            Ok(()) => return Ok(()),
            Err(errors) => errors,
        };
        // The last one is the statement's error, because it is reported last.
        let mut errors = errors.into_iter().map(|e| e.in_procedure(&module.name)).rev();
        let Some(last) = errors.next() else { return Ok(()) };
        Err(errors.rev().fold(last, SqlError::after))
    }

    fn check_module(&mut self, database: DatabaseId, module: &Module) -> Result<(), Errors> {
        let given: Vec<Arc<Table>> = match (&module.trigger, self.state.view(database)) {
            (Some(trigger), Some(view)) => given_tables(&view, trigger.parent).to_vec(),
            _ => Vec::new(),
        };
        let text = (&*module.text).into();
        let program = program_of(&mut self.declarer(database, &text), module, false, &given)?;
        let own = own_temporary(&program);
        let mut errors = Errors::new();
        for place in &program.places {
            os::values::look().map_err(|e| vec![e])?;
            let refused = match names_any(&program, place, &own) {
                true => undeclared(&program, place),
                false => self.state.check_place(&program, place),
            };
            let refused = refused.map_err(|e| e.at_line(place.line));
            errors.extend(refused.err());
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }
}

impl State {
    fn check_place(&self, program: &Program, place: &Place) -> SqlResult<()> {
        // The query of the cursor reports its errors.
        if matches!(place.source, Source::CursorRow(..)) {
            return Ok(());
        }
        let visible =
            VisibleVariables { program, count: place.visible, values: &[], deduction: None };
        let compilation = Compilation::new(self.entry.waiter());
        match self.bound(place, &visible, program.database, &compilation) {
            Ok(_) => Ok(()),
            Err(e) if waits_for_run(&e) => undeclared(program, place),
            Err(e) => Err(e),
        }
    }
}

/// The temporary tables that a program makes. Its statements mean these, even if other tables have
/// the same names now.
fn own_temporary(program: &Program) -> Vec<String> {
    let made = program.steps.iter().filter_map(|step| match &step.kind {
        StepKind::Definition(statement) => match &statement.kind {
            K::CreateTable(it) => Some(&it.name),
            _ => None,
        },
        StepKind::SelectInto(place) => match &program.places[*place].source {
            Source::Into(statement) => match &statement.kind {
                K::Select(s) => bind::into_of(s).map(|into| &into.table),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    let temporary = made.filter(|name| name.object.starts_with('#'));
    temporary.map(|name| name.object.to_ascii_lowercase()).collect()
}

/// Whether the text of a statement contains one of some names.
fn names_any(program: &Program, place: &Place, names: &[String]) -> bool {
    let text = span_of(&place.source).and_then(|s| {
        program.text.get(s.start as usize..s.end as usize).map(str::to_ascii_lowercase)
    });
    text.is_some_and(|text| names.iter().any(|name| text.contains(&**name)))
}

/// Whether an error concerns the request that checks the module: lack of memory, a deadlock, or the
/// request's own end. Then the text has not been checked.
fn befell_request(error: &SqlError) -> bool {
    let severe = matches!(error.severity(), 13 | 17..);
    severe || error.number() == messages::LOCK_TIMEOUT.number
}

/// Whether an error may no longer occur when the module runs.
fn waits_for_run(error: &SqlError) -> bool {
    let later = [
        messages::COULD_NOT_FIND_FUNCTION,
        messages::NO_ACCESS_TO_DATABASE,
        messages::DATABASE_CANNOT_OPEN_YET,
        messages::DATABASE_SINGLE_USER,
        messages::VIEW_BINDING_ERRORS,
    ];
    is_deferred(error)
        || later.iter().any(|m| m.number == error.number())
        || (error.class().ends != base::Ends::Scope && !befell_request(error))
}

/// Errors 137 and 1087 of a statement that is not bound: its text is searched for variables.
pub(crate) fn undeclared(program: &Program, place: &Place) -> SqlResult<()> {
    let Some(span) = span_of(&place.source) else { return Ok(()) };
    let Some(text) = program.text.get(span.start as usize..span.end as usize) else {
        return Ok(());
    };
    for used in tsql::variables(text, program.quoted_identifier) {
        if program.variables.find(&used.name, place.visible).is_some() {
            continue;
        }
        let message = match used.as_table {
            true => messages::TABLE_VARIABLE_UNDECLARED,
            false => messages::VARIABLE_UNDECLARED,
        };
        let line = span.line + used.name.line - 1;
        return Err(SqlError::new(message, &[&used.name]).at_line(line));
    }
    Ok(())
}

/// The position of a statement or expression in its program's text.
fn span_of(source: &Source) -> Option<ast::Span> {
    match source {
        Source::Statement(s) | Source::Into(s) | Source::Cursor(s) => Some(s.span),
        Source::Scalar(x, _) => Some(x.span),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error of the request is reported. An error that may be gone by the first run is not
    /// reported.
    #[test]
    fn only_what_the_text_may_outlive_waits() {
        let waits = |message| waits_for_run(&SqlError::new(message, &[]));
        for message in [
            messages::OUT_OF_MEMORY,
            messages::DEADLOCK_VICTIM,
            messages::LOCK_TIMEOUT,
            messages::LOCK_MEMORY,
            messages::ATTENTION,
            messages::INVALID_COLUMN,
        ] {
            assert!(!waits(message), "{} is told at once", message.number);
        }
        for message in [messages::INVALID_OBJECT, messages::FEATURE_NOT_SUPPORTED] {
            assert!(waits(message), "{} waits", message.number);
        }
    }
}

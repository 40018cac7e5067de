//! A module as it is made: what is wrong with its text before it ever runs.
//!
//! Invariants
//!  1. Variables, labels, cursors and options are looked at whatever tables there are; a statement
//!     whose objects are there is bound, one that names others waits for the first run, as in a
//!     batch (deferred name resolution).
//!  2. What is wrong is told of all statements, in their order, and the module is not made.

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
    /// Looks at the module that a statement has made, in the transaction that made it.
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
        // The last is the statement's error, as it is the last that is told.
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
        // What is wrong with it is wrong with the cursor's query.
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

/// The temporary tables that a program makes: whatever there is of their names now, its statements
/// mean its own.
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

/// Whether a statement's text has one of some names.
fn names_any(program: &Program, place: &Place, names: &[String]) -> bool {
    let text = span_of(&place.source).and_then(|s| {
        program.text.get(s.start as usize..s.end as usize).map(str::to_ascii_lowercase)
    });
    text.is_some_and(|text| names.iter().any(|name| text.contains(&**name)))
}

/// Whether an error befell the request that looks at the module, as memory that is lacking, a
/// deadlock or its own end do: it says nothing of the text, which has not been looked at.
fn befell_request(error: &SqlError) -> bool {
    let severe = matches!(error.severity(), 13 | 17..);
    severe || error.number() == messages::LOCK_TIMEOUT.number
}

/// Whether an error may be none by the time the module runs.
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

/// 137 and 1087 of a statement that is not bound: its text is searched for variables.
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

/// Where a statement or expression stands in its program's text.
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

    /// What befell the request is its error; what may be mended before the first run is none yet.
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

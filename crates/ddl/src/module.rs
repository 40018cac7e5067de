//! CREATE, ALTER and CREATE OR ALTER PROCEDURE. The body is checked when it is first executed:
//! names in it are resolved late.

use crate::context::{DdlContext, unsupported};
use crate::locate::{is_temporary, locked_object, name_taken, schema_for};
use crate::type_name::{Declaree, declared};
use base::{ObjectId, SqlError, SqlResult, messages};
use catalog::view::{Module, ModuleKind, Object};
use catalog::{Changes, Delta};
use std::sync::Arc;
use tsql::ast::{ModuleVerb, Parameter, Procedure};

pub(crate) fn procedure(s: &Procedure, text: &str, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    refuse(s)?;
    check_parameters(&s.parameters)?;
    let line = s.name.span.line;
    // The name is locked before anybody can be found to bear it.
    let (place, schema) = schema_for(cx, &s.name)?;
    let before = match locked_object(cx, &s.name)? {
        Some((_, object)) if object.schema_id() == schema.id => Some(object),
        Some(_) | None => None,
    };
    let object_id = match (&before, s.verb) {
        (None, ModuleVerb::Alter) => {
            let e = SqlError::new(messages::INVALID_OBJECT, &[&s.name]).with_state(6);
            return Err(e.at_line(line));
        }
        (None, ModuleVerb::Create | ModuleVerb::CreateOrAlter) => {
            if name_taken(&place, schema.id, &s.name.object) {
                return Err(exists(s));
            }
            place.ids.object()
        }
        (Some(_), ModuleVerb::Create) => return Err(exists(s)),
        (Some(Object::Module(m)), _) if m.kind == ModuleKind::Procedure => m.object_id,
        (Some(_), _) => {
            return Err(SqlError::new(messages::ALTER_WRONG_KIND, &[&s.name]).at_line(line));
        }
    };
    let after = Module {
        object_id,
        schema_id: schema.id,
        schema_name: schema.name,
        name: match &before {
            Some(object) => object.name().into(),
            None => (*s.name.object).into(),
        },
        kind: ModuleKind::Procedure,
        text: as_create(text, s.verb),
        quoted_identifier: cx.settings.quoted_identifier,
        ansi_nulls: cx.settings.ansi_nulls,
    };
    let before = match before {
        Some(Object::Module(m)) => Some(m),
        Some(Object::Table(_) | Object::Virtual(_)) | None => None,
    };
    let database = place.view.id();
    catalog::lock_object(cx.work, database, ObjectId(after.object_id.0))?;
    Changes::new(&*place.system).put_module(cx.work, before.as_deref(), &after)?;
    cx.deltas.push((database, Delta::PutObject(Object::Module(Arc::new(after)))));
    Ok(())
}

fn exists(s: &Procedure) -> SqlError {
    let e = SqlError::new(messages::OBJECT_EXISTS, &[&s.name.object]).with_state(3);
    e.at_line(s.name.span.line).in_procedure(&s.name.object)
}

fn refuse(s: &Procedure) -> SqlResult<()> {
    let line = s.name.span.line;
    if s.number.is_some() {
        return Err(unsupported("numbered procedures", line));
    }
    if s.for_replication {
        return Err(unsupported("FOR REPLICATION", line));
    }
    if is_temporary(&s.name) {
        return Err(unsupported("temporary procedures", line));
    }
    match s.options.iter().find(|o| &*o.name != "RECOMPILE") {
        Some(option) => Err(unsupported(&option.name, option.span.line)),
        None => Ok(()),
    }
}

fn check_parameters(parameters: &[Parameter]) -> SqlResult<()> {
    for (n, p) in parameters.iter().enumerate() {
        let line = p.span.line;
        if parameters[..n].iter().any(|q| q.name.eq_ignore_ascii_case(&p.name)) {
            return Err(SqlError::new(messages::VARIABLE_DUPLICATE, &[&p.name]).at_line(line));
        }
        if p.read_only {
            return Err(unsupported("table-valued parameters", line));
        }
        if p.varying {
            return Err(unsupported("cursor parameters", line));
        }
        declared(&p.type_name, Declaree { number: n + 1, kind: "parameter", name: &p.name })?;
    }
    Ok(())
}

/// The text as it is kept: with CREATE before it, whatever the statement was, and every other
/// character and line where it was.
fn as_create(text: &str, verb: ModuleVerb) -> Box<str> {
    match verb {
        ModuleVerb::Create => text.into(),
        ModuleVerb::Alter => match text.get(..5) {
            Some(word) if word.eq_ignore_ascii_case("ALTER") => {
                format!("CREATE{}", &text[5..]).into()
            }
            Some(_) | None => text.into(),
        },
        ModuleVerb::CreateOrAlter => without_or_alter(text).unwrap_or_else(|| text.into()),
    }
}

/// Blanks instead of `OR ALTER` behind CREATE; `None` where comments stand between the words.
fn without_or_alter(text: &str) -> Option<Box<str>> {
    let mut kept = text.to_owned();
    let mut at = 0;
    for word in ["CREATE", "OR", "ALTER"] {
        at += text[at..].len() - text[at..].trim_start().len();
        let end = at + word.len();
        if !text.get(at..end)?.eq_ignore_ascii_case(word) {
            return None;
        }
        if word != "CREATE" {
            kept.replace_range(at..end, &" ".repeat(word.len()));
        }
        at = end;
    }
    Some(kept.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_kept_as_a_create_statement_with_its_lines() {
        let or_alter = "create or\r\n  ALTER proc p as select 'or alter'";
        for (verb, text, kept) in [
            (ModuleVerb::Create, "create proc p as", "create proc p as"),
            (ModuleVerb::Alter, "alter\nproc p as alter", "CREATE\nproc p as alter"),
            (
                ModuleVerb::CreateOrAlter,
                or_alter,
                "create   \r\n        proc p as select 'or alter'",
            ),
            (ModuleVerb::CreateOrAlter, "create /**/ or alter", "create /**/ or alter"),
        ] {
            assert_eq!(&*as_create(text, verb), kept);
        }
    }
}

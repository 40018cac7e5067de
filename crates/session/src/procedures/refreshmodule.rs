//! `sp_refreshview @viewname` and `sp_refreshsqlmodule @name`: define a module again from its own
//! text, so that what is stored of it (a view's columns) agrees with its tables.

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::procedures::call::Call;
use crate::session::Session;
use crate::session::settings::Switches;
use base::{SqlError, messages};
use catalog::view::{Module, ModuleKind, Object};
use std::sync::Arc;

pub(crate) fn view(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let name = call.text("@viewname", 0).unwrap_or_default();
    let module = found(session, &name)?;
    if module.kind != ModuleKind::View {
        return Err(not_found(session, &name));
    }
    refresh(session, &module, out)
}

pub(crate) fn module(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let name = call.text("@name", 0).unwrap_or_default();
    let module = found(session, &name)?;
    refresh(session, &module, out)
}

fn not_found(session: &Session, name: &str) -> Failure {
    let database = session.state.database.name.clone();
    SqlError::new(messages::HELP_NOT_FOUND, &[&name, &database]).into()
}

fn found(session: &Session, name: &str) -> Result<Arc<Module>, Failure> {
    let parsed = tsql::parse_object_name(name)?;
    match session.find_object(&parsed, session.state.database.id) {
        Some((database, Object::Module(m))) if database == session.state.database.id => Ok(m),
        _ => Err(not_found(session, name)),
    }
}

/// Runs the text as ALTER, under the SET options that it was created with.
fn refresh(session: &mut Session, module: &Module, out: &mut Output<'_>) -> Result<i32, Failure> {
    let options = tsql::ParseOptions { quoted_identifier: module.quoted_identifier };
    let text = tsql::as_alter(&module.text, options);
    let kept = session.state.settings.clone();
    session.state.settings.set(Switches::QUOTED_IDENTIFIER, module.quoted_identifier);
    session.state.settings.set(Switches::ANSI_NULLS, module.ansi_nulls);
    let result = session.execute_text("", &text, &mut Call::default(), out);
    session.state.settings = kept;
    result.map(|_| 0)
}

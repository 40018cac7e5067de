//! `sp_tables [@table_name, @table_owner, @table_qualifier, @table_type, @fUsePattern]`

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::answer::sink::DoneScope;
use crate::host::rowset::Rowset;
use crate::procedures::call::Call;
use crate::session::Session;
use builtins::LikePattern;
use catalog::view::{ModuleKind, Object};
use types::{Collation, SqlType, Value};

pub(crate) fn run(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let names = SqlType::SYSNAME;
    let mut rowset = Rowset {
        columns: vec![
            ("TABLE_QUALIFIER".to_owned(), names, true),
            ("TABLE_OWNER".to_owned(), names, true),
            ("TABLE_NAME".to_owned(), names, true),
            ("TABLE_TYPE".to_owned(), SqlType::varchar(32), true),
            ("REMARKS".to_owned(), SqlType::varchar(254), true),
        ],
        rows: Vec::new(),
    };
    let patterns = call.number("@fUsePattern", 4) != Some(0);
    let name = call.text("@table_name", 0);
    let owner = call.text("@table_owner", 1);
    let kinds = call.text("@table_type", 3).map(|k| k.to_ascii_uppercase());
    let Some(view) = session.state.view(session.state.database.id) else { return Ok(0) };
    let matches = |wanted: &Option<String>, is: &str| match wanted {
        None => true,
        Some(wanted) if patterns => is_like(is, wanted, view.collation()),
        Some(wanted) => wanted.eq_ignore_ascii_case(is),
    };
    let mut found: Vec<(&str, String, String)> = Vec::new();
    let own = view.objects().cloned();
    let system = view.system().iter().filter(|v| v.parameters.is_none());
    for object in own.chain(system.cloned().map(Object::Virtual)) {
        let kind = match &object {
            Object::Table(_) => "TABLE",
            Object::Module(m) if m.kind == ModuleKind::View => "VIEW",
            Object::Module(_) | Object::Sequence(_) | Object::Synonym(_) => continue,
            Object::Virtual(_) => "VIEW",
        };
        let schema = view.schema_by_id(object.schema_id()).map_or("", |s| &s.name);
        let wanted = kinds.as_ref().is_none_or(|k| k.contains(&format!("'{kind}'")));
        if wanted && matches(&name, object.name()) && matches(&owner, schema) {
            found.push((kind, schema.to_owned(), object.name().to_owned()));
        }
    }
    found.sort();
    let database = Value::nvarchar(view.name());
    rowset.rows.extend(found.iter().map(|(kind, schema, name)| {
        let (schema, name) = (Value::nvarchar(schema), Value::nvarchar(name));
        vec![database.clone(), schema, name, Value::varchar(kind), Value::Null]
    }));
    session.send_rowset(&rowset, out, DoneScope::InProcedure)?;
    Ok(0)
}

fn is_like(text: &str, pattern: &str, collation: Collation) -> bool {
    let pattern = LikePattern::compile(&Value::nvarchar(pattern), None, collation);
    // Names are short, so no cancellation is possible within one comparison.
    pattern.matches(&Value::nvarchar(text)).unwrap_or(false)
}

//! `sp_helpindex @objname`

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::answer::sink::DoneScope;
use crate::host::rowset::Rowset;
use crate::procedures::call::Call;
use crate::session::Session;
use base::{SqlError, messages};
use catalog::view::{Index, Object, Table};
use types::{SqlType, Value};

pub(crate) fn run(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let name = call.text("@objname", 0).unwrap_or_default();
    let parsed = tsql::parse_object_name(&name)?;
    let found = session.find_object(&parsed, session.state.database.id);
    let Some((_, Object::Table(table))) = found else {
        let database = session.state.database.name.clone();
        return Err(SqlError::new(messages::HELP_NOT_FOUND, &[&name, &database]).into());
    };
    let mut indexes: Vec<&Index> = table.indexes.iter().filter(|i| i.kind.has_key()).collect();
    if indexes.is_empty() {
        let e = SqlError::new(messages::HELP_NO_INDEXES, &[&name]);
        out.message(&e.at_line(1));
        return Ok(0);
    }
    indexes.sort_by_key(|i| i.name.to_lowercase());
    let row = |i: &&Index| {
        let description = Value::varchar(&describe(i));
        vec![Value::nvarchar(&i.name), description, Value::nvarchar(&keys(&table, i))]
    };
    let rowset = Rowset {
        columns: vec![
            ("index_name".to_owned(), SqlType::SYSNAME, true),
            ("index_description".to_owned(), SqlType::varchar(210), true),
            ("index_keys".to_owned(), SqlType::nvarchar(2078), true),
        ],
        rows: indexes.iter().map(row).collect(),
    };
    session.send_rowset(&rowset, out, DoneScope::InProcedure)?;
    Ok(0)
}

fn describe(index: &Index) -> String {
    let clustered = index.kind.is_clustered();
    let mut text = String::from(if clustered { "clustered" } else { "nonclustered" });
    for (holds, word) in [
        (index.ignore_dup_key, ", ignore duplicate keys"),
        (index.unique, ", unique"),
        (index.primary_key, ", primary key"),
        (index.unique_constraint, ", unique key"),
    ] {
        if holds {
            text.push_str(word);
        }
    }
    text.push_str(" located on PRIMARY");
    text
}

fn keys(table: &Table, index: &Index) -> String {
    let column = |k: &catalog::view::IndexColumn| {
        let name = &table.columns[k.column].name;
        if k.descending { format!("{name}(-)") } else { name.to_string() }
    };
    index.key.iter().map(column).collect::<Vec<_>>().join(", ")
}

//! `sp_pkeys @table_name …` and `sp_fkeys @pktable_name …`: keys as ODBC lists them.

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::answer::sink::DoneScope;
use crate::host::rowset::Rowset;
use crate::procedures::call::Call;
use crate::session::Session;
use catalog::view::{ForeignKey, Object, ReferentialAction, Table};
use types::{SqlType, Value};

const SYS: SqlType = SqlType::SYSNAME;

const SMALL: SqlType = SqlType::SmallInt;

/// SQL_NOT_DEFERRABLE
const NOT_DEFERRABLE: i16 = 7;

fn columns(named: &[(&str, SqlType)]) -> Vec<(String, SqlType, bool)> {
    named.iter().map(|(name, sql_type)| ((*name).to_owned(), *sql_type, true)).collect()
}

/// The columns of a table's primary key.
pub(crate) fn primary(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let name = call.text("@table_name", 0).unwrap_or_default();
    let owner = call.text("@table_owner", 1);
    let mut rowset = Rowset {
        columns: columns(&[
            ("TABLE_QUALIFIER", SYS),
            ("TABLE_OWNER", SYS),
            ("TABLE_NAME", SYS),
            ("COLUMN_NAME", SYS),
            ("KEY_SEQ", SMALL),
            ("PK_NAME", SYS),
        ]),
        rows: Vec::new(),
    };
    let Some(view) = session.state.view(session.state.database.id) else { return Ok(0) };
    for object in view.objects() {
        let Object::Table(table) = object else { continue };
        if !is_named(table, &Some(name.clone()), &owner) {
            continue;
        }
        for index in table.indexes.iter().filter(|i| i.primary_key) {
            for (n, part) in index.key.iter().enumerate() {
                rowset.rows.push(vec![
                    Value::nvarchar(view.name()),
                    Value::nvarchar(&table.schema_name),
                    Value::nvarchar(&table.name),
                    Value::nvarchar(&table.columns[part.column].name),
                    Value::SmallInt(n as i16 + 1),
                    Value::nvarchar(&index.name),
                ]);
            }
        }
    }
    session.send_rowset(&rowset, out, DoneScope::InProcedure)?;
    Ok(0)
}

fn is_named(table: &Table, name: &Option<String>, owner: &Option<String>) -> bool {
    let same = |wanted: &Option<String>, is: &str| {
        wanted.as_ref().is_none_or(|w| w.eq_ignore_ascii_case(is))
    };
    same(name, &table.name) && same(owner, &table.schema_name)
}

/// The columns of foreign keys to a table, or of one.
pub(crate) fn foreign(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let (parent, parent_owner) = (call.text("@pktable_name", 0), call.text("@pktable_owner", 1));
    let (child, child_owner) = (call.text("@fktable_name", 3), call.text("@fktable_owner", 4));
    let mut rowset = Rowset {
        columns: columns(&[
            ("PKTABLE_QUALIFIER", SYS),
            ("PKTABLE_OWNER", SYS),
            ("PKTABLE_NAME", SYS),
            ("PKCOLUMN_NAME", SYS),
            ("FKTABLE_QUALIFIER", SYS),
            ("FKTABLE_OWNER", SYS),
            ("FKTABLE_NAME", SYS),
            ("FKCOLUMN_NAME", SYS),
            ("KEY_SEQ", SMALL),
            ("UPDATE_RULE", SMALL),
            ("DELETE_RULE", SMALL),
            ("FK_NAME", SYS),
            ("PK_NAME", SYS),
            ("DEFERRABILITY", SMALL),
        ]),
        rows: Vec::new(),
    };
    let Some(view) = session.state.view(session.state.database.id) else { return Ok(0) };
    for object in view.objects() {
        let Object::Table(table) = object else { continue };
        if !is_named(table, &child, &child_owner) {
            continue;
        }
        for key in &table.foreign_keys {
            let Some(of) = view.table(key.referenced) else { continue };
            if is_named(&of, &parent, &parent_owner) {
                rowset.rows.extend(rows(view.name(), &of, table, key));
            }
        }
    }
    session.send_rowset(&rowset, out, DoneScope::InProcedure)?;
    Ok(0)
}

fn rows(database: &str, parent: &Table, child: &Table, key: &ForeignKey) -> Vec<Vec<Value>> {
    let text = Value::nvarchar;
    let index = parent.indexes.iter().find(|i| i.index_id == key.key_index);
    let pair = |(n, c): (usize, &catalog::view::ForeignKeyColumn)| {
        let to = parent.columns.iter().find(|o| o.column_id == c.referenced)?;
        Some(vec![
            text(database),
            text(&parent.schema_name),
            text(&parent.name),
            text(&to.name),
            text(database),
            text(&child.schema_name),
            text(&child.name),
            text(&child.columns.get(c.column)?.name),
            Value::SmallInt(n as i16 + 1),
            Value::SmallInt(rule(key.on_update)),
            Value::SmallInt(rule(key.on_delete)),
            text(&key.name),
            index.map_or(Value::Null, |i| text(&i.name)),
            Value::SmallInt(NOT_DEFERRABLE),
        ])
    };
    key.columns.iter().enumerate().filter_map(pair).collect()
}

/// SQL_CASCADE and its like.
fn rule(action: ReferentialAction) -> i16 {
    match action {
        ReferentialAction::Cascade => 0,
        ReferentialAction::NoAction => 1,
        ReferentialAction::SetNull => 2,
        ReferentialAction::SetDefault => 3,
    }
}

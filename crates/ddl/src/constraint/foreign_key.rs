//! FOREIGN KEY constraints: declares them, verifies existing rows, and finds the foreign keys that
//! use a key.
//!
//! A statement that adds a foreign key holds Sch-M on both tables, because other plans that change
//! rows of either were bound without the constraint.
//!
//! Invariants
//!  1. The referenced columns are the key of an index that is unique over all rows of its table.
//!  2. The cascading actions of one change of a row never reach a table twice (1785).

use crate::constraint::generated_name;
use crate::constraint::{WrittenConstraint, not_created};
use crate::context::{DdlContext, Place};
use crate::locate::{locked_rows, look_up, quoted, same_name};
use crate::module::trigger;
use crate::table::column;
use crate::table::computed;
use base::{ObjectId, SqlError, SqlResult, messages};
use catalog::view::{
    DatabaseView, ForeignKey, ForeignKeyColumn, Index, Object, ReferentialAction, Table,
    is_global_temp,
};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::sync::Arc;
use tsql::ast::{self, ConstraintKind, Name};

/// A constraint that is being made.
struct Draft<'a> {
    name: Box<str>,
    written: &'a ast::ForeignKey,
}

/// Puts a foreign key into a draft, which already has all its columns and keys. `check` says
/// whether existing rows will be verified.
pub(crate) fn add(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &mut Table,
    written: WrittenConstraint<'_>,
    check: bool,
) -> SqlResult<()> {
    let ConstraintKind::ForeignKey(of) = &written.constraint.kind else { return Ok(()) };
    let line = written.constraint.span.line;
    let names = match written.column {
        Some(name) => std::slice::from_ref(name),
        None => &of.columns[..],
    };
    let object_id = place.ids.object();
    let name = match &written.constraint.name {
        Some(name) if table.is_temp => (**name).into(),
        Some(name) => column::free_name(cx, place, table, name)?,
        None => {
            let first = names.first().map_or("", |n| &**n);
            generated_name::of_foreign_key(&table.name, first, object_id)
        }
    };
    if table.is_temp || is_global_temp(&table.name) {
        cx.messages.push(SqlError::new(messages::FOREIGN_KEY_SKIPPED, &[&name]).at_line(line));
        return Ok(());
    }
    let draft = Draft { name, written: of };
    let found = parts(cx, place, table, &draft, names);
    let (referenced, key_index, columns) = found.map_err(|e| failed(cx, e.at_line(line)))?;
    table.foreign_keys.push(ForeignKey {
        object_id,
        name: draft.name.clone(),
        system_named: written.constraint.name.is_none(),
        referenced,
        key_index,
        columns,
        on_delete: action(of.on_delete),
        on_update: action(of.on_update),
        disabled: false,
        not_trusted: !check || of.not_for_replication,
        not_for_replication: of.not_for_replication,
    });
    let instead = table.foreign_keys.last().filter(|k| trigger::stands_against(place, table, k));
    if let Some(key) = instead {
        let args: [&dyn Display; 2] = [&key.name, &table.name];
        let e = SqlError::new(messages::CASCADE_WITH_INSTEAD, &args).at_line(line);
        return Err(not_created(cx, e));
    }
    if leads_twice(&place.view, table) {
        let args: [&dyn Display; 2] = [&draft.name, &table.name];
        let e = SqlError::new(messages::FOREIGN_KEY_CYCLE, &args).with_state(0);
        return Err(not_created(cx, e.at_line(line)));
    }
    Ok(())
}

/// Puts 1750 after an error, except after the one about different numbers of columns. After 1764
/// the state of 1750 differs from that of a CHECK.
fn failed(cx: &mut DdlContext<'_>, e: SqlError) -> SqlError {
    match e.number() {
        n if n == messages::FOREIGN_KEY_COUNT.number => e,
        n if n == messages::COMPUTED_NOT_PERSISTED.number => not_created(cx, e).with_state(1),
        _ => not_created(cx, e),
    }
}

fn action(written: Option<ast::ReferentialAction>) -> ReferentialAction {
    match written {
        None | Some(ast::ReferentialAction::NoAction) => ReferentialAction::NoAction,
        Some(ast::ReferentialAction::Cascade) => ReferentialAction::Cascade,
        Some(ast::ReferentialAction::SetNull) => ReferentialAction::SetNull,
        Some(ast::ReferentialAction::SetDefault) => ReferentialAction::SetDefault,
    }
}

type Parts = (ObjectId, base::IndexId, Vec<ForeignKeyColumn>);

/// The referenced table, the index of its key, and the pairs of columns.
fn parts(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    draft: &Draft<'_>,
    names: &[Name],
) -> SqlResult<Parts> {
    let mut own = Vec::with_capacity(names.len());
    for name in names {
        let at = table.columns.iter().position(|c| same_name(place, &c.name, name));
        let Some(at) = at else {
            let args: [&dyn Display; 3] = [&draft.name, name, &table.name];
            return Err(SqlError::new(messages::FOREIGN_KEY_NO_COLUMN, &args));
        };
        own.push(at);
    }
    let of = draft.written;
    let changes = matches!(
        of.on_delete,
        Some(ast::ReferentialAction::SetNull | ast::ReferentialAction::SetDefault)
    ) || !matches!(of.on_update, None | Some(ast::ReferentialAction::NoAction));
    for &at in &own {
        computed::check_referring(table, &table.columns[at], &draft.name, changes)?;
    }
    let parent = parent(cx, place, table, draft)?;
    let parent: &Table = parent.as_deref().unwrap_or(table);
    let referred = referred_columns(place, (table, parent), draft, own.len())?;
    let mut columns = Vec::with_capacity(own.len());
    for (&column, &to) in own.iter().zip(&referred) {
        comparable(table, column, parent, to, draft)?;
        columns.push(ForeignKeyColumn { column, referenced: parent.columns[to].column_id });
    }
    let Some(key) = candidate_key(parent, &referred) else {
        let args: [&dyn Display; 2] = [&draft.written.table, &draft.name];
        return Err(SqlError::new(messages::FOREIGN_KEY_NO_KEY, &args).with_state(0));
    };
    settable(table, &own, draft)?;
    Ok((parent.object_id, key.index_id, columns))
}

/// The referenced table, under Sch-M; `None` when a table references itself.
fn parent(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    draft: &Draft<'_>,
) -> SqlResult<Option<Arc<Table>>> {
    let name = &draft.written.table;
    if name.object.starts_with('#') {
        return Err(SqlError::new(messages::FOREIGN_KEY_TEMPORARY, &[&draft.name]).with_state(0));
    }
    if let Some(database) = &name.database
        && !same_name(place, database, place.view.name())
    {
        return Err(SqlError::new(messages::FOREIGN_KEY_DATABASE, &[&draft.name]).with_state(0));
    }
    let of_place = ast::ObjectName {
        database: Some(Name { text: place.view.name().into(), ..name.object.clone() }),
        ..name.clone()
    };
    let schema = name.schema.as_deref().unwrap_or("dbo");
    if same_name(place, schema, &table.schema_name) && same_name(place, &name.object, &table.name) {
        return Ok(None);
    }
    let args: [&dyn Display; 2] = [&draft.name, name];
    if let Some(found) = locked_rows(cx, &of_place)? {
        return Ok(Some(found.table));
    }
    Err(match look_up(cx, &of_place)?.object {
        Some(Object::Module(_) | Object::Sequence(_) | Object::Synonym(_) | Object::Virtual(_)) => {
            SqlError::new(messages::FOREIGN_KEY_NOT_TABLE, &args).with_state(0)
        }
        Some(Object::Table(_)) | None => {
            SqlError::new(messages::FOREIGN_KEY_NO_TABLE, &args).with_state(0)
        }
    })
}

/// The referenced columns: those that the text lists, or those of the primary key.
fn referred_columns(
    place: &Place,
    (table, parent): (&Table, &Table),
    draft: &Draft<'_>,
    count: usize,
) -> SqlResult<Vec<usize>> {
    let of = draft.written;
    if of.referenced.is_empty() {
        let Some(primary) = parent.indexes.iter().find(|i| i.primary_key) else {
            let args: [&dyn Display; 2] = [&draft.name, &of.table];
            return Err(SqlError::new(messages::FOREIGN_KEY_NO_PRIMARY, &args).with_state(0));
        };
        if primary.key.len() != count {
            let args: [&dyn Display; 2] = [&draft.name, &of.table];
            return Err(SqlError::new(messages::FOREIGN_KEY_PRIMARY_COUNT, &args).with_state(0));
        }
        return Ok(primary.key.iter().map(|k| k.column).collect());
    }
    if of.referenced.len() != count {
        return Err(SqlError::new(messages::FOREIGN_KEY_COUNT, &[&table.name]));
    }
    let mut columns = Vec::with_capacity(count);
    for name in &of.referenced {
        let at = parent.columns.iter().position(|c| same_name(place, &c.name, name));
        let Some(at) = at else {
            let args: [&dyn Display; 3] = [&draft.name, name, &of.table];
            return Err(SqlError::new(messages::FOREIGN_KEY_NO_REFERENCED, &args).with_state(0));
        };
        columns.push(at);
    }
    Ok(columns)
}

/// The index that keeps exactly these columns unique. A primary key is preferred.
fn candidate_key<'t>(table: &'t Table, columns: &[usize]) -> Option<&'t Index> {
    let wanted: BTreeSet<usize> = columns.iter().copied().collect();
    let is_key = |i: &&Index| {
        let key: BTreeSet<usize> = i.key.iter().map(|k| k.column).collect();
        i.unique
            && !i.disabled
            && i.filter.is_none()
            && key == wanted
            && wanted.len() == columns.len()
    };
    let mut keys = table.indexes.iter().filter(is_key);
    let first = keys.clone().find(|i| i.primary_key);
    first.or_else(|| keys.next())
}

/// Checks that values of both columns can be compared without conversion.
fn comparable(
    table: &Table,
    at: usize,
    parent: &Table,
    to: usize,
    draft: &Draft<'_>,
) -> SqlResult<()> {
    let (own, other) = (&table.columns[at], &parent.columns[to]);
    let args: [&dyn Display; 5] =
        [&draft.written.table, &other.name, &table.name, &own.name, &draft.name];
    if own.sql_type.system_type_id() != other.sql_type.system_type_id() {
        return Err(SqlError::new(messages::FOREIGN_KEY_TYPE, &args).with_state(0));
    }
    if own.sql_type != other.sql_type {
        return Err(SqlError::new(messages::FOREIGN_KEY_LENGTH, &args).with_state(0));
    }
    if own.sql_type.is_character() && own.collation != other.collation {
        return Err(SqlError::new(messages::FOREIGN_KEY_COLLATION, &args).with_state(0));
    }
    Ok(())
}

/// Checks that the columns accept the value of SET NULL or SET DEFAULT.
fn settable(table: &Table, own: &[usize], draft: &Draft<'_>) -> SqlResult<()> {
    let of = draft.written;
    let has = |a| of.on_delete == Some(a) || of.on_update == Some(a);
    let mut columns = own.iter().map(|&at| &table.columns[at]);
    if has(ast::ReferentialAction::SetNull) && columns.clone().any(|c| !c.nullable) {
        return Err(SqlError::new(messages::FOREIGN_KEY_SET_NULL, &[&draft.name]).with_state(0));
    }
    if has(ast::ReferentialAction::SetDefault)
        && columns.any(|c| !c.nullable && c.default.is_none())
    {
        return Err(SqlError::new(messages::FOREIGN_KEY_SET_DEFAULT, &[&draft.name]).with_state(0));
    }
    Ok(())
}

/// Whether invariant 2 would be broken in a database in which `table` is as given.
fn leads_twice(view: &DatabaseView, table: &Table) -> bool {
    let others = view.objects().filter_map(|o| match o {
        Object::Table(t) if t.object_id != table.object_id => Some(&**t),
        _ => None,
    });
    let tables: Vec<&Table> = others.chain([table]).collect();
    tables.iter().any(|start| {
        [true, false].into_iter().any(|deletes| {
            let mut met = BTreeSet::new();
            meets_twice(&tables, start.object_id, deletes, &mut met)
        })
    })
}

/// Whether the actions that follow from a change of a table reach any table a second time.
fn meets_twice(
    tables: &[&Table],
    changed: ObjectId,
    deletes: bool,
    met: &mut BTreeSet<ObjectId>,
) -> bool {
    if !met.insert(changed) {
        return true;
    }
    for table in tables {
        for key in table.foreign_keys.iter().filter(|k| k.referenced == changed) {
            let action = if deletes { key.on_delete } else { key.on_update };
            let next = match action {
                ReferentialAction::NoAction => continue,
                ReferentialAction::Cascade => deletes,
                ReferentialAction::SetNull | ReferentialAction::SetDefault => false,
            };
            if meets_twice(tables, table.object_id, next, met) {
                return true;
            }
        }
    }
    false
}

/// Fails with 547 if an existing row does not satisfy one of the foreign keys.
pub(crate) fn verify(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    keys: &[ForeignKey],
) -> SqlResult<()> {
    for key in keys {
        let current = cx.place(Some(place.view.name()))?;
        let Some(parent) = current.view.table(key.referenced) else { continue };
        let named = |c: &ForeignKeyColumn| {
            let other = parent.columns.iter().find(|o| o.column_id == c.referenced)?;
            Some((quoted(&table.columns.get(c.column)?.name), quoted(&other.name), &other.name))
        };
        let columns: Vec<_> = key.columns.iter().filter_map(named).collect();
        let present = columns.iter().map(|(own, ..)| format!("c.{own} IS NOT NULL"));
        let equal = columns.iter().map(|(own, other, _)| format!("p.{other} = c.{own}"));
        let orphans = format!(
            "SELECT 1 FROM {}.{} AS c WHERE {} AND NOT EXISTS (SELECT 1 FROM {}.{} AS p WHERE {})",
            quoted(&table.schema_name),
            quoted(&table.name),
            present.collect::<Vec<_>>().join(" AND "),
            quoted(&parent.schema_name),
            quoted(&parent.name),
            equal.collect::<Vec<_>>().join(" AND "),
        );
        if cx.expressions.any_row(cx.work, &current.view, &orphans)? {
            let same = parent.object_id == table.object_id;
            let kind = if same { "FOREIGN KEY SAME TABLE" } else { "FOREIGN KEY" };
            let column = match &columns[..] {
                [(_, _, one)] => format!(", column '{one}'"),
                _ => String::new(),
            };
            let args: [&dyn Display; 6] = [
                &"ALTER TABLE",
                &kind,
                &key.name,
                &place.view.name(),
                &parent.two_part_name(),
                &column,
            ];
            return Err(SqlError::new(messages::CONSTRAINT_CONFLICT, &args));
        }
    }
    Ok(())
}

/// Another table with a foreign key that refers to this one.
pub(crate) fn referrer(view: &DatabaseView, table: &Table) -> Option<Arc<Table>> {
    view.referring(table.object_id).find(|t| t.object_id != table.object_id)
}

/// A foreign key that refers to the key of this index, and its table.
pub(crate) fn user_of_key(
    view: &DatabaseView,
    table: &Table,
    index: &Index,
) -> Option<(Arc<Table>, Box<str>)> {
    view.referring(table.object_id).find_map(|t| {
        let uses =
            |k: &&ForeignKey| k.referenced == table.object_id && k.key_index == index.index_id;
        let name = t.foreign_keys.iter().find(uses)?.name.clone();
        Some((t, name))
    })
}

/// Fails with 1989 if the index of the referenced key is disabled. The caller has locked its table.
pub(crate) fn has_index(cx: &DdlContext<'_>, place: &Place, key: &ForeignKey) -> SqlResult<()> {
    let place = cx.place(Some(place.view.name()))?;
    let table = place.view.table(key.referenced);
    let keeps = |i: &&Index| i.index_id == key.key_index && i.disabled;
    match table.as_ref().and_then(|table| table.indexes.iter().find(keeps)) {
        Some(index) => {
            let args: [&dyn Display; 2] = [&key.name, &index.name];
            Err(SqlError::new(messages::FOREIGN_KEY_INDEX_DISABLED, &args))
        }
        None => Ok(()),
    }
}

/// The foreign keys that use a column: the table's own, and those of other tables that refer to it.
pub(crate) fn users_of_column(view: &DatabaseView, table: &Table, at: usize) -> Vec<Box<str>> {
    let own = table.foreign_keys.iter().filter(|k| k.columns.iter().any(|c| c.column == at));
    let mut names: Vec<Box<str>> = own.map(|k| k.name.clone()).collect();
    let id = table.columns[at].column_id;
    for other in view.referring(table.object_id) {
        let keys = other.foreign_keys.iter().filter(|k| k.referenced == table.object_id);
        let keys = keys.filter(|k| k.columns.iter().any(|c| c.referenced == id));
        names.extend(keys.map(|k| k.name.clone()));
    }
    names.sort();
    names.dedup();
    names
}

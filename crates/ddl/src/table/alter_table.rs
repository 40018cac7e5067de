//! ALTER TABLE: columns and constraints added and dropped, checks switched on and off.
//!
//! ADD and DROP of a column do not read the rows (`instant`). Rows from before an ADD do not have
//! the column. Rows from before a DROP keep its bytes until they are written again. To add an
//! identity or a rowversion, whose values differ from row to row, the statement copies the table.

use crate::build::rebuild::{
    Content, NewColumn, NewColumnValue, open_all, rebuild, renew, renew_all,
};
use crate::constraint::drop_constraint::{drop_online, is_online, without_constraint};
use crate::constraint::foreign_key;
use crate::constraint::{self, add_check, add_key, keys, not_created};
use crate::context::{DdlContext, Place, unsupported};
use crate::index::create_index::inline_index;
use crate::index::definition::column;
use crate::index::options;
use crate::locate::{
    LockedTable, constraint_names, has_rows, is_local, locked_rows, queried_name, same_name,
};
use crate::online;
use crate::table::alter_column;
use crate::table::column::{draft, preset};
use crate::table::computed;
use crate::table::create_table::{check_room, check_row_size};
use crate::table::instant;
use base::{HobtId, SqlError, SqlResult, messages};
use catalog::ROW_VERSIONS;
use catalog::view::{Column, Identity, Index, Object, Table};
use std::collections::BTreeSet;
use std::sync::Arc;
use tsql::ast::{
    AlterTable, AlterTableAction, AlterTableDrop, AlterTableDropKind, ConstraintKind, Name,
    ObjectName, ParsedText, Setting, SettingValue, TableDefinition,
};
use types::{SqlType, encode_storage};

pub(crate) fn alter(
    s: &AlterTable,
    text: ParsedText<'_>,
    cx: &mut DdlContext<'_>,
) -> SqlResult<()> {
    let line = s.name.span.line;
    if let AlterTableAction::Trigger { enable, names } = &s.action {
        let names: Vec<&str> = names.iter().map(|n| &*n.text).collect();
        return crate::module::trigger::switch_on(
            &s.name,
            &names,
            *enable,
            messages::ALTER_TABLE_NO_TRIGGER,
            cx,
        );
    }
    match &s.action {
        AlterTableAction::Add { definition, .. }
            if !is_local(&s.name) && constraint::is_online(&constraint::all(definition))? =>
        {
            return add_online(cx, &s.name, definition);
        }
        AlterTableAction::Drop(items) if !is_local(&s.name) && is_online(items)? => {
            return items.iter().try_for_each(|item| drop_online(cx, &s.name, item));
        }
        AlterTableAction::Rebuild { partition: None, options } if !options.is_empty() => {
            return rebuild_with(cx, &s.name, options);
        }
        _ => {}
    }
    let name = match &s.action {
        AlterTableAction::Add { .. }
        | AlterTableAction::AlterColumn(_)
        | AlterTableAction::Drop(_)
        | AlterTableAction::CheckConstraint { .. } => None,
        AlterTableAction::Rebuild { partition: None, .. } => None,
        AlterTableAction::Rebuild { .. } => Some("ALTER TABLE REBUILD of a partition"),
        AlterTableAction::Trigger { .. } => None,
        AlterTableAction::Switch { .. } => Some("ALTER TABLE SWITCH"),
        AlterTableAction::Set(settings) if settings.iter().all(says_what_is) => None,
        AlterTableAction::Set(_) => Some("ALTER TABLE SET beyond LOCK_ESCALATION = TABLE"),
        AlterTableAction::ChangeTracking { .. } => Some("CHANGE_TRACKING"),
    };
    if let Some(name) = name {
        return Err(unsupported(name, line));
    }
    let Some(LockedTable { place, table }) = locked_rows(cx, &s.name)? else {
        let e = SqlError::new(messages::ALTER_TABLE_NOT_FOUND, &[&s.name]);
        return Err(e.at_line(line));
    };
    match &s.action {
        AlterTableAction::Add { check, definition } => {
            add(cx, &place, &table, definition, check.unwrap_or(true), text)
        }
        AlterTableAction::AlterColumn(s) => alter_column::alter(cx, &place, &table, s),
        AlterTableAction::Drop(items) => drop_parts(cx, &place, &table, items),
        AlterTableAction::Set(_) => Ok(()),
        AlterTableAction::CheckConstraint { with_check, enable, names } => {
            switch(cx, &place, &table, (*enable, with_check.unwrap_or(false)), names)
        }
        _ => rebuild_whole(cx, &LockedTable { place, table }),
    }
}

fn rebuild_whole(cx: &mut DdlContext<'_>, located: &LockedTable) -> SqlResult<()> {
    let mut after = Table::clone(&located.table);
    renew_all(&located.place, &mut after);
    rebuild(cx, &located.place, Some(&located.table), &after, Content::Keep(&[]))
}

/// REBUILD WITH options: only ONLINE has an effect.
fn rebuild_with(cx: &mut DdlContext<'_>, name: &ObjectName, settings: &[Setting]) -> SqlResult<()> {
    let line = name.span.line;
    let of_rebuilds = ["ONLINE", "MAXDOP", "SORT_IN_TEMPDB", "DATA_COMPRESSION"];
    if settings.iter().any(|s| !of_rebuilds.contains(&&*s.name)) {
        return Err(unsupported("ALTER TABLE REBUILD with options", line));
    }
    let kept = options::options(settings)?;
    let missing = || SqlError::new(messages::ALTER_TABLE_NOT_FOUND, &[name]).at_line(line);
    if !online::wanted(&kept, name) {
        let located = locked_rows(cx, name)?.ok_or_else(missing)?;
        return rebuild_whole(cx, &located);
    }
    let located = online::locate(cx, name)?.ok_or_else(missing)?;
    has_rows(&located.table).map_err(|e| e.at_line(line))?;
    let mut after = Table::clone(&located.table);
    renew(&located.place, &mut after.indexes[0]);
    online::build_online(cx, name, &located, after).map_err(|e| e.at_line(line))
}

/// Adds keys ONLINE. The statement may add nothing else.
fn add_online(
    cx: &mut DdlContext<'_>,
    name: &ObjectName,
    definition: &TableDefinition,
) -> SqlResult<()> {
    let (line, written) = (name.span.line, constraint::all(definition));
    let others = !definition.columns.is_empty()
        || !definition.indexes.is_empty()
        || keys(&written).len() != written.len();
    if others {
        return Err(unsupported("ONLINE = ON of a key beside other additions", line));
    }
    let missing = || SqlError::new(messages::ALTER_TABLE_NOT_FOUND, &[name]).at_line(line);
    let located = online::locate(cx, name)?.ok_or_else(missing)?;
    has_rows(&located.table).map_err(|e| e.at_line(line))?;
    let place = located.place.clone();
    constraint::refuse(&place, &located.table.name, &written)?;
    for (_, names) in indexed(definition, &written) {
        if !computed::to_store(&place, &located.table, &names).is_empty() {
            let what = "ONLINE = ON of a key on a computed column that is not stored yet";
            return Err(unsupported(what, line));
        }
    }
    let mut after = Table::clone(&located.table);
    put_keys(cx, &place, &located.table, &mut after, &written)?;
    online::build_online(cx, name, &located, after).map_err(|e| {
        let built = e.number() == messages::CREATE_INDEX_DUPLICATE.number;
        let e = e.at_line(line);
        if built { not_created(cx, e) } else { e }
    })
}

/// Puts keys into the draft.
fn put_keys(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    after: &mut Table,
    written: &[constraint::WrittenConstraint<'_>],
) -> SqlResult<()> {
    for (w, k) in keys(written) {
        if k.primary && after.indexes.iter().any(|i| i.primary_key) {
            let e = SqlError::new(messages::PRIMARY_EXISTS, &[&table.name]);
            return Err(not_created(cx, e.at_line(w.constraint.span.line)));
        }
        let free = after.base().kind.is_heap();
        let clustered = k.clustered.unwrap_or(k.primary && free);
        add_key(cx, place, after, w, k, clustered)?;
    }
    Ok(())
}

/// Whether a setting is LOCK_ESCALATION = TABLE. Every table has this setting: row locks escalate
/// to the table, because there are no partitions.
fn says_what_is(setting: &Setting) -> bool {
    let table = matches!(&setting.value, SettingValue::Word(w) if w.eq_ignore_ascii_case("TABLE"));
    table && &*setting.name == "LOCK_ESCALATION"
}

fn add(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    definition: &TableDefinition,
    check: bool,
    text: ParsedText<'_>,
) -> SqlResult<()> {
    let written = constraint::all(definition);
    constraint::refuse(place, &table.name, &written)?;
    let indexed = indexed(definition, &written);
    let stored = stored_by(cx, place, table, &indexed)?;
    let (place, table) = stored.as_ref().map_or((place, table), |s| (&s.place, &*s.table));
    let mut after = table.clone();
    let twice = messages::COLUMN_NAME_TWICE_IN_TABLE.number;
    let mut added = add_columns(cx, place, table, &mut after, definition, text)
        .map_err(|e| if e.number() == twice { e.with_state(4) } else { e })?;
    for (index, names) in &indexed {
        let columns = computed::to_store(place, &after, names);
        computed::store(cx, place, &mut after, &columns, index)?;
    }
    check_row_size(&after)?;
    // Columns with a value for each row must be filled before an index of them is built.
    let early = !indexed.is_empty() && fills(&after, table.columns.len(), &added);
    let filled = match early {
        true => Some(put_columns(cx, place, table, &mut after, std::mem::take(&mut added))?),
        false => None,
    };
    let (place, table) = filled.as_ref().map_or((place, table), |s| (&s.place, &*s.table));
    add_defaults(cx, place, &mut after, &written, text)?;
    put_keys(cx, place, table, &mut after, &written)?;
    let behind = definition.columns.iter();
    let behind = behind.flat_map(|c| c.indexes.iter().map(|i| (i, Some(&c.name))));
    for (index, at) in behind.chain(definition.indexes.iter().map(|i| (i, None))) {
        inline_index(cx, place, &mut after, index, at, text)?;
    }
    for w in &written {
        add_check(cx, place, &mut after, *w, text, check)?;
        foreign_key::add(cx, place, &mut after, *w, check)?;
    }
    put_columns(cx, place, table, &mut after, added).map_err(|e| {
        let built = e.number() == messages::CREATE_INDEX_DUPLICATE.number;
        if built { not_created(cx, e) } else { e }
    })?;
    match check {
        true => {
            verify(cx, place, &after, &after.checks[table.checks.len()..])?;
            let added = &after.foreign_keys[table.foreign_keys.len()..];
            foreign_key::verify(cx, place, &after, added)
        }
        false => Ok(()),
    }
}

/// Adds defaults for existing columns.
fn add_defaults(
    cx: &mut DdlContext<'_>,
    place: &Place,
    after: &mut Table,
    written: &[constraint::WrittenConstraint<'_>],
    text: ParsedText<'_>,
) -> SqlResult<()> {
    for w in written {
        if let ConstraintKind::Default { value, column: name, with_values } = &w.constraint.kind {
            let at = column(place, after, name).map_err(|e| {
                let args: [&dyn std::fmt::Display; 2] = [name, &after.name];
                let why = SqlError::new(messages::DEFAULT_NO_COLUMN, &args);
                not_created(cx, why.at_line(e.line()))
            })?;
            takes_default(after, at, name).map_err(|e| not_created(cx, e))?;
            if *with_values {
                return Err(unsupported("WITH VALUES for a column that is there", name.line));
            }
            if after.columns[at].default.is_some() {
                let e = SqlError::new(messages::DEFAULT_EXISTS, &[]).at_line(name.line);
                return Err(not_created(cx, e));
            }
            let of = after.columns[at].clone();
            let given = w.constraint.name.as_ref();
            after.columns[at].default = Some(preset(cx, place, after, &of, given, value, text)?);
        }
    }
    Ok(())
}

/// Refuses a default for a column that gets its values in another way.
fn takes_default(table: &Table, at: usize, name: &Name) -> SqlResult<()> {
    let column = &table.columns[at];
    let args: [&dyn std::fmt::Display; 2] = [&table.name, &column.name];
    let e = match () {
        () if column.computed.is_some() => {
            SqlError::new(messages::DEFAULT_NO_COLUMN, &[&column.name, &table.name])
        }
        () if column.identity.is_some() => SqlError::new(messages::DEFAULT_ON_IDENTITY, &args),
        () if column.sql_type == SqlType::RowVersion => {
            SqlError::new(messages::ROW_VERSION_DEFAULT, &args)
        }
        () => return Ok(()),
    };
    Err(e.at_line(name.line))
}

/// Whether the columns behind the first `known` get a value computed for each row.
fn fills(table: &Table, known: usize, added: &[NewColumn]) -> bool {
    added.iter().any(|a| a.1 == NewColumnValue::Own)
        || table.columns.iter().skip(known).any(Column::is_stored_computed)
}

/// Rebuilds the table as drafted and fills the added columns. Returns the table as it is then.
fn put_columns(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    after: &mut Table,
    added: Vec<NewColumn>,
) -> SqlResult<LockedTable> {
    let same_base = table.base().partitions == after.base().partitions;
    // If the rows move, every index is built again, because its entries have their locators.
    if !same_base || !instant::add(after, &added) {
        renew_all(place, after);
    }
    rebuild(cx, place, Some(table), after, Content::Keep(&added))?;
    let own: BTreeSet<i32> =
        added.iter().filter(|a| a.1 == NewColumnValue::Own).map(|a| a.0).collect();
    computed::fill(cx, place, after, table.columns.len(), &own)?;
    let now = current(cx, place, table)?;
    if !added.is_empty() {
        *after = Table::clone(&now.table);
    }
    Ok(now)
}

/// The table with the changes that the statement has made so far.
fn current(cx: &DdlContext<'_>, place: &Place, table: &Table) -> SqlResult<LockedTable> {
    let place = cx.place(Some(place.view.name()))?;
    let own = cx.temp.find(&table.name).filter(|t| t.object_id == table.object_id);
    let found = own.or_else(|| place.view.table(table.object_id));
    let gone = || SqlError::new(messages::ALTER_TABLE_NOT_FOUND, &[&table.name]);
    Ok(LockedTable { table: found.ok_or_else(gone)?, place })
}

/// The keys and indexes of a definition: the name that errors show, and the columns.
fn indexed<'a>(
    definition: &'a TableDefinition,
    written: &[constraint::WrittenConstraint<'a>],
) -> Vec<(&'a Name, Vec<&'a Name>)> {
    let mut all = Vec::new();
    for (w, k) in keys(written) {
        let names: Vec<&Name> =
            w.column.into_iter().chain(k.columns.iter().map(|c| &c.name)).collect();
        let name = w.constraint.name.as_ref().or(names.first().copied());
        all.extend(name.map(|name| (name, names)));
    }
    let behind = definition.columns.iter();
    let behind = behind.flat_map(|c| c.indexes.iter().map(|i| (i, Some(&c.name))));
    for (i, column) in behind.chain(definition.indexes.iter().map(|i| (i, None))) {
        let own = column.filter(|_| i.columns.is_empty());
        let names = own.into_iter().chain(i.columns.iter().map(|c| &c.name)).chain(&i.include);
        all.push((&i.name, names.collect()));
    }
    all
}

/// Stores the computed columns that new keys and indexes use. Returns the table after that, or
/// `None` if all of them are stored already.
fn stored_by(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    indexed: &[(&Name, Vec<&Name>)],
) -> SqlResult<Option<LockedTable>> {
    let mut stored: Option<LockedTable> = None;
    for (index, names) in indexed {
        let now = stored.as_ref().map_or((place, table), |s| (&s.place, &*s.table));
        let columns = computed::to_store(now.0, now.1, names);
        if !columns.is_empty() {
            computed::store_in_rows(cx, now.0, now.1, &columns, index)?;
            stored = Some(current(cx, place, table)?);
        }
    }
    Ok(stored)
}

/// Checks that the existing rows satisfy the checks `checks`.
fn verify(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    checks: &[catalog::view::Check],
) -> SqlResult<()> {
    for check in checks {
        let current = cx.place(Some(place.view.name()))?;
        let name = queried_name(&current, table);
        // The optimizer may already trust the constraint and drop the condition. With CASE around
        // it the condition is evaluated for each row.
        let broken = format!(
            "SELECT 1 FROM {name} WHERE CASE WHEN NOT ({}) THEN 1 ELSE 0 END = 1",
            check.text
        );
        if cx.expressions.any_row(cx.work, &current.view, &broken)? {
            let column = check.column.map(|at| format!(", column '{}'", table.columns[at].name));
            let args: [&dyn std::fmt::Display; 6] = [
                &"ALTER TABLE",
                &"CHECK",
                &check.name,
                &place.view.name(),
                &table.two_part_name(),
                &column.unwrap_or_default(),
            ];
            return Err(SqlError::new(messages::CONSTRAINT_CONFLICT, &args));
        }
    }
    Ok(())
}

/// Adds columns to the draft. Returns the value that existing rows get in each.
fn add_columns(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    after: &mut Table,
    definition: &TableDefinition,
    text: ParsedText<'_>,
) -> SqlResult<Vec<NewColumn>> {
    let mut added = Vec::new();
    if definition.columns.is_empty() {
        return Ok(added);
    }
    let hobts = open_all(place, table, table.base())?;
    let empty = are_empty(cx, &hobts)?;
    for written in &definition.columns {
        check_room(after, &written.name)?;
        let drafted = draft(cx, place, after, written, text)?;
        let mut column = drafted.column;
        let line = written.span.line;
        if column.computed.is_some() {
            column.physical = column.physical.map(|_| after.next_place());
            added.push((column.column_id, NewColumnValue::Same(None)));
            after.columns.push(column);
            continue;
        }
        column.physical = Some(after.next_place());
        if let Some(identity) = column.identity.filter(|_| !empty) {
            added.push((column.column_id, NewColumnValue::Counted(identity, column.sql_type)));
            after.columns.push(column);
            continue;
        }
        if column.sql_type == SqlType::RowVersion && !empty {
            added.push((column.column_id, versions(cx, place, &hobts)?));
            after.columns.push(column);
            continue;
        }
        let wants_value = written.default.as_ref().is_some_and(|d| d.with_values);
        let wanted =
            column.default.as_ref().filter(|_| !empty && (!column.nullable || wants_value));
        if wanted.is_some_and(|d| differs_by_row(&d.text)) {
            added.push((column.column_id, NewColumnValue::Own));
            after.columns.push(column);
            continue;
        }
        let bytes = match wanted {
            Some(d) => {
                let view = &place.view;
                let of = (column.sql_type, column.collation);
                let value = cx.expressions.default_value(cx.work, view, &d.text, of)?;
                (!value.is_null()).then(|| {
                    let mut out = Vec::new();
                    encode_storage(&value, column.sql_type, &mut out);
                    out.into_boxed_slice()
                })
            }
            None => None,
        };
        if bytes.is_none() && !column.nullable && !empty {
            let args: [&dyn std::fmt::Display; 2] = [&column.name, &table.name];
            return Err(SqlError::new(messages::ADD_COLUMN_NEEDS_VALUE, &args).at_line(line));
        }
        added.push((column.column_id, NewColumnValue::Same(bytes)));
        after.columns.push(column);
    }
    for written in &definition.columns {
        computed::settle(cx, place, after, written)?;
    }
    Ok(added)
}

/// Whether a default has another value in each row. A false yes only costs time: rows are then
/// written that need not be.
fn differs_by_row(default: &str) -> bool {
    let default = default.to_ascii_uppercase();
    ["NEWID", "NEWSEQUENTIALID", "CRYPT_GEN_RANDOM"].iter().any(|f| default.contains(f))
}

/// Whether hobts have no rows. It tries to read one row, because the row counts are estimates.
fn are_empty(cx: &mut DdlContext<'_>, hobts: &[Arc<dyn access::Hobt>]) -> SqlResult<bool> {
    for hobt in hobts {
        if hobt.scan(cx.work, &Default::default(), &READ)?.next(cx.work)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Draws a rowversion for each existing row.
fn versions(
    cx: &mut DdlContext<'_>,
    place: &Place,
    hobts: &[Arc<dyn access::Hobt>],
) -> SqlResult<NewColumnValue> {
    let mut count = 0;
    for hobt in hobts {
        let mut rows = hobt.scan(cx.work, &Default::default(), &READ)?;
        while rows.next(cx.work)? {
            count += 1;
        }
    }
    let (hobt, store) = (HobtId::ROW_VERSIONS, &*place.identity_store);
    let seed = match count {
        0 => ROW_VERSIONS.seed,
        n => place.identities.next_many(hobt, ROW_VERSIONS, n, store)?,
    };
    Ok(NewColumnValue::Counted(Identity { seed, ..ROW_VERSIONS }, SqlType::RowVersion))
}

/// No row locks are needed: Sch-M keeps all other sessions away.
const READ: access::LockPlan = access::LockPlan::read(access::Isolation::ReadUncommitted);

fn drop_parts(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    items: &[AlterTableDrop],
) -> SqlResult<()> {
    let mut after = table.clone();
    for item in items {
        let line = item.name.line;
        let kept = options::drop_options(&item.options)?;
        cx.threads.limit(kept.max_workers);
        match item.kind {
            AlterTableDropKind::Constraint => match without_constraint(place, &after, &item.name) {
                Some(without) => {
                    keeps_key(cx, place, table, &without, line)?;
                    after = without;
                }
                None if item.if_exists => {}
                None => {
                    let e = no_constraint(place, table, &item.name).at_line(line);
                    let last = SqlError::new(messages::CONSTRAINT_NOT_DROPPED, &[]);
                    return Err(cx.after(e, last));
                }
            },
            AlterTableDropKind::Column => drop_column(cx, place, &mut after, item)?,
            AlterTableDropKind::Index => return Err(unsupported("ALTER TABLE DROP INDEX", line)),
            AlterTableDropKind::Period => return Err(unsupported("DROP PERIOD", line)),
        }
    }
    computed::unstore(&mut after);
    rebuild(cx, place, Some(table), &after, Content::Keep(&[]))
}

/// The error for a constraint that the table does not have: 3728, or 3733 if another table of the
/// schema has a constraint of that name.
pub(crate) fn no_constraint(place: &Place, table: &Table, name: &Name) -> SqlError {
    let elsewhere = place.view.objects().any(|o| match o {
        Object::Table(t) if t.schema_id == table.schema_id => {
            constraint_names(t).any(|n| same_name(place, n, name))
        }
        _ => false,
    });
    if elsewhere && !constraint_names(table).any(|n| same_name(place, n, name)) {
        let args: [&dyn std::fmt::Display; 2] = [name, &table.name];
        return SqlError::new(messages::CONSTRAINT_ELSEWHERE, &args);
    }
    SqlError::new(messages::NOT_A_CONSTRAINT, &[name])
}

/// Fails with 3725 if `without` lacks a key to which a foreign key refers.
pub(crate) fn keeps_key(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    without: &Table,
    line: u32,
) -> SqlResult<()> {
    let kept = |i: &Index| without.indexes.iter().any(|k| k.constraint_id == i.constraint_id);
    let gone = table.indexes.iter().filter(|i| i.constraint_id.is_some() && !kept(i));
    for index in gone {
        if let Some((user, key)) = foreign_key::user_of_key(&place.view, table, index) {
            let args: [&dyn std::fmt::Display; 3] = [&index.name, &user.name, &key];
            let e = SqlError::new(messages::CONSTRAINT_REFERENCED, &args).with_state(0);
            let last = SqlError::new(messages::CONSTRAINT_NOT_DROPPED, &[]);
            return Err(cx.after(e.at_line(line), last));
        }
    }
    Ok(())
}

fn drop_column(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &mut Table,
    item: &AlterTableDrop,
) -> SqlResult<()> {
    let (name, line) = (&*item.name, item.name.line);
    let Some(at) = table.columns.iter().position(|c| same_name(place, &c.name, name)) else {
        if item.if_exists {
            return Ok(());
        }
        let args: [&dyn std::fmt::Display; 3] = [&"ALTER TABLE DROP COLUMN", &name, &table.name];
        return Err(SqlError::new(messages::DROP_COLUMN_NOT_FOUND, &args).at_line(line));
    };
    if table.columns.len() == 1 {
        let args: [&dyn std::fmt::Display; 2] = [&name, &table.name];
        return Err(SqlError::new(messages::DROP_ONLY_COLUMN, &args).at_line(line));
    }
    table.statistics.retain(|s| !(s.automatic() && s.columns.contains(&at)));
    let mut without = table.clone();
    without.columns.remove(at);
    let users = alter_column::users(cx, place, table, at, alter_column::Disturbance::WHOLLY);
    alter_column::refuse_users(cx, users, "ALTER TABLE DROP COLUMN", &item.name)?;
    let moved = |n: &mut usize| *n -= usize::from(*n > at);
    for index in &mut without.indexes {
        index.key.iter_mut().for_each(|k| moved(&mut k.column));
        index.included.iter_mut().for_each(moved);
        if let Some(filter) = &mut index.filter {
            let tests = &mut Arc::make_mut(filter).tests;
            tests.iter_mut().for_each(|t| moved(&mut t.column));
        }
    }
    without.statistics.iter_mut().flat_map(|s| &mut s.columns).for_each(moved);
    without.checks.iter_mut().filter_map(|c| c.column.as_mut()).for_each(moved);
    let foreign = without.foreign_keys.iter_mut().flat_map(|k| &mut k.columns);
    foreign.for_each(|c| moved(&mut c.column));
    instant::drop(&mut without, &table.columns[at]);
    *table = without;
    Ok(())
}

/// Marks all CHECK and FOREIGN KEY constraints of a table as not trusted: the caller adds rows
/// without checking them. Enabled constraints still check all other changes.
///
/// # Errors
/// 208 when the table no longer exists; those of the lock.
pub fn distrust(name: &ObjectName, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let Some(LockedTable { place, table }) = locked_rows(cx, name)? else {
        return Err(SqlError::new(messages::INVALID_OBJECT, &[name]).at_line(name.span.line));
    };
    if !table.trusts_constraints() {
        return Ok(());
    }
    let mut after = Table::clone(&table);
    after.checks.iter_mut().for_each(|c| c.not_trusted = true);
    after.foreign_keys.iter_mut().for_each(|k| k.not_trusted = true);
    rebuild(cx, &place, Some(&table), &after, Content::Keep(&[]))
}

/// CHECK CONSTRAINT and NOCHECK CONSTRAINT.
fn switch(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    (enable, with_check): (bool, bool),
    names: &[Name],
) -> SqlResult<()> {
    let mut after = table.clone();
    for name in names {
        let is = |other: &str| same_name(place, other, name);
        let check = after.checks.iter().any(|c| is(&c.name));
        if !check && !after.foreign_keys.iter().any(|k| is(&k.name)) {
            let e = match constraint_names(&after).any(is) {
                true => SqlError::new(messages::NOT_SWITCHABLE, &[name]),
                false => SqlError::new(messages::CONSTRAINT_NOT_FOUND, &[name]),
            };
            let last = SqlError::new(messages::CONSTRAINT_NOT_SWITCHED, &[]);
            return Err(cx.after(e.at_line(name.line), last));
        }
    }
    let named = |own: &str| names.is_empty() || names.iter().any(|n| same_name(place, own, n));
    let verified = enable && with_check;
    let (mut checks, mut foreign) = (Vec::new(), Vec::new());
    for check in after.checks.iter_mut().filter(|c| named(&c.name)) {
        check.disabled = !enable;
        check.not_trusted =
            check.not_for_replication || !verified && (!enable || check.not_trusted);
        checks.push(check.clone());
    }
    for key in after.foreign_keys.iter_mut().filter(|k| named(&k.name)) {
        catalog::lock_object(cx.work, place.view.id(), key.referenced)?;
        if enable {
            foreign_key::has_index(cx, place, key)?;
        }
        key.disabled = !enable;
        key.not_trusted = key.not_for_replication || !verified && (!enable || key.not_trusted);
        foreign.push(key.clone());
    }
    if verified {
        verify(cx, place, table, &checks)?;
        foreign_key::verify(cx, place, table, &foreign)?;
    }
    rebuild(cx, place, Some(table), &after, Content::Keep(&[]))
}

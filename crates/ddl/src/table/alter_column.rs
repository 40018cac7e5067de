//! ALTER COLUMN: another type, collation or nullability.
//!
//! Some changes leave the stored rows as they are, so only metadata changes: another nullability,
//! a longer variable length, a decimal of more digits in as many bytes. Every other change copies
//! the table and converts the values.

use crate::build::rebuild::{Content, rebuild, renew_all};
use crate::constraint::foreign_key;
use crate::context::{DdlContext, Place, unsupported};
use crate::data_type::type_name::{Declaree, declared};
use crate::locate::{queried_name, quoted, same_name};
use crate::table::column::collation_of;
use crate::table::computed;
use crate::table::create_table;
use base::{SqlError, SqlResult, messages};
use catalog::view::{Column, Object, SchemaId, Table, stored_width};
use std::fmt::Display;
use tsql::ast::{AlterColumn, AlterColumnChange, Name};
use types::{Length, SqlType};

const DOING: &str = "ALTER TABLE ALTER COLUMN";

pub(crate) fn alter(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    s: &AlterColumn,
) -> SqlResult<()> {
    let line = s.name.line;
    if let Some(option) = s.options.first() {
        return Err(unsupported(&format!("ALTER COLUMN WITH {}", option.name), line));
    }
    refuse(s)?;
    let at = table.columns.iter().position(|c| same_name(place, &c.name, &s.name));
    let Some(at) = at else {
        let args: [&dyn Display; 3] = [&DOING, &s.name, &table.name];
        let e = SqlError::new(messages::DROP_COLUMN_NOT_FOUND, &args);
        return Err(e.with_state(if is_persisted(s) { 2 } else { 1 }).at_line(line));
    };
    if let AlterColumnChange::Attribute { add, attribute } = &s.change {
        return attribute_of(cx, place, table, at, (*add, &attribute.name, s));
    }
    if table.columns[at].computed.is_some() {
        let args: [&dyn Display; 2] = [&s.name, &"COMPUTED"];
        return Err(SqlError::new(messages::ALTER_COLUMN_KIND, &args).at_line(line));
    }
    if table.columns[at].sql_type == SqlType::RowVersion {
        let args: [&dyn Display; 2] = [&s.name, &"timestamp"];
        return Err(SqlError::new(messages::ALTER_COLUMN_KIND, &args).at_line(line));
    }
    let column = wanted(cx, place, table, at, s)?;
    if column.sql_type == SqlType::RowVersion {
        let args: [&dyn Display; 2] = [&s.name, &"timestamp"];
        return Err(SqlError::new(messages::ALTER_COLUMN_TO, &args).at_line(line));
    }
    let mut after = table.clone();
    after.columns[at] = column;
    let (old, new) = (&table.columns[at], &after.columns[at]);
    if old == new {
        return Ok(());
    }
    let disturbed = users(cx, place, table, at, Disturbance::by(old, new));
    refuse_users(cx, disturbed, DOING, &s.name)?;
    create_table::check_row_size(&after)?;
    after.statistics.retain(|s| !(s.automatic() && s.columns.contains(&at)));
    let stays = stays(table, &after, at);
    if stays && old.nullable && !new.nullable {
        forbid_null(cx, place, table, at).map_err(|e| e.at_line(line))?;
    }
    if !stays {
        renew_all(place, &mut after);
    }
    rebuild(cx, place, Some(table), &after, Content::Keep(&[]))
}

/// Refuses an unsupported change, by its name.
fn refuse(s: &AlterColumn) -> SqlResult<()> {
    let what = match &s.change {
        AlterColumnChange::Type { sparse: true, .. } => "SPARSE".to_owned(),
        AlterColumnChange::Type { .. } => return Ok(()),
        AlterColumnChange::Attribute { attribute, .. }
            if matches!(&*attribute.name, "ROWGUIDCOL" | "PERSISTED") =>
        {
            return Ok(());
        }
        AlterColumnChange::Attribute { add, attribute } => {
            let verb = if *add { "ADD" } else { "DROP" };
            format!("ALTER COLUMN {verb} {}", attribute.name)
        }
    };
    Err(unsupported(&what, s.name.line))
}

fn is_persisted(s: &AlterColumn) -> bool {
    matches!(&s.change, AlterColumnChange::Attribute { attribute, .. }
        if &*attribute.name == "PERSISTED")
}

/// ADD or DROP of an attribute. The last argument is: true for ADD, the attribute's name, the
/// clause.
fn attribute_of(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    at: usize,
    (add, attribute, s): (bool, &str, &AlterColumn),
) -> SqlResult<()> {
    let line = s.name.line;
    if attribute == "ROWGUIDCOL" {
        let after = row_guid(table, at, add).map_err(|e| e.at_line(line))?;
        return rebuild(cx, place, Some(table), &after, Content::Keep(&[]));
    }
    let Some(computed) = &table.columns[at].computed else {
        let e = SqlError::new(messages::PERSISTED_NOT_COMPUTED, &[&s.name]);
        return Err(e.at_line(line));
    };
    if computed.persisted == add {
        return Ok(());
    }
    if add {
        return computed::persist(cx, place, table, at).map_err(|e| e.at_line(line));
    }
    let all = Disturbance { longer: false, same_kind: true };
    let users = users(cx, place, table, at, all);
    refuse_users(cx, users, DOING, &s.name)?;
    computed::unpersist(cx, place, table, at).map_err(|e| e.at_line(line))
}

/// ADD and DROP ROWGUIDCOL.
fn row_guid(table: &Table, at: usize, add: bool) -> SqlResult<Table> {
    let own = table.columns.iter().position(|c| c.row_guid);
    let mut after = table.clone();
    let column = &mut after.columns[at];
    match (add, own) {
        (true, Some(_)) => return Err(SqlError::new(messages::ROW_GUID_THERE, &[&table.name])),
        (true, None) if column.sql_type != SqlType::UniqueIdentifier => {
            return Err(SqlError::new(messages::ROW_GUID_TYPE, &[]));
        }
        (false, own) if own != Some(at) => {
            return Err(SqlError::new(messages::ROW_GUID_MISSING, &[&table.name]));
        }
        _ => column.row_guid = add,
    }
    Ok(after)
}

/// The column as the statement declares it.
fn wanted(
    cx: &DdlContext<'_>,
    place: &Place,
    table: &Table,
    at: usize,
    s: &AlterColumn,
) -> SqlResult<Column> {
    let line = s.name.line;
    let old = &table.columns[at];
    let AlterColumnChange::Type { type_name, collation, nullable, .. } = &s.change else {
        return Ok(old.clone());
    };
    let who = Declaree { number: at + 1, kind: "column", name: &old.name };
    let of = declared(type_name, who, &place.view, SchemaId::DBO)?;
    let mut new = old.clone();
    new.sql_type = of.sql_type;
    new.user_type_id = of.user_type_id;
    new.nullable = (*nullable).unwrap_or(old.identity.is_none());
    new.collation = collation_of(cx, place, table, collation.as_ref(), of)?;
    if old.identity.is_some() {
        let whole = matches!(
            of.sql_type,
            SqlType::TinyInt
                | SqlType::SmallInt
                | SqlType::Int
                | SqlType::BigInt
                | SqlType::Decimal { scale: 0, .. }
        );
        if !whole {
            let e = SqlError::new(messages::IDENTITY_INVALID_TYPE, &[&old.name]);
            return Err(e.at_line(line));
        }
        if new.nullable {
            let args: [&dyn Display; 2] = [&old.name, &table.name];
            return Err(SqlError::new(messages::IDENTITY_NULLABLE, &args).at_line(line));
        }
    }
    let characters = old.sql_type.is_character() && new.sql_type.is_character();
    types::check_implicit(old.sql_type, new.sql_type)
        .or_else(|e| if characters { Ok(()) } else { Err(e) })
        .map_err(|e| e.at_line(line))?;
    Ok(new)
}

/// Whether only a length or precision grows: the type and collation stay, and the stored bytes of
/// a value are the same.
fn grows(old: &Column, new: &Column) -> bool {
    let longer = |a: Length, b: Length| match (a, b) {
        (Length::N(a), Length::N(b)) => b >= a,
        (_, Length::Max) => true,
        (Length::Max, Length::N(_)) => false,
    };
    old.collation == new.collation
        && match (old.sql_type, new.sql_type) {
            (SqlType::VarChar(a), SqlType::VarChar(b))
            | (SqlType::NVarChar(a), SqlType::NVarChar(b))
            | (SqlType::VarBinary(a), SqlType::VarBinary(b)) => longer(a, b),
            (
                a @ SqlType::Decimal { precision: p, scale: s },
                b @ SqlType::Decimal { precision: q, scale: t },
            ) => s == t && q >= p && stored_width(a) == stored_width(b),
            _ => false,
        }
}

/// Whether the stored rows stay as they are.
fn stays(table: &Table, after: &Table, at: usize) -> bool {
    let (old, new) = (&table.columns[at], &after.columns[at]);
    let same = old.sql_type == new.sql_type && old.collation == new.collation;
    same || grows(old, new)
}

/// The properties of a column that a change keeps. Objects that use the column allow some changes.
#[derive(Clone, Copy)]
pub(crate) struct Disturbance {
    /// Only a length grows.
    longer: bool,
    /// The type is of the same kind.
    same_kind: bool,
}

impl Disturbance {
    /// The column is dropped.
    pub(crate) const WHOLLY: Disturbance = Disturbance { longer: false, same_kind: false };

    fn by(old: &Column, new: &Column) -> Disturbance {
        let max = |c: &Column| c.sql_type.max_length() == -1;
        let longer = grows(old, new) && old.nullable == new.nullable && max(old) == max(new);
        let same_kind = old.sql_type.system_type_id() == new.sql_type.system_type_id();
        Disturbance { longer, same_kind }
    }
}

/// The objects that use a column and do not allow its change: the kind of each, and its name.
pub(crate) fn users(
    cx: &DdlContext<'_>,
    place: &Place,
    table: &Table,
    at: usize,
    Disturbance { longer, same_kind }: Disturbance,
) -> Vec<(&'static str, Box<str>)> {
    let old = &table.columns[at];
    let mut users: Vec<(&'static str, Box<str>)> = Vec::new();
    for i in &table.indexes {
        let uses = i.has_column(at);
        if uses && (i.primary_key || !longer) {
            users
                .push((if i.constraint_id.is_some() { "object" } else { "index" }, i.name.clone()));
        }
    }
    let own = table.statistics.iter().filter(|s| s.columns.contains(&at) && !longer);
    let own = own.filter(|s| !s.automatic());
    users.extend(own.map(|s| ("statistics", s.name.clone())));
    if let Some(d) = old.default.as_ref().filter(|_| !same_kind) {
        users.push(("object", d.name.clone()));
    }
    users.extend(
        foreign_key::users_of_column(&place.view, table, at).into_iter().map(|n| ("object", n)),
    );
    let bound = place.view.objects().filter_map(|o| match o {
        Object::Module(m) if m.is_bound_to(table.object_id, Some(old.column_id)) => Some(m),
        _ => None,
    });
    users.extend(bound.map(|m| ("object", m.name.clone())));
    let mut without = table.clone();
    without.columns.remove(at);
    let quoted = cx.settings.quoted_identifier;
    for check in table.checks.iter().filter(|_| !longer) {
        if cx.expressions.check_condition(&place.view, &without, &check.text, quoted).is_err() {
            users.push(("object", check.name.clone()));
        }
    }
    for c in table.columns.iter() {
        let Some(computed) = &c.computed else { continue };
        if cx.expressions.computed_type(&place.view, &without, &computed.text).is_err() {
            users.push(("column", c.name.clone()));
        }
    }
    users
}

/// Fails if there are such objects: 5074 for each, then 4922.
pub(crate) fn refuse_users(
    cx: &mut DdlContext<'_>,
    users: Vec<(&'static str, Box<str>)>,
    doing: &str,
    name: &Name,
) -> SqlResult<()> {
    let last = users.len().wrapping_sub(1);
    for (n, (kind, user)) in users.iter().enumerate() {
        let args: [&dyn Display; 4] = [kind, user, &"column", name];
        let why = SqlError::new(messages::COLUMN_DEPENDENT, &args).at_line(name.line);
        if n < last {
            cx.messages.push(why);
            continue;
        }
        let args: [&dyn Display; 2] = [&doing, name];
        let failed = SqlError::new(messages::ALTER_COLUMN_IN_USE, &args).with_state(9);
        return Err(cx.after(why, failed));
    }
    Ok(())
}

/// Fails with 515 if a row has NULL in the column.
fn forbid_null(cx: &mut DdlContext<'_>, place: &Place, table: &Table, at: usize) -> SqlResult<()> {
    let column = &table.columns[at].name;
    let current = cx.place(Some(place.view.name()))?;
    let name = queried_name(&current, table);
    let query = format!("SELECT 1 FROM {name} WHERE {} IS NULL", quoted(column));
    if cx.expressions.any_row(cx.work, &current.view, &query)? {
        let shown = format!("{}.{}", place.view.name(), table.two_part_name());
        let args: [&dyn Display; 3] = [column, &shown, &"UPDATE"];
        return Err(SqlError::new(messages::NULL_NOT_ALLOWED, &args).with_state(2));
    }
    Ok(())
}

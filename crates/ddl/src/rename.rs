//! sp_rename: another name for a table, a column, an index, statistics, a constraint, a module, a
//! sequence, a synonym or a type.
//!
//! Rename does not rewrite texts. So a column that a check, a filter, a computed column or a
//! schema-bound module reads cannot be renamed (15336).

use crate::build::rebuild::{Content, rebuild};
use crate::context::{DdlContext, Place, unsupported};
use crate::locate::{
    LockedTable, is_temporary, locked_object, locked_table, name_taken, same_name,
};
use base::{SqlError, SqlResult, messages};
use catalog::view::{Module, Object, SchemaId, Sequence, Synonym, Table, UserType};
use catalog::{Changes, Delta};
use std::fmt::Display;
use std::sync::Arc;
use tsql::ast::{Name, ObjectName};

/// The kind of thing that is renamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RenameKind {
    /// Anything with an object id: a table, a module, a constraint …
    Object,
    /// `table.column`
    Column,
    /// `table.index`
    Index,
    /// `table.statistics`
    Statistics,
    /// A type of a user.
    Type,
}

impl RenameKind {
    fn word(self) -> &'static str {
        match self {
            RenameKind::Object => "OBJECT",
            RenameKind::Column => "COLUMN",
            RenameKind::Index => "INDEX",
            RenameKind::Statistics => "STATISTICS",
            RenameKind::Type => "USERDATATYPE",
        }
    }
}

/// A call of sp_rename.
struct Rename<'a> {
    name: &'a ObjectName,
    new_name: Box<str>,
    /// `None` means an object, or a column if there is no such object.
    kind: Option<RenameKind>,
}

/// Renames the object, column, index, statistics or type called `name`. `kind` is sp_rename's
/// @objtype.
///
/// # Errors
/// 15225, 15248, 15249, 15335, 15336; locks, space, log.
pub fn rename(
    name: &ObjectName,
    new_name: &str,
    kind: Option<&str>,
    cx: &mut DdlContext<'_>,
) -> SqlResult<()> {
    let known = cx.deltas.len();
    let kind = kind.map(kind_of).transpose()?;
    let done = perform(&Rename { name, new_name: new_name.into(), kind }, cx);
    if done.is_err() {
        cx.deltas.truncate(known);
    }
    done
}

fn kind_of(written: &str) -> SqlResult<RenameKind> {
    Ok(match &*written.to_ascii_uppercase() {
        "OBJECT" => RenameKind::Object,
        "COLUMN" => RenameKind::Column,
        "INDEX" => RenameKind::Index,
        "STATISTICS" => RenameKind::Statistics,
        "USERDATATYPE" => RenameKind::Type,
        "DATABASE" => return Err(unsupported("sp_rename of a DATABASE", 0)),
        _ => return Err(SqlError::new(messages::RENAME_TYPE, &[&written])),
    })
}

fn perform(r: &Rename<'_>, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let done = match r.kind {
        Some(RenameKind::Object) => object(r, cx)?,
        Some(RenameKind::Type) => user_type(r, cx)?,
        Some(kind) => part(r, kind, cx)?,
        None => object(r, cx)? || (r.name.schema.is_some() && part(r, RenameKind::Column, cx)?),
    };
    if done {
        cx.messages.push(SqlError::new(messages::RENAME_CAUTION, &[]).at_line(1));
        return Ok(());
    }
    let place = cx.place(None)?;
    let kind = r.kind.map_or("(null)", RenameKind::word);
    match r.kind {
        Some(RenameKind::Column | RenameKind::Index | RenameKind::Statistics) => {
            Err(SqlError::new(messages::RENAME_AMBIGUOUS, &[&kind]))
        }
        _ => {
            let args: [&dyn Display; 3] = [r.name, &place.view.name(), &kind];
            Err(SqlError::new(messages::RENAME_NOT_FOUND, &args))
        }
    }
}

fn in_use(new_name: &str, kind: &str) -> SqlError {
    SqlError::new(messages::RENAME_IN_USE, &[&new_name, &kind])
}

/// Renames an object: a table, a constraint of a table, a module, a sequence or a synonym.
/// Returns false when there is none.
fn object(r: &Rename<'_>, cx: &mut DdlContext<'_>) -> SqlResult<bool> {
    if is_temporary(r.name) {
        return Err(unsupported("sp_rename of a temporary table", 0));
    }
    let place = cx.place(r.name.database.as_deref())?;
    let schema = match &r.name.schema {
        Some(s) => place.view.schema(s).map(|s| s.id),
        None => Some(SchemaId::DBO),
    };
    let Some(schema) = schema else { return Ok(false) };
    match place.view.find(schema, &r.name.object) {
        Some(Object::Table(_)) => {}
        Some(Object::Virtual(_)) | None => return constraint(r, &place, schema, cx),
        Some(Object::Synonym(_) | Object::Sequence(_) | Object::Module(_)) => {
            return without_rows(r, cx);
        }
    }
    let Some(LockedTable { place, table }) = locked_table(cx, r.name)? else { return Ok(false) };
    catalog::lock_name(cx.work, place.view.id(), table.schema_id, &table.name)?;
    catalog::lock_name(cx.work, place.view.id(), table.schema_id, &r.new_name)?;
    let place = cx.place(Some(place.view.name()))?;
    let respelled = same_name(&place, &table.name, &r.new_name);
    if !respelled && name_taken(&place, table.schema_id, &r.new_name) {
        return Err(in_use(&r.new_name, "object"));
    }
    if place.view.bound_to(table.object_id, None).is_some() {
        return Err(SqlError::new(messages::RENAME_DEPENDENT, &[&table.two_part_name()]));
    }
    let mut after = Table::clone(&table);
    after.name = r.new_name.clone();
    rebuild(cx, &place, Some(&table), &after, Content::Keep(&[]))?;
    Ok(true)
}

/// Renames a module, sequence or synonym. The text of a module is not changed: it still has the
/// name under which the module was created.
fn without_rows(r: &Rename<'_>, cx: &mut DdlContext<'_>) -> SqlResult<bool> {
    let Some((place, found)) = locked_object(cx, r.name)? else { return Ok(false) };
    let (database, schema) = (place.view.id(), found.schema_id());
    catalog::lock_name(cx.work, database, schema, found.name())?;
    catalog::lock_name(cx.work, database, schema, &r.new_name)?;
    let place = cx.place(Some(place.view.name()))?;
    let respelled = same_name(&place, found.name(), &r.new_name);
    if !respelled && name_taken(&place, schema, &r.new_name) {
        return Err(in_use(&r.new_name, "object"));
    }
    if place.view.bound_to(found.object_id(), None).is_some() {
        return Err(SqlError::new(messages::RENAME_DEPENDENT, &[r.name]));
    }
    let (changes, name) = (Changes::new(&*place.system), r.new_name.clone());
    let after = match &found {
        Object::Module(before) => {
            let after = Module { name, ..Module::clone(before) };
            changes.put_module(cx.work, Some(before), &after)?;
            Object::Module(Arc::new(after))
        }
        Object::Sequence(before) => {
            let after = Sequence { name, ..Sequence::clone(before) };
            changes.put_sequence(cx.work, Some(before), &after)?;
            Object::Sequence(Arc::new(after))
        }
        Object::Synonym(before) => {
            let after = Synonym { name, ..Synonym::clone(before) };
            changes.put_synonym(cx.work, Some(before), &after)?;
            Object::Synonym(Arc::new(after))
        }
        Object::Table(_) | Object::Virtual(_) => return Ok(false),
    };
    cx.deltas.push((database, Delta::PutObject(after)));
    Ok(true)
}

/// Renames a type. Columns and parameters refer to it by its id, so they stay valid.
fn user_type(r: &Rename<'_>, cx: &mut DdlContext<'_>) -> SqlResult<bool> {
    let of =
        |place: &Place| place.view.user_type(r.name.schema.as_deref(), &r.name.object).cloned();
    let place = cx.place(r.name.database.as_deref())?;
    let Some(found) = of(&place) else { return Ok(false) };
    catalog::lock_object(cx.work, place.view.id(), found.object_id)?;
    let place = cx.place(Some(place.view.name()))?;
    let Some(before) = of(&place).filter(|t| t.object_id == found.object_id) else {
        return Ok(false);
    };
    let respelled = same_name(&place, &before.name, &r.new_name);
    if !respelled && place.view.user_type(Some(&before.schema_name), &r.new_name).is_some() {
        return Err(in_use(&r.new_name, "USERDATATYPE"));
    }
    let after = UserType { name: r.new_name.clone(), ..UserType::clone(&before) };
    Changes::new(&*place.system).put_type(cx.work, Some(&before), &after)?;
    cx.deltas.push((place.view.id(), Delta::PutType(Arc::new(after))));
    Ok(true)
}

fn constraint(
    r: &Rename<'_>,
    place: &Place,
    schema: SchemaId,
    cx: &mut DdlContext<'_>,
) -> SqlResult<bool> {
    let has = |t: &Table| t.constraints().any(|c| same_name(place, c.name, &r.name.object));
    let owner = place.view.objects().find_map(|o| match o {
        Object::Table(t) if t.schema_id == schema && has(t) => Some(t.clone()),
        _ => None,
    });
    let Some(owner) = owner else { return Ok(false) };
    let text = |text: &str| Name { text: text.into(), ..r.name.object.clone() };
    let name = ObjectName {
        schema: Some(text(&owner.schema_name)),
        object: text(&owner.name),
        ..r.name.clone()
    };
    let Some(LockedTable { place, table }) = locked_table(cx, &name)? else { return Ok(false) };
    catalog::lock_name(cx.work, place.view.id(), schema, &r.new_name)?;
    if name_taken(&place, schema, &r.new_name) {
        return Err(in_use(&r.new_name, "object"));
    }
    let mut after = Table::clone(&table);
    let is = |name: &str| same_name(&place, name, &r.name.object);
    let indexes = after.indexes.iter_mut().filter(|i| i.constraint_id.is_some());
    let checks = after.checks.iter_mut().map(|c| (&mut c.name, &mut c.system_named));
    let foreign = after.foreign_keys.iter_mut().map(|k| (&mut k.name, &mut k.system_named));
    let defaults = after.columns.iter_mut().filter_map(|c| c.default.as_mut());
    let defaults = defaults.map(|d| (&mut d.name, &mut d.system_named));
    let all = indexes.map(|i| (&mut i.name, &mut i.system_named));
    for (name, system_named) in all.chain(checks).chain(foreign).chain(defaults) {
        if is(name) {
            *name = r.new_name.clone();
            *system_named = false;
        }
    }
    rebuild(cx, &place, Some(&table), &after, Content::Keep(&[]))?;
    Ok(true)
}

/// Renames a column, index or statistics: the last part of the name. The parts before it name the
/// table.
fn part(r: &Rename<'_>, kind: RenameKind, cx: &mut DdlContext<'_>) -> SqlResult<bool> {
    let Some(object) = r.name.schema.clone() else { return Ok(false) };
    let table = ObjectName {
        server: None,
        database: r.name.server.clone(),
        schema: r.name.database.clone(),
        object,
        span: r.name.span,
    };
    if is_temporary(&table) {
        return Err(unsupported("sp_rename of a part of a temporary table", 0));
    }
    let Some(LockedTable { place, table }) = locked_table(cx, &table)? else { return Ok(false) };
    let is = |name: &str| same_name(&place, name, &r.name.object);
    let taken = |name: &str| same_name(&place, name, &r.new_name) && !is(name);
    let mut after = Table::clone(&table);
    match kind {
        RenameKind::Column => {
            let Some(at) = table.columns.iter().position(|c| is(&c.name)) else { return Ok(false) };
            if table.columns.iter().any(|c| taken(&c.name)) {
                return Err(in_use(&r.new_name, "COLUMN"));
            }
            let id = table.columns[at].column_id;
            if is_read(cx, &place, &table, at)
                || place.view.bound_to(table.object_id, Some(id)).is_some()
            {
                return Err(SqlError::new(messages::RENAME_DEPENDENT, &[r.name]));
            }
            after.columns[at].name = r.new_name.clone();
        }
        RenameKind::Index | RenameKind::Statistics | RenameKind::Object | RenameKind::Type => {
            if table.all_statistics().iter().any(|s| taken(s.name)) {
                return Err(in_use(&r.new_name, "INDEX"));
            }
            let index = after.indexes.iter_mut().find(|i| !i.name.is_empty() && is(&i.name));
            let own = after.statistics.iter_mut().find(|s| is(&s.name));
            match (kind, index, own) {
                (RenameKind::Index, Some(index), _) => index.name = r.new_name.clone(),
                (RenameKind::Statistics, _, Some(own)) => own.name = r.new_name.clone(),
                _ => return Ok(false),
            }
        }
    }
    rebuild(cx, &place, Some(&table), &after, Content::Keep(&[]))?;
    Ok(true)
}

/// Whether the text of a check, a filter or a computed column names a column.
fn is_read(cx: &DdlContext<'_>, place: &Place, table: &Table, at: usize) -> bool {
    let mut without = table.clone();
    without.columns.remove(at);
    let quoted = cx.settings.quoted_identifier;
    let expressions = cx.expressions;
    let check = table
        .checks
        .iter()
        .any(|c| expressions.check_condition(&place.view, &without, &c.text, quoted).is_err());
    let filter = table.indexes.iter().any(|i| i.filter.as_ref().is_some_and(|f| f.reads(at)));
    let mut computed = table.columns.iter().filter_map(|c| c.computed.as_ref());
    check
        || filter
        || computed.any(|c| expressions.computed_type(&place.view, &without, &c.text).is_err())
}

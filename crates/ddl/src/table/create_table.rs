//! CREATE TABLE

use crate::build::rebuild::{Content, rebuild};
use crate::constraint::foreign_key;
use crate::constraint::{
    self, WrittenConstraint, add_check, add_key, key_columns, keys, not_created,
};
use crate::context::{DdlContext, Place, unsupported};
use crate::index::create_index::inline_index;
use crate::index::definition::blank;
use crate::index::options::{IndexOptions, placement};
use crate::locate::{is_local, name_taken, same_name, schema_for};
use crate::table::column::draft;
use crate::table::computed;
use base::{SqlError, SqlResult, messages};
use bind::{IntoColumn, IntoTable};
use catalog::view::{Column, Identity, IndexKind, PhysicalColumn, RowHistory, Schema, Table};
use tsql::ast::{CreateTable, IndexKind as WrittenKind, ParsedText, Placements, TableDefinition};
use types::fixed_width;

/// Most columns of a table.
const COLUMNS_MAX: usize = 1024;
/// Most bytes of a row.
const ROW_MAX: usize = 8060;

pub(crate) fn create(
    s: &CreateTable,
    text: ParsedText<'_>,
    cx: &mut DdlContext<'_>,
) -> SqlResult<()> {
    refuse(s)?;
    let (place, schema) = schema_for(cx, &s.name)?;
    let name = &s.name.object;
    let taken = match is_local(&s.name) {
        true => cx.temp.is_made_here(name),
        false => name_taken(&place, schema.id, name),
    };
    if taken {
        let e = SqlError::new(messages::OBJECT_EXISTS, &[name]).with_state(6);
        return Err(e.at_line(s.name.span.line));
    }
    let mut table = empty(&place, &schema, name, is_local(&s.name));
    let explicit = add_columns(cx, &place, &mut table, &s.definition, text)?;
    add_parts(cx, &place, &mut table, &s.definition, text, &explicit)?;
    check_row_size(&table)?;
    catalog::lock_object(cx.work, place.view.id(), table.object_id)?;
    rebuild(cx, &place, None, &table, Content::Empty)
}

/// Creates the table of a SELECT INTO, without rows.
///
/// # Errors
/// 2714 when it exists, 2760, and the errors that CREATE TABLE has for such columns.
pub fn create_into(into: &IntoTable, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let line = into.name.span.line;
    let (place, schema) = schema_for(cx, &into.name)?;
    let name = &into.name.object;
    let temporary = is_local(&into.name);
    let taken = match temporary {
        true => cx.temp.is_made_here(name),
        false => name_taken(&place, schema.id, name),
    };
    if taken {
        let e = SqlError::new(messages::OBJECT_EXISTS, &[name]).with_state(6);
        return Err(e.at_line(line));
    }
    let mut table = empty(&place, &schema, name, temporary);
    for (n, c) in into.columns.iter().enumerate() {
        let args: [&dyn std::fmt::Display; 2] = [&c.name, &table.name];
        if table.columns.iter().any(|other| same_name(&place, &other.name, &c.name)) {
            return Err(SqlError::new(messages::COLUMN_NAME_TWICE_IN_TABLE, &args).at_line(line));
        }
        check_room(&table, &c.name).map_err(|e| e.at_line(line))?;
        let of = into_column(n, c);
        table.columns.push(of);
    }
    check_row_size(&table)?;
    catalog::lock_object(cx.work, place.view.id(), table.object_id)?;
    rebuild(cx, &place, None, &table, Content::Empty)
}

fn into_column(n: usize, c: &IntoColumn) -> Column {
    Column {
        column_id: n as i32 + 1,
        name: c.name.clone(),
        sql_type: c.sql_type,
        user_type_id: match c.user_type_id {
            0 => c.sql_type.user_type_id(),
            known => known,
        },
        nullable: c.nullable,
        collation: c.collation,
        identity: c.identity.map(|(seed, increment)| Identity {
            seed,
            increment,
            not_for_replication: false,
        }),
        row_guid: false,
        default: None,
        computed: None,
        physical: u16::try_from(n).ok(),
    }
}

fn refuse(s: &CreateTable) -> SqlResult<()> {
    let line = s.name.span.line;
    for option in &s.options {
        let plain = option.name.eq_ignore_ascii_case("DATA_COMPRESSION");
        if !plain {
            return Err(unsupported(&option.name, option.span.line));
        }
        crate::index::options::options(std::slice::from_ref(option))?;
    }
    let Placements { on, text_image, filestream } = &s.placement;
    placement(on.as_ref())?;
    if let Some(name) = text_image
        && !name.eq_ignore_ascii_case("PRIMARY")
        && !name.eq_ignore_ascii_case("default")
    {
        let args: [&dyn std::fmt::Display; 2] = [&"filegroup", name];
        return Err(SqlError::new(messages::PLACEMENT_INVALID, &args).at_line(name.line));
    }
    if filestream.is_some() {
        return Err(unsupported("FILESTREAM_ON", line));
    }
    if s.definition.period.is_some() {
        return Err(unsupported("PERIOD FOR SYSTEM_TIME", line));
    }
    Ok(())
}

/// A heap without columns.
pub(crate) fn empty(place: &Place, schema: &Schema, name: &str, is_temp: bool) -> Table {
    let heap = blank(IndexKind::Heap, "", place.ids.hobt(), IndexOptions::default());
    Table {
        database: place.view.id(),
        object_id: place.ids.object(),
        schema_id: schema.id,
        schema_name: schema.name.clone(),
        name: name.into(),
        columns: Vec::new(),
        indexes: vec![heap],
        statistics: Vec::new(),
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        history: RowHistory::default(),
        properties: Vec::new(),
        is_temp,
    }
}

/// Fails with 1702 when the table already has the most columns that a table may have.
pub(crate) fn check_room(table: &Table, column: &str) -> SqlResult<()> {
    if table.columns.len() < COLUMNS_MAX {
        return Ok(());
    }
    Err(SqlError::new(messages::TOO_MANY_COLUMNS, &[&column, &table.name, &COLUMNS_MAX]))
}

/// Adds the columns. Returns for each whether the text said NULL (true), NOT NULL (false) or
/// nothing.
pub(crate) fn add_columns(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &mut Table,
    definition: &TableDefinition,
    text: ParsedText<'_>,
) -> SqlResult<Vec<Option<bool>>> {
    let mut explicit = Vec::with_capacity(definition.columns.len());
    for column in &definition.columns {
        check_room(table, &column.name)?;
        let drafted = draft(cx, place, table, column, text)?;
        table.columns.push(drafted.column);
        explicit.push(drafted.said);
    }
    for column in &definition.columns {
        computed::settle(cx, place, table, column)?;
    }
    if table.stored_columns().next().is_none() {
        return Err(unsupported("a table of nothing but computed columns", 0));
    }
    Ok(explicit)
}

/// Adds keys, indexes and checks.
pub(crate) fn add_parts(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &mut Table,
    definition: &TableDefinition,
    text: ParsedText<'_>,
    explicit: &[Option<bool>],
) -> SqlResult<()> {
    let written = constraint::all(definition);
    constraint::refuse(place, &table.name, &written)?;
    if constraint::is_online(&written)? {
        return Err(unsupported("ONLINE = ON in CREATE TABLE", 0));
    }
    let keys = keys(&written);
    if keys.iter().filter(|(_, k)| k.primary).count() > 1 {
        return Err(SqlError::new(messages::TABLE_MULTIPLE_PRIMARY, &[&table.name]));
    }
    let columns = definition.columns.iter();
    let behind = columns.flat_map(|c| c.indexes.iter().map(|i| (i, Some(&c.name))));
    let indexes: Vec<_> = behind.chain(definition.indexes.iter().map(|i| (i, None))).collect();
    let said_clustered = keys.iter().filter(|(_, k)| k.clustered == Some(true)).count();
    let index_clustered = indexes.iter().filter(|(i, _)| i.kind == WrittenKind::Clustered).count();
    if said_clustered + index_clustered > 1 {
        return Err(SqlError::new(messages::CLUSTERED_MULTIPLE, &[&table.name]));
    }
    let free = said_clustered + index_clustered == 0;
    for &(written, k) in &keys {
        if k.primary {
            forbid_null(cx, place, table, explicit, (written, k))?;
        }
        let clustered = k.clustered.unwrap_or(k.primary && free);
        add_key(cx, place, table, written, k, clustered)?;
    }
    for (index, column) in indexes {
        inline_index(cx, place, table, index, column, text)?;
    }
    written.iter().try_for_each(|w| add_check(cx, place, table, *w, text, true))?;
    written.iter().try_for_each(|w| foreign_key::add(cx, place, table, *w, true))
}

/// Makes the columns of the primary key NOT NULL where the text says neither. A column that says
/// NULL is error 8111.
fn forbid_null(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &mut Table,
    explicit: &[Option<bool>],
    (written, k): (WrittenConstraint<'_>, &tsql::ast::KeyConstraint),
) -> SqlResult<()> {
    for part in key_columns(written, k) {
        let at = table.columns.iter().position(|c| same_name(place, &c.name, &part.name));
        // The caller reports an unknown column when it makes the key.
        let Some(at) = at else { continue };
        let computed = table.columns[at].computed.is_some();
        if explicit[at] == Some(true) || (computed && table.columns[at].nullable) {
            let e = SqlError::new(messages::PRIMARY_NULLABLE, &[&table.name]);
            return Err(not_created(cx, e.at_line(written.constraint.span.line)));
        }
        table.columns[at].nullable = false;
    }
    Ok(())
}

/// Fails with 1701 when even the shortest row is too long for a page.
pub(crate) fn check_row_size(table: &Table) -> SqlResult<()> {
    let widths = table
        .stored_columns()
        .filter_map(|(n, _)| fixed_width(table.physical_type(PhysicalColumn::Column(n)).0));
    let fixed: usize = widths.map(usize::from).sum();
    let overhead = 4 + 2 + table.columns.len().div_ceil(8);
    if fixed + overhead > ROW_MAX {
        let args: [&dyn std::fmt::Display; 4] =
            [&table.name, &(fixed + overhead), &overhead, &ROW_MAX];
        return Err(SqlError::new(messages::ROW_TOO_LARGE, &args));
    }
    Ok(())
}

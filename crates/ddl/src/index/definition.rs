//! An index as it is declared, checked against its table.

use crate::context::{DdlContext, Place};
use crate::index::options::IndexOptions;
use crate::locate::same_name;
use base::{HobtId, IndexId, SqlError, SqlResult, messages};
use catalog::view::{
    Index, IndexColumn, IndexKind, Partitions, PhysicalColumn, StatisticsContent, Table,
};
use tsql::ast::{self, Name};
use types::fixed_width;

/// The most key columns.
const KEY_COLUMNS_MAX: usize = 32;
/// The most bytes of a key.
const CLUSTERED_KEY_MAX: usize = 900;
const NONCLUSTERED_KEY_MAX: usize = 1700;

/// A heap or index without columns.
pub(crate) fn blank(kind: IndexKind, name: &str, hobt: HobtId, options: IndexOptions) -> Index {
    let mut index = Index {
        index_id: IndexId(match kind {
            IndexKind::Heap => 0,
            IndexKind::Clustered => 1,
            IndexKind::Nonclustered => 2,
        }),
        name: name.into(),
        kind,
        unique: false,
        primary_key: false,
        unique_constraint: false,
        constraint_id: None,
        system_named: false,
        key: Vec::new(),
        included: Vec::new(),
        partitions: Partitions::one(hobt),
        fill_factor: 0,
        auto_fill: None,
        padded: false,
        ignore_dup_key: options.ignore_dup_key.unwrap_or(false),
        disabled: false,
        filter: None,
        gathered: StatisticsContent {
            no_recompute: options.no_recompute.unwrap_or(false),
            distribution: None,
        },
    };
    options.fill(&mut index);
    index
}

/// Puts an index into a draft. A heap or clustered index replaces the base; a nonclustered index
/// comes behind the others.
pub(crate) fn put(table: &mut Table, mut index: Index) {
    match index.kind {
        IndexKind::Heap | IndexKind::Clustered => table.indexes[0] = index,
        IndexKind::Nonclustered => {
            index.index_id = table.next_index_id();
            table.indexes.push(index);
        }
    }
}

/// The ordinal of a column of an index to be.
pub(crate) fn column(place: &Place, table: &Table, name: &Name) -> SqlResult<usize> {
    let at = table.columns.iter().position(|c| same_name(place, &c.name, name));
    at.ok_or_else(|| SqlError::new(messages::INDEX_NO_COLUMN, &[name]).at_line(name.line))
}

/// Checks the key columns as declared. `what` names the thing in messages.
pub(crate) fn key(
    place: &Place,
    table: &Table,
    columns: &[ast::IndexColumn],
    what: &str,
) -> SqlResult<Vec<IndexColumn>> {
    let mut key: Vec<IndexColumn> = Vec::with_capacity(columns.len());
    for part in columns {
        let at = column(place, table, &part.name)?;
        let line = part.name.line;
        if key.iter().any(|k| k.column == at) {
            let args: [&dyn std::fmt::Display; 2] = [&what, &part.name];
            return Err(SqlError::new(messages::INDEX_COLUMN_TWICE, &args).at_line(line));
        }
        let of = &table.columns[at];
        if of.sql_type.is_max() {
            let args: [&dyn std::fmt::Display; 2] = [&of.name, &table.name];
            return Err(SqlError::new(messages::INDEX_COLUMN_TYPE, &args).at_line(line));
        }
        key.push(IndexColumn { column: at, descending: part.descending });
    }
    Ok(key)
}

/// Checks the INCLUDE columns as declared.
pub(crate) fn included(
    place: &Place,
    table: &Table,
    key: &[IndexColumn],
    columns: &[Name],
) -> SqlResult<Vec<usize>> {
    let mut included = Vec::with_capacity(columns.len());
    for name in columns {
        let at = column(place, table, name)?;
        if included.contains(&at) || key.iter().any(|k| k.column == at) {
            let args: [&dyn std::fmt::Display; 2] = [&"index", name];
            return Err(SqlError::new(messages::INDEX_COLUMN_TWICE, &args).at_line(name.line));
        }
        let of = &table.columns[at];
        if of.sql_type.is_text_image() {
            let args: [&dyn std::fmt::Display; 2] = [&of.name, &table.name];
            return Err(SqlError::new(messages::INCLUDED_COLUMN_TYPE, &args).at_line(name.line));
        }
        included.push(at);
    }
    Ok(included)
}

/// Checks that the key is short enough. A key that is too long only for some values is a warning.
pub(crate) fn check_size(cx: &mut DdlContext<'_>, table: &Table, index: &Index) -> SqlResult<()> {
    if index.key.len() > KEY_COLUMNS_MAX {
        let args: [&dyn std::fmt::Display; 4] =
            [&index.name, &table.name, &index.key.len(), &KEY_COLUMNS_MAX];
        return Err(SqlError::new(messages::INDEX_TOO_MANY_COLUMNS, &args));
    }
    let (limit, kind) = match index.kind {
        IndexKind::Clustered => (CLUSTERED_KEY_MAX, "clustered"),
        IndexKind::Heap | IndexKind::Nonclustered => (NONCLUSTERED_KEY_MAX, "nonclustered"),
    };
    let (mut least, mut most) = (0, 0);
    for part in &index.key {
        let (sql_type, _) = table.physical_type(PhysicalColumn::Column(part.column));
        match fixed_width(sql_type) {
            Some(width) => {
                least += usize::from(width);
                most += usize::from(width);
            }
            None => most += usize::try_from(sql_type.max_length()).unwrap_or(0),
        }
    }
    if least > limit {
        let args: [&dyn std::fmt::Display; 3] = [&index.name, &least, &limit];
        return Err(SqlError::new(messages::INDEX_KEY_TOO_LONG, &args));
    }
    if most > limit {
        let args: [&dyn std::fmt::Display; 4] = [&kind, &limit, &index.name, &most];
        cx.messages.push(SqlError::new(messages::KEY_TOO_LONG_WARNING, &args));
    }
    Ok(())
}

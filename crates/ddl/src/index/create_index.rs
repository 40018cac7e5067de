//! CREATE INDEX, and INDEX within CREATE TABLE. With DROP_EXISTING the index replaces the one of
//! the same name (`index/drop_existing.rs`).

use crate::build::rebuild::{Content, rebuild, renew_all};
use crate::context::{DdlContext, Place, unsupported};
use crate::index::definition::{blank, check_size, included, key, put};
use crate::index::drop_existing::{existing, replaced};
use crate::index::filter;
use crate::index::options::{options, placement};
use crate::locate::{LockedTable, has_rows, locked_object, locked_table, same_name};
use crate::online;
use crate::table::computed;
use base::{SqlError, SqlResult, messages};
use catalog::view::{Index, IndexKind, Table};
use tsql::ast::{self, Condition, CreateIndex, InlineIndex, Name, ParsedText, Setting};

/// An index as both forms declare it.
struct IndexRequest<'a> {
    name: &'a Name,
    unique: bool,
    kind: ast::IndexKind,
    columns: &'a [ast::IndexColumn],
    include: &'a [Name],
    options: &'a [Setting],
    filter: Option<&'a Condition>,
    line: u32,
}

impl IndexRequest<'_> {
    /// The names of its key and INCLUDE columns.
    fn names(&self) -> Vec<&Name> {
        self.columns.iter().map(|c| &c.name).chain(self.include).collect()
    }
}

pub(crate) fn create(
    s: &CreateIndex,
    cx: &mut DdlContext<'_>,
    text: ParsedText<'_>,
) -> SqlResult<()> {
    let line = s.name.line;
    kind(s.kind, line)?;
    placement(s.on.as_ref())?;
    let kept = options(&s.options)?;
    let online = online::wanted(&kept, &s.table);
    let found = match online {
        true => online::locate(cx, &s.table)?,
        false => locked_table(cx, &s.table)?,
    };
    let Some(LockedTable { place, table }) = found else {
        let e = match locked_object(cx, &s.table)? {
            Some(_) if s.filter.is_some() => {
                let args: [&dyn std::fmt::Display; 3] = [&"index", &s.name, &s.table.object];
                SqlError::new(messages::FILTER_NOT_ON_TABLE, &args)
            }
            _ => SqlError::new(messages::OBJECT_NOT_FOUND, &[&s.table]).with_state(12),
        };
        return Err(e.at_line(s.table.span.line));
    };
    let wanted = IndexRequest {
        name: &s.name,
        unique: s.unique,
        kind: s.kind,
        columns: &s.columns,
        include: &s.include,
        options: &s.options,
        filter: s.filter.as_ref(),
        line,
    };
    cx.threads.limit(kept.max_workers);
    if kept.drop_existing {
        existing(&place, &table, &s.name).map_err(|e| e.at_line(line))?;
    }
    if !kept.drop_existing || !same_name(&place, &table.base().name, &s.name) {
        let args: [&dyn std::fmt::Display; 6] =
            [&"create", &"index", &s.name, &"table", &table.name, &"clustered index"];
        let disabled = || SqlError::new(messages::CREATE_INDEX_DISABLED, &args).at_line(line);
        has_rows(&table).map_err(|_| disabled())?;
    }
    let stored = computed::to_store(&place, &table, &wanted.names());
    let LockedTable { place, table } = match stored.is_empty() {
        true => LockedTable { place, table },
        false if online => {
            let what = "ONLINE = ON of an index on a computed column that is not stored yet";
            return Err(unsupported(what, line));
        }
        false => {
            computed::store_in_rows(cx, &place, &table, &stored, &s.name)?;
            let gone = || SqlError::new(messages::OBJECT_NOT_FOUND, &[&s.table]);
            locked_table(cx, &s.table)?.ok_or_else(gone)?
        }
    };
    let index = index_of(cx, &place, &table, &wanted, text)?;
    let after = match kept.drop_existing {
        true => replaced(&place, &table, index).map_err(|e| e.at_line(line))?,
        false => with_index(&place, &table, index),
    };
    match online {
        true => {
            let located = LockedTable { place, table };
            online::build_online(cx, &s.table, &located, after).map_err(|e| e.at_line(line))
        }
        false => rebuild(cx, &place, Some(&table), &after, Content::Keep(&[])),
    }
}

/// The table with one more index.
fn with_index(place: &Place, table: &Table, index: Index) -> Table {
    let mut after = table.clone();
    if index.kind.is_clustered() {
        renew_all(place, &mut after);
    }
    put(&mut after, index);
    after
}

/// Puts an index of CREATE TABLE into the draft. `column` is the column behind which it stands.
pub(crate) fn inline_index(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &mut Table,
    s: &InlineIndex,
    column: Option<&Name>,
    text: ParsedText<'_>,
) -> SqlResult<()> {
    placement(s.on.as_ref())?;
    let behind: Vec<ast::IndexColumn> = column
        .map(|name| ast::IndexColumn { name: name.clone(), descending: false })
        .into_iter()
        .collect();
    let columns = if s.columns.is_empty() { &behind } else { &s.columns };
    let wanted = IndexRequest {
        name: &s.name,
        unique: s.unique,
        kind: s.kind,
        columns,
        include: &s.include,
        options: &s.options,
        filter: s.filter.as_ref(),
        line: s.span.line,
    };
    options(&s.options)?.without_drop_existing(s.span.line)?.without_online(s.span.line)?;
    let stored = computed::to_store(place, table, &wanted.names());
    computed::store(cx, place, table, &stored, &s.name)?;
    let index = index_of(cx, place, table, &wanted, text)?;
    put(table, index);
    Ok(())
}

fn kind(written: ast::IndexKind, line: u32) -> SqlResult<IndexKind> {
    let name = match written {
        ast::IndexKind::Unspecified | ast::IndexKind::Nonclustered => {
            return Ok(IndexKind::Nonclustered);
        }
        ast::IndexKind::Clustered => return Ok(IndexKind::Clustered),
        ast::IndexKind::ClusteredColumnstore | ast::IndexKind::NonclusteredColumnstore => {
            "COLUMNSTORE INDEX"
        }
        ast::IndexKind::Hash => "HASH INDEX",
        ast::IndexKind::Xml => "XML INDEX",
        ast::IndexKind::Spatial => "SPATIAL INDEX",
        ast::IndexKind::FullText => "FULLTEXT INDEX",
    };
    Err(unsupported(name, line))
}

fn index_of(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    s: &IndexRequest<'_>,
    text: ParsedText<'_>,
) -> SqlResult<Index> {
    let kind = kind(s.kind, s.line)?;
    let kept = options(s.options)?;
    let replaces = kept.drop_existing;
    let all = table.all_statistics();
    if let Some(same) = all.iter().find(|a| !replaces && same_name(place, a.name, s.name)) {
        let args: [&dyn std::fmt::Display; 3] = [&same.name, &"table", &table.two_part_name()];
        return Err(SqlError::new(messages::INDEX_EXISTS, &args).at_line(s.line));
    }
    let itself = replaces && same_name(place, &table.base().name, s.name);
    if kind.is_clustered() && table.base().kind.is_clustered() && !itself {
        let args: [&dyn std::fmt::Display; 3] =
            [&"table", &table.two_part_name(), &table.base().name];
        return Err(SqlError::new(messages::CLUSTERED_EXISTS, &args).with_state(3).at_line(s.line));
    }
    if kept.ignore_dup_key == Some(true) && !s.unique {
        let args: [&dyn std::fmt::Display; 2] = [&"nonunique", &"ignore_dup_key"];
        return Err(SqlError::new(messages::INDEX_OPTIONS_EXCLUDE, &args).at_line(s.line));
    }
    let mut index = blank(kind, s.name, place.ids.hobt(), kept);
    index.unique = s.unique;
    index.key = key(place, table, s.columns, "index")?;
    if kind.is_clustered() && !s.include.is_empty() {
        return Err(SqlError::new(messages::INCLUDE_OF_CLUSTERED, &[]).at_line(s.line));
    }
    index.included = included(place, table, &index.key, s.include)?;
    if (0..table.columns.len()).any(|n| table.columns[n].computed.is_some() && index.has_column(n))
    {
        check_settings(cx).map_err(|e| e.at_line(s.line))?;
    }
    if let Some(condition) = s.filter {
        if kind.is_clustered() {
            let e = SqlError::new(messages::SYNTAX_NEAR_KEYWORD, &[&"WHERE"]);
            return Err(e.at_line(s.line));
        }
        check_settings(cx).map_err(|e| e.at_line(s.line))?;
        let asked = filter::FilterOwner { index: s.name, table, text };
        index.filter = Some(filter::restriction(cx, place, &asked, condition)?);
    }
    check_size(cx, table, &index).map_err(|e| e.at_line(s.line))?;
    Ok(index)
}

/// Fails with 1934 if ANSI_NULLS or QUOTED_IDENTIFIER is off. Only with both on does a filter or a
/// computed column mean the same in every session.
fn check_settings(cx: &DdlContext<'_>) -> SqlResult<()> {
    let mut wrong = Vec::new();
    if !cx.settings.ansi_nulls {
        wrong.push("ANSI_NULLS");
    }
    if !cx.settings.quoted_identifier {
        wrong.push("QUOTED_IDENTIFIER");
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(SqlError::new(messages::INDEX_SET_OPTIONS, &[&"CREATE INDEX", &wrong.join(", ")]))
}

//! TRUNCATE TABLE: new, empty hobts replace the old ones, whose pages are freed after commit. The
//! identity starts again from its seed, because the count belongs to the hobt.

use crate::build::rebuild::{Content, open_all, rebuild, renew_all};
use crate::constraint::foreign_key;
use crate::context::{DdlContext, unsupported};
use crate::locate::{LockedTable, locked_object, locked_rows};
use base::{SqlError, SqlResult, messages};
use catalog::view::Table;
use tsql::ast::Truncate;

pub(crate) fn truncate(s: &Truncate, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    if !s.partitions.is_empty() {
        return Err(unsupported("partitions", s.table.span.line));
    }
    let Some(LockedTable { place, table }) = locked_rows(cx, &s.table)? else {
        // An object of another kind has another error than a name without an object.
        let message = match locked_object(cx, &s.table)? {
            Some(_) => messages::TRUNCATE_NOT_TABLE,
            None => messages::TRUNCATE_NO_TABLE,
        };
        let e = SqlError::new(message, &[&s.table.object]);
        return Err(e.at_line(s.table.span.line));
    };
    if foreign_key::referrer(&place.view, &table).is_some() {
        let e = SqlError::new(messages::TRUNCATE_REFERENCED, &[&s.table.object]);
        return Err(e.at_line(s.table.span.line));
    }
    let rows: u64 = open_all(&place, &table, table.base())?.iter().map(|h| h.size().rows).sum();
    place.modifications.count(table.object_id, None, rows.max(1));
    let mut after = Table::clone(&table);
    renew_all(&place, &mut after);
    rebuild(cx, &place, Some(&table), &after, Content::Empty)
}

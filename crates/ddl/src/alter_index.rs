//! ALTER INDEX … REBUILD

use crate::context::{DdlContext, unsupported};
use crate::index_option::options;
use crate::locate::{Located, locked_table, same_name};
use crate::rebuild::{Content, rebuild, renew_all};
use base::{SqlError, SqlResult, messages};
use catalog::view::Table;
use tsql::ast::{AlterIndex, AlterIndexAction};

pub(crate) fn alter(s: &AlterIndex, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let line = s.table.span.line;
    let name = match s.action {
        AlterIndexAction::Rebuild => None,
        AlterIndexAction::Reorganize => Some("ALTER INDEX REORGANIZE"),
        AlterIndexAction::Disable => Some("ALTER INDEX DISABLE"),
        AlterIndexAction::Set => Some("ALTER INDEX SET"),
        AlterIndexAction::Resume => Some("ALTER INDEX RESUME"),
        AlterIndexAction::Pause => Some("ALTER INDEX PAUSE"),
        AlterIndexAction::Abort => Some("ALTER INDEX ABORT"),
    };
    if let Some(name) = name {
        return Err(unsupported(name, line));
    }
    if s.partition.is_some() {
        return Err(unsupported("partitions", line));
    }
    let kept = options(&s.options)?;
    let Some(Located { place, table }) = locked_table(cx, &s.table)? else {
        let e = SqlError::new(messages::OBJECT_NOT_FOUND, &[&s.table]).with_state(9);
        return Err(e.at_line(line));
    };
    let at = match &s.name {
        None => 0,
        Some(name) => {
            let at = table.indexes.iter().position(|i| same_name(&place, &i.name, name));
            at.ok_or_else(|| {
                let args: [&dyn std::fmt::Display; 3] = [&"alter", &"index", name];
                SqlError::new(messages::DROP_NOT_FOUND, &args).with_state(6).at_line(name.line)
            })?
        }
    };
    let mut after = Table::clone(&table);
    if at == 0 {
        renew_all(&place, &mut after);
    } else {
        after.indexes[at].hobt = place.ids.hobt();
    }
    if kept.fill_factor != 0 {
        let all = s.name.is_none();
        let touched = after.indexes.iter_mut().enumerate().filter(|(n, _)| all || *n == at);
        touched.for_each(|(_, index)| index.fill_factor = kept.fill_factor);
    }
    rebuild(cx, &place, Some(&table), &after, Content::Keep(&[]))
}

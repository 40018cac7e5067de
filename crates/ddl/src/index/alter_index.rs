//! ALTER INDEX … REBUILD and SET. REORGANIZE and DISABLE have files of their own.
//!
//! A disabled index is neither read nor maintained until REBUILD builds it again. While a clustered
//! index is disabled, no statement can read or write the rows of its table (8655, 1974).

use crate::build::rebuild::{Content, rebuild, renew, renew_all};
use crate::context::{DdlContext, Place, unsupported};
use crate::index::disable_index::disable;
use crate::index::options::{IndexOptions, options};
use crate::index::reorganize::reorganize;
use crate::locate::{LockedTable, has_rows, locked_table, same_name};
use crate::online;
use base::{SqlError, SqlResult, messages};
use catalog::view::Table;
use tsql::ast::{AlterIndex, AlterIndexAction, Name};

pub(crate) fn alter(s: &AlterIndex, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let line = s.table.span.line;
    let name = match s.action {
        AlterIndexAction::Rebuild | AlterIndexAction::Disable | AlterIndexAction::Set => None,
        AlterIndexAction::Reorganize => return reorganize(s, cx),
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
    let kept = options(&s.options)?.without_drop_existing(line)?;
    cx.threads.limit(kept.max_workers);
    let rebuilds = matches!(s.action, AlterIndexAction::Rebuild);
    let kept = if rebuilds { kept } else { kept.without_online(line)? };
    let online = online::wanted(&kept, &s.table);
    let found = match online {
        true => online::locate(cx, &s.table)?,
        false => locked_table(cx, &s.table)?,
    };
    let Some(LockedTable { place, table }) = found else {
        let e = SqlError::new(messages::OBJECT_NOT_FOUND, &[&s.table]).with_state(9);
        return Err(e.at_line(line));
    };
    let at = s.name.as_ref().map_or(Ok(0), |name| place_of(&place, &table, name))?;
    if matches!(s.action, AlterIndexAction::Disable) {
        let one = s.name.is_some().then_some(at);
        return disable(cx, &LockedTable { place, table }, one).map_err(|e| e.at_line(line));
    }
    let mut after = Table::clone(&table);
    if at != 0 {
        has_rows(&table).map_err(|e| e.at_line(line))?;
    }
    set(&mut after, s.name.is_some().then_some(at), kept).map_err(|e| e.at_line(line))?;
    if matches!(s.action, AlterIndexAction::Set) {
        let of_builds =
            [("FILLFACTOR", kept.fill_factor.is_some()), ("PAD_INDEX", kept.padded.is_some())];
        if let Some((name, _)) = of_builds.iter().find(|(_, said)| *said) {
            return Err(SqlError::new(messages::SYNTAX_NEAR, &[name]).at_line(line));
        }
        return rebuild(cx, &place, Some(&table), &after, Content::Keep(&[]));
    }
    let all = s.name.is_none();
    match (online, at) {
        (true, _) => renew_online(&place, &mut after, (!all).then_some(at)),
        (false, 0) => renew_all(&place, &mut after),
        (false, at) => renew(&place, &mut after.indexes[at]),
    }
    let rebuilt = after.indexes.iter_mut().enumerate().filter(|(n, _)| all || *n == at);
    for (_, index) in rebuilt {
        index.disabled = false;
        if index.kind.has_key() {
            kept.fill(index);
        }
    }
    if online {
        let located = LockedTable { place, table };
        return online::build_online(cx, &s.table, &located, after).map_err(|e| e.at_line(line));
    }
    rebuild(cx, &place, Some(&table), &after, Content::Keep(&[]))
}

/// The position of the index of this name among those of its table.
fn place_of(place: &Place, table: &Table, name: &Name) -> SqlResult<usize> {
    let at = table.indexes.iter().position(|i| same_name(place, &i.name, name));
    at.ok_or_else(|| {
        let args: [&dyn std::fmt::Display; 3] = [&"alter", &"index", name];
        SqlError::new(messages::DROP_NOT_FOUND, &args).with_state(6).at_line(name.line)
    })
}

/// Gives new hobts to one index, or to all. An online rebuild of a clustered index leaves the
/// other indexes as they are: the key stays, so the rows keep their locators. ALL means all
/// indexes; a heap is not rebuilt.
fn renew_online(place: &Place, after: &mut Table, one: Option<usize>) {
    let renewed = after.indexes.iter_mut().enumerate();
    let renewed = renewed.filter(|(n, i)| one.map_or(i.kind.has_key(), |at| at == *n));
    for (_, index) in renewed {
        renew(place, index);
    }
}

/// Sets options of one index, or of all. Only a unique index may have IGNORE_DUP_KEY, and not one
/// that enforces a constraint (1979).
fn set(after: &mut Table, one: Option<usize>, kept: IndexOptions) -> SqlResult<()> {
    let touched = after.indexes.iter_mut().enumerate();
    let touched = touched.filter(|(n, i)| one.is_none_or(|at| at == *n) && !i.name.is_empty());
    for (_, index) in touched {
        if let Some(ignores) = kept.ignore_dup_key {
            if index.constraint_id.is_some() && index.ignore_dup_key != ignores {
                let args: [&dyn std::fmt::Display; 2] = [&"ignore_dup_key", &index.name];
                return Err(SqlError::new(messages::INDEX_OPTION_CONSTRAINT, &args));
            }
            if ignores && !index.unique {
                return Err(SqlError::new(messages::IGNORE_DUP_KEY_NONUNIQUE, &[&index.name]));
            }
            index.ignore_dup_key = ignores;
        }
        if let Some(no_recompute) = kept.no_recompute {
            index.gathered.no_recompute = no_recompute;
        }
    }
    Ok(())
}

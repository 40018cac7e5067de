//! ALTER INDEX … REORGANIZE: it holds IX on the table, and other sessions read and write the table.
//!
//! No definition changes. A reorganized page stays so, even when the statement fails or its
//! transaction rolls back, because no row changes. The leaves become as full as the fill factor
//! says. With FILLFACTOR = AUTO this is the factor that the next build would choose. No page
//! becomes emptier.

use crate::context::{DdlContext, Place, unsupported};
use crate::index::fill_choice;
use crate::index::options::on;
use crate::locate::{has_rows, locked_by, same_name};
use base::{SqlError, SqlResult, messages};
use catalog::HobtSpec;
use catalog::view::{Index, Object, Table};
use tsql::ast::{AlterIndex, Name, Setting};

pub(crate) fn reorganize(s: &AlterIndex, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let line = s.table.span.line;
    if s.partition.is_some() {
        return Err(unsupported("partitions", line));
    }
    let large = lob_compaction(&s.options)?;
    let found = locked_by(cx, &s.table, catalog::lock_object_to_write)?;
    let Some((place, Object::Table(table))) = found else {
        let e = SqlError::new(messages::OBJECT_NOT_FOUND, &[&s.table]).with_state(9);
        return Err(e.at_line(line));
    };
    has_rows(&table).map_err(|e| e.at_line(line))?;
    let wanted = wanted(&place, &table, s.name.as_ref())?.into_iter();
    for (index, partition) in wanted.flat_map(|i| i.partitions.iter().map(move |p| (i, p))) {
        let spec = HobtSpec::of_hobt(&table, index, partition.hobt);
        let growth = match index.auto_fill {
            Some(last) => place.builder.growth(cx.work, &spec)?.map(|growth| (growth, last)),
            None => None,
        };
        let percent = match (growth, index.fill_factor) {
            (Some((growth, last)), _) => fill_choice::choose(&growth, &last).0,
            (None, 0) => 100,
            (None, n) => n.min(100),
        };
        place.builder.reorganize(cx.work, &spec, percent, large)?;
    }
    Ok(())
}

/// The index of that name, which must not be disabled (1973). Without a name: all indexes that are
/// not disabled.
fn wanted<'t>(place: &Place, table: &'t Table, name: Option<&Name>) -> SqlResult<Vec<&'t Index>> {
    let Some(name) = name else {
        return Ok(table.indexes.iter().filter(|i| !i.disabled).collect());
    };
    let is = |i: &&Index| i.kind.has_key() && same_name(place, &i.name, name);
    let found = table.indexes.iter().find(is).ok_or_else(|| {
        let args: [&dyn std::fmt::Display; 3] = [&"alter", &"index", name];
        SqlError::new(messages::DROP_NOT_FOUND, &args).with_state(6).at_line(name.line)
    })?;
    if found.disabled {
        let args: [&dyn std::fmt::Display; 2] = [&found.name, &table.two_part_name()];
        return Err(SqlError::new(messages::INDEX_DISABLED, &args).at_line(name.line));
    }
    Ok(vec![found])
}

/// Whether LOB_COMPACTION is on, which is the default. The option of columnstore indexes is refused
/// as not supported, any other one with 155.
fn lob_compaction(settings: &[Setting]) -> SqlResult<bool> {
    let mut large = true;
    for s in settings {
        match &*s.name {
            "LOB_COMPACTION" => large = on(s)?,
            "COMPRESS_ALL_ROW_GROUPS" => return Err(unsupported(&s.name, s.span.line)),
            other => {
                let args: [&dyn std::fmt::Display; 2] = [&other, &"ALTER INDEX REORGANIZE"];
                return Err(SqlError::new(messages::OPTION_UNKNOWN, &args).at_line(s.span.line));
            }
        }
    }
    Ok(large)
}

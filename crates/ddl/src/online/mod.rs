//! ONLINE = ON: builds indexes while other sessions read and write the table (README.md).
//!
//! ```text
//! prepare   takes IS on the table until the end, and S for an instant; then writers note changes
//! build     reads the rows as they are, without row locks; sorts and loads them as offline
//! catch up  looks at the noted rows again, in rounds
//! finish    takes Sch-M: the last notes, uniqueness, the definition
//! ```
//!
//! A statement that gives rows other locators builds all indexes of the table (`moved.rs`).

mod catch_up;
mod moved;
mod target;

use crate::build::rebuild::{
    choose_fills, create_hobts, drop_hobts, has_hobts_of, key_columns, note_rows,
    refuse_partitioned, renew,
};
use crate::context::{Change, DdlContext, Place};
use crate::index::options::IndexOptions;
use crate::locate::{LockedTable, is_local, look_up};
use crate::statistics::gather::of_built_index;
use access::{Capture, Hobt};
use base::{SqlError, SqlResult, messages};
use catalog::view::{Index, Object, Table};
use catalog::{Changes, HobtSpec};
use catch_up::CatchUp;
use moved::MovedTable;
use std::sync::Arc;
use target::Target;
use tsql::ast::ObjectName;

/// Whether a statement builds online. For a local temporary table, which only one session sees, it
/// never does, as in SQL Server.
pub(crate) fn wanted(options: &IndexOptions, name: &ObjectName) -> bool {
    options.online && !is_local(name)
}

/// Turns the table before into the table after, online. The caller has locked it with
/// [`catalog::lock_object_to_build`].
pub(crate) fn build_online(
    cx: &mut DdlContext<'_>,
    name: &ObjectName,
    LockedTable { place, table: before }: &LockedTable,
    after: Table,
) -> SqlResult<()> {
    let mut after = after;
    refuse_partitioned(before)?;
    let kept = |index: &Index| has_hobts_of(before, index);
    if moves(before, &after) {
        // The entries of all indexes contain the locators of the rows.
        for index in after.indexes.iter_mut().filter(|i| kept(i)) {
            renew(place, index);
        }
    }
    let indexes = after.indexes.iter().enumerate();
    let numbers: Vec<usize> = indexes.filter(|(_, i)| !kept(i)).map(|(n, _)| n).collect();
    refuse(before, &after, &numbers)?;
    if numbers.is_empty() {
        return Ok(());
    }
    if numbers.contains(&0) {
        after.forget_history();
    }
    choose_fills(cx, place, before, &mut after)?;
    let mut places = Vec::with_capacity(numbers.len());
    for &n in &numbers {
        places.extend(create_hobts(cx, place, Some(before), (&after, &after.indexes[n]))?);
    }
    let built = build(cx, name, (place, before), (&after, &numbers))?;
    // The system tables are written only now. DBCC CHECKDB locks them, and must not wait for
    // the build.
    for (hobt, places) in &places {
        Changes::new(&*place.system).put_places(cx.work, *hobt, places)?;
    }
    finish(cx, place, (before, &after), (&numbers, built))
}

/// The result of a build.
struct BuiltIndexes {
    /// The table as it is now, under Sch-M.
    now: LockedTable,
    /// Each built index with its statistics, and its number of rows.
    indexes: Vec<(Index, u64)>,
}

fn build(
    cx: &mut DdlContext<'_>,
    name: &ObjectName,
    (place, before): (&Place, &Table),
    (after, numbers): (&Table, &[usize]),
) -> SqlResult<BuiltIndexes> {
    let source = place.builder.open(&HobtSpec::of(before, before.base()))?;
    if moves(before, after) {
        return build_moved(cx, name, (place, before), (after, numbers), &source);
    }
    let mut targets = Vec::with_capacity(numbers.len());
    for &n in numbers {
        targets.push(Target::open(place, before, (after, n))?);
    }
    let catch_up = CatchUp::new(before, &source, &mut targets);
    let _ends = begin_capture(cx, before, &source, &catch_up)?;
    for target in &targets {
        target.load(cx, &*source, &|row| catch_up.note_entry(target, row))?;
    }
    catch_up.rounds(cx, &targets[..])?;
    let mut indexes = gathered(cx, place, (after, numbers))?;
    catalog::lock_object(cx.work, before.database, before.object_id)?;
    catch_up.finish(cx, &targets[..])?;
    for (target, (_, rows)) in targets.iter().zip(&mut indexes) {
        *rows = target.publish();
    }
    Ok(BuiltIndexes { now: current(cx, name, before)?, indexes })
}

/// Like [`build`], for a table whose rows get other locators.
fn build_moved(
    cx: &mut DdlContext<'_>,
    name: &ObjectName,
    (place, before): (&Place, &Table),
    (after, numbers): (&Table, &[usize]),
    source: &Arc<dyn Hobt>,
) -> SqlResult<BuiltIndexes> {
    assert_eq!(numbers.len(), after.indexes.len(), "all lead to rows by their locators");
    let moved = MovedTable::open(cx, place, before, after)?;
    let catch_up = CatchUp::new(before, source, &mut []);
    let _ends = begin_capture(cx, before, source, &catch_up)?;
    moved.load(cx, &**source, &catch_up)?;
    catch_up.rounds(cx, &moved)?;
    let mut indexes = gathered(cx, place, (after, numbers))?;
    catalog::lock_object(cx.work, before.database, before.object_id)?;
    catch_up.finish(cx, &moved)?;
    moved.settle(cx.work)?;
    for (n, rows) in moved.publish(cx, place)? {
        indexes[n].1 = rows;
    }
    Ok(BuiltIndexes { now: current(cx, name, before)?, indexes })
}

/// Switches capture on. Dropping the guard switches it off.
fn begin_capture(
    cx: &mut DdlContext<'_>,
    before: &Table,
    source: &Arc<dyn Hobt>,
    catch_up: &CatchUp<'_>,
) -> SqlResult<CaptureGuard> {
    let spill = cx.spill.create()?;
    let noted = capture_of(&**source)?;
    catalog::while_unchanged(cx.work, before.database, before.object_id, || {
        noted.begin_capture(catch_up.columns(), spill);
    })?;
    Ok(CaptureGuard(Arc::clone(source)))
}

/// The filled indexes, with their statistics. The caller sets the numbers of rows.
fn gathered(
    cx: &mut DdlContext<'_>,
    place: &Place,
    (after, numbers): (&Table, &[usize]),
) -> SqlResult<Vec<(Index, u64)>> {
    let mut indexes = Vec::with_capacity(numbers.len());
    for &n in numbers {
        let mut index = after.indexes[n].clone();
        if index.kind.has_key() && !index.disabled {
            index.gathered.distribution = of_built_index(cx, place, after, &index)?;
        }
        indexes.push((index, 0));
    }
    Ok(indexes)
}

/// The capture of a heap or clustered index.
fn capture_of(source: &dyn Hobt) -> SqlResult<&dyn Capture> {
    let none = || SqlError::new(messages::INTERNAL, &[&"rows whose changes are not noted"]);
    source.capture().ok_or_else(none)
}

/// Switches capture off when it is dropped.
struct CaptureGuard(Arc<dyn Hobt>);

impl Drop for CaptureGuard {
    fn drop(&mut self) {
        if let Some(noted) = self.0.capture() {
            noted.end_capture();
        }
    }
}

/// The table's definition under Sch-M. While the builder held IS, only statistics can have changed.
fn current(cx: &DdlContext<'_>, name: &ObjectName, before: &Table) -> SqlResult<LockedTable> {
    let found = look_up(cx, name)?;
    match found.object {
        Some(Object::Table(table)) if table.has_rows_of(before) => {
            Ok(LockedTable { place: found.place, table })
        }
        _ => {
            let what = "a table was defined anew while its index was built";
            Err(SqlError::new(messages::INTERNAL, &[&what]))
        }
    }
}

/// Drops the replaced hobts and writes the definition.
fn finish(
    cx: &mut DdlContext<'_>,
    place: &Place,
    (before, after): (&Table, &Table),
    (numbers, built): (&[usize], BuiltIndexes),
) -> SqlResult<()> {
    let LockedTable { place: now_place, table: now } = &built.now;
    let mut known = after.clone();
    if after.statistics == before.statistics {
        known.statistics = now.statistics.clone();
    }
    for index in &mut known.indexes {
        if let Some(same) = now.indexes.iter().find(|i| i.partitions == index.partitions) {
            index.gathered = same.gathered.clone();
        }
    }
    for (&n, (mut index, rows)) in numbers.iter().zip(built.indexes) {
        note_rows(&mut index, rows);
        // Statistics that were created meanwhile may have taken its id.
        let is_new = before.indexes.iter().all(|i| i.index_id != index.index_id);
        if is_new && known.statistics.iter().any(|s| s.stats_id == index.index_id) {
            index.index_id = known.next_index_id();
        }
        known.indexes[n] = index;
    }
    if numbers.contains(&0) && before.identity().is_some() {
        let (from, to) = (before.counter(), after.counter());
        place.identities.inherit(from, to, &*place.identity_store)?;
    }
    for index in now.indexes.iter().filter(|i| !has_hobts_of(&known, i)) {
        drop_hobts(cx, now_place, index)?;
    }
    cx.record(now_place, Change::Put { before: Some(now), after: &known })
}

/// Whether the rows get other locators: the base is rebuilt, and the new base is a heap or has
/// another kind, key or uniqueness than the old one.
fn moves(before: &Table, after: &Table) -> bool {
    let (old, new) = (before.base(), after.base());
    let form = |table: &Table, index: &Index| (index.kind, index.unique, key_columns(table, index));
    old.partitions != new.partitions
        && (new.kind.is_heap() || form(before, old) != form(after, new))
}

/// Refuses tables whose base cannot be rebuilt online: 1988 and 2725.
fn refuse(before: &Table, after: &Table, numbers: &[usize]) -> SqlResult<()> {
    if !numbers.contains(&0) {
        return Ok(());
    }
    let (old, new) = (before.base(), after.base());
    if old.disabled {
        return Err(SqlError::new(messages::ONLINE_DISABLED_CLUSTERED, &[&old.name]));
    }
    match before.columns.iter().find(|c| c.sql_type.is_text_image()) {
        None => Ok(()),
        Some(column) => {
            // A heap has no name.
            let names = [&new.name, &old.name, &before.name];
            let name = names.into_iter().find(|name| !name.is_empty());
            let name = name.map_or("", |name| name);
            let args: [&dyn std::fmt::Display; 3] = [&"index", &name, &column.name];
            Err(SqlError::new(messages::ONLINE_LARGE_COLUMN, &args))
        }
    }
}

/// The table that a name stands for, locked for an online build; `None` when there is no such
/// object, or it is no table.
pub(crate) fn locate(cx: &mut DdlContext<'_>, name: &ObjectName) -> SqlResult<Option<LockedTable>> {
    let found = crate::locate::locked_by(cx, name, catalog::lock_object_to_build)?;
    Ok(match found {
        Some((place, Object::Table(table))) => Some(LockedTable { place, table }),
        Some(_) | None => None,
    })
}

//! Turns the table before into the table after: makes, fills and drops hobts where the two differ.
//!
//! ```text
//! hobt of                     before  after
//! a new index                   -       n     made, filled from the rows of the table
//! a dropped index               n       -     dropped after commit
//! anything that keeps its hobt  n       n     untouched; a base may get columns
//! anything rebuilt              n       m     made, filled; the old hobt is dropped after commit
//! ```
//!
//! A rebuilt index gets statistics of all its rows. If it has no rows, it keeps the statistics that
//! it had.
//!
//! Invariants
//!  1. When the base gets another hobt, so does every nonclustered index, because its entries
//!     contain the locators of the rows.

use crate::build::{
    Build, BuildError, Conversion, Origin, RowFilter, build, entry_origins, same_order,
};
use crate::context::{Change, DdlContext, Place, unsupported};
use crate::index::fill_choice;
use crate::statistics::gather::of_built_index;
use access::Hobt;
use base::{HobtId, SqlError, SqlResult, messages};
use catalog::view::{AutoFill, Column, Identity, Index, Partition, PhysicalColumn, Table};
use catalog::{Changes, HobtPlaces, HobtSpec};
use std::sync::Arc;
use types::SqlType;
use types::datetime::Dialect;

/// The value that existing rows get in an added column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NewColumnValue {
    /// The same stored bytes, or NULL.
    Same(Option<Box<[u8]>>),
    /// The column's default, evaluated for each row. The rows have NULL until it is filled in.
    Own,
    /// The values of an identity column, in the order in which rows are read.
    Counted(Identity, SqlType),
}

/// The id of an added column, and its value in existing rows.
pub(crate) type NewColumn = (i32, NewColumnValue);

/// What happens to the rows.
#[derive(Clone, Copy)]
pub(crate) enum Content<'a> {
    /// The table after has no rows.
    Empty,
    /// The rows stay; these columns are added.
    Keep(&'a [NewColumn]),
}

/// Gives every index of a table new hobts.
pub(crate) fn renew_all(place: &Place, table: &mut Table) {
    table.indexes.iter_mut().for_each(|index| renew(place, index));
}

/// Gives an index new hobts.
pub(crate) fn renew(place: &Place, index: &mut Index) {
    index.partitions = index.partitions.renewed(|| place.ids.hobt());
}

/// Turns the table `before` into the table `after`, and records the change.
pub(crate) fn rebuild(
    cx: &mut DdlContext<'_>,
    place: &Place,
    before: Option<&Table>,
    after: &Table,
    content: Content<'_>,
) -> SqlResult<()> {
    let kept = |index: &Index| before.is_some_and(|b| has_hobts_of(b, index));
    let base_kept = kept(after.base());
    assert!(
        base_kept || after.indexes.iter().all(|i| !kept(i)),
        "invariant 1: entries of table {} would say where rows were",
        after.name
    );
    let mut settled = after.clone();
    if !base_kept {
        settled.forget_history();
    }
    if let (Some(before), Content::Keep(_)) = (before, content) {
        if !after.indexes.iter().all(kept) {
            refuse_partitioned(before)?;
        }
        choose_fills(cx, place, before, &mut settled)?;
    }
    let after = &settled;
    let mut known = after.clone();
    for index in after.indexes.iter().filter(|i| !kept(i)) {
        for (hobt, places) in create_hobts(cx, place, before, (after, index))? {
            Changes::new(&*place.system).put_places(cx.work, hobt, &places)?;
        }
    }
    if let Some(before) = before.filter(|_| base_kept) {
        widen(cx, place, before, after)?;
    }
    if let (Some(before), Content::Keep(added)) = (before, content) {
        if !base_kept {
            let rows = copy_rows(cx, place, before, after, added)?;
            note_rows(&mut known.indexes[0], rows);
            count_rows(place, after, added, rows)?;
            if before.identity().is_some() && after.identity().is_some() {
                let (from, to) = (before.counter(), after.counter());
                place.identities.inherit(from, to, &*place.identity_store)?;
            }
        }
        for (n, index) in after.indexes.iter().enumerate().skip(1) {
            if !kept(index) && !index.disabled {
                let rows = fill_index(cx, place, after, index)?;
                note_rows(&mut known.indexes[n], rows);
            }
        }
        for at in (0..known.indexes.len()).filter(|&n| !kept(&after.indexes[n])) {
            let index = &after.indexes[at];
            if index.kind.has_key() && !index.disabled {
                let found = of_built_index(cx, place, after, index)?;
                known.indexes[at].gathered.distribution = found;
            }
        }
    }
    if let Some(before) = before {
        for index in before.indexes.iter().filter(|i| !has_hobts_of(after, i)) {
            drop_hobts(cx, place, index)?;
        }
    }
    cx.record(place, Change::Put { before, after: &known })
}

/// Whether an index of a table has the same hobts as this one.
pub(crate) fn has_hobts_of(table: &Table, index: &Index) -> bool {
    table.indexes.iter().any(|i| i.partitions == index.partitions)
}

/// Fails with 40517 for a partitioned table. Statements that need one hobt for all rows of an index
/// call this (`Partitions::sole`).
pub(crate) fn refuse_partitioned(table: &Table) -> SqlResult<()> {
    if table.is_partitioned() { Err(unsupported("partitions", 0)) } else { Ok(()) }
}

/// Makes the hobts of an index. The usage counters of each continue from those of the former hobt
/// with the same partition number. Returns where the hobts are.
pub(crate) fn create_hobts(
    cx: &mut DdlContext<'_>,
    place: &Place,
    before: Option<&Table>,
    (after, index): (&Table, &Index),
) -> SqlResult<Vec<(HobtId, HobtPlaces)>> {
    let same = |i: &&Index| i.index_id == index.index_id;
    let former = before.and_then(|b| b.indexes.iter().find(same));
    let mut made = Vec::new();
    for partition in index.partitions.iter() {
        let spec = HobtSpec::of_hobt(after, index, partition.hobt);
        let places = place.builder.create_hobt(cx.work, &spec)?;
        let mut former = former.into_iter().flat_map(|i| i.partitions.iter());
        if let Some(former) = former.find(|p| p.number == partition.number) {
            place.builder.counts_on(spec.hobt, former.hobt);
        }
        made.push((spec.hobt, places));
    }
    Ok(made)
}

/// Chooses the fill factor of the rebuilt indexes that have FILLFACTOR = AUTO. An index that was
/// disabled keeps the factor of its last build.
pub(crate) fn choose_fills(
    cx: &DdlContext<'_>,
    place: &Place,
    before: &Table,
    after: &mut Table,
) -> SqlResult<()> {
    let kept = |index: &Index| has_hobts_of(before, index);
    for at in 0..after.indexes.len() {
        let index = &after.indexes[at];
        let Some(last) = index.auto_fill.filter(|_| !kept(index) && !index.disabled) else {
            continue;
        };
        let old = forerunner(before, after, index);
        if old.is_some_and(|i| i.disabled) {
            continue;
        }
        let growth = old.map(|i| place.builder.growth(cx.work, &HobtSpec::of(before, i)));
        let (factor, basis) = match growth.transpose()?.flatten() {
            Some(growth) => fill_choice::choose(&growth, &last),
            None => (100, AutoFill::default()),
        };
        after.indexes[at].fill_factor = factor;
        after.indexes[at].auto_fill = Some(basis);
    }
    Ok(())
}

/// The columns of an index's key: their ids, and whether they are descending.
pub(crate) fn key_columns(table: &Table, index: &Index) -> Vec<(i32, bool)> {
    index.key.iter().map(|k| (table.columns[k.column].column_id, k.descending)).collect()
}

/// The old index that an index replaces: it has the same index id and the same key.
fn forerunner<'t>(before: &'t Table, after: &Table, index: &Index) -> Option<&'t Index> {
    let wanted = key_columns(after, index);
    let same = |i: &&Index| i.index_id == index.index_id && key_columns(before, i) == wanted;
    before.indexes.iter().find(same).filter(|i| i.kind.has_key())
}

/// Gives the hobts of the base the columns that were added. If a column became so long that its
/// values may be stored off the row, they get a unit for these.
fn widen(cx: &mut DdlContext<'_>, place: &Place, before: &Table, after: &Table) -> SqlResult<()> {
    for partition in after.base().partitions.iter() {
        let spec = |t: &Table| HobtSpec::of_hobt(t, t.base(), partition.hobt);
        let [old, new] = [before, after].map(spec);
        let longer = new.may_have_large_values() && !old.may_have_large_values();
        if !longer && before.history.added == after.history.added {
            continue;
        }
        if let Some(unit) = place.builder.add_columns(cx.work, &new)? {
            Changes::new(&*place.system).put_unit(cx.work, new.hobt, &unit)?;
        }
    }
    Ok(())
}

/// Opens the hobts of all partitions of an index.
pub(crate) fn open_all(
    place: &Place,
    table: &Table,
    index: &Index,
) -> SqlResult<Vec<Arc<dyn Hobt>>> {
    let open = |p: Partition| place.builder.open(&HobtSpec::of_hobt(table, index, p.hobt));
    index.partitions.iter().map(open).collect()
}

/// Drops an index's hobts when the transaction commits.
pub(crate) fn drop_hobts(cx: &mut DdlContext<'_>, place: &Place, index: &Index) -> SqlResult<()> {
    for partition in index.partitions.iter() {
        let dropped = Changes::new(&*place.system).drop_hobt(cx.work, partition.hobt)?;
        place.builder.drop_hobt_after_commit(cx.work, &dropped)?;
    }
    Ok(())
}

fn copy_rows(
    cx: &mut DdlContext<'_>,
    place: &Place,
    before: &Table,
    after: &Table,
    added: &[NewColumn],
) -> SqlResult<u64> {
    let source_layout = before.hobt_layout(before.base());
    let dialect = cx.settings.dialect;
    let origin = |column: &PhysicalColumn| match *column {
        PhysicalColumn::Dropped(_) | PhysicalColumn::Uniquifier | PhysicalColumn::Rid => {
            Origin::Constant(None)
        }
        PhysicalColumn::Column(n) => {
            let id = after.columns[n].column_id;
            let old = before.columns.iter().position(|c| c.column_id == id);
            let found = old.and_then(|n| {
                let at = source_layout.position(PhysicalColumn::Column(n))?;
                Some((at, &before.columns[n]))
            });
            match found {
                Some((at, old)) => origin_of(place, after, (at, old), n, dialect),
                None => match added.iter().find(|(added, _)| *added == id) {
                    Some((_, NewColumnValue::Counted(identity, sql_type))) => {
                        Origin::Counted(*identity, *sql_type)
                    }
                    Some((_, NewColumnValue::Same(bytes))) => Origin::Constant(bytes.clone()),
                    Some((_, NewColumnValue::Own)) | None => Origin::Constant(None),
                },
            }
        }
    };
    let origins: Vec<Origin> = after.hobt_layout(after.base()).columns.iter().map(origin).collect();
    let source = place.builder.open(&HobtSpec::of(before, before.base()))?;
    let spec = HobtSpec::of(after, after.base());
    let target = place.builder.open(&spec)?;
    let sort = !same_order(before, after);
    let filter = None;
    let (origins, twice) = (&origins, None);
    let moved =
        Build { source: &*source, target: &*target, spec: &spec, origins, sort, filter, twice };
    let done = build(cx, &moved);
    done.map_err(|e| failed(after, after.base(), e))
}

/// The origin of a column that existed before, perhaps with another type.
fn origin_of(
    place: &Place,
    after: &Table,
    (at, old): (usize, &Column),
    n: usize,
    dialect: Dialect,
) -> Origin {
    let new = &after.columns[n];
    let pages = [old, new].map(|c| c.collation.code_page());
    let recoded = new.sql_type.is_character() && pages[0] != pages[1];
    if old.sql_type == new.sql_type && old.nullable == new.nullable && !recoded {
        return Origin::Column(at);
    }
    Origin::Converted(Box::new(Conversion {
        at,
        from: old.sql_type,
        to: new.sql_type,
        nullable: new.nullable,
        collations: (old.collation, new.collation),
        dialect,
        table: format!("{}.{}", place.view.name(), after.two_part_name()).into(),
        column: new.name.clone(),
    }))
}

/// Makes an added identity continue from the value of the last existing row.
fn count_rows(place: &Place, after: &Table, added: &[NewColumn], rows: u64) -> SqlResult<()> {
    for (_, present) in added {
        if let NewColumnValue::Counted(identity, sql_type) = present
            && *sql_type != SqlType::RowVersion
            && rows > 0
        {
            let last = identity.seed + identity.increment * (i128::from(rows) - 1);
            place.identities.reseed(after.counter(), last, &*place.identity_store)?;
        }
    }
    Ok(())
}

fn fill_index(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    index: &Index,
) -> SqlResult<u64> {
    let source = place.builder.open(&HobtSpec::of(table, table.base()))?;
    let spec = HobtSpec::of(table, index);
    let target = place.builder.open(&spec)?;
    let origins = entry_origins(table, index);
    let filter = RowFilter::of(table, index);
    let (sort, origins, filter, twice) = (true, &origins, filter.as_ref(), None);
    let moved =
        Build { source: &*source, target: &*target, spec: &spec, origins, sort, filter, twice };
    build(cx, &moved).map_err(|e| failed(table, index, e))
}

/// Notes the rows of an index with FILLFACTOR = AUTO. The next build compares its rows with them.
pub(crate) fn note_rows(index: &mut Index, rows: u64) {
    if let Some(auto) = &mut index.auto_fill {
        auto.rows = rows;
    }
}

pub(crate) fn failed(table: &Table, index: &Index, e: BuildError) -> SqlError {
    match e {
        BuildError::Duplicate(key) => {
            let args: [&dyn std::fmt::Display; 3] = [&table.two_part_name(), &index.name, &key];
            SqlError::new(messages::CREATE_INDEX_DUPLICATE, &args)
        }
        BuildError::KeyTooLong(bytes) if index.kind.holds_entries() => {
            let args: [&dyn std::fmt::Display; 4] = [&bytes, &index.name, &1700, &"nonclustered"];
            SqlError::new(messages::KEY_TOO_LONG, &args)
        }
        // The record of a clustered index is the row.
        BuildError::KeyTooLong(bytes) => {
            let args: [&dyn std::fmt::Display; 2] = [&bytes, &base::limits::RECORD_BYTES_MAX];
            SqlError::new(messages::ROW_TOO_LONG, &args)
        }
        BuildError::Sql(e) => e,
    }
}

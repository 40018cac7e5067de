//! CREATE, UPDATE and DROP STATISTICS.
//!
//! `auto_statistics` creates and updates statistics automatically. An index gets its statistics
//! when it is built.

pub(crate) mod auto_statistics;
pub(crate) mod gather;

use crate::context::{Change, DdlContext, Place, unsupported};
use crate::index::definition::column;
use crate::index::options::{number, on};
use crate::locate::{LockedTable, locked_rows, same_name};
use crate::statistics::gather::{GatherResult, Sample, of_columns, of_index};
use base::{SqlError, SqlResult, messages};
use catalog::view::{AnyStatistics, Statistics, StatisticsContent, Table};
use std::fmt::Display;
use tsql::ast::{CreateStatistics, DropItem, Name, Setting, SettingValue, UpdateStatistics};

/// The most columns of statistics.
const COLUMNS_MAX: usize = 64;

/// The statistics that UPDATE STATISTICS without names updates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum StatisticsChoice {
    #[default]
    All,
    Columns,
    Index,
}

#[derive(Debug, Default)]
struct Options {
    /// How many rows to read, if the text says so.
    sample: Option<Sample>,
    /// RESAMPLE: read the same share of the rows as the last time.
    resample: bool,
    no_recompute: bool,
    which: StatisticsChoice,
}

fn options(settings: &[Setting], update: bool) -> SqlResult<Options> {
    let mut options = Options::default();
    for s in settings {
        let line = s.span.line;
        match &*s.name {
            "FULLSCAN" => options.sample = Some(Sample::All),
            "SAMPLE" => options.sample = Some(sample(s)?),
            "NORECOMPUTE" => options.no_recompute = true,
            "MAXDOP" => drop(number(s)?),
            "RESAMPLE" if update => options.resample = true,
            "ALL" if update => options.which = StatisticsChoice::All,
            "COLUMNS" if update => options.which = StatisticsChoice::Columns,
            "INDEX" if update => options.which = StatisticsChoice::Index,
            "INCREMENTAL" | "PERSIST_SAMPLE_PERCENT" | "AUTO_DROP" if !on(s)? => {}
            other => {
                let verb = if update { "UPDATE" } else { "CREATE" };
                return Err(unsupported(&format!("{verb} STATISTICS WITH {other}"), line));
            }
        }
    }
    Ok(options)
}

fn sample(s: &Setting) -> SqlResult<Sample> {
    let wrong = || SqlError::new(messages::SYNTAX_NEAR, &[&s.name]).at_line(s.span.line);
    let SettingValue::Number { text, unit: Some(unit) } = &s.value else { return Err(wrong()) };
    match &**unit {
        "PERCENT" => match text.parse::<f64>() {
            Ok(n) if n > 0.0 && n <= 100.0 => Ok(Sample::Share(n / 100.0)),
            Ok(0.0) => Ok(Sample::Nothing),
            Ok(_) | Err(_) => Err(wrong()),
        },
        "ROWS" => match text.parse::<u64>() {
            Ok(0) => Ok(Sample::Nothing),
            Ok(n) => Ok(Sample::Rows(n)),
            Err(_) => Err(wrong()),
        },
        _ => Err(wrong()),
    }
}

/// CREATE STATISTICS
pub(crate) fn create(s: &CreateStatistics, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let line = s.name.line;
    if s.filter.is_some() {
        return Err(unsupported("filtered statistics (CREATE STATISTICS … WHERE)", line));
    }
    let options = options(&s.options, false)?;
    let Some(LockedTable { place, table }) = locked_rows(cx, &s.table)? else {
        let e = SqlError::new(messages::OBJECT_NOT_FOUND, &[&s.table]).with_state(12);
        return Err(e.at_line(s.table.span.line));
    };
    if table.all_statistics().iter().any(|a| same_name(&place, a.name, &s.name)) {
        let e = SqlError::new(messages::STATISTICS_EXIST, &[&table.name, &s.name]);
        return Err(e.at_line(line));
    }
    let columns = columns(&place, &table, &s.columns)?;
    let sample = options.sample.unwrap_or(Sample::Usual);
    let distribution = of_columns(cx, &place, &table, &columns, sample)?;
    let mut after = Table::clone(&table);
    after.statistics.push(Statistics {
        stats_id: table.next_index_id(),
        name: s.name.text.clone(),
        columns,
        gathered: StatisticsContent { no_recompute: options.no_recompute, distribution },
    });
    cx.record(&place, Change::Statistics { before: &table, after: &after })
}

fn columns(place: &Place, table: &Table, names: &[Name]) -> SqlResult<Vec<usize>> {
    let mut columns = Vec::with_capacity(names.len());
    for name in names {
        let at = column(place, table, name)?;
        if columns.contains(&at) {
            let args: [&dyn Display; 2] = [&"statistics", name];
            return Err(SqlError::new(messages::INDEX_COLUMN_TWICE, &args).at_line(name.line));
        }
        let of = &table.columns[at];
        if of.computed.is_some() || of.sql_type.is_max() {
            let what = "statistics on columns that are computed or of a (max) type";
            return Err(unsupported(what, name.line));
        }
        columns.push(at);
    }
    match names.get(COLUMNS_MAX) {
        Some(name) => Err(unsupported("statistics on more than 64 columns", name.line)),
        None => Ok(columns),
    }
}

/// UPDATE STATISTICS
pub(crate) fn update(s: &UpdateStatistics, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let options = options(&s.options, true)?;
    let Some(LockedTable { place, table }) = locked_rows(cx, &s.table)? else {
        let e = SqlError::new(messages::TABLE_NOT_THERE, &[&s.table.object]).with_state(6);
        return Err(e.at_line(s.table.span.line));
    };
    for name in &s.names {
        if !table.all_statistics().iter().any(|a| same_name(&place, a.name, name)) {
            let e = SqlError::new(messages::STATISTICS_NOT_FOUND, &[name]);
            return Err(e.at_line(name.line));
        }
    }
    let mut after = Table::clone(&table);
    for known in table.all_statistics() {
        let wanted = match options.which {
            _ if !s.names.is_empty() => s.names.iter().any(|n| same_name(&place, known.name, n)),
            StatisticsChoice::All => true,
            StatisticsChoice::Columns => known.index.is_none(),
            StatisticsChoice::Index => known.index.is_some(),
        };
        if wanted {
            let distribution = again(cx, &place, &table, &known, &options)?;
            let gathered = StatisticsContent { no_recompute: options.no_recompute, distribution };
            put(&mut after, &known, gathered);
        }
    }
    cx.record(&place, Change::Statistics { before: &table, after: &after })
}

fn again(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    known: &AnyStatistics<'_>,
    options: &Options,
) -> GatherResult {
    let before = known.gathered.distribution.as_ref().filter(|_| options.resample);
    let last = before.map(|d| Sample::Share(d.sampled as f64 / d.rows.max(1) as f64));
    let sample = last.or(options.sample).unwrap_or(Sample::Usual);
    match known.index {
        Some(index) => of_index(cx, place, table, index, sample),
        None => of_columns(cx, place, table, &known.columns, sample),
    }
}

pub(crate) fn put(table: &mut Table, known: &AnyStatistics<'_>, gathered: StatisticsContent) {
    let id = known.stats_id;
    match known.index {
        Some(_) => {
            let index = table.indexes.iter_mut().find(|i| i.index_id == id);
            index.expect("an index that was there is there").gathered = gathered;
        }
        None => {
            let own = table.statistics.iter_mut().find(|s| s.stats_id == id);
            own.expect("statistics that were there are there").gathered = gathered;
        }
    }
}

/// Drops statistics that do not belong to an index. Returns false when there are none of that name.
pub(crate) fn drop_one(item: &DropItem, cx: &mut DdlContext<'_>) -> SqlResult<bool> {
    let Some(table) = &item.table else { return Ok(false) };
    let Some(LockedTable { place, table }) = locked_rows(cx, table)? else { return Ok(false) };
    let name = &item.name.object;
    let all = table.all_statistics();
    let Some(known) = all.iter().find(|a| same_name(&place, a.name, name)) else {
        return Ok(false);
    };
    if known.index.is_some() {
        let args: [&dyn Display; 2] = [&"DROP", &known.name];
        let e = SqlError::new(messages::NOT_STATISTICS, &args);
        return Err(e.at_line(item.name.span.line));
    }
    let mut after = Table::clone(&table);
    after.statistics.retain(|s| s.stats_id != known.stats_id);
    cx.record(&place, Change::Statistics { before: &table, after: &after })?;
    Ok(true)
}

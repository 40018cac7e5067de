//! How many rows of each table were changed: what makes its statistics stale.
//!
//! ```text
//! counter of a column = rows inserted and deleted + rows in which the column was assigned
//! modification_counter of statistics = counter of their first column now - when they were made
//! ```
//!
//! Statements count what they changed when they have ended well; a rollback of their transaction
//! takes nothing back, as in SQL Server. Counters live in memory; what has changed is written to
//! `sysfacts` before each of the database's own checkpoints and when it is closed. After a crash
//! they are what was written last, so they may be too small by what a checkpoint's distance holds;
//! they are never below what statistics were made at.
//!
//! Whoever plans a query says how many more changes its statistics bear; the statement that
//! passes that number is told, and makes plans be looked at again. So nobody looks at a counter
//! while nothing has happened.
//!
//! Invariants
//!  1. A counter never goes back while its table lives.
//!  2. What is written is at least what was counted: counters that do not fit one row are joined
//!     into one that covers them.

use crate::view::Table;
use base::ObjectId;
use os::sync::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// UTF-16 units of a fact's value.
const VALUE_UNITS: usize = 2000;
/// What facts of tables are called, before the table's number.
const FACT: &str = "MODIFIED:";

/// The counters of a database.
#[derive(Debug, Default)]
pub struct Modifications(Mutex<BTreeMap<ObjectId, Arc<Mutex<Counts>>>>);

/// Of one table.
#[derive(Debug, Default)]
struct Counts {
    /// Rows inserted and deleted.
    rows: u64,
    /// Rows in which a column was assigned, by column id.
    columns: BTreeMap<i32, u64>,
    /// Changes of any kind since the database was opened.
    events: u64,
    /// At how many of them somebody wants to be told; 0 for never.
    alarm: u64,
    /// Changed since they were written.
    unsaved: bool,
}

impl Modifications {
    fn table(&self, table: ObjectId) -> Arc<Mutex<Counts>> {
        Arc::clone(self.0.lock().entry(table).or_default())
    }

    /// Counts changed rows: those in which columns, by their ids, were assigned, or rows that came
    /// or went. Whether it is time to look at the table's statistics.
    pub fn count(&self, table: ObjectId, columns: Option<&[i32]>, rows: u64) -> bool {
        if rows == 0 {
            return false;
        }
        let counts = self.table(table);
        let mut counts = counts.lock();
        match columns {
            None => counts.rows += rows,
            Some(columns) => {
                for &column in columns {
                    *counts.columns.entry(column).or_default() += rows;
                }
            }
        }
        counts.events += rows;
        counts.unsaved = true;
        let rings = counts.alarm != 0 && counts.events >= counts.alarm;
        if rings {
            counts.alarm = 0;
        }
        rings
    }

    /// The counter of a column.
    pub fn of(&self, table: ObjectId, column: i32) -> u64 {
        self.0.lock().get(&table).map_or(0, |c| c.lock().of(column))
    }

    /// Wants to be told after so many more changes.
    pub fn wake_after(&self, table: ObjectId, changes: u64) {
        let counts = self.table(table);
        let mut counts = counts.lock();
        let at = counts.events.saturating_add(changes.max(1));
        counts.alarm = if counts.alarm == 0 { at } else { counts.alarm.min(at) };
    }

    /// Forgets a dropped table.
    pub fn forget(&self, table: ObjectId) {
        self.0.lock().remove(&table);
    }

    /// Counters are at least what a table's statistics were made at.
    pub fn cover(&self, table: &Table) {
        for known in table.all_statistics() {
            let Some(first) = known.columns.first().and_then(|&n| table.columns.get(n)) else {
                continue;
            };
            let Some(distribution) = &known.gathered.distribution else { continue };
            let counts = self.table(table.object_id);
            let mut counts = counts.lock();
            let missing = distribution.modified.saturating_sub(counts.of(first.column_id));
            *counts.columns.entry(first.column_id).or_default() += missing;
        }
    }

    /// Facts of what has changed since the last time, each with its value.
    pub fn unsaved(&self) -> Vec<(String, String)> {
        let tables: Vec<_> = self.0.lock().iter().map(|(t, c)| (*t, Arc::clone(c))).collect();
        let mut facts = Vec::new();
        for (table, counts) in tables {
            let mut counts = counts.lock();
            if std::mem::take(&mut counts.unsaved) {
                facts.push((fact_of(table), counts.text()));
            }
        }
        facts
    }

    /// What was given as unsaved could not be written.
    pub fn not_saved(&self) {
        for counts in self.0.lock().values() {
            let mut counts = counts.lock();
            counts.unsaved |= counts.events > 0;
        }
    }

    /// Takes a fact that was loaded; false when it is none of these.
    pub(crate) fn read_fact(&self, name: &str, value: &str) -> bool {
        let Some(table) = table_of(name) else { return false };
        if let Some(counts) = Counts::read(value) {
            self.0.lock().insert(table, Arc::new(Mutex::new(counts)));
        }
        true
    }

    /// Tables that have counters.
    pub(crate) fn tables(&self) -> Vec<ObjectId> {
        self.0.lock().keys().copied().collect()
    }
}

/// The name of a table's fact.
pub(crate) fn fact_of(table: ObjectId) -> String {
    format!("{FACT}{}", table.0)
}

fn table_of(name: &str) -> Option<ObjectId> {
    name.strip_prefix(FACT)?.parse().ok().map(ObjectId)
}

impl Counts {
    fn of(&self, column: i32) -> u64 {
        self.rows + self.columns.get(&column).copied().unwrap_or(0)
    }

    /// `rows column=rows column=rows …`
    fn text(&self) -> String {
        let mut text = self.rows.to_string();
        for (column, rows) in &self.columns {
            text.push_str(&format!(" {column}={rows}"));
        }
        if text.len() > VALUE_UNITS {
            // Invariant 2.
            let most = self.columns.values().max().copied().unwrap_or(0);
            text = (self.rows + most).to_string();
        }
        text
    }

    fn read(text: &str) -> Option<Counts> {
        let mut parts = text.split(' ');
        let rows = parts.next()?.parse().ok()?;
        let column = |part: &str| {
            let (column, rows) = part.split_once('=')?;
            Some((column.parse().ok()?, rows.parse().ok()?))
        };
        let columns = parts.map(column).collect::<Option<_>>()?;
        Some(Counts { rows, columns, ..Counts::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: ObjectId = ObjectId(7);

    #[test]
    fn rows_count_for_every_column_and_assignments_for_theirs() {
        let counters = Modifications::default();
        counters.count(TABLE, None, 5);
        counters.count(TABLE, Some(&[2, 3]), 4);
        assert_eq!([1, 2, 3].map(|c| counters.of(TABLE, c)), [5, 9, 9]);
        assert_eq!(counters.of(ObjectId(8), 1), 0);
    }

    #[test]
    fn whoever_wants_to_be_told_is_told_once() {
        let counters = Modifications::default();
        counters.wake_after(TABLE, 10);
        counters.wake_after(TABLE, 20);
        assert!(!counters.count(TABLE, None, 9));
        assert!(counters.count(TABLE, Some(&[1]), 1));
        assert!(!counters.count(TABLE, None, 100));
    }

    #[test]
    fn counters_come_back_as_they_were_written_and_never_smaller() {
        let counters = Modifications::default();
        counters.count(TABLE, None, 5);
        counters.count(TABLE, Some(&[2]), 4);
        let facts = counters.unsaved();
        assert_eq!(facts, [("MODIFIED:7".to_owned(), "5 2=4".to_owned())]);
        assert!(counters.unsaved().is_empty(), "nothing new");
        let again = Modifications::default();
        assert!(again.read_fact(&facts[0].0, &facts[0].1));
        assert!(!again.read_fact("RECOVERY", "FULL"));
        assert_eq!([1, 2].map(|c| again.of(TABLE, c)), [5, 9]);
        let columns: Vec<i32> = (1..=1000).collect();
        counters.count(TABLE, Some(&columns), 1_000_000);
        let (name, value) = counters.unsaved().remove(0);
        assert!(value.len() <= VALUE_UNITS);
        again.read_fact(&name, &value);
        assert!((1..=1000).all(|c| again.of(TABLE, c) >= counters.of(TABLE, c)), "invariant 2");
    }
}

//! Statistics at compilation: missing statistics are made, stale ones are updated, and a plan is
//! checked again if its statistics have been replaced or have become stale.
//!
//! This has no part in the statement's own transaction: see `ddl::gather_statistics`. If it fails,
//! the statement is planned with the statistics that exist.

use crate::host::statistics::{GatherCall, StatisticsTerms};
use crate::program::steps::PlaceId;
use crate::request::activation::{Activation, ChangedTable, ReadyPlace};
use crate::session::state::State;
use crate::tables::temp::TempTables;
use base::DatabaseId;
use bind::Bound;
use catalog::view::Table;
use ddl::WantedStatistics;
use plan::{Header, PhysicalPlan, Reference, Statement, UsedStatistics};
use std::sync::Arc;

/// Whether no statistics begin with a column.
fn lacks(table: &Table, column: usize) -> bool {
    !table.all_statistics().iter().any(|s| s.columns.first() == Some(&column))
}

impl State {
    /// Makes the statistics that a bound statement wants. Returns whether there are new ones.
    /// Statistics of temporary tables wait for [`State::gather_temporary`].
    pub(crate) fn gather_wanted(&self, bound: &Bound) -> bool {
        let mut any = false;
        for wanted in optimize::wanted(&bound.plan, &bound.references) {
            let Some(wish) = self.wish(&wanted) else { continue };
            match wanted.table.is_temp {
                true => self.wishes.borrow_mut().push((wanted.table.database, wish)),
                false => {
                    let mut none = TempTables::default();
                    any |= self.gather(wanted.table.database, &wish, &mut none);
                }
            }
        }
        any
    }

    /// Makes the statistics of temporary tables that compiled statements want. Returns whether
    /// there are new ones.
    pub(crate) fn gather_temporary(&mut self) -> bool {
        let wishes = std::mem::take(&mut *self.wishes.borrow_mut());
        let mut any = false;
        for (database, wish) in wishes {
            let mut temp = std::mem::take(&mut self.temp);
            any |= self.gather(database, &wish, &mut temp);
            self.temp = temp;
        }
        any
    }

    fn gather(
        &self,
        database: DatabaseId,
        wanted: &WantedStatistics,
        temp: &mut TempTables,
    ) -> bool {
        let (session, waiter) = (self.id(), Arc::clone(self.entry.waiter()));
        self.host.gather_statistics(GatherCall { session, waiter, database, temp, wanted })
    }

    fn wish(&self, wanted: &optimize::WantedColumns) -> Option<WantedStatistics> {
        let table = &wanted.table;
        let terms = self.host.statistics_terms(table.database)?;
        let create = terms.create && wanted.columns.iter().any(|&n| lacks(table, n));
        let ids = wanted.columns.iter().filter_map(|&n| Some(table.columns.get(n)?.column_id));
        let columns: Vec<i32> = ids.collect();
        let stale = self.is_stale(table, table.is_temp, &terms, |n| wanted.columns.contains(&n));
        let later = terms.asynchronous && !table.is_temp;
        if stale && later {
            self.host.update_statistics_later(table.database, table.object_id, &columns);
        }
        let update = stale && !later;
        let temporary = table.is_temp.then(|| table.name.clone());
        let wish = WantedStatistics { table: table.object_id, temporary, columns, create, update };
        (create || update).then_some(wish)
    }

    /// Whether any relevant statistics are stale. If not, the session is notified when they become
    /// stale. `temporary`: applies the rule for temporary tables.
    fn is_stale(
        &self,
        table: &Table,
        temporary: bool,
        terms: &StatisticsTerms,
        matters: impl Fn(usize) -> bool,
    ) -> bool {
        if !terms.update {
            return false;
        }
        let counters = &terms.modifications;
        match ddl::bears(table, temporary, matters, |column| counters.of(table.object_id, column)) {
            Some(0) => true,
            Some(changes) => {
                counters.wake_after(table.object_id, changes);
                false
            }
            None => false,
        }
    }

    /// A table by its reference, including temporary tables.
    fn referred(&self, reference: &Reference) -> Option<Arc<Table>> {
        let is = |t: &&Arc<Table>| t.object_id == reference.object;
        let temporary = self.temp.iter().find(is).cloned();
        temporary.or_else(|| self.view(reference.database)?.table(reference.object))
    }

    /// The statistics by which a plan is chosen.
    pub(crate) fn used_statistics(&self, bound: &Bound) -> Vec<UsedStatistics> {
        let used = |wanted: optimize::WantedColumns| {
            let table = &wanted.table;
            let terms = self.host.statistics_terms(table.database);
            let missing = match terms.is_some_and(|t| !t.create) {
                true => wanted.columns.iter().filter(|n| lacks(table, **n)).collect(),
                false => Vec::new(),
            };
            let name = |n: &usize| table.columns.get(*n).map(|c| c.name.clone());
            UsedStatistics {
                table: Reference { database: table.database, object: table.object_id },
                stamp: table.statistics_stamp(|n| wanted.columns.contains(&n)),
                columns: wanted.columns.iter().copied().collect(),
                missing: missing.into_iter().filter_map(name).collect(),
            }
        };
        let wanted = optimize::wanted(&bound.plan, &bound.references).into_iter();
        wanted.filter(|w| !w.columns.is_empty()).map(used).collect()
    }

    /// Whether a plan's names still mean the same, and its statistics are not stale.
    pub(crate) fn is_current(&self, header: &Header) -> bool {
        let session = self.id();
        let meant = |&(database, bound_in): &(DatabaseId, u64)| {
            self.host.schema_version(session, database) == Some(bound_in)
        };
        let dialect = self.settings.dialect();
        header.dialect.is_none_or(|by| by == dialect)
            && header.databases.iter().all(meant)
            && header.statistics.iter().all(|u| self.is_as_good(u, header.hints.keep_plan))
    }

    fn is_as_good(&self, used: &UsedStatistics, keep_plan: bool) -> bool {
        let Some(table) = self.referred(&used.table) else { return false };
        let matters = |n: usize| used.columns.contains(&n);
        if table.statistics_stamp(matters) != used.stamp {
            return false;
        }
        let Some(terms) = self.host.statistics_terms(table.database) else { return true };
        let temporary = table.is_temp && !keep_plan;
        if !self.is_stale(&table, temporary, &terms, matters) {
            return true;
        }
        let later = terms.asynchronous && !table.is_temp;
        if later {
            let ids = used.columns.iter().filter_map(|&n| Some(table.columns.get(n)?.column_id));
            let columns: Vec<i32> = ids.collect();
            self.host.update_statistics_later(table.database, table.object_id, &columns);
        }
        later
    }

    /// The table and columns that a plan changes.
    pub(crate) fn changed(&self, plan: &PhysicalPlan) -> Option<ChangedTable> {
        let target = plan.statement.target().filter(|t| !t.is_private())?;
        let (database, table) = (target.database, target.object);
        let columns = match &plan.statement {
            Statement::Update(update) => {
                let table = self.referred(&Reference { database, object: table })?;
                let ids = update.assignments.iter().filter_map(|a| a.column);
                Some(ids.filter_map(|n| Some(table.columns.get(n)?.column_id)).collect())
            }
            _ => None,
        };
        Some(ChangedTable { database, table, columns })
    }

    /// Counts rows that a place has changed.
    pub(crate) fn note_changes(&self, act: &Activation, place: PlaceId, rows: u64) {
        let changed = act.ready[place].as_deref().and_then(|r: &ReadyPlace| r.changed.as_ref());
        let Some(changed) = changed.filter(|_| rows > 0) else { return };
        self.host.rows_changed(changed.database, changed.table, changed.columns.as_deref(), rows);
    }
}

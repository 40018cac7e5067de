//! How many different values and groups.

use super::Estimator;
use plan::Slot;
use std::collections::BTreeMap;

impl Estimator<'_> {
    /// Different values of a slot among so many rows.
    pub(crate) fn distinct(&self, slot: Slot, rows: f64) -> f64 {
        let found = self.column(slot).map_or(rows.max(1.0).powf(0.75), |c| c.distinct());
        found.min(rows).max(1.0)
    }

    /// Different combinations of values of some slots among so many rows: per table what a
    /// statistics object knows of them together, else their product; of rows that are few, those
    /// that few rows have.
    pub(crate) fn groups(&self, keys: &[Slot], rows: f64) -> f64 {
        let mut tables: BTreeMap<usize, Vec<Slot>> = BTreeMap::new();
        let mut all = 1.0;
        for slot in keys {
            match self.column(*slot) {
                Some(c) => {
                    let table = tables.entry(std::ptr::from_ref(c.table) as usize).or_default();
                    table.push(*slot);
                }
                None => all *= self.distinct(*slot, rows),
            }
        }
        for slots in tables.values() {
            all *= self.table_groups(slots, rows);
        }
        all.min(rows).max(1.0)
    }

    /// The rows of the table whose unique key is among some columns of it, and these columns.
    pub(crate) fn unique_key(&self, slots: &[Slot]) -> Option<(f64, Vec<Slot>)> {
        let first = self.column(*slots.first()?)?;
        let at = |ordinal: usize| {
            slots.iter().copied().find(|s| {
                let c = self.column(*s);
                c.is_some_and(|c| c.ordinal == ordinal && std::ptr::eq(c.table, first.table))
            })
        };
        let unique =
            first.table.indexes.iter().filter(|i| i.unique && !i.disabled && i.filter.is_none());
        let used = unique.filter(|i| !i.key.is_empty());
        let found = used.map(|i| i.key.iter().map(|k| at(k.column)).collect::<Option<Vec<_>>>());
        found.flatten().next().map(|used| (first.rows, used))
    }

    fn table_groups(&self, slots: &[Slot], rows: f64) -> f64 {
        let facts: Vec<_> = slots.iter().filter_map(|s| self.column(*s)).collect();
        let Some(first) = facts.first() else { return 1.0 };
        let ordinals: Vec<usize> = facts.iter().map(|c| c.ordinal).collect();
        let whole = |columns: &[usize]| {
            columns.len() == ordinals.len() && columns.iter().all(|c| ordinals.contains(c))
        };
        let all = first.table.all_statistics();
        let known = all.into_iter().filter(|s| s.is_whole()).find_map(|known| {
            let d = known.gathered.distribution.as_deref()?;
            let columns = known.columns.get(..ordinals.len())?;
            (whole(columns) && d.prefixes.len() >= ordinals.len())
                .then(|| d.prefixes[ordinals.len() - 1].distinct)
        });
        let covers = first.table.indexes.iter().any(|i| {
            let sure = i.unique && i.filter.is_none();
            sure && !i.key.is_empty() && i.key.iter().all(|k| ordinals.contains(&k.column))
        });
        let product = facts.iter().map(|c| c.distinct()).product::<f64>();
        let distinct = match known {
            _ if covers => first.rows,
            Some(distinct) => distinct,
            None => product.min(first.rows),
        };
        among(distinct, first.rows, rows)
    }
}

/// Of so many different values in a table, those that some of its rows are expected to have.
fn among(distinct: f64, table_rows: f64, rows: f64) -> f64 {
    let distinct = distinct.max(1.0);
    if rows >= table_rows {
        return distinct;
    }
    let each = (table_rows / distinct).max(1.0);
    let absent = (1.0 - rows / table_rows.max(1.0)).powf(each);
    (distinct * (1.0 - absent)).max(1.0)
}

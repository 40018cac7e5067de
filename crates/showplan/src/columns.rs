//! The slots of a plan by the names that a reader knows.
//!
//! A table's column keeps its name. What an operator computes is called as SQL Server calls it,
//! `Expr`, `Union`, `Bmk` or `Uniq` with a number, which is that of the slot behind 1000. ANY of
//! a table's column is that column.

use crate::names::{Hobt, HobtKind, Names};
use base::{DatabaseId, HobtId, ObjectId};
use builtins::Aggregate;
use plan::{
    AggregatePhase, Definition, EntryWork, FollowUp, IndexChange, Item, Physical, PhysicalPlan,
    ScanColumn, Slot, Source, Statement, VirtualScan,
};
use std::collections::BTreeMap;
use types::SqlType;

/// A column's full name. Parts that it has not are empty.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Column {
    pub(crate) database: String,
    pub(crate) schema: String,
    pub(crate) table: String,
    pub(crate) alias: String,
    pub(crate) column: String,
}

impl Column {
    fn computed(word: &str, slot: Slot) -> Column {
        Column { column: format!("{word}{}", 1000 + slot.0), ..Column::default() }
    }

    /// One of a table. That of a table variable says whose it is only where a query gives the
    /// variable another name.
    pub(crate) fn of_table(database: &str, table: &str, alias: &str, column: String) -> Column {
        let (schema, table) = table.split_once('.').unwrap_or(("", table));
        let alias = if alias == table { "" } else { alias };
        let names = match (is_variable(table), alias.is_empty()) {
            (true, true) => ["", "", ""],
            (true, false) => ["", "", table],
            (false, _) => [database, schema, table],
        };
        let [database, schema, table] = names.map(str::to_owned);
        Column { database, schema, table, alias: alias.to_owned(), column }
    }

    /// How lists name it: `[alias].[column]` where the query gives its table another name, and
    /// `[database].[schema].[table].[column]` where not, as far as it has them.
    pub(crate) fn full(&self) -> String {
        match self.alias.is_empty() || self.table.is_empty() {
            true => self.path(),
            false => format!("{}.{}", quoted(&self.alias), quoted(&self.column)),
        }
    }

    fn path(&self) -> String {
        match &*self.table {
            "" => quoted(&self.column),
            table if is_variable(table) => format!("{table}.{}", quoted(&self.column)),
            table => [&self.database, &self.schema, table, &self.column].map(quoted).join("."),
        }
    }

    /// How expressions name it: where it is stored, `as` its name in the query.
    pub(crate) fn in_expression(&self) -> String {
        match self.alias.is_empty() || self.table.is_empty() {
            true => self.path(),
            false => format!("{} as {}", self.path(), self.full()),
        }
    }
}

/// Whether a table's name is a table variable's, which stands bare in text and in no schema.
pub(crate) fn is_variable(table: &str) -> bool {
    table.starts_with('@')
}

/// `[name]`
pub(crate) fn quoted(name: &str) -> String {
    format!("[{}]", name.replace(']', "]]"))
}

/// The columns of a plan, and the hobts they come from.
pub(crate) struct Columns<'n> {
    pub(crate) names: &'n dyn Names,
    by_slot: BTreeMap<Slot, Column>,
    /// What ANY computes, and a part of a union, with the slot that its values come from.
    comes_from: BTreeMap<Slot, Slot>,
    /// Hints of where a row lies: nobody is to see them.
    hidden: Vec<Slot>,
    hobts: BTreeMap<(DatabaseId, HobtId), Hobt>,
    /// The tables of columns.
    tables: BTreeMap<Slot, (DatabaseId, ObjectId)>,
    /// Columns that the plan was made without statistics of.
    pub(crate) missing: BTreeMap<(DatabaseId, ObjectId), Vec<String>>,
}

impl<'n> Columns<'n> {
    pub(crate) fn of(plan: &PhysicalPlan, names: &'n dyn Names) -> Columns<'n> {
        let missing = plan.header.statistics.iter().map(|used| {
            let names = used.missing.iter().map(|name| name.to_string());
            ((used.table.database, used.table.object), names.collect())
        });
        let mut columns = Columns {
            names,
            by_slot: BTreeMap::new(),
            comes_from: BTreeMap::new(),
            hidden: Vec::new(),
            hobts: BTreeMap::new(),
            tables: BTreeMap::new(),
            missing: missing.collect(),
        };
        let root = plan.statement.source();
        for tree in root.into_iter().chain(plan.subqueries.iter().map(|s| &s.source)) {
            tree.for_each(&mut |node| columns.note(node));
            tree.for_each(&mut |node| columns.note_firsts(node));
        }
        columns.note_new(&plan.statement);
        for follow_up in &plan.follow_ups {
            if let FollowUp::Index(change) = follow_up {
                columns.note_entries(change);
            }
        }
        columns
    }

    /// New values that something is asserted of are named as the columns they are for.
    fn note_new(&mut self, statement: &Statement<Physical>) {
        let Some(target) = statement.target() else { return };
        if target.checks.is_empty() && target.references.checks.is_empty() {
            return;
        }
        let slots: Vec<Option<Slot>> = match statement {
            Statement::Insert(i) => i.columns.iter().map(|c| Some(c.slot)).collect(),
            Statement::Update(u) => u.new.clone(),
            Statement::Merge(m) => m.new.clone(),
            _ => Vec::new(),
        };
        for (slot, of) in slots.into_iter().zip(&target.columns) {
            let Some(slot) = slot else { continue };
            let (database, table) = (&target.database_name, target.two_part_name());
            let column = || Column::of_table(database, &table, "", of.name.to_string());
            self.by_slot.entry(slot).or_insert_with(column);
        }
    }

    /// What an index gets that is changed by itself is named as its table's columns are.
    fn note_entries(&mut self, change: &IndexChange<Physical>) {
        let target = &change.target;
        let (database, table) = (&target.database_name, target.two_part_name());
        for row in [&change.before, &change.after] {
            for (slot, of) in row.columns.iter().zip(&target.columns) {
                let Some(slot) = *slot else { continue };
                let name = of.name.to_string();
                let column = || Column::of_table(database, &table, "", name);
                self.by_slot.entry(slot).or_insert_with(column);
            }
            for (word, slot) in [("Uniq", row.uniquifier), ("Bmk", row.rid)] {
                let Some(slot) = slot else { continue };
                self.by_slot.entry(slot).or_insert_with(|| Column::computed(word, slot));
            }
        }
        if let EntryWork::Split(slot) = change.work {
            self.by_slot.insert(slot, Column::computed("Act", slot));
        }
    }

    /// ANY keeps the name of what it takes; `note` has seen all of the tree.
    fn note_firsts(&mut self, node: &Physical) {
        let display = node.describe().display();
        let defined = display.items.iter().flat_map(|item| match item {
            Item::Defined(columns) => columns.as_slice(),
            _ => &[],
        });
        for (output, from) in defined {
            let Definition::Aggregate(call) = from else { continue };
            if call.function != Aggregate::Any || call.phase == AggregatePhase::Partial {
                continue;
            }
            let mut slot = *output;
            while let Some(from) = self.comes_from.remove(&slot) {
                slot = from;
            }
            self.by_slot.insert(*output, self.column(slot));
            self.tables.extend(self.table(slot).map(|table| (*output, table)));
        }
    }

    fn note(&mut self, node: &Physical) {
        let operator = node.describe();
        if let Some(rows) = operator.stored() {
            self.stored(rows.source, rows.columns);
            self.locator(rows.rid, rows.hint);
        }
        let display = operator.display();
        if let Some((word, slots)) = display.named {
            let named = slots.into_iter().map(|slot| (slot, Column::computed(word, slot)));
            self.by_slot.extend(named);
        }
        self.comes_from.extend(display.same_as);
        if let Physical::Virtual(v) = node {
            self.note_view(v);
        }
    }

    fn note_view(&mut self, v: &VirtualScan) {
        let names = self.names.view_columns(v.database, v.object);
        let (schema, table) = v.name.split_once('.').unwrap_or(("sys", &*v.name));
        for c in &v.columns {
            let column = Column {
                schema: schema.to_owned(),
                table: table.to_owned(),
                column: names.get(c.field).cloned().unwrap_or_default(),
                ..Column::default()
            };
            let column = Column { database: self.names.database(v.database), ..column };
            self.by_slot.insert(c.slot, column);
        }
    }

    fn stored(&mut self, source: &Source, columns: &[ScanColumn]) {
        let hobt = self.hobt(source.database, source.object, source.hobt).clone();
        let database = self.names.database(source.database);
        for c in columns {
            let name = hobt.columns.get(c.field).cloned().unwrap_or_default();
            let column = match name.as_str() {
                // What the index keeps to find the row.
                "" if c.sql_type == SqlType::Binary(8) => Column::computed("Bmk", c.slot),
                "" => Column::computed("Uniq", c.slot),
                _ => Column::of_table(&database, &source.table, &source.alias, name),
            };
            self.by_slot.insert(c.slot, column);
            self.tables.insert(c.slot, (source.database, source.object));
        }
    }

    /// The table of a column that is stored.
    pub(crate) fn table(&self, slot: Slot) -> Option<(DatabaseId, ObjectId)> {
        self.tables.get(&slot).copied()
    }

    fn locator(&mut self, rid: Option<Slot>, hint: Option<Slot>) {
        if let Some(slot) = rid {
            self.by_slot.insert(slot, Column::computed("Bmk", slot));
        }
        self.hidden.extend(hint);
    }

    /// A heap or index of the plan.
    pub(crate) fn hobt(&mut self, database: DatabaseId, table: ObjectId, hobt: HobtId) -> &Hobt {
        let names = self.names;
        let entry = self.hobts.entry((database, hobt));
        entry.or_insert_with(|| names.hobt(database, table, hobt))
    }

    /// How a source of the plan holds its rows.
    pub(crate) fn kind(&self, source: &Source) -> HobtKind {
        self.hobts.get(&(source.database, source.hobt)).map_or(HobtKind::Heap, |h| h.kind)
    }

    /// The column of a slot; one that an operator computes when nobody else wrote it.
    pub(crate) fn column(&self, slot: Slot) -> Column {
        self.by_slot.get(&slot).cloned().unwrap_or_else(|| Column::computed("Expr", slot))
    }

    /// The n-th key column of a source.
    pub(crate) fn key_column(&self, source: &Source, n: usize) -> Column {
        let hobt = self.hobts.get(&(source.database, source.hobt));
        let name = hobt.and_then(|h| h.columns.get(*h.key.get(n)?)).cloned();
        let database = self.names.database(source.database);
        Column::of_table(&database, &source.table, &source.alias, name.unwrap_or_default())
    }

    /// The columns of slots, without those that nobody is to see.
    pub(crate) fn all<'s>(&self, slots: impl IntoIterator<Item = &'s Slot>) -> Vec<Column> {
        let shown = slots.into_iter().filter(|s| !self.hidden.contains(s));
        shown.map(|&s| self.column(s)).collect()
    }
}

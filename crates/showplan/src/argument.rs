//! What an operator is told, as the Argument column shows it, and the values it defines.

use crate::columns::{Column, Columns, is_variable, quoted};
use crate::expression;
use crate::names::HobtKind;
use crate::tree::{Op, OperatorKind};
use plan::{
    Bound, ColumnSource, Definition, EntryWork, Item, KeyLookup, Phrase, Physical, Predicate,
    Reading, Scalar, SeekRange, Slot, Source, Statement, StoredAccess, Target,
};

impl Columns<'_> {
    /// The Argument column; empty for none.
    pub(crate) fn argument(&self, op: &Op<'_>) -> String {
        match op.what {
            OperatorKind::Operator(node) => self.operator_argument(node),
            OperatorKind::LookupJoin(l) => format!("OUTER REFERENCES:({})", self.slots(&l.locator)),
            OperatorKind::Lookup(l) => self.lookup_argument(l),
            OperatorKind::Segment(window) => {
                let partition: Vec<Slot> = window.partition.iter().map(|k| k.0).collect();
                format!("GROUP BY:({})", self.slots(&partition))
            }
            OperatorKind::Change(statement) => self.change_argument(statement),
            OperatorKind::Into(into) => {
                let set = self.insert_list(&into.target, &into.columns);
                format!("{}, SET:({set})", self.target_names(&into.target))
            }
            OperatorKind::Index(change) => self.index_change_argument(change),
            OperatorKind::Sequence | OperatorKind::Kept | OperatorKind::Again(_) => String::new(),
            OperatorKind::Assert(target, asserted) => {
                self.assertion(&expression::asserted(target, asserted))
            }
            OperatorKind::Where(predicate) => format!("WHERE:({})", self.predicate(predicate)),
            OperatorKind::AllRows(_) => String::new(),
            OperatorKind::ForEachRow(r, member) => {
                match crate::relop::read_below(member, r.work.clone()) {
                    outer if outer.is_empty() => String::new(),
                    outer => format!("OUTER REFERENCES:({})", self.slots(&outer)),
                }
            }
            OperatorKind::Stack(_) => "WITH STACK".to_owned(),
        }
    }

    fn operator_argument(&self, node: &Physical) -> String {
        let display = node.describe().display();
        display.argument.iter().map(|phrase| self.phrase(phrase, node, &display.items)).collect()
    }

    /// A part of an operator's argument.
    fn phrase(&self, phrase: &Phrase<'_>, node: &Physical, items: &[Item<'_>]) -> String {
        match phrase {
            Phrase::Text(text) => (*text).to_owned(),
            Phrase::Slots(slots) => self.slots(slots),
            Phrase::Order(keys) => self.order(keys),
            Phrase::Condition(p) => self.predicate(p),
            Phrase::Value(x) => self.scalar(x),
            Phrase::Bare(x) => self.scalar(x).trim_matches(['(', ')']).to_owned(),
            Phrase::Rows(rows) => {
                let row = |r: &Vec<Scalar>| {
                    let values: Vec<String> = r.iter().map(|x| self.scalar(x)).collect();
                    format!("({})", values.join(","))
                };
                rows.iter().map(row).collect::<Vec<_>>().join(",")
            }
            Phrase::Object(Some(database), name) => {
                self.object_name(name, "", "", self.names.database(*database))
            }
            Phrase::Object(None, name) => quoted(name),
            Phrase::OuterReferences(after) => match crate::relop::outer_references(node) {
                outer if outer.is_empty() => String::new(),
                outer => format!("OUTER REFERENCES:({}){after}", self.slots(&outer)),
            },
            Phrase::Definitions => items.iter().map(|item| self.definitions(item)).collect(),
            Phrase::Scan(rows) => self.scan_argument(rows),
        }
    }

    /// The columns that a part of an operator's element defines.
    fn definitions(&self, item: &Item<'_>) -> String {
        match item {
            Item::Read(slots) => self.slots(slots),
            Item::Scan(rows) => {
                let slots: Vec<Slot> =
                    rows.columns.iter().map(|c| c.slot).chain(rows.rid).collect();
                self.slots(&slots)
            }
            Item::Defined(columns) => {
                let one = |(slot, from): &(Slot, Definition<'_>)| {
                    format!("{}={}", self.column(*slot).full(), self.definition(from))
                };
                columns.iter().map(one).collect::<Vec<_>>().join(", ")
            }
            _ => String::new(),
        }
    }

    fn definition(&self, from: &Definition<'_>) -> String {
        match from {
            Definition::Value(x) => self.scalar(x),
            Definition::Aggregate(call) => self.aggregate(call),
            Definition::Window(call) => self.window(call),
            Definition::Columns(from) => format!("({})", self.slots(from)),
        }
    }

    fn assertion(&self, refuses: &Scalar) -> String {
        format!("WHERE:({})", self.scalar(refuses))
    }

    /// `[Union1003]=([t].[a], [u].[b]), …`: columns with what goes into them.
    fn united<'s>(&self, inputs: impl Iterator<Item = &'s [Slot]>, columns: &[Slot]) -> String {
        let inputs: Vec<&[Slot]> = inputs.collect();
        let one = |(n, slot): (usize, &Slot)| {
            let from: Vec<Slot> = inputs.iter().filter_map(|s| s.get(n).copied()).collect();
            format!("{}=({})", self.column(*slot).full(), self.slots(&from))
        };
        columns.iter().enumerate().map(one).collect::<Vec<_>>().join(", ")
    }

    /// The DefinedValues column.
    pub(crate) fn defined(&self, op: &Op<'_>) -> String {
        match op.what {
            OperatorKind::Operator(node) => {
                node.describe().display().items.iter().map(|item| self.definitions(item)).collect()
            }
            OperatorKind::Lookup(l) => {
                let slots: Vec<Slot> = l.columns.iter().map(|c| c.slot).collect();
                self.slots(&slots)
            }
            OperatorKind::AllRows(r) => self.united(r.inputs().map(|(_, slots)| slots), &r.columns),
            OperatorKind::LookupJoin(_)
            | OperatorKind::Segment(_)
            | OperatorKind::Change(_)
            | OperatorKind::Into(_)
            | OperatorKind::Index(_)
            | OperatorKind::Sequence
            | OperatorKind::Assert(..)
            | OperatorKind::Kept
            | OperatorKind::Again(_)
            | OperatorKind::Where(_)
            | OperatorKind::ForEachRow(..)
            | OperatorKind::Stack(_) => String::new(),
        }
    }

    /// `[database].[schema].[table].[index] AS [alias]`; of a table variable `@name AS [alias]`.
    fn object_name(&self, table: &str, index: &str, alias: &str, database: String) -> String {
        let (schema, name) = table.split_once('.').unwrap_or(("", table));
        let mut text = match is_variable(name) {
            true => name.to_owned(),
            false => [&*database, schema, name].map(quoted).join("."),
        };
        if !index.is_empty() {
            text += &format!(".{}", quoted(index));
        }
        if !alias.is_empty() && alias != name {
            text += &format!(" AS {}", quoted(alias));
        }
        text
    }

    /// An index's name; none of a table variable's rows themselves, which nobody named.
    pub(crate) fn index_name<'s>(&self, s: &'s Source) -> &'s str {
        let variable = s.object.table_variable().is_some();
        match variable && self.kind(s) != HobtKind::Nonclustered {
            true => "",
            false => &s.index,
        }
    }

    fn source_name(&self, s: &Source) -> String {
        let index = self.index_name(s);
        self.object_name(&s.table, index, &s.alias, self.names.database(s.database))
    }

    fn where_clause(&self, residual: Option<&Predicate>) -> String {
        residual.map_or(String::new(), |p| format!(",  WHERE:({})", self.predicate(p)))
    }

    fn scan_argument(&self, rows: &StoredAccess<'_>) -> String {
        let Reading::Scan { seek, ordered, backward } = rows.reading else { return String::new() };
        let mut text = format!("OBJECT:({})", self.source_name(rows.source));
        if let Some(seek) = seek {
            let range = |r: &SeekRange| self.range(rows.source, r, &seek.descending);
            let ranges: Vec<String> = seek.ranges.iter().map(range).collect();
            text += &format!(", SEEK:({})", ranges.join(" OR "));
        }
        text += &self.where_clause(rows.residual);
        if self.kind(rows.source) != HobtKind::Heap && (seek.is_some() || ordered) {
            text += if backward { " ORDERED BACKWARD" } else { " ORDERED FORWARD" };
        }
        text
    }

    fn range(&self, source: &Source, r: &SeekRange, descending: &[bool]) -> String {
        let column = |n: usize| self.key_column(source, n).full();
        let mut parts = Vec::new();
        for (n, x) in r.equal.iter().enumerate() {
            let null = r.null_matches.get(n) == Some(&true);
            let sign = if null { " IS " } else { "=" };
            parts.push(format!("{}{sign}{}", column(n), self.scalar(x)));
        }
        let n = r.equal.len();
        let falls = descending.get(n) == Some(&true);
        for (bound, lower) in [(&r.lower, true), (&r.upper, false)] {
            if let Some(b) = bound {
                parts.push(self.bound(&column(n), b, lower != falls));
            }
        }
        parts.join(" AND ")
    }

    /// `least`: values are not below it.
    fn bound(&self, column: &str, b: &Bound, least: bool) -> String {
        if b.after_null {
            return format!("{column} IS NOT NULL");
        }
        let sign = match (least, b.inclusive) {
            (true, true) => ">=",
            (true, false) => ">",
            (false, true) => "<=",
            (false, false) => "<",
        };
        format!("{column} {sign} {}", self.scalar(&b.value))
    }

    fn lookup_argument(&self, l: &KeyLookup) -> String {
        let object = self.source_name(&l.source);
        let residual = self.where_clause(l.residual.as_ref());
        if l.by_rid {
            let rid = self.slots(&l.locator);
            return format!(
                "OBJECT:({object}), SEEK:({rid}={rid}){residual} LOOKUP ORDERED FORWARD"
            );
        }
        let part = |(n, slot): (usize, &Slot)| {
            let column = match self.key_column(&l.source, n) {
                key if key.column.is_empty() => self.column(*slot),
                key => key,
            };
            format!("{}={}", column.full(), self.slot(*slot))
        };
        let parts: Vec<String> = l.locator.iter().enumerate().map(part).collect();
        let seek = parts.join(" AND ");
        format!("OBJECT:({object}), SEEK:({seek}){residual} LOOKUP ORDERED FORWARD")
    }

    /// The hobts that a change keeps in step, each as an object.
    fn change_argument(&self, statement: &Statement<plan::Physical>) -> String {
        let Some(target) = statement.target() else { return String::new() };
        let mut text = self.target_names(target);
        let set = self.set_list(statement);
        if !set.is_empty() {
            text += &format!(", SET:({set})");
        }
        text
    }

    fn target_names(&self, target: &Target) -> String {
        let objects: Vec<String> = (target.indexes.iter().filter(|i| i.affected && !i.wide))
            .map(|i| format!("OBJECT:({})", self.target_name(target, target_index(target, i))))
            .collect();
        objects.join(", ")
    }

    /// The index, and the column that says what is done with a row.
    fn index_change_argument(&self, change: &plan::IndexChange<Physical>) -> String {
        let target = &change.target;
        let mut text = format!("OBJECT:({})", self.target_name(target, &target.base().name));
        if let EntryWork::Split(action) = change.work {
            text += &format!(", ACTION:({})", self.slots(&[action]));
        }
        text
    }

    /// `[t].[a] = [Expr1003], …` of new rows.
    pub(crate) fn insert_list(&self, target: &Target, columns: &[plan::InsertColumn]) -> String {
        let value = |source: &ColumnSource| match source {
            ColumnSource::Value(x) | ColumnSource::Computed(x) => self.scalar(x),
            ColumnSource::Identity => "IDENTITY".to_owned(),
        };
        let one = |(n, c): (usize, &plan::InsertColumn)| {
            format!("{} = {}", changed_column(target, n), value(&c.source))
        };
        columns.iter().enumerate().map(one).collect::<Vec<_>>().join(", ")
    }

    fn target_name(&self, target: &Target, index: &str) -> String {
        let database = target.database_name.to_string();
        self.object_name(&target.two_part_name(), index, "", database)
    }

    /// `[t].[a] = [Expr1003], …`
    pub(crate) fn set_list(&self, statement: &Statement<plan::Physical>) -> String {
        let all: Vec<String> = match statement {
            Statement::Insert(i) => return self.insert_list(&i.target, &i.columns),
            Statement::Update(u) => {
                let one = |a: &plan::Assignment| {
                    let variable = a.variable.map(|(v, _)| format!("[{}]", self.names.variable(v)));
                    let column = a.column.map(|n| changed_column(&u.target, n));
                    let to: Vec<String> = variable.into_iter().chain(column).collect();
                    format!("{} = {}", to.join(" = "), self.scalar(&a.value))
                };
                u.assignments.iter().map(one).collect()
            }
            _ => Vec::new(),
        };
        all.join(", ")
    }
}

/// A column of what is changed.
fn changed_column(target: &Target, n: usize) -> String {
    let name = target.columns.get(n).map_or("", |c| &*c.name).to_owned();
    Column::of_table(&target.database_name, &target.two_part_name(), "", name).full()
}

/// The name of a target's index; see [`Columns::index_name`].
pub(crate) fn target_index<'t>(target: &Target, index: &'t plan::IndexTarget) -> &'t str {
    match target.is_private() && index.index.0 <= 1 {
        true => "",
        false => &index.name,
    }
}

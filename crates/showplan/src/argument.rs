//! What an operator is told, as the Argument column shows it, and the values it defines.

use crate::columns::{Column, Columns, is_variable, quoted};
use crate::expression;
use crate::names::HobtKind;
use crate::tree::{Op, What};
use plan::{
    Access, Assert, Bound, ColumnSource, Compute, Concatenation, Constants, EntryWork,
    ExchangeKind, Filter, HashAggregate, HashJoin, KeyLookup, MergeJoin, NestedLoops, Physical,
    Predicate, Scalar, SeekRange, Slot, Sort, Source, StartupFilter, Statement, StreamAggregate,
    Target, Top, TopRows, TopSort, Window,
};
use types::Collation;

impl Columns<'_> {
    /// The Argument column; empty for none.
    pub(crate) fn argument(&self, op: &Op<'_>) -> String {
        match op.what {
            What::Operator(node) => self.operator_argument(node),
            What::LookupJoin(l) => format!("OUTER REFERENCES:({})", self.slots(&l.locator)),
            What::Lookup(l) => self.lookup_argument(l),
            What::Segment(node) => match node {
                Physical::Window(Window { partition, .. }) => self.groups(partition),
                _ => String::new(),
            },
            What::Change(statement) => self.change_argument(statement),
            What::Into(into) => {
                let set = self.insert_list(&into.target, &into.columns);
                format!("{}, SET:({set})", self.target_names(&into.target))
            }
            What::Index(change) => self.index_change_argument(change),
            What::Sequence | What::Kept | What::Again(_) => String::new(),
            What::Assert(target, asserted) => {
                self.assertion(&expression::asserted(target, asserted))
            }
            What::Where(predicate) => format!("WHERE:({})", self.predicate(predicate)),
            What::AllRows(_) => String::new(),
            What::ForEachRow(r, member) => match crate::relop::read_below(member, r.work.clone()) {
                outer if outer.is_empty() => String::new(),
                outer => format!("OUTER REFERENCES:({})", self.slots(&outer)),
            },
            What::Stack(_) => "WITH STACK".to_owned(),
        }
    }

    fn operator_argument(&self, node: &Physical) -> String {
        match node {
            Physical::Access(a) => self.access_argument(a),
            Physical::Virtual(v) => {
                let name = self.object_name(&v.name, "", "", self.names.database(v.database));
                let residual = self.where_clause(v.residual.as_ref());
                format!("OBJECT:({name}){residual}")
            }
            Physical::Function(call) => format!("OBJECT:({})", quoted(call.function.name())),
            Physical::Constants(Constants { rows, columns })
                if columns.is_empty() || rows.is_empty() =>
            {
                String::new()
            }
            Physical::Constants(Constants { rows, .. }) => {
                let row = |r: &Vec<Scalar>| {
                    let values: Vec<String> = r.iter().map(|x| self.scalar(x)).collect();
                    format!("({})", values.join(","))
                };
                format!("VALUES:({})", rows.iter().map(row).collect::<Vec<_>>().join(","))
            }
            Physical::Filter(Filter { predicate, .. }) => {
                format!("WHERE:({})", self.predicate(predicate))
            }
            Physical::StartupFilter(StartupFilter { predicate, .. }) => {
                format!("WHERE:(STARTUP EXPR({}))", self.predicate(predicate))
            }
            Physical::Assert(Assert { count, .. }) => self.assertion(&expression::one_row(*count)),
            Physical::NestedLoops(j) => self.loop_argument(j),
            Physical::HashJoin(j) => self.hash_argument(j),
            Physical::MergeJoin(j) => self.merge_argument(j),
            Physical::Sort(Sort { keys, distinct, .. }) => {
                let distinct = if *distinct { "DISTINCT " } else { "" };
                format!("{distinct}ORDER BY:({})", self.order(keys))
            }
            Physical::TopSort(TopSort { top, keys, .. }) => {
                let count = top.count.as_ref().map_or(String::new(), |n| self.scalar(n));
                let count = count.trim_matches(['(', ')']);
                format!("TOP {count}, ORDER BY:({})", self.order(keys))
            }
            Physical::Top(TopRows { top, .. }) => self.top_argument(top),
            Physical::HashAggregate(HashAggregate { keys, .. }) => {
                let keys: Vec<Slot> = keys.iter().map(|k| k.0).collect();
                self.defining(format!("HASH:({})", self.slots(&keys)), node)
            }
            Physical::StreamAggregate(StreamAggregate { keys, .. }) if keys.is_empty() => {
                self.defining(String::new(), node)
            }
            Physical::StreamAggregate(StreamAggregate { keys, .. }) => {
                self.defining(self.groups(keys), node)
            }
            Physical::Window(Window { partition, order, calls, .. })
                if crate::tree::sums(calls) && !(partition.is_empty() && order.is_empty()) =>
            {
                let parts = [("PARTITION BY", partition), ("ORDER BY", order)];
                let parts: Vec<String> = (parts.iter().filter(|(_, keys)| !keys.is_empty()))
                    .map(|(word, keys)| {
                        format!("{word}:({})", self.slots(keys.iter().map(|k| &k.0)))
                    })
                    .collect();
                self.defining(parts.join(" "), node)
            }
            Physical::Window(_) | Physical::Compute(_) => self.defining(String::new(), node),
            Physical::Exchange(e) => self.exchange(&e.kind),
            Physical::IndexSpool(s) => format!("SEEK:({})", self.predicate(&s.predicate)),
            Physical::Recursive(_) => "WITH STACK".to_owned(),
            _ => String::new(),
        }
    }

    fn assertion(&self, refuses: &Scalar) -> String {
        format!("WHERE:({})", self.scalar(refuses))
    }

    fn exchange(&self, kind: &ExchangeKind) -> String {
        match kind {
            ExchangeKind::Gather => String::new(),
            ExchangeKind::GatherOrdered(keys) => format!("ORDER BY:({})", self.order(keys)),
            ExchangeKind::Repartition(keys) => {
                let slots: Vec<Slot> = keys.iter().map(|k| k.0).collect();
                format!("Hash Partitioning, PARTITION COLUMNS:({})", self.slots(&slots))
            }
        }
    }

    fn groups(&self, keys: &[(Slot, Collation)]) -> String {
        let keys: Vec<Slot> = keys.iter().map(|k| k.0).collect();
        format!("GROUP BY:({})", self.slots(&keys))
    }

    fn defining(&self, before: String, node: &Physical) -> String {
        let defined = self.computed(node);
        match (before.is_empty(), defined.is_empty()) {
            (_, true) => before,
            (true, false) => format!("DEFINE:({defined})"),
            (false, false) => format!("{before} DEFINE:({defined})"),
        }
    }

    /// `[Expr1003]=COUNT(*), …`
    fn computed(&self, node: &Physical) -> String {
        let one = |slot: Slot, text: String| format!("{}={text}", self.column(slot).full());
        let all: Vec<String> = match node {
            Physical::Compute(Compute { columns, .. }) => {
                columns.iter().map(|(slot, x)| one(*slot, self.scalar(x))).collect()
            }
            Physical::HashAggregate(HashAggregate { calls, .. })
            | Physical::StreamAggregate(StreamAggregate { calls, .. }) => {
                calls.iter().map(|c| one(c.output, self.aggregate(c))).collect()
            }
            Physical::Window(Window { calls, .. }) => {
                calls.iter().map(|c| one(c.output, self.window(c))).collect()
            }
            Physical::Concatenation(Concatenation { inputs, columns }) => {
                return self.united(inputs.iter().map(|(_, slots)| &**slots), columns);
            }
            Physical::MergeUnion(u) => {
                let sides = u.left_slots.iter().zip(&u.right_slots);
                let from = |(&a, &b): (&Slot, &Slot)| format!("({})", self.slots(&[a, b]));
                u.columns.iter().zip(sides).map(|(slot, s)| one(*slot, from(s))).collect()
            }
            _ => Vec::new(),
        };
        all.join(", ")
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
            What::Operator(Physical::Access(a)) => {
                let slots: Vec<Slot> = a.columns.iter().map(|c| c.slot).chain(a.rid).collect();
                self.slots(&slots)
            }
            What::Operator(Physical::Virtual(v)) => {
                let slots: Vec<Slot> = v.columns.iter().map(|c| c.slot).collect();
                self.slots(&slots)
            }
            What::Operator(Physical::Function(call)) => self.slots(&call.columns),
            What::Operator(Physical::Constants(Constants { columns, .. })) => self.slots(columns),
            What::Operator(node) => self.computed(node),
            What::Lookup(l) => {
                let slots: Vec<Slot> = l.columns.iter().map(|c| c.slot).collect();
                self.slots(&slots)
            }
            What::AllRows(r) => self.united(r.inputs().map(|(_, slots)| slots), &r.columns),
            What::LookupJoin(_)
            | What::Segment(_)
            | What::Change(_)
            | What::Into(_)
            | What::Index(_)
            | What::Sequence
            | What::Assert(..)
            | What::Kept
            | What::Again(_)
            | What::Where(_)
            | What::ForEachRow(..)
            | What::Stack(_) => String::new(),
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

    fn access_argument(&self, a: &Access) -> String {
        let mut text = format!("OBJECT:({})", self.source_name(&a.source));
        if let Some(seek) = &a.seek {
            let range = |r: &SeekRange| self.range(&a.source, r, &seek.descending);
            let ranges: Vec<String> = seek.ranges.iter().map(range).collect();
            text += &format!(", SEEK:({})", ranges.join(" OR "));
        }
        text += &self.where_clause(a.residual.as_ref());
        if self.kind(&a.source) != HobtKind::Heap && (a.seek.is_some() || a.ordered) {
            text += if a.backward { " ORDERED BACKWARD" } else { " ORDERED FORWARD" };
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

    fn loop_argument(&self, j: &NestedLoops) -> String {
        let mut parts = Vec::new();
        let outer = crate::relop::outer_references(j);
        if !outer.is_empty() {
            parts.push(format!("OUTER REFERENCES:({})", self.slots(&outer)));
        }
        if let Some(p) = &j.predicate {
            parts.push(format!("WHERE:({})", self.predicate(p)));
        }
        parts.join(", ")
    }

    fn hash_argument(&self, j: &HashJoin) -> String {
        let build: Vec<Slot> = j.keys.iter().map(|k| k.0).collect();
        let probe: Vec<Slot> = j.keys.iter().map(|k| k.1).collect();
        let mut text = format!("HASH:({})=({})", self.slots(&build), self.slots(&probe));
        if let Some(p) = &j.residual {
            text += &format!(", RESIDUAL:({})", self.predicate(p));
        }
        text
    }

    fn merge_argument(&self, j: &MergeJoin) -> String {
        let left: Vec<Slot> = j.keys.iter().map(|k| k.left).collect();
        let right: Vec<Slot> = j.keys.iter().map(|k| k.right).collect();
        let many = if j.many_to_many { "MANY-TO-MANY " } else { "" };
        let mut text = format!("{many}MERGE:({})=({})", self.slots(&left), self.slots(&right));
        if let Some(p) = &j.residual {
            text += &format!(", RESIDUAL:({})", self.predicate(p));
        }
        text
    }

    fn top_argument(&self, top: &Top) -> String {
        let mut parts = Vec::new();
        if let Some(offset) = &top.offset {
            parts.push(format!("OFFSET EXPRESSION:({})", self.scalar(offset)));
        }
        if let Some(count) = &top.count {
            let percent = if top.percent { " PERCENT" } else { "" };
            parts.push(format!("TOP EXPRESSION:({}){percent}", self.scalar(count)));
        }
        if let Some(ties) = &top.ties {
            let slots: Vec<Slot> = ties.iter().map(|k| k.slot).collect();
            parts.push(format!("TIES:({})", self.slots(&slots)));
        }
        parts.join(", ")
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

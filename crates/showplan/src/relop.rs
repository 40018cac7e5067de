//! Operators as RelOp elements.

use crate::argument::target_index;
use crate::columns::{Column, Columns, is_variable, quoted};
use crate::names::HobtKind;
use crate::statement::{Count, NS_PER_MS};
use crate::tree::{Op, OperatorKind, Tree};
use crate::writer::Writer;
use plan::{
    Definition, EntryWork, IndexTarget, Item, KeyLookup, Opening, Physical, Reading, Reads, Scalar,
    SeekRange, Slot, SortKey, Source, Statement, StoredAccess, VariableId, Window,
};
use std::collections::BTreeSet;

/// Writes the operators of one plan.
pub(crate) struct RelOps<'w> {
    pub(crate) w: &'w mut Writer,
    pub(crate) columns: &'w Columns<'w>,
    pub(crate) tree: &'w Tree<'w>,
    /// Subqueries that have been written: each stands where an expression first runs it.
    pub(crate) written: BTreeSet<usize>,
    /// Variables that expressions read.
    pub(crate) variables: BTreeSet<VariableId>,
}

/// Six digits, as SQL Server shows an estimate.
pub(crate) fn shown(n: f64) -> f64 {
    if n == 0.0 || !n.is_finite() {
        return 0.0;
    }
    let places = 5 - n.abs().log10().floor() as i32;
    let scale = 10_f64.powi(places.clamp(0, 12));
    (n * scale).round() / scale
}

/// The slots of its first input that the second input of an operator reads for each row.
pub(crate) fn outer_references(node: &Physical) -> Vec<Slot> {
    match node.inputs()[..] {
        [outer, inner] if node.describe().opening(1) == Opening::PerRow => {
            read_below(inner, outer.written())
        }
        _ => Vec::new(),
    }
}

/// Those of some slots that operators read.
pub(crate) fn read_below(node: &Physical, mut slots: Vec<Slot>) -> Vec<Slot> {
    let mut reads = Reads::default();
    node.for_each(&mut |node| node.read_into(&mut reads));
    slots.retain(|s| reads.slots.contains(s));
    slots
}

impl<'w> RelOps<'w> {
    pub(crate) fn new(w: &'w mut Writer, columns: &'w Columns<'w>, tree: &'w Tree<'w>) -> Self {
        RelOps { w, columns, tree, written: BTreeSet::new(), variables: BTreeSet::new() }
    }

    /// An operator with all that is below it.
    pub(crate) fn relop(&mut self, op: &Op<'_>) {
        self.w.begin("RelOp");
        self.w.number("NodeId", op.id);
        self.w.attribute("PhysicalOp", op.physical);
        self.w.attribute("LogicalOp", op.logical);
        let e = &op.estimate;
        self.w.number("EstimateRows", shown(e.rows));
        self.w.number("EstimateIO", shown(e.io));
        self.w.number("EstimateCPU", shown(e.cpu));
        self.w.number("AvgRowSize", e.row_bytes.ceil());
        self.w.number("EstimatedTotalSubtreeCost", shown(e.subtree));
        self.w.attribute("Parallel", if op.parallel { "true" } else { "false" });
        self.w.number("EstimateRebinds", shown((e.executions - 1.0).max(0.0)));
        self.w.number("EstimateRewinds", 0);
        self.w.attribute("EstimatedExecutionMode", "Row");
        let output = self.columns.all(&op.output);
        self.list("OutputList", &output);
        self.warnings(op);
        if let Some(count) = op.count {
            self.runtime(op, count);
            self.met(count.reads.unwrap_or_default());
        }
        match op.what {
            OperatorKind::Operator(node) => self.operator(node, op),
            OperatorKind::LookupJoin(l) => self.loops_over(&l.locator, op),
            OperatorKind::Lookup(l) => self.lookup(l),
            OperatorKind::Segment(window) => self.segment(window, op),
            OperatorKind::Change(statement) => self.change(statement, op),
            OperatorKind::Into(into) => self.insert_into(into, op),
            OperatorKind::Index(change) => self.index_change(change, op),
            OperatorKind::Sequence | OperatorKind::Kept => {
                self.w.begin(if op.physical == "Sequence" { "Sequence" } else { "Spool" });
                self.inputs(op);
                self.w.end();
            }
            OperatorKind::Assert(target, asserted) => {
                self.assert(&crate::expression::asserted(target, asserted), op);
            }
            OperatorKind::Again(spool) => {
                self.w.begin("Spool");
                self.w.number("PrimaryNodeId", spool);
                self.w.end();
            }
            OperatorKind::Where(predicate) => {
                self.w.begin("Filter");
                self.w.number("StartupExpression", false);
                self.inputs(op);
                self.condition("Predicate", predicate);
                self.w.end();
            }
            OperatorKind::AllRows(r) => {
                self.w.begin("Concat");
                let slots: Vec<&[Slot]> = r.inputs().map(|(_, slots)| slots).collect();
                self.united(&slots, &r.columns);
                self.inputs(op);
                self.w.end();
            }
            OperatorKind::ForEachRow(r, member) => {
                self.loops_over(&read_below(member, r.work.clone()), op)
            }
            OperatorKind::Stack(spool) => {
                self.w.begin("Spool");
                self.w.number("PrimaryNodeId", spool);
                self.w.attribute("Stack", "true");
                self.w.end();
            }
        }
        self.w.end();
    }

    /// What is wrong with it.
    fn warnings(&mut self, op: &Op<'_>) {
        let no_predicate = crate::warnings::lacks_predicate(op);
        let lacking = self.columns.without_statistics(op);
        let spilled = op.count.map_or(0, |c| c.spilled_bytes);
        if !no_predicate && lacking.is_empty() && spilled == 0 {
            return;
        }
        self.w.begin("Warnings");
        if no_predicate {
            self.w.attribute("NoJoinPredicate", "true");
        }
        if !lacking.is_empty() {
            self.list("ColumnsWithNoStatistics", &lacking);
        }
        if spilled > 0 {
            self.spill(op, spilled);
        }
        self.w.end();
    }

    fn spill(&mut self, op: &Op<'_>, bytes: u64) {
        // Without workers the statement's own thread did.
        let workers = op.threads.iter().filter(|c| c.spilled_bytes > 0).count();
        self.w.begin("SpillToTempDb");
        self.w.number("SpilledThreadCount", workers.max(1));
        self.w.end();
        // In pages of 8 KB.
        let details = match op.physical {
            "Sort" => Some("SortSpillDetails"),
            "Hash Match" => Some("HashSpillDetails"),
            _ => None,
        };
        if let Some(details) = details {
            self.w.begin(details);
            self.w.number("WritesToTempDb", bytes.div_ceil(8192));
            self.w.end();
        }
    }

    fn runtime(&mut self, op: &Op<'_>, count: Count) {
        self.w.begin("RunTimeInformation");
        match op.threads.is_empty() {
            true => self.thread(op, 0, count),
            false => {
                op.threads.iter().enumerate().for_each(|(n, count)| self.thread(op, n, *count));
            }
        }
        self.w.end();
    }

    /// Ghosts and versions that it met, where the schema lets anything stand.
    fn met(&mut self, reads: crate::Reads) {
        if reads.ghosts + reads.versions > 0 {
            self.w.begin("InternalInfo");
            self.w.number("GhostRecordsSkipped", reads.ghosts);
            self.w.number("VersionsTraversed", reads.versions);
            self.w.end();
        }
    }

    /// What an operator did in one thread.
    fn thread(&mut self, op: &Op<'_>, number: usize, count: Count) {
        self.w.begin("RunTimeCountersPerThread");
        self.w.number("Thread", number);
        if op.keeps_rows() {
            self.w.number("ActualRebinds", count.rebinds);
            self.w.number("ActualRewinds", count.rewinds);
        }
        self.w.number("ActualRows", count.rows);
        if let Some(rows) = count.rows_read {
            self.w.number("ActualRowsRead", rows);
        }
        self.w.number("Batches", 0);
        self.w.number("ActualEndOfScans", count.ends);
        self.w.number("ActualExecutions", count.executions());
        self.w.attribute("ActualExecutionMode", "Row");
        if let Some(times) = count.times {
            self.w.number("ActualElapsedms", times.elapsed_ns / NS_PER_MS);
            self.w.number("ActualCPUms", times.cpu_ns / NS_PER_MS);
        }
        if let Some(reads) = count.reads {
            for (name, n) in [
                ("ActualScans", reads.scans),
                ("ActualLogicalReads", reads.rows.logical),
                ("ActualPhysicalReads", reads.rows.physical),
                ("ActualReadAheads", reads.rows.read_ahead),
                ("ActualLobLogicalReads", reads.lob.logical),
                ("ActualLobPhysicalReads", reads.lob.physical),
                ("ActualLobReadAheads", reads.lob.read_ahead),
            ] {
                self.w.number(name, n);
            }
        }
        self.w.end();
    }

    fn inputs(&mut self, op: &Op<'_>) {
        op.inputs.iter().for_each(|input| self.relop(input));
    }

    fn operator(&mut self, node: &Physical, op: &Op<'_>) {
        let display = node.describe().display();
        let heap = node.describe().stored().is_some_and(|rows| self.is_heap(rows.source));
        self.w.begin(if heap { "TableScan" } else { display.element });
        display.items.iter().for_each(|item| self.item(item, node, op));
        self.w.end();
    }

    /// A part of an operator's element.
    fn item(&mut self, item: &Item<'_>, node: &Physical, op: &Op<'_>) {
        match item {
            Item::Flag(name, is) => self.w.number(name, is),
            Item::Number(name, n) => self.w.number(name, n),
            Item::Word(name, word) => self.w.attribute(name, word),
            Item::Inputs => self.inputs(op),
            Item::Condition(name, p) => self.condition(name, p),
            Item::Value(name, x) => {
                self.w.begin(name);
                self.scalar(x);
                self.w.end();
            }
            Item::Columns(name, slots) => self.slots(name, slots),
            Item::Order(keys) => self.order(keys),
            Item::OuterReferences => self.outer_references(&outer_references(node)),
            Item::Read(slots) => self.defined_columns(slots),
            Item::Defined(columns) => {
                self.w.begin("DefinedValues");
                columns.iter().for_each(|(slot, from)| self.defined(*slot, from));
                self.w.end();
            }
            Item::Object(database, name) => {
                let database = database.map(|d| self.columns.names.database(d));
                self.object(&database.unwrap_or_default(), name, "", "", None);
            }
            Item::Parameters(list) => {
                self.w.begin("ParameterList");
                list.iter().for_each(|x| self.scalar(x));
                self.w.end();
            }
            Item::Rows(rows) => self.values(rows),
            Item::Action(slot) => self.action(*slot),
            Item::Seek { columns, equal, lower, upper } => {
                self.seek_columns(columns, equal, [*lower, *upper]);
            }
            Item::Scan(rows) => self.scan(rows),
        }
    }

    /// What is not NULL refuses a row.
    fn assert(&mut self, refuses: &Scalar, op: &Op<'_>) {
        self.w.begin("Assert");
        self.w.number("StartupExpression", false);
        self.inputs(op);
        self.w.begin("Predicate");
        self.scalar(refuses);
        self.w.end();
        self.w.end();
    }

    fn segment(&mut self, window: &Window, op: &Op<'_>) {
        self.w.begin("Segment");
        let partition: Vec<Slot> = window.partition.iter().map(|k| k.0).collect();
        self.slots("GroupBy", &partition);
        self.w.begin("SegmentColumn");
        let column = format!("Segment{}", 1000 + op.id);
        self.column(&Column { column, ..Column::default() });
        self.w.end();
        self.inputs(op);
        self.w.end();
    }

    /// Columns with what goes into them.
    fn united(&mut self, inputs: &[&[Slot]], columns: &[Slot]) {
        self.w.begin("DefinedValues");
        for (n, &slot) in columns.iter().enumerate() {
            self.w.begin("DefinedValue");
            self.column(&self.columns.column(slot));
            for from in inputs.iter().filter_map(|slots| slots.get(n)) {
                self.column(&self.columns.column(*from));
            }
            self.w.end();
        }
        self.w.end();
    }

    fn is_heap(&self, source: &Source) -> bool {
        self.columns.kind(source) == HobtKind::Heap
    }

    fn scan(&mut self, rows: &StoredAccess<'_>) {
        let Reading::Scan { seek, ordered, backward } = rows.reading else { return };
        self.w.number("Ordered", seek.is_some() || ordered);
        if !self.is_heap(rows.source) {
            self.w.attribute("ScanDirection", if backward { "BACKWARD" } else { "FORWARD" });
        }
        self.w.attribute("Storage", "RowStore");
        let slots: Vec<Slot> = rows.columns.iter().map(|c| c.slot).chain(rows.rid).collect();
        self.defined_columns(&slots);
        self.source(rows.source);
        if let Some(seek) = seek {
            self.w.begin("SeekPredicates");
            for range in &seek.ranges {
                self.w.begin("SeekPredicateNew");
                self.seek_keys(rows.source, range, &seek.descending);
                self.w.end();
            }
            self.w.end();
        }
        if let Some(p) = rows.residual {
            self.condition("Predicate", p);
        }
    }

    fn seek_keys(&mut self, source: &Source, r: &SeekRange, descending: &[bool]) {
        self.w.begin("SeekKeys");
        if !r.equal.is_empty() {
            let columns: Vec<Column> =
                (0..r.equal.len()).map(|n| self.columns.key_column(source, n)).collect();
            let values: Vec<&Scalar> = r.equal.iter().collect();
            self.range("Prefix", "EQ", &columns, &values);
        }
        let n = r.equal.len();
        let column = [self.columns.key_column(source, n)];
        let falls = descending.get(n) == Some(&true);
        let mut not_null = false;
        for (name, bound, least) in
            [("StartRange", &r.lower, !falls), ("EndRange", &r.upper, falls)]
        {
            let Some(b) = bound else { continue };
            if b.after_null {
                not_null = true;
                continue;
            }
            let scan = match (least, b.inclusive) {
                (true, true) => "GE",
                (true, false) => "GT",
                (false, true) => "LE",
                (false, false) => "LT",
            };
            self.range(name, scan, &column, &[&b.value]);
        }
        if not_null {
            self.w.begin("IsNotNull");
            self.column(&column[0]);
            self.w.end();
        }
        self.w.end();
    }

    fn range(&mut self, name: &'static str, scan: &str, columns: &[Column], values: &[&Scalar]) {
        self.w.begin(name);
        self.w.attribute("ScanType", scan);
        self.list("RangeColumns", columns);
        self.w.begin("RangeExpressions");
        values.iter().for_each(|x| self.scalar(x));
        self.w.end();
        self.w.end();
    }

    /// What columns are sought with: the first ones equal something, the next one has ends.
    fn seek_columns(&mut self, slots: &[Slot], equal: &[Scalar], ends: [Option<&Scalar>; 2]) {
        self.w.begin("SeekPredicate");
        let columns: Vec<Column> = slots.iter().map(|&slot| self.columns.column(slot)).collect();
        let (prefix, rest) = columns.split_at(equal.len().min(columns.len()));
        if !prefix.is_empty() {
            let values: Vec<&Scalar> = equal.iter().collect();
            self.range("Prefix", "EQ", prefix, &values);
        }
        for ((name, scan), x) in [("StartRange", "GE"), ("EndRange", "LE")].into_iter().zip(ends) {
            if let Some(x) = x {
                self.range(name, scan, rest, &[x]);
            }
        }
        self.w.end();
    }

    /// A loop join that has nothing but what its inner side reads of the outer.
    fn loops_over(&mut self, outer: &[Slot], op: &Op<'_>) {
        self.w.begin("NestedLoops");
        self.w.attribute("Optimized", "false");
        self.outer_references(outer);
        self.inputs(op);
        self.w.end();
    }

    fn outer_references(&mut self, outer: &[Slot]) {
        if !outer.is_empty() {
            self.slots("OuterReferences", outer);
        }
    }

    fn lookup(&mut self, l: &KeyLookup) {
        self.w.begin("IndexScan");
        self.w.attribute("Lookup", "true");
        self.w.attribute("Ordered", "true");
        self.w.attribute("ScanDirection", "FORWARD");
        self.w.attribute("Storage", "RowStore");
        let slots: Vec<Slot> = l.columns.iter().map(|c| c.slot).chain(l.rid).collect();
        self.defined_columns(&slots);
        self.source(&l.source);
        self.w.begin("SeekPredicates");
        self.w.begin("SeekPredicateNew");
        self.w.begin("SeekKeys");
        self.w.begin("Prefix");
        self.w.attribute("ScanType", "EQ");
        let columns: Vec<Column> = match l.by_rid {
            true => self.columns.all(&l.locator),
            false => (0..l.locator.len()).map(|n| self.columns.key_column(&l.source, n)).collect(),
        };
        self.list("RangeColumns", &columns);
        self.w.begin("RangeExpressions");
        l.locator.iter().for_each(|&slot| self.identifier(slot));
        for _ in 0..5 {
            self.w.end();
        }
        if let Some(p) = &l.residual {
            self.condition("Predicate", p);
        }
        self.w.end();
    }

    fn values(&mut self, rows: &[Vec<Scalar>]) {
        self.w.begin("Values");
        for row in rows {
            self.w.begin("Row");
            row.iter().for_each(|x| self.scalar(x));
            self.w.end();
        }
        self.w.end();
    }

    fn change(&mut self, statement: &Statement<Physical>, op: &Op<'_>) {
        let Some(target) = statement.target() else { return };
        self.w.begin("Update");
        self.target(target);
        self.assignments(statement);
        self.inputs(op);
        self.w.end();
    }

    fn insert_into(&mut self, into: &plan::OutputInto, op: &Op<'_>) {
        self.w.begin("Update");
        self.target(&into.target);
        self.inputs(op);
        self.w.end();
    }

    fn index_change(&mut self, change: &plan::IndexChange<Physical>, op: &Op<'_>) {
        self.w.begin("Update");
        self.indexes(&change.target, |_| true);
        if let EntryWork::Split(action) = change.work {
            self.action(action);
        }
        self.inputs(op);
        self.w.end();
    }

    /// The column that says what is done with a row.
    fn action(&mut self, slot: Slot) {
        self.w.begin("ActionColumn");
        self.column(&self.columns.column(slot));
        self.w.end();
    }

    /// The indexes that a change touches.
    fn target(&mut self, target: &plan::Target) {
        self.indexes(target, |i| i.affected && !i.wide);
    }

    fn indexes(&mut self, target: &plan::Target, which: impl Fn(&IndexTarget) -> bool) {
        let database = target.database_name.to_string();
        for index in target.indexes.iter().filter(|i| which(i)) {
            let kind = match (index.index.0, index.key.is_empty()) {
                (_, true) => HobtKind::Heap,
                (1, _) => HobtKind::Clustered,
                _ => HobtKind::Nonclustered,
            };
            let name = target_index(target, index);
            self.object(&database, &target.two_part_name(), name, "", Some(kind));
        }
    }

    // Lists and names.

    pub(crate) fn column(&mut self, c: &Column) {
        self.w.begin("ColumnReference");
        for (name, part) in [("Database", &c.database), ("Schema", &c.schema), ("Table", &c.table)]
        {
            if !part.is_empty() {
                self.w.attribute(name, &quoted(part));
            }
        }
        if !c.alias.is_empty() {
            self.w.attribute("Alias", &quoted(&c.alias));
        }
        self.w.attribute("Column", &c.column);
        self.w.end();
    }

    fn list(&mut self, name: &'static str, columns: &[Column]) {
        self.w.begin(name);
        columns.iter().for_each(|c| self.column(c));
        self.w.end();
    }

    fn slots(&mut self, name: &'static str, slots: &[Slot]) {
        let columns = self.columns.all(slots);
        self.list(name, &columns);
    }

    fn order(&mut self, keys: &[SortKey]) {
        self.w.begin("OrderBy");
        for key in keys {
            self.w.begin("OrderByColumn");
            self.w.number("Ascending", !key.descending);
            self.column(&self.columns.column(key.slot));
            self.w.end();
        }
        self.w.end();
    }

    fn defined(&mut self, slot: Slot, from: &Definition<'_>) {
        self.w.begin("DefinedValue");
        self.column(&self.columns.column(slot));
        match from {
            Definition::Value(x) => self.scalar(x),
            Definition::Aggregate(call) => self.aggregate(call),
            Definition::Window(call) => self.window(call),
            Definition::Columns(from) => {
                from.iter().for_each(|&slot| self.column(&self.columns.column(slot)));
            }
        }
        self.w.end();
    }

    fn defined_columns(&mut self, slots: &[Slot]) {
        self.w.begin("DefinedValues");
        for column in self.columns.all(slots) {
            self.w.begin("DefinedValue");
            self.column(&column);
            self.w.end();
        }
        self.w.end();
    }

    fn source(&mut self, s: &Source) {
        let database = self.columns.names.database(s.database);
        let (_, name) = s.table.split_once('.').unwrap_or(("", &*s.table));
        let alias = if *s.alias == *name { "" } else { &*s.alias };
        let kind = self.columns.kind(s);
        let index = self.columns.index_name(s);
        self.object(&database, &s.table, index, alias, Some(kind));
    }

    fn object(
        &mut self,
        database: &str,
        table: &str,
        index: &str,
        alias: &str,
        kind: Option<HobtKind>,
    ) {
        let (schema, table) = table.split_once('.').unwrap_or(("", table));
        let (database, schema) = if is_variable(table) { ("", "") } else { (database, schema) };
        self.w.begin("Object");
        for (name, part) in [
            ("Database", database),
            ("Schema", schema),
            ("Table", table),
            ("Index", index),
            ("Alias", alias),
        ] {
            if !part.is_empty() {
                self.w.attribute(name, &quoted(part));
            }
        }
        if let Some(kind) = kind {
            self.w.attribute(
                "IndexKind",
                match kind {
                    HobtKind::Heap => "Heap",
                    HobtKind::Clustered => "Clustered",
                    HobtKind::Nonclustered => "NonClustered",
                },
            );
            self.w.attribute("Storage", "RowStore");
        }
        self.w.end();
    }
}

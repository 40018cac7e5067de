//! Operators as RelOp elements.

use crate::argument::target_index;
use crate::columns::{Column, Columns, is_variable, quoted};
use crate::names::HobtKind;
use crate::statement::{Count, NS_PER_MS};
use crate::tree::{Op, Tree, What};
use crate::writer::Writer;
use plan::{
    Access, Assert, Compute, Concatenation, Constants, EntryWork, Exchange, ExchangeKind, Filter,
    HashAggregate, HashJoin, IndexTarget, KeyLookup, MergeJoin, MergeUnion, NestedLoops, Physical,
    Reads, Scalar, SeekRange, Slot, Sort, SortKey, Source, StartupFilter, Statement,
    StreamAggregate, Top, TopRows, TopSort, VariableId, Window,
};
use std::collections::BTreeSet;
use types::Collation;

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

/// The slots of its outer side that the inner side of a loop join reads.
pub(crate) fn outer_references(j: &NestedLoops) -> Vec<Slot> {
    match j.correlated {
        true => read_below(&j.inner, j.outer.written()),
        false => Vec::new(),
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
            What::Operator(node) => self.operator(node, op),
            What::LookupJoin(l) => self.loops_over(&l.locator, op),
            What::Lookup(l) => self.lookup(l),
            What::Segment(node) => self.segment(node, op),
            What::Change(statement) => self.change(statement, op),
            What::Into(into) => self.insert_into(into, op),
            What::Index(change) => self.index_change(change, op),
            What::Sequence | What::Kept => {
                self.w.begin(if op.physical == "Sequence" { "Sequence" } else { "Spool" });
                self.inputs(op);
                self.w.end();
            }
            What::Assert(target, asserted) => {
                self.assert(&crate::expression::asserted(target, asserted), op);
            }
            What::Again(spool) => {
                self.w.begin("Spool");
                self.w.number("PrimaryNodeId", spool);
                self.w.end();
            }
            What::Where(predicate) => {
                self.w.begin("Filter");
                self.w.number("StartupExpression", false);
                self.inputs(op);
                self.condition("Predicate", predicate);
                self.w.end();
            }
            What::AllRows(r) => {
                self.w.begin("Concat");
                let slots: Vec<&[Slot]> = r.inputs().map(|(_, slots)| slots).collect();
                self.united(&slots, &r.columns);
                self.inputs(op);
                self.w.end();
            }
            What::ForEachRow(r, member) => self.loops_over(&read_below(member, r.work.clone()), op),
            What::Stack(spool) => {
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
        match node {
            Physical::Access(a) => self.access(a),
            Physical::Virtual(v) => self.virtual_scan(v),
            Physical::Function(call) => self.function_rows(call),
            Physical::Constants(Constants { rows, columns }) => self.constants(rows, columns),
            Physical::Filter(Filter { predicate, .. })
            | Physical::StartupFilter(StartupFilter { predicate, .. }) => {
                let startup = matches!(node, Physical::StartupFilter(_));
                self.w.begin("Filter");
                self.w.number("StartupExpression", startup);
                self.inputs(op);
                self.condition("Predicate", predicate);
                self.w.end();
            }
            Physical::Assert(Assert { count, .. }) => {
                self.assert(&crate::expression::one_row(*count), op);
            }
            Physical::Compute(Compute { columns, .. }) => {
                self.w.begin("ComputeScalar");
                self.w.begin("DefinedValues");
                columns.iter().for_each(|(slot, x)| self.defined(*slot, |r| r.scalar(x)));
                self.w.end();
                self.inputs(op);
                self.w.end();
            }
            Physical::NestedLoops(j) => self.loops(j, op),
            Physical::HashJoin(j) => self.hash_join(j, op),
            Physical::MergeJoin(j) => self.merge_join(j, op),
            Physical::Top(TopRows { top, .. }) => self.top(top, op),
            Physical::Concatenation(Concatenation { inputs, columns }) => {
                self.concatenation(inputs, columns, op)
            }
            Physical::MergeUnion(u) => self.merge_union(u, op),
            Physical::Recursive(_) => {
                self.w.begin("Spool");
                self.w.attribute("Stack", "true");
                self.inputs(op);
                self.w.end();
            }
            Physical::Exchange(e) => self.exchange(e, op),
            Physical::IndexSpool(s) => self.index_spool(s, op),
            Physical::Split(s) => {
                self.w.begin("Split");
                self.action(s.action);
                self.inputs(op);
                self.w.end();
            }
            Physical::Spool(_) | Physical::Changed(_) => {
                self.w.begin("Spool");
                self.inputs(op);
                self.w.end();
            }
            _ => self.ordering(node, op),
        }
    }

    /// Operators that order and group.
    fn ordering(&mut self, node: &Physical, op: &Op<'_>) {
        match node {
            Physical::Sort(Sort { keys, distinct, .. }) => {
                self.w.begin("Sort");
                self.w.number("Distinct", distinct);
                self.order(keys);
            }
            Physical::TopSort(TopSort { top, keys, .. }) => {
                self.w.begin("TopSort");
                self.w.number("Distinct", false);
                let count = top.count.as_ref().and_then(Scalar::as_constant);
                self.w.number("Rows", count.and_then(types::Value::as_i64).unwrap_or(0));
                self.w.number("WithTies", top.ties.is_some());
                self.order(keys);
            }
            Physical::HashAggregate(HashAggregate { keys, calls, .. }) => {
                self.w.begin("Hash");
                self.w.begin("DefinedValues");
                calls.iter().for_each(|c| self.defined(c.output, |r| r.aggregate(c)));
                self.w.end();
                self.keys("HashKeysBuild", keys);
            }
            Physical::StreamAggregate(StreamAggregate { keys, calls, .. }) => {
                self.w.begin("StreamAggregate");
                self.w.begin("DefinedValues");
                calls.iter().for_each(|c| self.defined(c.output, |r| r.aggregate(c)));
                self.w.end();
                if !keys.is_empty() {
                    self.keys("GroupBy", keys);
                }
            }
            Physical::Window(Window { calls, .. }) => {
                let ranks = op.physical == "Sequence Project";
                self.w.begin(if ranks { "SequenceProject" } else { "WindowAggregate" });
                self.w.begin("DefinedValues");
                calls.iter().for_each(|c| self.defined(c.output, |r| r.window(c)));
                self.w.end();
            }
            // All others are the caller's.
            _ => return,
        }
        self.inputs(op);
        self.w.end();
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

    fn segment(&mut self, node: &Physical, op: &Op<'_>) {
        let Physical::Window(Window { partition, .. }) = node else { return };
        self.w.begin("Segment");
        self.keys("GroupBy", partition);
        self.w.begin("SegmentColumn");
        let column = format!("Segment{}", 1000 + op.id);
        self.column(&Column { column, ..Column::default() });
        self.w.end();
        self.inputs(op);
        self.w.end();
    }

    fn concatenation(&mut self, inputs: &[(Physical, Vec<Slot>)], columns: &[Slot], op: &Op<'_>) {
        self.w.begin("Concat");
        let slots: Vec<&[Slot]> = inputs.iter().map(|(_, slots)| &**slots).collect();
        self.united(&slots, columns);
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

    fn merge_union(&mut self, u: &MergeUnion, op: &Op<'_>) {
        self.w.begin("Merge");
        self.w.number("ManyToMany", false);
        self.united(&[&u.left_slots, &u.right_slots], &u.columns);
        let of = |side: &[Slot]| -> Vec<Slot> {
            let places = u.keys.iter().filter_map(|k| u.columns.iter().position(|&c| c == k.slot));
            places.filter_map(|n| side.get(n).copied()).collect()
        };
        let right = self.columns.all(&of(&u.right_slots));
        self.list("InnerSideJoinColumns", &right);
        let left = self.columns.all(&of(&u.left_slots));
        self.list("OuterSideJoinColumns", &left);
        self.inputs(op);
        self.w.end();
    }

    fn access(&mut self, a: &Access) {
        let heap = self.columns.kind(&a.source) == HobtKind::Heap;
        self.w.begin(if heap { "TableScan" } else { "IndexScan" });
        self.w.number("Ordered", a.seek.is_some() || a.ordered);
        if !heap {
            self.w.attribute("ScanDirection", if a.backward { "BACKWARD" } else { "FORWARD" });
        }
        self.w.attribute("Storage", "RowStore");
        let slots: Vec<Slot> = a.columns.iter().map(|c| c.slot).chain(a.rid).collect();
        self.defined_columns(&slots);
        self.source(&a.source);
        if let Some(seek) = &a.seek {
            self.w.begin("SeekPredicates");
            for range in &seek.ranges {
                self.w.begin("SeekPredicateNew");
                self.seek_keys(&a.source, range, &seek.descending);
                self.w.end();
            }
            self.w.end();
        }
        if let Some(p) = &a.residual {
            self.condition("Predicate", p);
        }
        self.w.end();
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

    /// What is sought in a spool stands with what is tested of its rows.
    fn index_spool(&mut self, s: &plan::IndexSpool, op: &Op<'_>) {
        self.w.begin("Spool");
        self.w.begin("SeekPredicate");
        let columns: Vec<Column> = s.keys.iter().map(|k| self.columns.column(k.slot)).collect();
        let (equal, rest) = columns.split_at(s.equal.len().min(columns.len()));
        if !equal.is_empty() {
            let values: Vec<&Scalar> = s.equal.iter().collect();
            self.range("Prefix", "EQ", equal, &values);
        }
        for (name, scan, x) in [("StartRange", "GE", &s.lower), ("EndRange", "LE", &s.upper)] {
            if let Some(x) = x {
                self.range(name, scan, rest, &[x]);
            }
        }
        self.w.end();
        self.inputs(op);
        self.w.end();
    }

    /// A loop join that has nothing but what its inner side reads of the outer.
    fn loops_over(&mut self, outer: &[Slot], op: &Op<'_>) {
        self.w.begin("NestedLoops");
        self.w.attribute("Optimized", "false");
        if !outer.is_empty() {
            let outer = self.columns.all(outer);
            self.list("OuterReferences", &outer);
        }
        self.inputs(op);
        self.w.end();
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

    fn virtual_scan(&mut self, v: &plan::VirtualScan) {
        self.w.begin("TableValuedFunction");
        let slots: Vec<Slot> = v.columns.iter().map(|c| c.slot).collect();
        self.defined_columns(&slots);
        let database = self.columns.names.database(v.database);
        self.object(&database, &v.name, "", "", None);
        if let Some(p) = &v.residual {
            self.condition("Predicate", p);
        }
        if !v.arguments.is_empty() {
            self.w.begin("ParameterList");
            v.arguments.iter().for_each(|x| self.scalar(x));
            self.w.end();
        }
        self.w.end();
    }

    fn function_rows(&mut self, call: &plan::FunctionRows) {
        self.w.begin("TableValuedFunction");
        self.defined_columns(&call.columns);
        self.object("", call.function.name(), "", "", None);
        self.w.begin("ParameterList");
        call.arguments.iter().for_each(|x| self.scalar(x));
        self.w.end();
        self.w.end();
    }

    fn constants(&mut self, rows: &[Vec<Scalar>], columns: &[Slot]) {
        self.w.begin("ConstantScan");
        if !columns.is_empty() {
            self.defined_columns(columns);
            self.w.begin("Values");
            for row in rows {
                self.w.begin("Row");
                row.iter().for_each(|x| self.scalar(x));
                self.w.end();
            }
            self.w.end();
        }
        self.w.end();
    }

    fn loops(&mut self, j: &NestedLoops, op: &Op<'_>) {
        self.w.begin("NestedLoops");
        self.w.attribute("Optimized", "false");
        if let Some(p) = &j.predicate {
            self.condition("Predicate", p);
        }
        let outer = outer_references(j);
        if !outer.is_empty() {
            let outer = self.columns.all(&outer);
            self.list("OuterReferences", &outer);
        }
        self.inputs(op);
        self.w.end();
    }

    fn hash_join(&mut self, j: &HashJoin, op: &Op<'_>) {
        self.w.begin("Hash");
        let build: Vec<Slot> = j.keys.iter().map(|k| k.0).collect();
        let probe: Vec<Slot> = j.keys.iter().map(|k| k.1).collect();
        let build = self.columns.all(&build);
        self.list("HashKeysBuild", &build);
        let probe = self.columns.all(&probe);
        self.list("HashKeysProbe", &probe);
        if let Some(p) = &j.residual {
            self.condition("ProbeResidual", p);
        }
        self.inputs(op);
        self.w.end();
    }

    fn merge_join(&mut self, j: &MergeJoin, op: &Op<'_>) {
        self.w.begin("Merge");
        self.w.number("ManyToMany", j.many_to_many);
        // The inner side stands first, as in the schema.
        let right: Vec<Slot> = j.keys.iter().map(|k| k.right).collect();
        let right = self.columns.all(&right);
        self.list("InnerSideJoinColumns", &right);
        let left: Vec<Slot> = j.keys.iter().map(|k| k.left).collect();
        let left = self.columns.all(&left);
        self.list("OuterSideJoinColumns", &left);
        if let Some(p) = &j.residual {
            self.condition("Residual", p);
        }
        self.inputs(op);
        self.w.end();
    }

    fn top(&mut self, top: &Top, op: &Op<'_>) {
        self.w.begin("Top");
        self.w.number("IsPercent", top.percent);
        self.w.number("WithTies", top.ties.is_some());
        if let Some(ties) = &top.ties {
            let slots: Vec<Slot> = ties.iter().map(|k| k.slot).collect();
            let columns = self.columns.all(&slots);
            self.list("TieColumns", &columns);
        }
        for (name, x) in [("OffsetExpression", &top.offset), ("TopExpression", &top.count)] {
            if let Some(x) = x {
                self.w.begin(name);
                self.scalar(x);
                self.w.end();
            }
        }
        self.inputs(op);
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

    fn keys(&mut self, name: &'static str, keys: &[(Slot, Collation)]) {
        let slots: Vec<Slot> = keys.iter().map(|k| k.0).collect();
        let columns = self.columns.all(&slots);
        self.list(name, &columns);
    }

    fn exchange(&mut self, e: &Exchange, op: &Op<'_>) {
        self.w.begin("Parallelism");
        match &e.kind {
            ExchangeKind::Gather => {}
            ExchangeKind::GatherOrdered(keys) => self.order(keys),
            ExchangeKind::Repartition(keys) => {
                self.w.attribute("PartitioningType", "Hash");
                self.keys("PartitionColumns", keys);
            }
        }
        self.inputs(op);
        self.w.end();
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

    fn defined(&mut self, slot: Slot, value: impl FnOnce(&mut Self)) {
        self.w.begin("DefinedValue");
        self.column(&self.columns.column(slot));
        value(self);
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

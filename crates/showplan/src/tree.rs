//! The operators of a plan as SQL Server counts them, numbered from the top.
//!
//! A lookup is two there: a loop join, and the search of the row on its inner side. A ranking is
//! two: a segment, and the projection of its sequence. A recursion is a stack that keeps the rows
//! of its anchor and of joins, each with the stack itself as the outer side. A change is the
//! topmost operator, but for the insert of what its OUTPUT gives a table.

use crate::columns::Columns;
use crate::names::HobtKind;
use crate::statement::{Count, RunFigures, Times};
use base::{DatabaseId, HobtId, ObjectId};
use plan::{
    EntryWork, Estimate, FollowUp, FollowUpId, IndexChange, KeyLookup, OutputInto, Physical,
    PhysicalPlan, Predicate, Recursion, Slot, Statement, Target, WideChange, Window,
};

/// What an operator is.
#[derive(Clone, Copy)]
pub(crate) enum OperatorKind<'p> {
    /// One of the plan.
    Operator(&'p Physical),
    /// The join that a lookup stands for.
    LookupJoin(&'p KeyLookup),
    /// The search in a lookup.
    Lookup(&'p KeyLookup),
    /// Where rankings begin anew.
    Segment(&'p Window),
    /// The change that the statement makes.
    Change(&'p Statement<Physical>),
    /// One after the other: a change, and those of indexes by themselves.
    Sequence,
    /// What was changed, kept for the changes of indexes.
    Kept,
    /// The same read again, from the operator with that number.
    Again(u32),
    /// An index changed by itself.
    Index(&'p IndexChange<Physical>),
    /// What rows of a change are tested for.
    Assert(&'p Target, AssertSubject),
    /// The insert of the rows of OUTPUT.
    Into(&'p OutputInto),
    /// Which of those rows it gets.
    Where(&'p Predicate),
    /// The anchor's rows and those that follow.
    AllRows(&'p Recursion<Physical>),
    /// A member of a recursion, run for each row.
    ForEachRow(&'p Recursion<Physical>, &'p Physical),
    /// The rows for which it runs, from the stack with that number.
    Stack(u32),
}

/// What is asserted of the rows of a change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AssertSubject {
    /// CHECK constraints.
    Checks,
    /// That what they refer to exists.
    References,
}

/// An operator.
pub(crate) struct Op<'p> {
    pub(crate) what: OperatorKind<'p>,
    /// Its number, from 0.
    pub(crate) id: u32,
    pub(crate) physical: &'static str,
    pub(crate) logical: &'static str,
    pub(crate) estimate: Estimate,
    /// What it did, where that is known.
    pub(crate) count: Option<Count>,
    /// Workers run it.
    pub(crate) parallel: bool,
    /// What it did in each thread, where several ran the statement: the statement's own first.
    pub(crate) threads: Vec<Count>,
    pub(crate) output: Vec<Slot>,
    pub(crate) inputs: Vec<Op<'p>>,
}

/// A plan's operators.
pub(crate) struct Tree<'p> {
    pub(crate) root: Option<Op<'p>>,
    /// By number; none where a join took its place.
    pub(crate) subqueries: Vec<Option<Op<'p>>>,
}

/// Numbers operators, and finds what each was expected to do and did.
struct Builder<'p, 'c> {
    plan: &'p PhysicalPlan,
    columns: &'c Columns<'c>,
    ran: Option<&'c RunFigures>,
    /// The place of the next operator among the plan's.
    place: usize,
    id: u32,
    /// Below an exchange.
    parallel: bool,
    /// The number of the spool that keeps changed rows.
    kept: u32,
}

impl<'p> Tree<'p> {
    pub(crate) fn of(
        plan: &'p PhysicalPlan,
        columns: &Columns<'_>,
        ran: Option<&RunFigures>,
    ) -> Tree<'p> {
        let (place, id, kept) = (0, 0, 0);
        let mut builder = Builder { plan, columns, ran, place, id, parallel: false, kept };
        let root = plan.statement.source().map(|source| match plan.statement.target() {
            None => builder.operator(source),
            Some(target) => builder.outputs(target, source),
        });
        let subquery = |s: &'p plan::Subquery<Physical>| {
            let nothing = plan::Show::is_nothing(&s.source);
            let id = builder.id;
            let op = builder.operator(&s.source);
            if nothing {
                builder.id = id;
            }
            (!nothing).then_some(op)
        };
        let subqueries = plan.subqueries.iter().map(subquery).collect();
        Tree { root, subqueries }
    }
}

impl<'p> Builder<'p, '_> {
    fn next_id(&mut self) -> u32 {
        self.id += 1;
        self.id - 1
    }

    /// A change, and the insert of what it gives.
    fn outputs(&mut self, target: &'p Target, source: &'p Physical) -> Op<'p> {
        let Some(into) = self.plan.statement.output().and_then(|o| o.into.as_ref()) else {
            return self.whole_change(target, source);
        };
        let id = self.next_id();
        let filter = into.nested.as_ref().map(|n| &n.filter).filter(|p| **p != Predicate::TRUE);
        let filter = filter.map(|p| (p, self.next_id()));
        let rows = self.ran.map(|ran| ran.rows_affected);
        let mut input = self.whole_change(target, source);
        if into.nested.is_some() {
            // What is counted are the rows inserted.
            let below = input.inputs.first().and_then(|i| i.count).map(|c| c.rows);
            input.count = input.count.map(|c| Count { rows: below.unwrap_or(c.rows), ..c });
        }
        let above = |what, id, (physical, logical), input: Op<'p>| Op {
            what,
            id,
            physical,
            logical,
            estimate: Estimate { io: 0.0, cpu: 0.0, ..input.estimate },
            count: input.count.map(|c| Count { rows: rows.unwrap_or(c.rows), ..c }),
            parallel: false,
            threads: Vec::new(),
            output: Vec::new(),
            inputs: vec![input],
        };
        if let Some((p, id)) = filter {
            input = above(OperatorKind::Where(p), id, ("Filter", "Filter"), input);
        }
        let physical = match into.target.base().key.is_empty() {
            true => "Table Insert",
            false => "Clustered Index Insert",
        };
        above(OperatorKind::Into(into), id, (physical, "Insert"), input)
    }

    /// A change with the changes of indexes that follow it.
    fn whole_change(&mut self, target: &'p Target, source: &'p Physical) -> Op<'p> {
        match &target.wide {
            Some(wide) => self.sequence(target, source, wide),
            None => self.asserted_change(target, source),
        }
    }

    /// A change below what is asserted of the rows that it has written.
    fn asserted_change(&mut self, target: &'p Target, source: &'p Physical) -> Op<'p> {
        if target.references.checks.is_empty() {
            return self.change(target, source);
        }
        let id = self.next_id();
        let change = self.change(target, source);
        let what = OperatorKind::Assert(target, AssertSubject::References);
        over(what, id, ("Assert", "Assert"), vec![change])
    }

    fn sequence(
        &mut self,
        target: &'p Target,
        source: &'p Physical,
        wide: &'p WideChange,
    ) -> Op<'p> {
        let (id, kept) = (self.next_id(), self.next_id());
        let change = self.asserted_change(target, source);
        let spool = over(OperatorKind::Kept, kept, ("Table Spool", "Eager Spool"), vec![change]);
        let mut inputs = vec![spool];
        let place = self.place;
        for &number in &wide.changes {
            let change = self.plan.follow_ups.get(number.0 as usize);
            let Some(FollowUp::Index(index)) = change else { continue };
            let id = self.next_id();
            (self.place, self.kept) = (self.place_of(number), kept);
            let input = self.operator(&index.source);
            let names = match index.work {
                EntryWork::Insert => ("Index Insert", "Insert"),
                EntryWork::Delete => ("Index Delete", "Delete"),
                EntryWork::Update | EntryWork::Split(_) => ("Index Update", "Update"),
            };
            inputs.push(over(OperatorKind::Index(index), id, names, vec![input]));
        }
        self.place = place;
        over(OperatorKind::Sequence, id, ("Sequence", "Sequence"), inputs)
    }

    /// The place of the first operator of a follow-up among the plan's.
    fn place_of(&self, number: FollowUpId) -> usize {
        let before = self.plan.follow_ups.iter().take(number.0 as usize);
        let trees = self.plan.statement.source().into_iter();
        let trees = trees.chain(self.plan.subqueries.iter().map(|s| &s.source));
        let mut place = 0;
        for tree in trees.chain(before.filter_map(FollowUp::source)) {
            tree.for_each(&mut |_| place += 1);
        }
        place
    }

    fn change(&mut self, target: &'p Target, source: &'p Physical) -> Op<'p> {
        let statement = &self.plan.statement;
        let clustered = !target.base().key.is_empty();
        let (physical, logical) = match (statement, clustered) {
            (Statement::Insert(_), true) => ("Clustered Index Insert", "Insert"),
            (Statement::Insert(_), false) => ("Table Insert", "Insert"),
            (Statement::Update(_), true) => ("Clustered Index Update", "Update"),
            (Statement::Update(_), false) => ("Table Update", "Update"),
            (Statement::Merge(_), true) => ("Clustered Index Merge", "Merge"),
            (Statement::Merge(_), false) => ("Table Merge", "Merge"),
            (_, true) => ("Clustered Index Delete", "Delete"),
            (_, false) => ("Table Delete", "Delete"),
        };
        let id = self.next_id();
        let input = match target.checks.is_empty() {
            true => self.operator(source),
            false => {
                let id = self.next_id();
                let input = self.operator(source);
                let what = OperatorKind::Assert(target, AssertSubject::Checks);
                over(what, id, ("Assert", "Assert"), vec![input])
            }
        };
        let count = self.ran.map(|ran| self.changed(ran, &input));
        Op {
            what: OperatorKind::Change(statement),
            id,
            physical,
            logical,
            estimate: Estimate { io: 0.0, cpu: 0.0, ..input.estimate },
            count,
            parallel: false,
            threads: Vec::new(),
            output: Vec::new(),
            inputs: vec![input],
        }
    }

    /// What the change of a statement's rows did: it is all that the statement is.
    fn changed(&self, ran: &RunFigures, input: &Op<'_>) -> Count {
        let below = input.count.and_then(|c| c.times);
        let times = below.zip(ran.took).map(|(below, took)| Times {
            elapsed_ns: took.elapsed_ns.max(below.elapsed_ns),
            cpu_ns: took.cpu_ns.max(below.cpu_ns),
            ..below
        });
        Count { rows: ran.rows_affected, rebinds: 1, ends: 1, times, ..Count::default() }
    }

    fn operator(&mut self, node: &'p Physical) -> Op<'p> {
        let id = self.next_id();
        let place = self.place;
        self.place += 1;
        let estimate = self.plan.estimates.get(place).copied().unwrap_or_default();
        let count = self.ran.and_then(|r| r.counts.get(place)).copied();
        let (physical, logical) = name(node, self.columns);
        let what = match node {
            Physical::Changed(_) => OperatorKind::Again(self.kept),
            _ => OperatorKind::Operator(node),
        };
        let output = node.written();
        let exchange = matches!(node, Physical::Exchange(_));
        let around = self.parallel;
        self.parallel |= exchange;
        let parallel = self.parallel;
        // Who gathers is the statement's own thread.
        let threads = if around { self.threads(place) } else { Vec::new() };
        let inputs = match node {
            Physical::Lookup(l) => return self.lookup(l, id, (estimate, count, threads)),
            Physical::Recursive(r) => vec![self.all_rows(r, id, (estimate, count))],
            Physical::Window(window) if window.only_ranks() => vec![self.segment(window)],
            _ => node.inputs().into_iter().map(|input| self.operator(input)).collect(),
        };
        self.parallel = around;
        Op { what, id, physical, logical, estimate, count, parallel, threads, output, inputs }
    }

    /// What the operator at a place did in each thread.
    fn threads(&self, place: usize) -> Vec<Count> {
        let all = self.ran.map_or(&[][..], |r| &r.by_thread);
        all.iter().filter_map(|counts| counts.get(place)).copied().collect()
    }

    /// Passes its input's rows on.
    fn segment(&mut self, window: &'p Window) -> Op<'p> {
        let id = self.next_id();
        let input = self.operator(&window.input);
        let count = input.count.map(Count::without_work);
        Op {
            what: OperatorKind::Segment(window),
            id,
            physical: "Segment",
            logical: "Segment",
            estimate: Estimate { io: 0.0, cpu: 0.0, ..input.estimate },
            count,
            parallel: input.parallel,
            threads: input.threads.iter().map(|c| c.without_work()).collect(),
            output: input.output.clone(),
            inputs: vec![input],
        }
    }

    /// What a recursion's stack keeps.
    fn all_rows(
        &mut self,
        r: &'p Recursion<Physical>,
        spool: u32,
        (estimate, count): (Estimate, Option<Count>),
    ) -> Op<'p> {
        let id = self.next_id();
        let mut inputs = vec![self.operator(&r.anchor)];
        let stack = (spool, estimate.executions, count);
        for (member, slots) in &r.members {
            inputs.push(self.for_each_row(r, stack, (member, slots)));
        }
        Op {
            what: OperatorKind::AllRows(r),
            id,
            physical: "Concatenation",
            logical: "Concatenation",
            estimate: Estimate { io: 0.0, cpu: 0.0, ..estimate },
            count: count.map(Count::without_work),
            parallel: false,
            threads: Vec::new(),
            output: r.columns.clone(),
            inputs,
        }
    }

    /// A member of a recursion is opened for each row of the stack.
    fn for_each_row(
        &mut self,
        r: &'p Recursion<Physical>,
        (spool, executions, opened): (u32, f64, Option<Count>),
        (member, slots): (&'p Physical, &[Slot]),
    ) -> Op<'p> {
        let (id, stack) = (self.next_id(), self.next_id());
        let inner = self.operator(member);
        let of_member = inner.estimate;
        let nothing = Estimate { io: 0.0, cpu: 0.0, executions, ..of_member };
        // The stack is open for as long as the recursion is; its rows open the member.
        let rows = of_member.executions / executions.max(1.0);
        let count = opened.map(Count::without_work).zip(inner.count);
        let stack = Op {
            what: OperatorKind::Stack(spool),
            id: stack,
            physical: "Table Spool",
            logical: "Lazy Spool",
            estimate: Estimate { rows, subtree: 0.0, ..nothing },
            count: count.map(|(c, of)| Count { rows: of.executions(), times: None, ..c }),
            parallel: false,
            threads: Vec::new(),
            output: r.work.clone(),
            inputs: Vec::new(),
        };
        Op {
            what: OperatorKind::ForEachRow(r, member),
            id,
            physical: "Nested Loops",
            logical: "Inner Join",
            estimate: Estimate { rows: of_member.rows * rows, ..nothing },
            count: count.map(|(c, of)| Count { rows: of.rows, times: of.times, ..c }),
            parallel: false,
            threads: Vec::new(),
            output: slots.to_vec(),
            inputs: vec![stack, inner],
        }
    }

    /// A search for each row of the index.
    fn lookup(
        &mut self,
        l: &'p KeyLookup,
        id: u32,
        (estimate, count, threads): (Estimate, Option<Count>, Vec<Count>),
    ) -> Op<'p> {
        let parallel = self.parallel;
        let input = self.operator(&l.input);
        let name = if l.by_rid { "RID Lookup" } else { "Key Lookup" };
        let search = count.map(|c| c.of_search(input.count.unwrap_or_default()));
        let none = Count::default();
        let inputs = input.threads.iter().chain(std::iter::repeat(&none));
        let searches = threads.iter().zip(inputs).map(|(c, input)| c.of_search(*input)).collect();
        let output: Vec<Slot> = l.columns.iter().map(|c| c.slot).chain(l.rid).collect();
        let all: Vec<Slot> = input.output.iter().chain(&output).copied().collect();
        // The search is opened for each row of the index; the join itself costs next to nothing.
        let rows = input.estimate.rows.max(1.0);
        let each = Estimate {
            rows: (estimate.rows / rows).min(1.0),
            executions: estimate.executions * rows,
            io: estimate.io / rows,
            cpu: estimate.cpu / rows,
            subtree: (estimate.io + estimate.cpu) * estimate.executions,
            ..estimate
        };
        let estimate = Estimate { io: 0.0, cpu: 0.0, ..estimate };
        let inner = Op {
            what: OperatorKind::Lookup(l),
            id: self.next_id(),
            physical: name,
            logical: name,
            estimate: each,
            count: search,
            parallel,
            threads: searches,
            output,
            inputs: Vec::new(),
        };
        Op {
            what: OperatorKind::LookupJoin(l),
            id,
            physical: "Nested Loops",
            logical: "Inner Join",
            estimate,
            count: count.map(Count::without_work),
            parallel,
            threads: threads.into_iter().map(Count::without_work).collect(),
            output: all,
            inputs: vec![input, inner],
        }
    }
}

impl Count {
    /// Without pages and spills, which are another operator's.
    fn without_work(self) -> Count {
        Count { spilled_bytes: 0, reads: None, rows_read: None, ..self }
    }

    /// Of a lookup: what the searches for its input's rows did.
    fn of_search(self, input: Count) -> Count {
        let times = self.times.zip(input.times).map(|(all, input)| Times {
            elapsed_ns: all.elapsed_ns.saturating_sub(input.elapsed_ns),
            cpu_ns: all.cpu_ns.saturating_sub(input.cpu_ns),
            ..all
        });
        Count { rebinds: input.rows, rewinds: 0, times, ..self }
    }
}

impl Op<'_> {
    /// Whether it matters if it begins anew or again: it keeps what it has.
    pub(crate) fn keeps_rows(&self) -> bool {
        let startup = matches!(self.what, OperatorKind::Operator(Physical::StartupFilter(_)));
        startup
            || matches!(
                self.physical,
                "Sort" | "Table Spool" | "Index Spool" | "Table-valued function"
            )
    }

    /// What it reads or changes, where that is a heap or an index.
    pub(crate) fn object(&self) -> Option<(DatabaseId, ObjectId, HobtId)> {
        let source = match self.what {
            OperatorKind::Operator(node) => node.describe().stored()?.source,
            OperatorKind::Lookup(l) => &l.source,
            OperatorKind::Change(statement) => {
                let target = statement.target()?;
                return Some((target.database, target.object, target.base().hobt));
            }
            OperatorKind::Index(change) => {
                let target = &change.target;
                return Some((target.database, target.object, target.base().hobt));
            }
            OperatorKind::Into(into) => {
                let target = &into.target;
                return Some((target.database, target.object, target.base().hobt));
            }
            OperatorKind::LookupJoin(_)
            | OperatorKind::Segment(_)
            | OperatorKind::Sequence
            | OperatorKind::Assert(..)
            | OperatorKind::Kept
            | OperatorKind::Again(_)
            | OperatorKind::Where(_)
            | OperatorKind::AllRows(_)
            | OperatorKind::ForEachRow(..)
            | OperatorKind::Stack(_) => return None,
        };
        Some((source.database, source.object, source.hobt))
    }
}

/// An operator that passes on what its first input gives, and runs the others.
fn over<'p>(
    what: OperatorKind<'p>,
    id: u32,
    (physical, logical): (&'static str, &'static str),
    inputs: Vec<Op<'p>>,
) -> Op<'p> {
    let first = inputs.first();
    let subtree = inputs.iter().map(|i| i.estimate.subtree).sum();
    let estimate = first.map(|f| f.estimate).unwrap_or_default();
    Op {
        what,
        id,
        physical,
        logical,
        estimate: Estimate { io: 0.0, cpu: 0.0, subtree, ..estimate },
        count: first.and_then(|f| f.count).map(Count::without_work),
        parallel: false,
        threads: Vec::new(),
        output: Vec::new(),
        inputs,
    }
}

/// What SQL Server calls an operator: its physical name, and its logical one.
fn name(node: &Physical, columns: &Columns<'_>) -> (&'static str, &'static str) {
    let operator = node.describe();
    match operator.stored() {
        Some(rows) if !rows.is_lookup() => {
            let name = scan_name(columns.kind(rows.source), rows.seek().is_some());
            (name, name)
        }
        _ => {
            let display = operator.display();
            (display.physical, display.logical)
        }
    }
}

fn scan_name(kind: HobtKind, seeks: bool) -> &'static str {
    match (kind, seeks) {
        (HobtKind::Heap, _) => "Table Scan",
        (HobtKind::Clustered, true) => "Clustered Index Seek",
        (HobtKind::Clustered, false) => "Clustered Index Scan",
        (HobtKind::Nonclustered, true) => "Index Seek",
        (HobtKind::Nonclustered, false) => "Index Scan",
    }
}

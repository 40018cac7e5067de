//! Builds operators from the plan's tree.
//!
//! Numbers are given here: a node's in preorder (for its counters), a hobt's (looked up anew in
//! each run), a cursor's.

use crate::aggregate::Calls;
use crate::assert::Assert;
use crate::compute::Compute;
use crate::concatenation::Concatenation;
use crate::cond::Cond;
use crate::constants::Constants;
use crate::exchange::{Branch, Exchange};
use crate::executor::{Body, Rows};
use crate::expr::{DEPTH_MAX, Expr, too_deep};
use crate::filter::{Filter, StartupFilter};
use crate::first_rows::FirstRows;
use crate::hash_aggregate::HashAggregate;
use crate::hash_join::HashJoin;
use crate::index_spool::IndexSpool;
use crate::insert::{Given, Insert, RowInsert};
use crate::lookup::Lookup;
use crate::loops::Loops;
use crate::merge::{Action, Clause, Merge};
use crate::merge_join::MergeJoin;
use crate::merge_union::MergeUnion;
use crate::operator::{Node, Operator};
use crate::output::{Nested, Output};
use crate::reader::Reader;
use crate::recursion::Recursion;
use crate::referential::{self, Changed, FollowUp};
use crate::rows::RowBuffer;
use crate::sample::Pages;
use crate::scan::Scan;
use crate::seek::Seeks;
use crate::sort::Sort;
use crate::split::Split;
use crate::spool::Spool;
use crate::stored::Stored;
use crate::stream_aggregate::StreamAggregate;
use crate::subplan::Subplan;
use crate::table_function::FunctionRows;
use crate::target::{Target, Typed};
use crate::timed::Timed;
use crate::top::Top;
use crate::update::{Assignment, Delete, Update, kept_slots};
use crate::virtual_scan::VirtualScan;
use crate::wide::IndexChange;
use crate::window::Window;
use access::Use;
use base::{DatabaseId, HobtId, SqlError, SqlResult, messages};
use plan::{
    AggregateCall, ColumnSource, JoinKind, MergeAction, Physical, PhysicalPlan, Reads, Scalar,
    Slot, SortKey, Statement,
};
use std::collections::BTreeSet;
use types::Collation;

/// Makes operators of a plan.
pub(crate) struct Builder {
    pub(crate) hobts: Vec<(DatabaseId, HobtId)>,
    /// What the plan does with them: reads by each operator, a change of each once.
    pub(crate) uses: Vec<(usize, Use)>,
    /// The hobt that each cursor reads.
    pub(crate) cursors: Vec<usize>,
    /// The operator that has it.
    pub(crate) cursor_nodes: Vec<usize>,
    /// The heap or clustered index that the statement changes.
    pub(crate) changed: Option<usize>,
    pub(crate) nodes: usize,
    /// The buffers of changed rows, by number.
    pub(crate) changed_rows: Vec<Option<Box<RowBuffer>>>,
    /// What the statement is, as messages name it.
    verb: Option<&'static str>,
    /// The statement assigns variables while it runs.
    assigns: bool,
    depth: usize,
    /// What workers run, by the number of their exchange.
    pub(crate) branches: Vec<Branch>,
    /// How many exchanges there are so far, and the one that is being built into.
    exchanges: usize,
    within: Option<usize>,
    /// Operators are timed.
    pub(crate) timed: bool,
    /// Scans run by batches where they may.
    pub(crate) by_batches: bool,
    /// All that is read above of the access that is built next, where that is known.
    read_above: Option<BTreeSet<Slot>>,
}

/// The number of operators that are a part of another one: their counters are never read.
pub(crate) const WITHIN: usize = 0;

type Built = SqlResult<Box<dyn Operator>>;

pub(crate) fn expressions(list: &[Scalar]) -> SqlResult<Vec<Expr>> {
    list.iter().map(Expr::new).collect()
}

impl Builder {
    pub(crate) fn new(plan: &PhysicalPlan, timed: bool) -> Builder {
        let assigns = match &plan.statement {
            Statement::Assign(_) => true,
            Statement::Update(u) => u.assignments.iter().any(|a| a.variable.is_some()),
            _ => false,
        };
        Builder {
            hobts: Vec::new(),
            uses: Vec::new(),
            cursors: Vec::new(),
            cursor_nodes: Vec::new(),
            changed: None,
            nodes: WITHIN + 1,
            changed_rows: Vec::new(),
            verb: None,
            assigns,
            depth: 0,
            branches: Vec::new(),
            exchanges: 0,
            within: None,
            timed,
            by_batches: false,
            read_above: None,
        }
    }

    /// For a copy of the operators of a branch: they have the numbers of the first.
    pub(crate) fn of_branch(branch: &Branch) -> Builder {
        Builder {
            hobts: branch.hobts.clone(),
            uses: Vec::new(),
            cursors: vec![0; branch.cursors],
            cursor_nodes: vec![0; branch.cursors],
            changed: None,
            nodes: branch.nodes,
            changed_rows: Vec::new(),
            verb: None,
            assigns: false,
            depth: 0,
            branches: Vec::new(),
            exchanges: branch.exchanges,
            within: None,
            timed: branch.timed,
            by_batches: false,
            read_above: None,
        }
    }

    /// The statement.
    pub(crate) fn body(&mut self, statement: &Statement<Physical>) -> SqlResult<Body> {
        Ok(match statement {
            Statement::Query(q) => {
                let columns: Vec<Slot> = q.columns.iter().map(|c| c.slot).collect();
                let first = columns.first().map_or(0, |s| s.0);
                let together = columns.iter().zip(first..).all(|(s, n)| s.0 == n);
                Body::Query(Rows {
                    source: self.node(&q.source)?,
                    columns,
                    together: together.then_some(first as usize),
                    row: Vec::new(),
                })
            }
            Statement::Assign(a) => {
                let assignment =
                    |(v, x): &(plan::VariableId, Scalar)| Ok((v.0 as usize, Expr::new(x)?));
                Body::Assign {
                    source: self.node(&a.source)?,
                    assignments: a.assignments.iter().map(assignment).collect::<SqlResult<_>>()?,
                }
            }
            Statement::Insert(insert) => Body::Insert(Box::new(self.insert(insert)?)),
            Statement::Update(update) => Body::Update(Box::new(self.update(update)?)),
            Statement::Delete(delete) => {
                let target = self.target(&delete.target, "DELETE")?;
                target.check_slots(Some(&delete.old), None)?;
                Body::Delete(Box::new(Delete {
                    source: self.node(&delete.source)?,
                    target,
                    old: delete.old.clone(),
                    firsts: first_rows(delete.distinct_rows, &delete.source),
                    output: self.output(delete.output.as_deref())?,
                }))
            }
            Statement::Merge(merge) => Body::Merge(Box::new(self.merge(merge)?)),
            Statement::Scalar(x) => Body::Scalar(Expr::new(x)?),
            Statement::Condition(p) => Body::Condition(Cond::new(p)?),
        })
    }

    /// The subqueries, by number.
    pub(crate) fn subplans(&mut self, plan: &PhysicalPlan) -> SqlResult<Vec<Option<Box<Subplan>>>> {
        let subplan = |s: &plan::Subquery<Physical>| {
            let fixed = s.outer.is_empty() && !(self.assigns && s.session);
            let root = self.node(&s.source)?;
            let asserts = matches!(s.source, Physical::Assert(_));
            Ok(Some(Box::new(Subplan::new(root, s.columns.first().copied(), fixed, asserts))))
        };
        plan.subqueries.iter().map(subplan).collect()
    }

    /// What changes lead to, by number; the trees of their sources come after those of subqueries.
    pub(crate) fn follow_ups(
        &mut self,
        plan: &PhysicalPlan,
    ) -> SqlResult<Vec<Option<Box<FollowUp>>>> {
        let database = plan.statement.target().map(|t| t.database_name.clone());
        let one = |f: &plan::FollowUp<Physical>| {
            let built = match f {
                plan::FollowUp::Refuse { conflict, source } => FollowUp::Refuse {
                    source: self.node(source)?,
                    conflict: conflict.clone(),
                    database: database.clone().unwrap_or_default(),
                    verb: self.verb.unwrap_or_default(),
                },
                plan::FollowUp::Change(statement) => FollowUp::Change(self.body(statement)?),
                plan::FollowUp::Index(change) => {
                    FollowUp::Index(Box::new(self.index_change(change)?))
                }
            };
            Ok(Some(Box::new(built)))
        };
        plan.follow_ups.iter().map(one).collect()
    }

    fn index_change(&mut self, change: &plan::IndexChange<Physical>) -> SqlResult<IndexChange> {
        let (work, before, after) = (change.work, change.before.clone(), change.after.clone());
        let goes = work != plan::EntryWork::Insert;
        let comes = work != plan::EntryWork::Delete;
        let target = self.target(&change.target, "UPDATE")?;
        target.check_slots(goes.then_some(&before), comes.then_some(&after.columns[..]))?;
        Ok(IndexChange { target, source: self.node(&change.source)?, work, before, after })
    }

    fn target(&mut self, target: &plan::Target, verb: &'static str) -> SqlResult<Target> {
        let hobts: Vec<usize> =
            target.indexes.iter().map(|i| self.hobt(target.database, i.hobt)).collect();
        self.changed = self.changed.or(hobts.first().copied());
        let changed = target.indexes.iter().zip(&hobts).filter(|(i, _)| i.affected);
        for (_, &hobt) in changed {
            if !self.uses.contains(&(hobt, Use::Update)) {
                self.uses.push((hobt, Use::Update));
            }
        }
        if let Some(kept) = &target.references.kept {
            let id = kept.id.0 as usize;
            self.changed_rows.resize_with(self.changed_rows.len().max(id + 1), || None);
            self.changed_rows[id] = referential::buffer(&kept.slots);
        }
        let statement = *self.verb.get_or_insert(verb);
        Target::new(target, hobts, verb, statement)
    }

    fn insert(&mut self, insert: &plan::Insert<Physical>) -> SqlResult<Insert> {
        let into =
            self.row_insert(&insert.target, all_columns(&insert.columns), insert.identity)?;
        let output = self.output(insert.output.as_deref())?;
        Ok(Insert { source: self.node(&insert.source)?, into, output })
    }

    fn row_insert<'p>(
        &mut self,
        target: &plan::Target,
        sources: impl Iterator<Item = (usize, Slot, &'p ColumnSource)>,
        identity: Option<plan::IdentityColumn>,
    ) -> SqlResult<RowInsert> {
        let mut columns = Vec::with_capacity(target.columns.len());
        let mut slots: Vec<Option<Slot>> = vec![None; target.columns.len()];
        for (column, slot, source) in sources {
            let value = match source {
                ColumnSource::Value(x) => Given::Value(Typed::new(x)?),
                ColumnSource::Identity => Given::Identity,
                ColumnSource::Computed(x) => Given::Computed(Typed::new(x)?),
            };
            columns.push((column, slot, value));
            slots[column] = Some(slot);
        }
        let target = self.target(target, "INSERT")?;
        target.check_slots(None, Some(&slots))?;
        Ok(RowInsert { target, columns, slots, identity })
    }

    fn output(&mut self, output: Option<&plan::Output>) -> SqlResult<Option<Output>> {
        let Some(output) = output else { return Ok(None) };
        let into = match &output.into {
            Some(i) => {
                // What such rows violate, the INSERT does.
                let change = self.verb;
                if i.nested.is_some() {
                    self.verb = None;
                }
                let into = self.row_insert(&i.target, all_columns(&i.columns), i.identity)?;
                self.verb = change;
                Some(into)
            }
            None => None,
        };
        let nested = match output.into.as_ref().and_then(|i| i.nested.as_ref()) {
            Some(rows) => Some(Self::nested_rows(rows)?),
            None => None,
        };
        let sent = match &output.sent {
            Some(s) => Some(s.values.iter().map(Expr::new).collect::<SqlResult<_>>()?),
            None => None,
        };
        Ok(Some(Output { sent, into, nested, row: Vec::new() }))
    }

    fn nested_rows(rows: &plan::NestedRows) -> SqlResult<Nested> {
        let column = |(slot, value): &(Slot, plan::Scalar)| Ok((*slot, Expr::new(value)?));
        let columns = rows.columns.iter().map(column).collect::<SqlResult<_>>()?;
        Ok(Nested { columns, filter: Cond::new(&rows.filter)? })
    }

    fn assignments(assignments: &[plan::Assignment]) -> SqlResult<Vec<Assignment>> {
        let assignment = |a: &plan::Assignment| {
            Ok(Assignment {
                column: a.column,
                variable: a.variable.map(|(id, ty)| (id.0 as usize, ty.sql_type)),
                value: Typed::new(&a.value)?,
            })
        };
        assignments.iter().map(assignment).collect()
    }

    fn update(&mut self, update: &plan::Update<Physical>) -> SqlResult<Update> {
        let target = self.target(&update.target, "UPDATE")?;
        target.check_slots(Some(&update.old), Some(&update.new))?;
        let gathers = update.gathers();
        let output = update.output.as_deref();
        Ok(Update {
            source: self.node(&update.source)?,
            target,
            old: update.old.clone(),
            new: update.new.clone(),
            assignments: Self::assignments(&update.assignments)?,
            firsts: first_rows(update.distinct_rows, &update.source),
            gathers,
            gathered: RowBuffer::new(kept_slots(&update.old, &update.new, output)),
            output: self.output(output)?,
        })
    }

    fn merge(&mut self, merge: &plan::Merge<Physical>) -> SqlResult<Merge> {
        self.verb = Some("MERGE");
        let mut clauses = Vec::with_capacity(merge.clauses.len());
        let mut insert = None;
        let inserts = merge.inserts.as_ref().unwrap_or(&merge.target);
        for clause in &merge.clauses {
            let action = match &clause.action {
                MergeAction::Update(set) => Action::Update(Self::assignments(set)?),
                MergeAction::Delete => Action::Delete,
                MergeAction::Insert(values) => {
                    let sources = merge.new.iter().zip(values).enumerate();
                    let sources = sources.filter_map(|(n, (slot, x))| Some((n, (*slot)?, x)));
                    insert = Some(self.row_insert(inserts, sources, merge.identity)?);
                    Action::Insert
                }
            };
            let condition = Cond::new(&clause.condition)?;
            clauses.push(Clause { when: clause.when, condition, action });
        }
        let target = self.target(&merge.target, "UPDATE")?;
        let deletes = match &merge.deletes {
            Some(deletes) => Some(self.target(deletes, "DELETE")?),
            None => None,
        };
        target.check_slots(Some(&merge.old), Some(&merge.new))?;
        let mut kept = kept_slots(&merge.old, &merge.new, merge.output.as_deref());
        kept.push(merge.clause);
        let seen = FirstRows::new(target.key_slots(&merge.old));
        Ok(Merge {
            captured: merge.captured,
            source: self.node(&merge.source)?,
            target,
            deletes,
            old: merge.old.clone(),
            new: merge.new.clone(),
            has_target: merge.has_target,
            has_source: merge.has_source,
            clauses,
            insert,
            top: merge.top.as_ref().map(Typed::new).transpose()?,
            clause: merge.clause,
            action: merge.action,
            output: self.output(merge.output.as_deref())?,
            gathered: RowBuffer::new(kept),
            seen,
        })
    }

    pub(crate) fn hobt(&mut self, database: DatabaseId, hobt: HobtId) -> usize {
        let id = (database, hobt);
        self.hobts.iter().position(|&h| h == id).unwrap_or_else(|| {
            self.hobts.push(id);
            self.hobts.len() - 1
        })
    }

    /// A cursor of a hobt, for an operator.
    pub(crate) fn cursor(&mut self, hobt: usize, id: usize) -> usize {
        self.cursors.push(hobt);
        self.cursor_nodes.push(id);
        self.cursors.len() - 1
    }

    /// An operator with its inputs.
    pub(crate) fn node(&mut self, tree: &Physical) -> SqlResult<Node> {
        let id = self.nodes;
        self.nodes += 1;
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(too_deep());
        }
        let operator = self.operator(tree, id)?;
        self.depth -= 1;
        Ok(match self.timed {
            false => Node { id, operator },
            true => Node { id, operator: Box::new(Timed { id, operator }) },
        })
    }

    fn operator(&mut self, tree: &Physical, id: usize) -> Built {
        Ok(match tree {
            Physical::Access(a) => self.access(a, id)?,
            Physical::Lookup(l) => self.lookup(l, id)?,
            Physical::Virtual(v) => virtual_scan(v, id)?,
            Physical::Function(call) => function_rows(call)?,
            Physical::Changed(c) => Box::new(Changed { id: c.id.0 as usize }),
            Physical::Constants(plan::Constants { rows, columns }) => Box::new(Constants {
                rows: rows.iter().map(|r| expressions(r)).collect::<SqlResult<_>>()?,
                columns: columns.clone(),
                at: 0,
            }),
            Physical::Filter(plan::Filter { input, predicate }) => {
                Box::new(Filter { input: self.node(input)?, predicate: Cond::new(predicate)? })
            }
            Physical::StartupFilter(plan::StartupFilter { input, predicate }) => {
                Box::new(StartupFilter {
                    input: self.node(input)?,
                    predicate: Cond::new(predicate)?,
                    passes: false,
                })
            }
            Physical::Assert(plan::Assert { input, count }) => {
                Box::new(Assert { input: self.node(input)?, count: *count, rows: 0 })
            }
            Physical::Compute(plan::Compute { input, columns }) => {
                let column = |(slot, x): &(Slot, Scalar)| Ok((*slot, Expr::new(x)?));
                Box::new(Compute {
                    input: self.node(input)?,
                    columns: columns.iter().map(column).collect::<SqlResult<_>>()?,
                })
            }
            Physical::NestedLoops(join) => self.loops(join)?,
            Physical::Top(plan::TopRows { input, top }) => {
                let rows = if top.percent { input.written() } else { Vec::new() };
                let input = self.node(input)?;
                Box::new(make_top(id, input, top, rows)?)
            }
            Physical::Concatenation(plan::Concatenation { inputs, columns }) => {
                let mut built = Vec::with_capacity(inputs.len());
                for (input, slots) in inputs {
                    built.push((self.node(input)?, slots.clone()));
                }
                Box::new(Concatenation { inputs: built, columns: columns.clone(), at: 0 })
            }
            Physical::MergeUnion(union) => self.merge_union(union)?,
            Physical::Recursive(r) => self.recursion(r, id)?,
            Physical::Spool(plan::Spool { input, carried }) => Box::new(Spool {
                id,
                input: self.node(input)?,
                rows: RowBuffer::new(carried.clone()),
                filled: false,
            }),
            Physical::Exchange(exchange) => self.exchange(exchange)?,
            Physical::IndexSpool(spool) => self.index_spool(spool, id)?,
            Physical::Split(split) => Box::new(Split::new(self.node(&split.input)?, split)),
            Physical::MergeJoin(join) => {
                let left = self.node(&join.left)?;
                let right = self.node(&join.right)?;
                Box::new(MergeJoin::new(id, join, left, right)?)
            }
            Physical::HashJoin(join) => {
                let build = self.node(&join.build)?;
                let probe = self.node(&join.probe)?;
                Box::new(HashJoin::new(id, join, build, probe)?)
            }
            ordering => self.ordering(ordering, id)?,
        })
    }

    fn recursion(&mut self, r: &plan::Recursion<Physical>, id: usize) -> Built {
        let mut inputs = Vec::with_capacity(r.members.len() + 1);
        for (input, slots) in r.inputs() {
            inputs.push((self.node(input)?, slots.to_vec()));
        }
        let (columns, work) = (r.columns.clone(), r.work.clone());
        Ok(Box::new(Recursion::new(id, inputs, columns, work, r.limit)))
    }

    fn index_spool(&mut self, spool: &plan::IndexSpool, id: usize) -> Built {
        let input = self.node(&spool.input)?;
        let sort = Sort::new(id, input, &spool.keys, &spool.carried, false);
        let input = Node { id: WITHIN, operator: Box::new(sort) };
        Ok(Box::new(IndexSpool::new(id, input, spool)?))
    }

    fn merge_union(&mut self, union: &plan::MergeUnion) -> Built {
        let left = self.node(&union.left)?;
        let right = self.node(&union.right)?;
        Ok(Box::new(MergeUnion::new(union, left, right)?))
    }

    /// The reading end, above what a statement without workers runs.
    fn exchange(&mut self, exchange: &plan::Exchange) -> Built {
        let number = self.exchanges;
        self.exchanges += 1;
        let around = self.within.replace(number);
        let at = self.branches.len();
        self.branches.push(Branch {
            input: exchange.input.clone(),
            kind: exchange.kind.clone(),
            columns: exchange.columns.clone(),
            nodes: self.nodes,
            cursors: self.cursors.len(),
            exchanges: self.exchanges,
            hobts: Vec::new(),
            read_by: around,
            timed: self.timed,
        });
        let input = self.node(&exchange.input)?;
        self.within = around;
        self.branches[at].hobts = self.hobts.clone();
        Ok(Box::new(Exchange::new(number, input, exchange)))
    }

    /// Operators that order and group.
    fn ordering(&mut self, tree: &Physical, id: usize) -> Built {
        Ok(match tree {
            Physical::Sort(plan::Sort { input, keys, carried, distinct }) => {
                let input = self.node(input)?;
                Box::new(Sort::new(id, input, keys, carried, *distinct))
            }
            Physical::TopSort(plan::TopSort { input, top, keys, carried }) => {
                let input = self.node(input)?;
                Box::new(top_sort(id, input, top, keys, carried)?)
            }
            Physical::HashAggregate(plan::HashAggregate { input, keys, calls })
                if !keys.is_empty() =>
            {
                let input = self.grouped(input, keys, calls)?;
                Box::new(HashAggregate::new(id, input, keys.clone(), Calls::new(calls)?))
            }
            Physical::HashAggregate(plan::HashAggregate { input, keys, calls })
            | Physical::StreamAggregate(plan::StreamAggregate { input, keys, calls }) => {
                let input = self.grouped(input, keys, calls)?;
                Box::new(StreamAggregate::new(id, input, keys.clone(), Calls::new(calls)?))
            }
            Physical::Window(plan::Window { input, partition, order, calls, carried }) => {
                let input = self.node(input)?;
                let (partition, order) = (partition.clone(), order.clone());
                Box::new(Window::new(id, input, partition, order, calls, carried)?)
            }
            _ => return Err(SqlError::new(messages::INTERNAL, &[&"an operator was not built"])),
        })
    }

    /// The input of groups: of its rows nothing is read but the keys and what calls are of.
    fn grouped(
        &mut self,
        input: &Physical,
        keys: &[(Slot, Collation)],
        calls: &[AggregateCall],
    ) -> SqlResult<Node> {
        if let Physical::Access(_) = input {
            let mut reads = Reads::default();
            let read = calls.iter().flat_map(|c| c.argument.iter().chain(&c.separator));
            read.for_each(|x| x.read_into(&mut reads));
            reads.slots.extend(keys.iter().map(|k| k.0));
            // A subquery reads slots that are not listed.
            self.read_above = reads.subqueries.is_empty().then_some(reads.slots);
        }
        self.node(input)
    }

    fn access(&mut self, a: &plan::Access, id: usize) -> Built {
        let above = self.read_above.take();
        if self.by_batches
            && let Some(scan) = self.batch_access(a, id, above.as_ref())?
        {
            return Ok(scan);
        }
        let seeks = a.seek.as_ref().map(|s| Seeks::new(s, a.backward)).transpose()?;
        let hobt = self.hobt(a.source.database, a.source.hobt);
        self.uses.push((hobt, if a.seek.is_some() { Use::Seek } else { Use::Scan }));
        let mut reader = Reader::new(&a.columns, a.rid, a.hint, a.location, a.residual.as_ref())?;
        if let Some(above) = above {
            reader.give_only(above);
        }
        Ok(Box::new(Scan {
            id,
            hobt,
            cursor: self.cursor(hobt, id),
            reader,
            seeks,
            backward: a.backward,
            sample: a.sample.map(Pages::new),
            locks: a.locks,
            divided: a.divided,
            range: 0,
            reading: false,
        }))
    }

    fn lookup(&mut self, l: &plan::KeyLookup, id: usize) -> Built {
        // It asks its input whether rows are still the same.
        let by_batches = std::mem::replace(&mut self.by_batches, false);
        let input = self.node(&l.input)?;
        self.by_batches = by_batches;
        let hobt = self.hobt(l.source.database, l.source.hobt);
        self.uses.push((hobt, Use::Lookup));
        Ok(Box::new(Lookup {
            id,
            input,
            hobt,
            cursor: self.cursor(hobt, id),
            locator: l.locator.iter().copied().zip(l.types.iter().copied()).collect(),
            reader: Reader::new(&l.columns, l.rid, l.hint, l.location, l.residual.as_ref())?,
            locks: l.locks,
            key: Stored::default(),
        }))
    }

    fn loops(&mut self, join: &plan::NestedLoops) -> Built {
        if matches!(join.kind, JoinKind::Right | JoinKind::Full) {
            return Err(SqlError::new(
                messages::INTERNAL,
                &[&"a loop join cannot keep its inner side"],
            ));
        }
        Ok(Box::new(Loops {
            kind: join.kind,
            outer: self.node(&join.outer)?,
            inner: self.node(&join.inner)?,
            predicate: join.predicate.as_ref().map(Cond::new).transpose()?,
            inner_slots: join.inner_slots.clone(),
            correlated: join.correlated,
            opened: false,
            inside: false,
            matched: false,
        }))
    }
}

/// A sort that keeps only the rows that the TOP above it can give.
fn top_sort(
    id: usize,
    input: Node,
    top: &plan::Top,
    keys: &[SortKey],
    carried: &[Slot],
) -> SqlResult<Top> {
    let mut sort = Sort::new(id, input, keys, carried, false);
    if let (Some(count), false, None) = (&top.count, top.percent, &top.ties) {
        let offset = top.offset.as_ref().map(Expr::new).transpose()?;
        sort = sort.limited(Expr::new(count)?, offset);
    }
    let input = Node { id: WITHIN, operator: Box::new(sort) };
    make_top(id, input, top, carried.to_vec())
}

fn function_rows(call: &plan::FunctionRows) -> Built {
    Ok(Box::new(FunctionRows {
        function: call.function.clone(),
        arguments: expressions(&call.arguments)?,
        columns: call.columns.clone(),
        rows: None,
        row: Vec::new(),
    }))
}

fn virtual_scan(v: &plan::VirtualScan, id: usize) -> Built {
    let reader = Reader::new(&v.columns, None, None, None, v.residual.as_ref())?;
    Ok(Box::new(VirtualScan {
        id,
        database: v.database,
        object: v.object,
        arguments: expressions(&v.arguments)?,
        rows: RowBuffer::new(reader.slots()),
        reader,
        filled: false,
        stream: None,
    }))
}

pub(crate) fn make_top(id: usize, input: Node, top: &plan::Top, rows: Vec<Slot>) -> SqlResult<Top> {
    Ok(Top {
        id,
        input,
        count: top.count.as_ref().map(Expr::new).transpose()?,
        offset: top.offset.as_ref().map(Expr::new).transpose()?,
        percent: top.percent,
        ties: top.ties.clone(),
        rows: RowBuffer::new(rows),
        buffered: false,
        left: 0,
        last: Vec::new(),
    })
}

/// What tells the rows apart that a source may bring several times.
fn first_rows(distinct: bool, source: &Physical) -> Option<FirstRows> {
    (distinct && !source.gives_one_row()).then(|| FirstRows::new(source.written()))
}

/// What an INSERT gives each column of its target.
fn all_columns(
    columns: &[plan::InsertColumn],
) -> impl Iterator<Item = (usize, Slot, &ColumnSource)> {
    columns.iter().enumerate().map(|(n, c)| (n, c.slot, &c.source))
}

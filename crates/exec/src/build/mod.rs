//! Builds operators from the plan's tree; `statement.rs` builds what the statement does with rows.
//!
//! Numbers are given here: a node's in preorder (for its counters), a hobt's (looked up anew in
//! each run), a cursor's. An operator's `new` makes it of its plan node and its inputs.

mod statement;

use crate::aggregate::{Calls, HashAggregate, StreamAggregate};
use crate::change::ChangedRows;
use crate::exchange::{Branch, Exchange};
use crate::expr::{DEPTH_MAX, too_deep};
use crate::join::{HashJoin, Loops, MergeJoin};
use crate::memory::RowBuffer;
use crate::operator::{
    Assert, Compute, Concatenation, Constants, Filter, MergeUnion, Node, Operator, Split,
    StartupFilter, Timer, Top,
};
use crate::run::WITHIN;
use crate::scan::{FunctionRows, Lookup, Scan, VirtualScan};
use crate::sort::Sort;
use crate::spool::{IndexSpool, Recursion, Spool};
use crate::window::Window;
use access::Use;
use base::{DatabaseId, HobtId, SqlError, SqlResult, messages};
use plan::{AggregateCall, Physical, PhysicalPlan, Reads, Slot, Statement};
use std::collections::BTreeSet;
use types::Collation;

/// Makes operators of a plan.
pub(crate) struct Builder {
    pub(crate) hobts: Vec<(DatabaseId, HobtId)>,
    /// What the plan does with them: reads by each operator, a change of each once.
    pub(crate) uses: Vec<(usize, Use)>,
    /// The hobt that each cursor reads.
    pub(crate) cursors: Vec<usize>,
    /// The operator of each cursor.
    pub(crate) cursor_nodes: Vec<usize>,
    /// The heap or clustered index that the statement changes.
    pub(crate) changed: Option<usize>,
    pub(crate) nodes: usize,
    /// The buffers of changed rows, by number.
    pub(crate) changed_rows: Vec<Option<Box<RowBuffer>>>,
    /// What the statement is, as messages name it.
    pub(super) verb: Option<&'static str>,
    /// The statement assigns variables while it runs.
    pub(super) assigns: bool,
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
    /// The slots that operators above read of the access that is built next, where they are known.
    read_above: Option<BTreeSet<Slot>>,
}

type BuildResult = SqlResult<Box<dyn Operator>>;

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

    /// For a worker's copy of a branch: its operators have the numbers of the original.
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
            true => Node { id, operator: Box::new(Timer::new(id, operator)) },
        })
    }

    fn operator(&mut self, tree: &Physical, id: usize) -> BuildResult {
        Ok(match tree {
            Physical::Access(a) => self.access(a, id)?,
            Physical::Lookup(l) => self.lookup(l, id)?,
            Physical::Virtual(v) => Box::new(VirtualScan::new(id, v)?),
            Physical::Function(call) => Box::new(FunctionRows::new(call)?),
            Physical::Changed(rows) => Box::new(ChangedRows::new(rows.id.0 as usize)),
            Physical::Constants(constants) => Box::new(Constants::new(constants)?),
            Physical::Filter(filter) => {
                Box::new(Filter::new(self.node(&filter.input)?, &filter.predicate)?)
            }
            Physical::StartupFilter(filter) => {
                Box::new(StartupFilter::new(self.node(&filter.input)?, &filter.predicate)?)
            }
            Physical::Assert(assert) => {
                Box::new(Assert::new(self.node(&assert.input)?, assert.count))
            }
            Physical::Compute(compute) => {
                Box::new(Compute::new(self.node(&compute.input)?, &compute.columns)?)
            }
            Physical::Split(split) => Box::new(Split::new(self.node(&split.input)?, split)),
            Physical::Top(plan::TopRows { input, top }) => {
                let rows = if top.percent { input.written() } else { Vec::new() };
                Box::new(Top::new(id, self.node(input)?, top, rows)?)
            }
            Physical::Concatenation(all) => {
                let inputs = self.nodes_of(all.inputs.iter().map(|(input, s)| (input, &s[..])))?;
                Box::new(Concatenation::new(inputs, all.columns.clone()))
            }
            Physical::Recursive(r) => self.recursion(r, id)?,
            Physical::Exchange(exchange) => self.exchange(exchange)?,
            Physical::Spool(spool) => {
                Box::new(Spool::new(id, self.node(&spool.input)?, &spool.carried))
            }
            Physical::IndexSpool(spool) => {
                Box::new(IndexSpool::new(id, self.node(&spool.input)?, spool)?)
            }
            joining => match self.join(joining, id)? {
                Some(join) => join,
                None => self.ordering(tree, id)?,
            },
        })
    }

    /// Operators that bring two inputs together.
    fn join(&mut self, tree: &Physical, id: usize) -> SqlResult<Option<Box<dyn Operator>>> {
        Ok(Some(match tree {
            Physical::NestedLoops(join) => {
                let outer = self.node(&join.outer)?;
                let inner = self.node(&join.inner)?;
                Box::new(Loops::new(join, outer, inner)?)
            }
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
            Physical::MergeUnion(union) => {
                let left = self.node(&union.left)?;
                let right = self.node(&union.right)?;
                Box::new(MergeUnion::new(union, left, right)?)
            }
            _ => return Ok(None),
        }))
    }

    /// Inputs with the slots of their rows.
    fn nodes_of<'p>(
        &mut self,
        inputs: impl Iterator<Item = (&'p Physical, &'p [Slot])>,
    ) -> SqlResult<Vec<(Node, Vec<Slot>)>> {
        inputs.map(|(input, slots)| Ok((self.node(input)?, slots.to_vec()))).collect()
    }

    fn recursion(&mut self, r: &plan::Recursion<Physical>, id: usize) -> BuildResult {
        let inputs = self.nodes_of(r.inputs())?;
        let (columns, work) = (r.columns.clone(), r.work.clone());
        Ok(Box::new(Recursion::new(id, inputs, columns, work, r.limit)))
    }

    /// The reading end, above what a statement without workers runs.
    fn exchange(&mut self, exchange: &plan::Exchange) -> BuildResult {
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
    fn ordering(&mut self, tree: &Physical, id: usize) -> BuildResult {
        Ok(match tree {
            Physical::Sort(plan::Sort { input, keys, carried, distinct }) => {
                Box::new(Sort::new(id, self.node(input)?, keys, carried, *distinct))
            }
            Physical::TopSort(plan::TopSort { input, top, keys, carried }) => {
                Box::new(Sort::below_top(id, self.node(input)?, top, keys, carried)?)
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

    /// The input of groups: only the keys and the arguments of calls are read of its rows.
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

    fn access(&mut self, a: &plan::Access, id: usize) -> BuildResult {
        let above = self.read_above.take();
        if self.by_batches
            && let Some(scan) = self.batch_access(a, id, above.as_ref())?
        {
            return Ok(scan);
        }
        let hobt = self.hobt(a.source.database, a.source.hobt);
        self.uses.push((hobt, if a.seek.is_some() { Use::Seek } else { Use::Scan }));
        Ok(Box::new(Scan::new(id, hobt, self.cursor(hobt, id), a, above)?))
    }

    fn lookup(&mut self, l: &plan::KeyLookup, id: usize) -> BuildResult {
        // A lookup asks its input whether rows are unchanged, which batches cannot tell.
        let by_batches = std::mem::replace(&mut self.by_batches, false);
        let input = self.node(&l.input)?;
        self.by_batches = by_batches;
        let hobt = self.hobt(l.source.database, l.source.hobt);
        self.uses.push((hobt, Use::Lookup));
        Ok(Box::new(Lookup::new(id, hobt, self.cursor(hobt, id), input, l)?))
    }
}

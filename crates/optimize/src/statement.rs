//! Whole statements: what their roots need, protection of changes, subqueries.

use crate::convert::{Cardinality, Optimizer};
use crate::cost::{Prices, UNIT};
use crate::estimate::{Estimator, Origins};
use crate::facts::Facts;
use crate::memo::Memo;
use crate::node::{Node, Slots, Wish};
use crate::parallel::with_exchanges;
use crate::target_locks;
use base::limits::TREE_HEIGHT_MAX;
use base::{SqlError, SqlResult, messages};
use catalog::view::Object;
use plan::{
    Assert, ColumnSource, Delete, FollowUp, Insert, Logical, LogicalPlan, Merge, MergeAction,
    OldRow, Output, Physical, PhysicalPlan, Plan, Query, QueryHints, SelectAssign, Slot, Statement,
    Strength, Subquery, SubqueryId, Target, Toll, Update, VariableId,
};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

/// SQL Server's word for why a plan is not parallel.
const SERIAL_FOR_CALLS: &str = "TSQLUserDefinedFunctionsNotParallelizable";
/// A hint, the database or the server says MAXDOP 1.
pub const SERIAL_BY_DEGREE: &str = "MaxDOPSetToOne";
/// There is one processor.
pub const SERIAL_BY_PROCESSORS: &str = "EstimatedDOPIsOne";

/// Chooses how a bound statement is computed. `references` are what its table numbers count;
/// `facts` tells what the world looks like now.
///
/// Where a statement costs enough, it is chosen again for workers, without merge joins and groups
/// of neighbours, which need orders that workers' rows don't have; the cheaper of the two counts.
///
/// # Errors
/// 8622 when hints leave no plan.
pub fn optimize(
    plan: LogicalPlan,
    references: &[Object],
    facts: &dyn Facts,
) -> SqlResult<PhysicalPlan> {
    let Some(workers) = workers(&plan, facts) else {
        let mut serial = alone(plan, references, facts)?;
        serial.header.serial_reason = one_worker(&serial, facts);
        return Ok(serial);
    };
    let (again, relies) = (plan.clone(), relies_on_order(&plan));
    let mut serial = alone(plan, references, facts)?;
    let cost = serial.estimates.first().map_or(0.0, |e| e.subtree);
    let prefers = serial.header.hints.prefer_exchanges;
    if !prefers && cost <= facts.parallelism().threshold {
        return Ok(serial);
    }
    let parallel = for_workers(again, references, facts)
        .and_then(|p| with_exchanges(&p, workers, relies))
        .filter(|(_, parallel)| prefers || *parallel < cost);
    match parallel {
        Some((mut parallel, _)) => {
            parallel.header.hints = serial.header.hints;
            Ok(parallel)
        }
        None => {
            serial.header.serial_reason = serial.header.calls.then_some(SERIAL_FOR_CALLS);
            Ok(serial)
        }
    }
}

/// How many workers a statement may have, where it may have some.
fn workers(plan: &LogicalPlan, facts: &dyn Facts) -> Option<usize> {
    match plan.statement {
        Statement::Query(_) | Statement::Assign(_) => {}
        _ => return None,
    }
    let may = facts.parallelism().workers;
    let asked = plan.header.hints.max_workers.map_or(may, |n| n as usize);
    Some(asked).filter(|&n| n > 1 && may > 0)
}

/// Why a statement that reads tables has one worker at most, where that was said.
fn one_worker(plan: &PhysicalPlan, facts: &dyn Facts) -> Option<&'static str> {
    let reads = matches!(plan.statement, Statement::Query(_) | Statement::Assign(_))
        && !plan.header.references.is_empty();
    let one = match plan.header.hints.max_workers {
        Some(1) => Some(SERIAL_BY_DEGREE),
        Some(_) => None,
        None => facts.parallelism().serial_reason,
    };
    one.filter(|_| reads)
}

/// Whether a statement's rows come in an order that its text asks for.
fn relies_on_order(plan: &LogicalPlan) -> bool {
    let Some(mut at) = plan.statement.source() else { return false };
    loop {
        at = match at {
            Logical::Sort { .. } => return true,
            Logical::Top { input, .. }
            | Logical::Filter { input, .. }
            | Logical::Compute { input, .. } => input,
            _ => return false,
        }
    }
}

/// A plan of methods that workers can have.
fn for_workers(
    mut plan: LogicalPlan,
    references: &[Object],
    facts: &dyn Facts,
) -> Option<PhysicalPlan> {
    let hints = &mut plan.header.hints;
    if hints.joins.is_empty() {
        hints.joins = vec![plan::JoinHint::Loop, plan::JoinHint::Hash];
    }
    hints.groups = hints.groups.or(Some(plan::GroupHint::Hash));
    alone(plan, references, facts).ok()
}

/// Chooses how a statement is computed by one thread: EXISTS beside other conditions for each row
/// or by a join, whichever costs less.
fn alone(plan: LogicalPlan, references: &[Object], facts: &dyn Facts) -> SqlResult<PhysicalPlan> {
    let joined = crate::rewrite::with_joined_exists(&plan);
    let (apart, price) = priced(plan, BTreeSet::new(), references, facts)?;
    let Some((plan, joined)) = joined else { return Ok(apart) };
    match priced(plan, joined, references, facts) {
        Ok((joined, less)) if less < price => Ok(joined),
        _ => Ok(apart),
    }
}

/// A plan with what it costs, the runs of its subqueries included, in microseconds. Some of those
/// have become joins before.
fn priced(
    mut plan: LogicalPlan,
    mut joined: BTreeSet<SubqueryId>,
    references: &[Object],
    facts: &dyn Facts,
) -> SqlResult<(PhysicalPlan, f64)> {
    joined.extend(crate::rewrite::join_scalars(&mut plan));
    let Plan { mut statement, mut subqueries, mut follow_ups, slots, header, .. } = plan;
    let origins = origins(&mut statement, &mut subqueries, &mut follow_ups)?;
    let hinted = HintedFacts { facts, hints: &header.hints };
    let next_changed = next_changed(&statement, &follow_ups);
    let mut optimizer = Optimizer {
        references,
        subqueries: &subqueries,
        estimator: Estimator::new(references, &hinted, origins),
        prices: Prices::new(facts.memory()),
        hints: &header.hints,
        slots: Cell::new(slots),
        joined,
        enforcing: enforcing(&statement, &follow_ups),
        calls: header.calls,
        assigns: assigns(&statement),
        times: 1.0,
        runs: RefCell::default(),
        runs_price: 0.0,
        estimates: Vec::new(),
        changed: BTreeMap::new(),
        next_changed,
        follow_ups: follow_ups.len(),
        index_changes: Vec::new(),
        memo: Memo::default(),
        depth: 0,
        effort: crate::order::EFFORT_MAX,
        toll: Toll::new(facts.watch()),
        trials: crate::order::TRIALS_MAX,
    };
    // Joins of the statement take subqueries out of its expressions, and so do joins in subqueries,
    // which contain only lower numbers.
    let statement = optimizer.statement(statement)?;
    let mut estimates = vec![std::mem::take(&mut optimizer.estimates)];
    let mut of_follow_ups = Vec::with_capacity(follow_ups.len());
    let mut converted_follow_ups = Vec::with_capacity(follow_ups.len());
    for follow_up in follow_ups {
        converted_follow_ups.push(optimizer.follow_up(follow_up)?);
        of_follow_ups.push(std::mem::take(&mut optimizer.estimates));
    }
    for (change, estimates) in std::mem::take(&mut optimizer.index_changes) {
        converted_follow_ups.push(FollowUp::Index(Box::new(change)));
        of_follow_ups.push(estimates);
    }
    let follow_ups = converted_follow_ups;
    let mut converted = Vec::with_capacity(subqueries.len());
    for (n, subquery) in subqueries.iter().enumerate().rev() {
        converted.push(optimizer.subquery(SubqueryId(n as u32), subquery)?);
        estimates.push(std::mem::take(&mut optimizer.estimates));
    }
    converted.reverse();
    estimates[1..].reverse();
    estimates.extend(of_follow_ups);
    let estimates = estimates.concat();
    let (slots, runs_price) = (optimizer.slots.get(), optimizer.runs_price);
    let subqueries = converted;
    let mut plan = Plan { statement, subqueries, follow_ups, slots, header, estimates };
    plan.header.reads_versions = reads_versions(&plan);
    let own = plan.estimates.first().map_or(0.0, |e| e.subtree * UNIT);
    Ok((plan, own + runs_price))
}

/// Where slots come from, of trees that are not too high and have lost outer joins that are none.
fn origins(
    statement: &mut Statement<Logical>,
    subqueries: &mut [Subquery<Logical>],
    follow_ups: &mut [FollowUp<Logical>],
) -> SqlResult<Origins> {
    let mut origins = Origins::default();
    let followed = follow_ups.iter_mut().filter_map(|f| match f {
        FollowUp::Refuse { source, .. } => Some(source),
        FollowUp::Change(statement) => statement.source_mut(),
        FollowUp::Index(change) => Some(&mut change.source),
    });
    let of_subqueries = subqueries.iter_mut().map(|s| &mut s.source);
    for source in statement.source_mut().into_iter().chain(of_subqueries).chain(followed) {
        if source.height() > TREE_HEIGHT_MAX {
            return Err(crate::convert::too_deep());
        }
        crate::rewrite::without_outer(source);
        origins.note(source);
    }
    Ok(origins)
}

/// Whether anything is read that versions may answer.
fn reads_versions(plan: &PhysicalPlan) -> bool {
    let of_subqueries = plan.subqueries.iter().map(|s| &s.source);
    let followed = plan.follow_ups.iter().filter_map(FollowUp::source);
    let mut reads = false;
    for source in plan.statement.source().into_iter().chain(of_subqueries).chain(followed) {
        source.for_each(&mut |node| {
            let Some(locks) = node.describe().stored().map(|rows| rows.locks) else { return };
            reads |= locks.reads_versions() && locks.strength == Strength::Shared;
        });
    }
    reads
}

/// Facts as OPTIMIZE FOR has them.
struct HintedFacts<'h> {
    facts: &'h dyn Facts,
    hints: &'h QueryHints,
}

impl Facts for HintedFacts<'_> {
    fn size(&self, database: base::DatabaseId, hobt: base::HobtId) -> Option<crate::Size> {
        self.facts.size(database, hobt)
    }

    fn value(&self, variable: VariableId) -> Option<types::Value> {
        let said = self.hints.optimize_for.iter().find(|(v, _)| *v == variable);
        match said {
            Some((_, value)) => value.clone(),
            None if self.hints.unknown => None,
            None => self.facts.value(variable),
        }
    }

    fn memory(&self) -> crate::Memory {
        self.facts.memory()
    }

    fn dialect(&self) -> types::datetime::Dialect {
        self.facts.dialect()
    }

    fn now(&self) -> Option<types::datetime::Moment> {
        self.facts.now()
    }

    fn modifications(
        &self,
        database: base::DatabaseId,
        table: base::ObjectId,
        column: i32,
    ) -> Option<u64> {
        self.facts.modifications(database, table, column)
    }

    fn watch(&self) -> Option<&dyn plan::Watch> {
        self.facts.watch()
    }

    fn parallelism(&self) -> crate::Parallelism {
        self.facts.parallelism()
    }
}

impl Optimizer<'_> {
    /// OPTION (FAST n).
    fn rows_wish(&self) -> Wish<'static> {
        Wish { goal: self.hints.fast.map(|n| n as f64).filter(|n| *n > 0.0), ..Wish::NONE }
    }

    /// They come before those that they lead to: so how many rows a target changes is known
    /// when they are read.
    fn follow_up(&mut self, follow_up: FollowUp<Logical>) -> SqlResult<FollowUp<Physical>> {
        Ok(match follow_up {
            FollowUp::Refuse { conflict, source } => {
                let source = self.source(&source, &Slots::new())?;
                FollowUp::Refuse { conflict, source: self.finished(source) }
            }
            FollowUp::Change(statement) => FollowUp::Change(self.statement(statement)?),
            FollowUp::Index(_) => {
                let early = "an index is changed by itself before anybody chose it";
                return Err(SqlError::new(messages::INTERNAL, &[&early]));
            }
        })
    }

    /// The tree of a change, whose rows follow-ups read.
    fn changing(&mut self, target: &Target, root: Node) -> Physical {
        if let Some(kept) = &target.references.kept {
            let of = Cardinality { rows: root.rows, single: root.single };
            self.changed.insert(kept.id, of);
        }
        self.finished(root)
    }

    fn statement(&mut self, statement: Statement<Logical>) -> SqlResult<Statement<Physical>> {
        Ok(match statement {
            Statement::Query(q) => {
                let needed = q.columns.iter().map(|c| c.slot).collect();
                let source = self.convert(&q.source, Vec::new(), &needed, self.rows_wish())?;
                let source = self.finished(source);
                Statement::Query(Query { source, columns: q.columns })
            }
            Statement::Assign(a) => {
                let mut needed = Slots::new();
                a.assignments.iter().for_each(|(_, x)| needed.extend(self.reader().scalar(x)));
                let source = self.convert(&a.source, Vec::new(), &needed, Wish::NONE)?;
                let source = self.finished(source);
                Statement::Assign(SelectAssign { source, assignments: a.assignments })
            }
            Statement::Insert(i) => Statement::Insert(Box::new(self.insert(*i)?)),
            Statement::Update(u) => Statement::Update(Box::new(self.update(*u)?)),
            Statement::Delete(d) => Statement::Delete(Box::new(self.delete(*d)?)),
            Statement::Merge(m) => Statement::Merge(Box::new(self.merge_statement(*m)?)),
            Statement::Scalar(x) => Statement::Scalar(x),
            Statement::Condition(p) => Statement::Condition(p),
        })
    }

    fn subquery(
        &mut self,
        id: SubqueryId,
        subquery: &Subquery<Logical>,
    ) -> SqlResult<Subquery<Physical>> {
        let source = if self.joined.contains(&id) {
            self.finished(crate::convert::nothing())
        } else {
            let needed = subquery.columns.iter().copied().collect();
            self.times = self.runs.borrow().get(&id).copied().unwrap_or(1.0);
            let source = self.convert(&subquery.source, Vec::new(), &needed, Wish::NONE)?;
            let source = self.with_index_spools(source, self.times);
            // Of EXISTS, which is all that is compared, a run ends with the first row.
            self.runs_price += self.times * source.partly(1.0 / source.rows.max(1.0));
            self.times = 1.0;
            let source = if subquery.scalar { self.one_row(source) } else { source };
            self.finished(source)
        };
        let Subquery { ty, scalar, session, .. } = *subquery;
        let (columns, outer) = (subquery.columns.clone(), subquery.outer.clone());
        Ok(Subquery { source, columns, ty, scalar, outer, session })
    }

    /// Rows of which a second one is an error, where there may be one.
    fn one_row(&self, node: Node) -> Node {
        if node.single {
            return node;
        }
        let (count, cost) = (self.new_slot(), self.prices.pass(node.rows));
        node.over(cost, |input| Physical::Assert(Assert { input: Box::new(input), count }))
    }

    /// The tree of a root, whose estimates are kept.
    fn finished(&mut self, root: Node) -> Physical {
        self.estimates = root.estimates();
        debug_assert_eq!(
            self.estimates.len(),
            operators(&root.tree),
            "each operator has its estimate"
        );
        root.tree
    }

    fn source(&mut self, source: &Logical, needed: &Slots) -> SqlResult<Node> {
        self.convert(source, Vec::new(), needed, Wish::NONE)
    }

    fn insert(&mut self, mut i: Insert<Logical>) -> SqlResult<Insert<Physical>> {
        let mut needed = Slots::new();
        for column in &i.columns {
            if let ColumnSource::Value(x) = &column.source {
                needed.extend(self.reader().scalar(x));
            }
        }
        // Of a change that INSTEAD OF triggers take over, OUTPUT keeps the old rows.
        let made: Slots = i.columns.iter().map(|c| c.slot).collect();
        let output = i.output.iter().flat_map(|o| o.reads());
        needed.extend(output.filter(|slot| !made.contains(slot)));
        let node = self.source(&i.source, &needed)?;
        let values = |reads: &mut plan::Reads| {
            for column in &i.columns {
                if let ColumnSource::Value(x) = &column.source {
                    x.read_into(reads);
                }
            }
        };
        self.note_runs(node.rows, values);
        let node = self.protect_insert(&mut i, node, &needed);
        self.widen_insert(&mut i, &node);
        let source = self.changing(&i.target, node);
        let Insert { target, columns, identity, output, .. } = i;
        Ok(Insert { target, source, columns, identity, output })
    }

    fn update(&mut self, mut u: Update<Logical>) -> SqlResult<Update<Physical>> {
        let mut needed = locator(&u.old);
        u.assignments.iter().for_each(|a| needed.extend(self.reader().scalar(&a.value)));
        // Computed columns read what the change itself has written.
        let old = locator(&u.old);
        needed.retain(|slot| old.contains(slot) || !u.new.contains(&Some(*slot)));
        output_reads(&mut needed, u.output.as_deref(), &u.old, &u.new);
        let node = self.source(&u.source, &needed)?;
        self.note_runs(node.rows, |reads| {
            u.assignments.iter().for_each(|a| a.value.read_into(reads));
        });
        let node = self.protect_update(&mut u, node, &needed);
        self.widen_update(&mut u, &node);
        let source = self.changing(&u.target, node);
        let Update { target, old, new, assignments, distinct_rows, output, .. } = u;
        let mut u = Update { target, source, old, new, assignments, distinct_rows, output };
        let gathers = u.gathers();
        target_locks::keep(&mut u.source, gathers);
        Ok(u)
    }

    fn delete(&mut self, mut d: Delete<Logical>) -> SqlResult<Delete<Physical>> {
        let mut needed = locator(&d.old);
        output_reads(&mut needed, d.output.as_deref(), &d.old, &[]);
        let node = self.source(&d.source, &needed)?;
        let node = self.protect_delete(&d, node, &needed);
        self.widen_delete(&mut d, &node);
        let mut source = self.changing(&d.target, node);
        target_locks::keep(&mut source, false);
        let Delete { target, old, distinct_rows, output, .. } = d;
        Ok(Delete { target, source, old, distinct_rows, output })
    }

    /// The operator reads all rows before it changes any: it needs no other protection.
    fn merge_statement(&mut self, m: Merge<Logical>) -> SqlResult<Merge<Physical>> {
        let mut needed = locator(&m.old);
        needed.insert(m.has_target);
        needed.extend(m.has_source);
        output_reads(&mut needed, m.output.as_deref(), &m.old, &m.new);
        if m.captured {
            // No scan has them as its target's.
            needed.extend(m.old.columns.iter().flatten());
        }
        needed.remove(&m.action);
        for clause in &m.clauses {
            needed.extend(self.reader().predicate(&clause.condition));
            match &clause.action {
                MergeAction::Update(set) => {
                    set.iter().for_each(|a| needed.extend(self.reader().scalar(&a.value)));
                }
                MergeAction::Insert(values) => {
                    for value in values {
                        if let ColumnSource::Value(x) = value {
                            needed.extend(self.reader().scalar(x));
                        }
                    }
                }
                MergeAction::Delete => {}
            }
        }
        // Computed columns read what the change itself has written.
        needed.retain(|slot| !m.new.contains(&Some(*slot)));
        let node = self.source(&m.source, &needed)?;
        let of = Cardinality { rows: node.rows, single: node.single };
        for kept in m.targets().filter_map(|t| t.references.kept.as_ref()) {
            self.changed.insert(kept.id, of);
        }
        let mut source = self.finished(node);
        target_locks::keep(&mut source, true);
        let Merge {
            captured,
            target,
            inserts,
            deletes,
            old,
            new,
            has_target,
            has_source,
            clauses,
            identity,
            ..
        } = m;
        let Merge { top, clause, action, output, .. } = m;
        Ok(Merge {
            captured,
            target,
            inserts,
            deletes,
            source,
            old,
            new,
            has_target,
            has_source,
            clauses,
            identity,
            top,
            clause,
            action,
            output,
        })
    }
}

/// What an OUTPUT reads of the source of a change; new values are made by the change itself.
fn output_reads(needed: &mut Slots, output: Option<&Output>, old: &OldRow, new: &[Option<Slot>]) {
    let Some(output) = output else { return };
    let made = |slot: &Slot| new.contains(&Some(*slot)) && !old.columns.contains(&Some(*slot));
    needed.extend(output.reads().into_iter().filter(|slot| !made(slot)));
}

/// The first number under which no target keeps rows.
fn next_changed(statement: &Statement<Logical>, follow_ups: &[FollowUp<Logical>]) -> u32 {
    let further = follow_ups.iter().filter_map(|f| match f {
        FollowUp::Change(statement) => Some(statement),
        FollowUp::Refuse { .. } | FollowUp::Index(_) => None,
    });
    let mut next = 0;
    for statement in std::iter::once(statement).chain(further) {
        let merged = match statement {
            Statement::Merge(m) => m.inserts.iter().chain(&m.deletes).collect(),
            _ => Vec::new(),
        };
        let into = statement.output().and_then(|o| o.into.as_ref()).map(|i| &i.target);
        for target in statement.target().into_iter().chain(merged).chain(into) {
            next = next.max(target.references.kept.as_ref().map_or(0, |k| k.id.0 + 1));
        }
    }
    next
}

/// The subqueries by which foreign keys look for what rows refer to.
fn enforcing(
    statement: &Statement<Logical>,
    follow_ups: &[FollowUp<Logical>],
) -> BTreeSet<SubqueryId> {
    let further = follow_ups.iter().filter_map(|f| match f {
        FollowUp::Change(statement) => Some(statement),
        FollowUp::Refuse { .. } | FollowUp::Index(_) => None,
    });
    let targets = std::iter::once(statement).chain(further).filter_map(Statement::target);
    let checks = targets.flat_map(|t| &t.references.checks);
    checks.flat_map(|c| c.predicate.reads().subqueries).collect()
}

/// Whether a statement gives variables values while it reads rows.
fn assigns(statement: &Statement<Logical>) -> bool {
    match statement {
        Statement::Assign(_) => true,
        Statement::Update(u) => u.assignments.iter().any(|a| a.variable.is_some()),
        _ => false,
    }
}

/// How many operators a tree has.
fn operators(tree: &Physical) -> usize {
    let mut count = 0;
    tree.for_each(&mut |_| count += 1);
    count
}

/// The slots of an old row.
fn locator(old: &OldRow) -> Slots {
    let hidden = [old.uniquifier, old.rid, old.hint];
    old.columns.iter().copied().chain(hidden).flatten().collect()
}

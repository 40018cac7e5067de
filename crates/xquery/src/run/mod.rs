//! An expression over a value.
//!
//! Nodes are places in a tree: that of the value, or of one that a constructor has made. What an
//! expression cannot compute of its document (a number of text that is none) is no error but the
//! empty sequence, as SQL Server has it.

mod call;
mod compare;
mod construct;
mod step;
mod update;

use crate::atomic::Atomic;
use crate::query::Stop;
use crate::tree::{Binding, Comparison, Expr, Flwor, Predicate};
use base::{SqlError, SqlResult, messages};
use os::values::{Charge, FREE_BYTES};
use std::cmp::Ordering;
use std::ops::Deref;
use std::rc::Rc;
use types::{SqlType, Value};
use xml::{NodeId, Tree, TreeBuilder, Xml};

/// Nodes and items between two questions whether to stop.
const TICKS: u32 = 1024;
/// The most items of a sequence.
const ITEMS_MAX: usize = 1 << 22;
/// The longest string that is put together, in bytes.
const TEXT_BYTES_MAX: usize = 64 << 20;

/// A tree without nodes.
const TREE_BYTES: usize = 2 * size_of::<Tree>();

/// What the strings of items take.
fn text_bytes(items: &[Item]) -> usize {
    let of = |i: &Item| if let Item::Atomic(a) = i { a.heap_bytes() } else { 0 };
    items.iter().map(of).sum()
}

/// An item of a sequence.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    /// A node of a tree.
    Node(u32, NodeId),
    Atomic(Atomic),
}

impl Item {
    /// The node, if it is one of the value's own.
    pub(crate) fn of_value(&self) -> Option<NodeId> {
        match self {
            Item::Node(0, id) => Some(*id),
            _ => None,
        }
    }
}

/// What `.`, `position()` and `last()` are.
#[derive(Clone, Debug)]
pub(crate) struct Focus {
    item: Option<Item>,
    position: usize,
    size: usize,
}

/// A value of the statement.
pub(crate) enum SqlValue {
    Atomic(Option<Atomic>),
    Xml(Xml),
}

impl SqlValue {
    pub(crate) fn of(value: &Value, sql_type: SqlType) -> SqlValue {
        match value {
            Value::Xml(x) => SqlValue::Xml(x.clone()),
            _ => SqlValue::Atomic(Atomic::of_value(value, sql_type)),
        }
    }
}

/// A tree of the value, or one that was made.
#[derive(Clone)]
pub(crate) enum TreeRef<'a> {
    Value(&'a Tree),
    Made(Rc<Tree>),
}

impl Deref for TreeRef<'_> {
    type Target = Tree;
    fn deref(&self) -> &Tree {
        match self {
            TreeRef::Value(tree) => tree,
            TreeRef::Made(tree) => tree,
        }
    }
}

pub(crate) struct Run<'a> {
    trees: Vec<TreeRef<'a>>,
    at: NodeId,
    sql: Vec<SqlValue>,
    variables: Vec<Vec<Item>>,
    stop: &'a mut Stop<'a>,
    ticks: u32,
    /// What small trees that were made take: large ones are charged themselves.
    tree_bytes: usize,
    /// Of those, and of the longest sequence.
    charge: Charge,
}

impl<'a> Run<'a> {
    pub(crate) fn new(
        xml: &'a Xml,
        sql: Vec<SqlValue>,
        variables: usize,
        stop: &'a mut Stop<'a>,
    ) -> SqlResult<Run<'a>> {
        let trees = vec![TreeRef::Value(xml.tree()?)];
        let variables = vec![Vec::new(); variables];
        let (ticks, tree_bytes, charge) = (0, 0, Charge::default());
        Ok(Run { trees, at: xml.node(), sql, variables, stop, ticks, tree_bytes, charge })
    }

    /// The value itself.
    pub(crate) fn focus(&self) -> Focus {
        Focus { item: Some(Item::Node(0, self.at)), position: 1, size: 1 }
    }

    fn tick(&mut self) -> SqlResult<()> {
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks.is_multiple_of(TICKS) { (self.stop)() } else { Ok(()) }
    }

    fn tree(&self, number: u32) -> TreeRef<'a> {
        // A node names a tree that is held: the first one is there always.
        self.trees.get(number as usize).unwrap_or(&self.trees[0]).clone()
    }

    fn hold(&mut self, tree: Tree) -> SqlResult<u32> {
        let bytes = tree.heap_bytes() + TREE_BYTES;
        self.tree_bytes += if bytes > FREE_BYTES { TREE_BYTES } else { bytes };
        self.charge.cover(self.tree_bytes)?;
        self.trees.push(TreeRef::Made(Rc::new(tree)));
        Ok(self.trees.len() as u32 - 1)
    }

    /// An item's value.
    pub(crate) fn atomized(&self, item: &Item) -> Atomic {
        match item {
            Item::Atomic(a) => a.clone(),
            Item::Node(tree, id) => Atomic::Untyped(self.tree(*tree).string_value(*id)),
        }
    }

    /// The value of an expression that gives at most one.
    fn value(&mut self, e: &Expr, focus: &Focus) -> SqlResult<Option<Atomic>> {
        let items = self.eval(e, focus)?;
        Ok(items.first().map(|i| self.atomized(i)))
    }

    pub(crate) fn eval(&mut self, e: &Expr, focus: &Focus) -> SqlResult<Vec<Item>> {
        self.tick()?;
        let boolean = |b: bool| vec![Item::Atomic(Atomic::Boolean(b))];
        Ok(match e {
            Expr::Literal(a) => vec![Item::Atomic(a.clone())],
            Expr::Context => focus.item.iter().cloned().collect(),
            Expr::Root => match &focus.item {
                Some(Item::Node(tree, _)) => vec![Item::Node(*tree, NodeId::DOCUMENT)],
                _ => Vec::new(),
            },
            Expr::Variable(slot) => self.variables.get(*slot).cloned().unwrap_or_default(),
            Expr::Sql(place) => self.sql_value(*place)?,
            Expr::Sequence(items) => {
                let (mut all, mut bytes) = (Vec::new(), 0);
                for item in items {
                    let more = self.eval(item, focus)?;
                    bytes += text_bytes(&more);
                    all.extend(more);
                    self.bounded(all.len(), bytes)?;
                }
                all
            }
            Expr::Path(base, steps) => {
                let from = self.eval(base, focus)?;
                self.path(from, steps)?
            }
            Expr::Filter(base, predicates) => {
                let items = self.eval(base, focus)?;
                self.filtered(items, predicates)?
            }
            Expr::Or(operands) => boolean(self.any(operands, focus, true)?),
            Expr::And(operands) => boolean(!self.any(operands, focus, false)?),
            Expr::General(op, sides) => boolean(self.general(*op, sides, focus)?),
            Expr::Value(op, sides) => self.compared(*op, sides, focus)?,
            Expr::Nodes(op, sides) => self.places(*op, sides, focus)?,
            Expr::Arithmetic(first, rest) => self.arithmetic(first, rest, focus)?,
            Expr::Negate(operand) => self.negated(operand, focus)?,
            Expr::If(parts) => {
                let chosen = if self.holds(&parts.0, focus)? { &parts.1 } else { &parts.2 };
                self.eval(chosen, focus)?
            }
            Expr::Flwor(flwor) => self.flwor(flwor, focus)?,
            Expr::Quantified { every, bindings, test } => {
                boolean(self.quantified(*every, bindings, test, focus)?)
            }
            Expr::Call(function, args) => self.call(*function, args, focus)?,
            Expr::Cast(operand, to) => {
                let value = self.value(operand, focus)?;
                value.and_then(|v| v.cast(*to)).map(Item::Atomic).into_iter().collect()
            }
            Expr::Element(_)
            | Expr::Attribute(_)
            | Expr::Text(_)
            | Expr::Characters(_)
            | Expr::Comment(_)
            | Expr::Instruction(..) => self.constructed(e, focus)?,
        })
    }

    /// 701 for a sequence that no statement is worth, or that there is no room for; `text_bytes`:
    /// what its strings take.
    fn bounded(&mut self, items: usize, text_bytes: usize) -> SqlResult<()> {
        if items > ITEMS_MAX {
            return Err(SqlError::new(messages::OUT_OF_MEMORY, &[&"default"]));
        }
        // Its vector grows by doubling.
        self.charge.cover(self.tree_bytes + 2 * items * size_of::<Item>() + text_bytes)
    }

    /// The same for a string.
    fn bounded_text(&self, bytes: usize) -> SqlResult<()> {
        match bytes > TEXT_BYTES_MAX {
            true => Err(SqlError::new(messages::OUT_OF_MEMORY, &[&"default"])),
            false => Ok(()),
        }
    }

    fn sql_value(&mut self, place: usize) -> SqlResult<Vec<Item>> {
        match self.sql.get(place) {
            Some(SqlValue::Atomic(Some(a))) => Ok(vec![Item::Atomic(a.clone())]),
            Some(SqlValue::Xml(x)) => {
                let mut builder = TreeBuilder::new();
                builder.copy(x.tree()?, x.node())?;
                let tree = builder.finish();
                let nodes: Vec<NodeId> = tree.children(NodeId::DOCUMENT).collect();
                let number = self.hold(tree)?;
                Ok(nodes.into_iter().map(|n| Item::Node(number, n)).collect())
            }
            _ => Ok(Vec::new()),
        }
    }

    /// The effective boolean value of what a condition gives.
    pub(crate) fn holds(&mut self, e: &Expr, focus: &Focus) -> SqlResult<bool> {
        let items = self.eval(e, focus)?;
        Ok(match items.first() {
            None => false,
            Some(Item::Node(..)) => true,
            Some(Item::Atomic(Atomic::Boolean(b))) => *b,
            Some(Item::Atomic(_)) => true,
        })
    }

    /// Whether one of the operands is `wanted`.
    fn any(&mut self, operands: &[Expr], focus: &Focus, wanted: bool) -> SqlResult<bool> {
        for operand in operands {
            if self.holds(operand, focus)? == wanted {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Items that predicates leave, one predicate after the other.
    fn filtered(&mut self, items: Vec<Item>, predicates: &[Predicate]) -> SqlResult<Vec<Item>> {
        let mut items = items;
        for predicate in predicates {
            let size = items.len();
            if let Predicate::Index(index) = predicate {
                let found = index.checked_sub(1).and_then(|i| items.get(i).cloned());
                items = found.into_iter().collect();
                continue;
            }
            let mut kept = Vec::new();
            for (n, item) in items.into_iter().enumerate() {
                let focus = Focus { item: Some(item.clone()), position: n + 1, size };
                let keep = match predicate {
                    Predicate::Position(e) => {
                        let wanted = self.value(e, &focus)?.and_then(|v| v.number());
                        wanted == Some(focus.position as f64)
                    }
                    Predicate::Filter(e) => self.holds(e, &focus)?,
                    Predicate::Index(_) => true,
                };
                if keep {
                    kept.push(item);
                }
            }
            items = kept;
        }
        Ok(items)
    }

    fn set(&mut self, slot: usize, items: Vec<Item>) {
        if let Some(place) = self.variables.get_mut(slot) {
            *place = items;
        }
    }

    fn flwor(&mut self, flwor: &Flwor, focus: &Focus) -> SqlResult<Vec<Item>> {
        let (mut out, mut bytes) = (Vec::new(), 0);
        if flwor.order.is_empty() {
            self.tuples(flwor, &flwor.bindings, focus, &mut |run| {
                let more = run.eval(&flwor.result, focus)?;
                bytes += text_bytes(&more);
                out.extend(more);
                run.bounded(out.len(), bytes)
            })?;
            return Ok(out);
        }
        let mut rows: Vec<(Vec<Option<Atomic>>, Vec<Item>)> = Vec::new();
        let mut count = 0;
        self.tuples(flwor, &flwor.bindings, focus, &mut |run| {
            let mut keys = Vec::with_capacity(flwor.order.len());
            for (key, _) in &flwor.order {
                keys.push(run.value(key, focus)?);
            }
            let items = run.eval(&flwor.result, focus)?;
            count += items.len() + keys.len() + 1;
            bytes += text_bytes(&items);
            rows.push((keys, items));
            run.bounded(count, bytes)
        })?;
        rows.sort_by(|a, b| {
            let pairs = a.0.iter().zip(&b.0).zip(&flwor.order);
            let orders = pairs.map(|((x, y), (_, descending))| {
                let order = compare::key_order(x.as_ref(), y.as_ref());
                if *descending { order.reverse() } else { order }
            });
            orders.fold(Ordering::Equal, Ordering::then)
        });
        rows.into_iter().for_each(|(_, items)| out.extend(items));
        Ok(out)
    }

    /// Does something for each tuple of the bindings that passes `where`. Recursion is as deep as
    /// there are bindings, which the text bounds.
    fn tuples(
        &mut self,
        flwor: &Flwor,
        bindings: &[Binding],
        focus: &Focus,
        each: &mut dyn FnMut(&mut Self) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let Some((first, rest)) = bindings.split_first() else {
            return match &flwor.filter {
                Some(filter) if !self.holds(filter, focus)? => Ok(()),
                _ => each(self),
            };
        };
        match first {
            Binding::Let(slot, e) => {
                let items = self.eval(e, focus)?;
                self.set(*slot, items);
                self.tuples(flwor, rest, focus, each)
            }
            Binding::For(slot, e) => {
                for item in self.eval(e, focus)? {
                    self.set(*slot, vec![item]);
                    self.tuples(flwor, rest, focus, each)?;
                }
                Ok(())
            }
        }
    }

    fn quantified(
        &mut self,
        every: bool,
        bindings: &[(usize, Expr)],
        test: &Expr,
        focus: &Focus,
    ) -> SqlResult<bool> {
        let Some(((slot, source), rest)) = bindings.split_first() else {
            return self.holds(test, focus);
        };
        for item in self.eval(source, focus)? {
            self.set(*slot, vec![item]);
            if self.quantified(every, rest, test, focus)? != every {
                return Ok(!every);
            }
        }
        Ok(every)
    }

    fn general(&mut self, op: Comparison, sides: &(Expr, Expr), focus: &Focus) -> SqlResult<bool> {
        let left = self.eval(&sides.0, focus)?;
        let right = self.eval(&sides.1, focus)?;
        let right: Vec<Atomic> = right.iter().map(|i| self.atomized(i)).collect();
        for item in &left {
            let value = self.atomized(item);
            for other in &right {
                self.tick()?;
                if compare::matches(op, &value, other) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

//! One SELECT block: FROM, WHERE, GROUP BY, HAVING, select list, windows, DISTINCT, ORDER BY, TOP.
//!
//! Clauses are bound in this order while the block's scope is open; the tree is built from the
//! bottom when all are known. Select-list expressions that nothing below needs are computed above
//! ORDER BY and TOP.

use crate::binder::Binder;
use crate::expressions::aggregate::GroupShape;
use crate::expressions::collation;
use crate::expressions::comparable::{check_distinct, check_key};
use crate::expressions::deduction::is_untyped_null;
use crate::expressions::draws::DrawRule;
use crate::expressions::expression::assigning_operator;
use crate::names::groups::Groups;
use crate::names::result::{Ordering, OutColumn, Place, QueryResult};
use crate::names::scope::{Clause, Scope, WindowGroup};
use crate::queries::order::{OrderTerm, push_key};
use crate::refusal::{standing, unsupported};
use crate::tree::{computed_columns, filtered};
use base::{SqlError, SqlResult, messages};
use plan::{Logical, Predicate, Scalar, ScalarKind, Slot, SortKey, VariableId, WindowCall};
use tsql::ast::{self, ExprKind, SelectItem};
use types::Collation;

/// An item of the select list.
pub(crate) struct Item {
    pub(crate) scalar: Scalar,
    pub(crate) name: Option<Box<str>>,
    pub(crate) user_type_id: i32,
    pub(crate) identity: bool,
    pub(crate) stored: bool,
    /// Which source of the query has it.
    source: Option<usize>,
    variable: Option<VariableId>,
}

/// The clauses of a block, bound.
struct Block {
    filter: Predicate,
    group_by: bool,
    items: Vec<Item>,
    having: Option<Predicate>,
    order: Vec<OrderTerm>,
}

/// PARTITION BY, ORDER BY and the functions of a window.
type KeyedWindow = (Vec<SortKey>, Vec<SortKey>, Vec<WindowCall>);

/// The most items of a select list.
const ITEMS_MAX: usize = 4096;
/// What a column of a query takes, about.
const ITEM_BYTES: usize = 256;

impl Binder<'_> {
    pub(crate) fn select(
        &mut self,
        s: &ast::Select,
        ordering: Ordering<'_>,
        place: Place,
    ) -> SqlResult<QueryResult> {
        if s.items.iter().any(|i| matches!(i, SelectItem::Assign { .. })) {
            return Err(SqlError::new(messages::SYNTAX_NEAR, &[&"="]));
        }
        if let Some(into) = &s.into {
            let first = self.into.as_ref().is_some_and(|i| i.name.span == into.table.span);
            if !first {
                return Err(match place {
                    Place::Operand => SqlError::new(messages::INTO_NOT_FIRST, &[]),
                    _ => SqlError::new(messages::SYNTAX_NEAR_KEYWORD, &[&"INTO"]),
                });
            }
            if into.filegroup.is_some() {
                return Err(unsupported("SELECT INTO … ON filegroup", s.span.line));
            }
        }
        let from = self.from(&s.from)?;
        self.within(Scope::new(from.sources, Clause::Where), |b| {
            let block = b.block(s, ordering, place)?;
            b.assemble(from.tree, block, s, ordering, place)
        })
    }

    /// The block of `SELECT @v = …`: its rows, and what each assigns.
    pub(crate) fn assigning_select(
        &mut self,
        s: &ast::Select,
        ordering: Ordering<'_>,
    ) -> SqlResult<(Logical, Vec<(VariableId, Scalar)>)> {
        let from = self.from(&s.from)?;
        self.within(Scope::new(from.sources, Clause::Where), |b| {
            let mut block = b.block(s, ordering, Place::Statement)?;
            let tree = b.rows(from.tree, &mut block)?;
            let tree = b.drawn_rows(tree);
            let (tree, keys) = b.sorted(tree, &mut block, ordering)?;
            let tree = b.limited(tree, s, &keys, ordering)?;
            let assigned = |i: Item| (i.variable.expect("every item assigns"), i.scalar);
            Ok((tree, block.items.into_iter().map(assigned).collect()))
        })
    }

    fn clause(&mut self, clause: Clause) {
        let scope = self.scopes.last_mut().expect("a block's scope is open while it is bound");
        scope.clause = clause;
    }

    fn block(&mut self, s: &ast::Select, ordering: Ordering<'_>, place: Place) -> SqlResult<Block> {
        let exists = place == Place::Subquery { exists: true };
        if let Some(scope) = self.scopes.last_mut() {
            scope.window_names.clone_from(&s.windows);
        }
        let filter = match &s.filter {
            Some(c) => self.condition(c)?,
            None => Predicate::TRUE,
        };
        self.clause(Clause::GroupBy);
        let groups = match &s.group_by {
            Some(g) => self.group_by(g)?,
            None => Groups::default(),
        };
        if let Some(scope) = self.scopes.last_mut() {
            scope.groups = groups;
        }
        self.clause(Clause::SelectList);
        let mut items = Vec::with_capacity(s.items.len());
        for item in &s.items {
            let star = matches!(item, SelectItem::Star(_) | SelectItem::QualifiedStar(_));
            // What nobody reads need not be expanded; an order may name what a star gives.
            if exists && star && ordering.items.is_empty() {
                continue;
            }
            let rule = list_rule(s, ordering, place);
            self.drawing(rule, |b| b.item(item, &mut items))?;
        }
        if items.len() > ITEMS_MAX {
            return Err(SqlError::new(messages::SELECT_LIST_MAX, &[&ITEMS_MAX]));
        }
        self.depth.pay(items.len() * ITEM_BYTES)?;
        self.clause(Clause::Having);
        let having = match &s.having {
            Some(c) => Some(self.condition(c)?),
            None => None,
        };
        self.clause(Clause::OrderBy);
        let names: Vec<Option<Box<str>>> = items.iter().map(|i| i.name.clone()).collect();
        let scalars: Vec<Scalar> = items.iter().map(|i| i.scalar.clone()).collect();
        let mut order = Vec::with_capacity(ordering.items.len());
        for (n, item) in ordering.items.iter().enumerate() {
            let key = self.order_item(n + 1, item, &names, &scalars)?;
            if s.distinct && matches!(key, OrderTerm::Expression(_)) {
                let error = SqlError::new(messages::ORDER_BY_DISTINCT, &[]);
                return Err(error.at_line(item.expr.span.line));
            }
            order.push(key);
        }
        Ok(Block { filter, group_by: s.group_by.is_some(), items, having, order })
    }

    pub(crate) fn item(&mut self, item: &SelectItem, out: &mut Vec<Item>) -> SqlResult<()> {
        match item {
            SelectItem::Star(span) => self.star(None, span.line, out),
            SelectItem::QualifiedStar(q) => self.star(Some(q), q.span.line, out),
            SelectItem::Expr { expr, alias } => {
                let own = match &expr.kind {
                    ExprKind::Column(name) => {
                        let column = self.column(name)?;
                        self.no_node(&column.scalar, &name.name)?;
                        Some((column, &name.name))
                    }
                    _ => None,
                };
                if let ExprKind::Identity(f) = &expr.kind {
                    let name = alias.as_ref().map(|a| a.text.clone());
                    let value = self.identity_function(out.len(), f, expr.span.line)?;
                    out.push(Item { name, ..expression_item(value, None) });
                    return Ok(());
                }
                let bound = match own {
                    Some((c, written)) => Item {
                        scalar: c.scalar,
                        // As it is written: in whatever case. $action and its kin are no names.
                        name: match written.starts_with('$') {
                            true => Some(c.name),
                            false => Some(written.text.clone()),
                        },
                        user_type_id: c.user_type_id,
                        identity: c.identity,
                        stored: c.stored,
                        source: c.source,
                        variable: None,
                    },
                    None => expression_item(self.expr(expr)?, None),
                };
                let name = alias.as_ref().map(|a| a.text.clone()).or(bound.name);
                out.push(Item { name, ..bound });
                Ok(())
            }
            SelectItem::Assign { variable, op, value } => {
                let target = self.variable(variable)?;
                let value = self.expr(value)?;
                let wanted = self.target_type(&target, &value);
                let plan::ScalarKind::Variable(id) = target.kind else { return Ok(()) };
                let value = match assigning_operator(*op) {
                    Some(op) => self.binary(op, target, value)?,
                    None => value,
                };
                let value = self.assigned(value, wanted).map_err(|e| e.at_line(variable.line))?;
                out.push(expression_item(value, Some(id)));
                Ok(())
            }
        }
    }

    /// `*` or `t.*`
    fn star(
        &mut self,
        qualifier: Option<&ast::ObjectName>,
        line: u32,
        out: &mut Vec<Item>,
    ) -> SqlResult<()> {
        let scope = self.scopes.len() - 1;
        let sources = self.scopes[scope].sources.clone();
        if sources.is_empty() {
            return Err(SqlError::new(messages::STAR_WITHOUT_FROM, &[]).at_line(line));
        }
        let mut found = false;
        for (position, source) in sources.iter().enumerate() {
            if qualifier.is_some_and(|q| !self.bears(source, q)) {
                continue;
            }
            found = true;
            for column in 0..self.column_count(source) {
                let name = ast::ColumnName {
                    qualifier: None,
                    name: ast::Name { text: self.column_name(source, column), line },
                };
                let c = self.column_of(source, column)?;
                self.no_node(&c.scalar, &c.name)?;
                self.note_read(scope, source, &c.scalar, &name);
                out.push(Item {
                    scalar: c.scalar,
                    name: Some(c.name),
                    user_type_id: c.user_type_id,
                    identity: c.identity,
                    stored: c.stored,
                    source: Some(position),
                    variable: None,
                });
            }
        }
        match qualifier {
            Some(q) if !found => Err(SqlError::new(messages::PREFIX_NO_MATCH, &[q]).at_line(line)),
            _ => Ok(()),
        }
    }

    fn note_read(
        &mut self,
        scope: usize,
        source: &crate::names::scope::Source,
        scalar: &Scalar,
        name: &ast::ColumnName,
    ) {
        let Some(slot) = scalar.as_column() else { return };
        let scope = &mut self.scopes[scope];
        scope.reads.push(crate::names::scope::ColumnRead {
            slot,
            shown: format!("{}.{}", source.shown, name.name),
            line: name.name.line,
            clause: scope.clause,
            nested: false,
        });
    }

    /// FROM, WHERE, grouping, HAVING and windows as a tree; the block's expressions are then over
    /// what it gives.
    fn rows(&mut self, from: Logical, block: &mut Block) -> SqlResult<Logical> {
        let mut tree = filtered(from, std::mem::replace(&mut block.filter, Predicate::TRUE));
        let scope = self.scopes.last_mut().expect("the block's scope is open");
        let calls = std::mem::take(&mut scope.calls);
        let mut windows = std::mem::take(&mut scope.windows);
        let reads = std::mem::take(&mut scope.reads);
        let groups = std::mem::take(&mut scope.groups);
        if block.group_by || block.having.is_some() || !calls.is_empty() {
            let keys = groups.placed();
            let sets = groups.has_sets();
            let clause_present = block.group_by;
            let shape = GroupShape { keys: &keys, reads: &reads, clause_present, sets };
            regroup(&shape, block, &mut windows)?;
            tree = self.grouped_rows(tree, &groups, &keys, calls);
        }
        if let Some(having) = block.having.take() {
            tree = filtered(tree, having);
        }
        standing(windows.len())?;
        // What any of them sorts by is computed below all of them.
        let mut columns = Vec::new();
        let keyed: Vec<_> = windows.into_iter().map(|w| self.keyed(w, &mut columns)).collect();
        let computed = computed_columns(tree, columns);
        Ok(keyed.into_iter().fold(computed, |tree, (partition, order, calls)| Logical::Window {
            input: Box::new(tree),
            partition,
            order,
            calls,
        }))
    }

    /// A window by slots of what it sorts by, which may have to be computed.
    fn keyed(&mut self, window: WindowGroup, columns: &mut Vec<(Slot, Scalar)>) -> KeyedWindow {
        let mut partition = Vec::with_capacity(window.partition.len());
        for x in window.partition {
            let (slot, collation) = self.slot_of(x, columns);
            partition.push(SortKey { slot, collation, descending: false });
        }
        let mut order = Vec::with_capacity(window.order.len());
        for (x, descending) in window.order {
            let (slot, collation) = self.slot_of(x, columns);
            order.push(SortKey { slot, collation, descending });
        }
        (partition, order, window.calls)
    }

    /// The slot of a value: its own, or a new one that it is to be computed into.
    pub(crate) fn slot_of(
        &mut self,
        x: Scalar,
        columns: &mut Vec<(Slot, Scalar)>,
    ) -> (Slot, Collation) {
        let collation = x.ty.collation;
        match x.as_column() {
            Some(slot) => (slot, collation),
            None => {
                let slot = self.new_slot();
                columns.push((slot, x));
                (slot, collation)
            }
        }
    }

    fn assemble(
        &mut self,
        from: Logical,
        mut block: Block,
        s: &ast::Select,
        ordering: Ordering<'_>,
        place: Place,
    ) -> SqlResult<QueryResult> {
        let only_null = s.from.is_empty()
            && s.filter.is_none()
            && s.top.is_none()
            && matches!(block.items.as_slice(), [one] if is_untyped_null(&one.scalar));
        let nulls: Vec<bool> = block.items.iter().map(|i| is_untyped_null(&i.scalar)).collect();
        let mut tree = self.rows(from, &mut block)?;
        if place == Place::Statement {
            tree = self.drawn_rows(tree);
        }
        if s.distinct {
            tree = self.distinct(tree, &mut block)?;
        }
        let (tree, keys) = self.sorted(tree, &mut block, ordering)?;
        let tree = self.limited(tree, s, &keys, ordering)?;
        let mut computed = Vec::new();
        let mut columns = Vec::with_capacity(block.items.len());
        for (item, untyped_null) in block.items.into_iter().zip(nulls) {
            let ty = item.scalar.ty;
            let calculated =
                matches!(item.scalar.kind, ScalarKind::Binary { .. } | ScalarKind::Negate(_));
            let (slot, _) = self.slot_of(item.scalar, &mut computed);
            columns.push(OutColumn {
                name: item.name,
                slot,
                ty,
                user_type_id: item.user_type_id,
                identity: item.identity,
                stored: item.stored,
                source: item.source,
                untyped_null,
                calculated,
            });
        }
        Ok(QueryResult { tree: computed_columns(tree, computed), columns, only_null })
    }

    /// DISTINCT over all items, which are computed first.
    fn distinct(&mut self, tree: Logical, block: &mut Block) -> SqlResult<Logical> {
        let mut computed = Vec::new();
        let mut columns: Vec<(Slot, Collation)> = Vec::new();
        for item in &mut block.items {
            let ty = item.scalar.ty;
            check_distinct(ty.sql_type)?;
            collation::check_distinct(ty)?;
            let scalar = std::mem::replace(&mut item.scalar, Scalar::null(ty.sql_type));
            let (slot, collation) = self.slot_of(scalar, &mut computed);
            item.scalar = Scalar::column(slot, ty);
            if !columns.iter().any(|(s, _)| *s == slot) {
                columns.push((slot, collation));
            }
        }
        Ok(Logical::Distinct { input: Box::new(computed_columns(tree, computed)), columns })
    }

    fn sorted(
        &mut self,
        tree: Logical,
        block: &mut Block,
        ordering: Ordering<'_>,
    ) -> SqlResult<(Logical, Vec<SortKey>)> {
        let mut computed = Vec::new();
        let mut keys = Vec::new();
        for (at, key) in std::mem::take(&mut block.order).into_iter().enumerate() {
            let sorted_by = match &key {
                OrderTerm::Nothing => None,
                OrderTerm::Expression(x) => Some(x.ty),
                OrderTerm::Item(n) => Some(block.items[*n].scalar.ty),
            };
            let check = |ty| check_key(ty, at + 1);
            sorted_by.map_or(Ok(()), check).map_err(|e| {
                let line = ordering.items.get(at).map_or(0, |i| i.expr.span.line);
                e.at_line(line)
            })?;
            let (slot, collation) = match key {
                OrderTerm::Nothing => continue,
                OrderTerm::Expression(x) => self.slot_of(x, &mut computed),
                OrderTerm::Item(n) => {
                    let ty = block.items[n].scalar.ty;
                    let scalar = block.items[n].scalar.clone();
                    if scalar.as_constant().is_some() {
                        continue;
                    }
                    let place = self.slot_of(scalar, &mut computed);
                    block.items[n].scalar = Scalar::column(place.0, ty);
                    place
                }
            };
            push_key(&mut keys, slot, collation, ordering.items, at)?;
        }
        let tree = computed_columns(tree, computed);
        if keys.is_empty() {
            return Ok((tree, keys));
        }
        Ok((Logical::Sort { input: Box::new(tree), keys: keys.clone() }, keys))
    }

    fn limited(
        &mut self,
        tree: Logical,
        s: &ast::Select,
        keys: &[SortKey],
        ordering: Ordering<'_>,
    ) -> SqlResult<Logical> {
        match (&s.top, ordering.offset) {
            (Some(_), Some(_)) => Err(SqlError::new(messages::TOP_WITH_OFFSET, &[]).with_state(2)),
            (Some(top), None) => {
                let top = self.top(top, keys)?;
                Ok(Logical::Top { input: Box::new(tree), top })
            }
            (None, Some(offset)) => self.offset(tree, offset),
            (None, None) => Ok(tree),
        }
    }
}

fn expression_item(scalar: Scalar, variable: Option<VariableId>) -> Item {
    let (name, source) = (None, None);
    Item { scalar, name, user_type_id: 0, identity: false, stored: false, source, variable }
}

/// Every late expression in terms of groups.
fn regroup(
    shape: &GroupShape<'_>,
    block: &mut Block,
    windows: &mut [WindowGroup],
) -> SqlResult<()> {
    block.items.iter_mut().try_for_each(|item| shape.scalar(&mut item.scalar))?;
    if let Some(having) = &mut block.having {
        shape.predicate(having)?;
    }
    for key in &mut block.order {
        if let OrderTerm::Expression(x) = key {
            shape.scalar(x)?;
        }
    }
    for window in windows {
        window.partition.iter_mut().try_for_each(|x| shape.scalar(x))?;
        window.order.iter_mut().try_for_each(|(x, _)| shape.scalar(x))?;
        for call in &mut window.calls {
            call.function.arguments_mut().try_for_each(|x| shape.scalar(x))?;
        }
    }
    shape.nested_reads()
}

/// What the select list of a query may do.
fn list_rule(s: &ast::Select, ordering: Ordering<'_>, place: Place) -> DrawRule {
    DrawRule::Refused(match place {
        Place::Operand => messages::NEXT_VALUE_SET_OPERATION,
        Place::Derived | Place::Subquery { .. } | Place::Document => messages::NEXT_VALUE_NESTED,
        Place::Statement if s.distinct => messages::NEXT_VALUE_SET_OPERATION,
        Place::Statement if s.top.is_some() || ordering.offset.is_some() => {
            messages::NEXT_VALUE_TOP
        }
        Place::Statement => {
            return DrawRule::SelectList { ordered: !ordering.items.is_empty() };
        }
    })
}

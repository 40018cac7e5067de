//! ORDER BY, TOP and OFFSET.

use crate::binder::Binder;
use crate::expressions::comparable::check_key;
use crate::names::result::{Ordering, OutColumn, QueryResult};
use crate::names::scope::Scope;
use base::{SqlError, SqlResult, messages};
use plan::{Logical, Scalar, Slot, SortKey, Top};
use tsql::ast::{self, ExprKind, Literal, QueryBody, SelectItem};
use types::{Family, SqlType, Value};

/// What an item of ORDER BY means.
pub(crate) enum OrderTerm {
    /// An item of the select list.
    Item(usize),
    /// An expression.
    Expression(Scalar),
    /// Something that is the same for every row.
    Nothing,
}

impl Binder<'_> {
    /// An item of ORDER BY: a position, an alias, or an expression over the query's sources.
    pub(crate) fn order_item(
        &mut self,
        position: usize,
        item: &ast::OrderItem,
        names: &[Option<Box<str>>],
        scalars: &[Scalar],
    ) -> SqlResult<OrderTerm> {
        let line = item.expr.span.line;
        match &item.expr.kind {
            ExprKind::Literal(Literal::Integer(n)) => {
                return order_position(n, names.len()).map_err(|e| e.at_line(line));
            }
            ExprKind::Literal(_) => {
                let error = SqlError::new(messages::ORDER_BY_CONSTANT, &[&position]);
                return Err(error.at_line(line));
            }
            ExprKind::Unary { op, operand }
                if *op != ast::UnaryOp::BitNot && whole(operand).is_some() =>
            {
                let digits = whole(operand).unwrap_or_default();
                let signed = if *op == ast::UnaryOp::Minus { format!("-{digits}") } else { digits };
                return order_position(&signed, names.len()).map_err(|e| e.at_line(line));
            }
            kind if is_converted_variable(kind) => {
                let error = SqlError::new(messages::ORDER_BY_VARIABLE, &[&position]);
                return Err(error.at_line(line));
            }
            ExprKind::Column(name) if name.qualifier.is_none() => {
                if let Some(n) = self.alias(&name.name, names, scalars)? {
                    return Ok(OrderTerm::Item(n));
                }
            }
            _ => {}
        }
        let key = self.expr(&item.expr)?;
        if key.as_constant().is_some() {
            // What is computed of constants is one (408); a function is called, a query is read.
            let called = matches!(
                item.expr.kind,
                ExprKind::Function(_) | ExprKind::Niladic(_) | ExprKind::Subquery(_)
            );
            let error = SqlError::new(messages::ORDER_BY_CONSTANT, &[&position]);
            return if called { Ok(OrderTerm::Nothing) } else { Err(error.at_line(line)) };
        }
        Ok(match scalars.iter().position(|x| *x == key) {
            Some(n) => OrderTerm::Item(n),
            None => OrderTerm::Expression(key),
        })
    }

    /// The item of the select list that bears a name.
    fn alias(
        &self,
        name: &ast::Name,
        names: &[Option<Box<str>>],
        scalars: &[Scalar],
    ) -> SqlResult<Option<usize>> {
        let mut found: Option<usize> = None;
        for (n, own) in names.iter().enumerate() {
            let Some(own) = own else { continue };
            if !self.same(own, name) {
                continue;
            }
            match found {
                Some(known) if scalars.get(known) != scalars.get(n) => {
                    return Err(
                        SqlError::new(messages::AMBIGUOUS_COLUMN, &[name]).at_line(name.line)
                    );
                }
                Some(_) => {}
                None => found = Some(n),
            }
        }
        Ok(found)
    }

    /// Orders and limits a result whose columns alone can be named: set operations.
    pub(crate) fn ordered(
        &mut self,
        result: QueryResult,
        q: &ast::Query,
    ) -> SqlResult<QueryResult> {
        let ordering = Ordering::of(q);
        let mut keys: Vec<SortKey> = Vec::new();
        for (n, item) in ordering.items.iter().enumerate() {
            let names: Vec<Option<Box<str>>> =
                result.columns.iter().map(|c| c.name.clone()).collect();
            let line = item.expr.span.line;
            let column = match &item.expr.kind {
                ExprKind::Column(name) if name.qualifier.is_none() => {
                    let slots: Vec<Scalar> = result.columns.iter().map(as_scalar).collect();
                    self.alias(&name.name, &names, &slots)?.ok_or_else(|| {
                        SqlError::new(messages::INVALID_COLUMN, &[&name.name]).at_line(line)
                    })?
                }
                ExprKind::Column(name) => match self.first_written(&q.body, name) {
                    Some(column) if column < names.len() => column,
                    Some(_) | None => return Err(not_selected(line)),
                },
                ExprKind::Literal(_) => match self.order_item(n + 1, item, &names, &[])? {
                    OrderTerm::Item(column) => column,
                    OrderTerm::Expression(_) | OrderTerm::Nothing => continue,
                },
                _ => return Err(not_selected(line)),
            };
            let c = &result.columns[column];
            check_key(c.ty, n + 1).map_err(|e| e.at_line(line))?;
            push_key(&mut keys, c.slot, c.ty.collation, ordering.items, n)?;
        }
        let tree = match keys.is_empty() {
            true => result.tree,
            false => Logical::Sort { input: Box::new(result.tree), keys },
        };
        let tree = match ordering.offset {
            Some(offset) => self.offset(tree, offset)?,
            None => tree,
        };
        Ok(QueryResult { tree, only_null: false, ..result })
    }

    /// Which item of the first query of set operations is the column that a qualified name means:
    /// `ORDER BY t.a` behind `SELECT t.a … UNION …`.
    fn first_written(&self, body: &QueryBody, sought: &ast::ColumnName) -> Option<usize> {
        let select = match body {
            QueryBody::Select(select) => select,
            QueryBody::Parenthesized(q) => return self.first_written(&q.body, sought),
            QueryBody::SetOperation(operation) => {
                return self.first_written(&operation.first, sought);
            }
        };
        let means = |item: &SelectItem| match item {
            SelectItem::Expr { expr: ast::Expr { kind: ExprKind::Column(c), .. }, .. } => {
                let table = |c: &ast::ColumnName| c.qualifier.as_ref().map(|q| q.object.clone());
                let same_table = match (table(c), table(sought)) {
                    (Some(a), Some(b)) => self.same(&a, &b),
                    _ => true,
                };
                same_table && self.same(&c.name, &sought.name)
            }
            _ => false,
        };
        select.items.iter().position(means)
    }

    /// TOP; its expression sees no columns.
    pub(crate) fn top(&mut self, top: &ast::Top, keys: &[SortKey]) -> SqlResult<Top> {
        if top.with_ties && keys.is_empty() {
            return Err(SqlError::new(messages::TIES_WITHOUT_ORDER, &[]));
        }
        let count = self.row_count(&top.count, top.percent)?;
        match (top.percent, count.as_constant()) {
            (true, Some(Value::Float(share))) if !(0.0..=100.0).contains(share) => {
                let error = SqlError::new(messages::TOP_PERCENT_RANGE, &[]);
                return Err(error.at_line(top.count.span.line));
            }
            (true, _) => {}
            (false, _) => at_least(&count, 0, messages::TOP_NEGATIVE)?,
        }
        Ok(Top {
            count: Some(count),
            percent: top.percent,
            ties: top.with_ties.then(|| keys.to_vec()),
            offset: None,
        })
    }

    pub(crate) fn offset(&mut self, tree: Logical, offset: &ast::Offset) -> SqlResult<Logical> {
        let skip = self.row_count(&offset.offset, false)?;
        at_least(&skip, 0, messages::OFFSET_NEGATIVE)?;
        let count = match &offset.fetch {
            Some(fetch) => Some(self.row_count(fetch, false)?),
            None => None,
        };
        if let Some(count) = &count {
            at_least(count, 1, messages::FETCH_NOT_POSITIVE)?;
        }
        let top = Top { count, percent: false, ties: None, offset: Some(skip) };
        Ok(Logical::Top { input: Box::new(tree), top })
    }

    fn row_count(&mut self, e: &ast::Expr, percent: bool) -> SqlResult<Scalar> {
        let scope = Scope::barrier(crate::names::scope::Clause::From);
        let count = self.within(scope, |b| b.expr(e))?;
        let family = count.ty.sql_type.family();
        let bound = match percent {
            true => self.implicit(count, SqlType::Float),
            false if family == Family::Integer => self.implicit(count, SqlType::BigInt),
            // 5000000000 is numeric in T-SQL, and a number of rows.
            false if matches!(count.ty.sql_type, SqlType::Decimal { scale: 0, .. }) => {
                self.implicit(count, SqlType::BigInt)
            }
            false => Err(SqlError::new(messages::TOP_NOT_INTEGER, &[])),
        };
        bound.map_err(|error| error.at_line(e.span.line))
    }
}

fn not_selected(line: u32) -> SqlError {
    SqlError::new(messages::ORDER_BY_NOT_IN_SELECT_LIST, &[]).at_line(line)
}

/// A constant number of rows that is too small is an error before anything runs.
fn at_least(count: &Scalar, least: i64, message: base::Message) -> SqlResult<()> {
    match count.as_constant().and_then(Value::as_i64) {
        Some(n) if n < least => Err(SqlError::new(message, &[])),
        _ => Ok(()),
    }
}

fn as_scalar(c: &OutColumn) -> Scalar {
    Scalar::column(c.slot, c.ty)
}

/// The digits of a whole number.
fn whole(x: &ast::Expr) -> Option<String> {
    match &x.kind {
        ExprKind::Literal(Literal::Integer(n)) => Some(n.to_string()),
        _ => None,
    }
}

/// Whether an item is a variable, or one converted: SQL Server takes it for a position (1008).
fn is_converted_variable(kind: &ExprKind) -> bool {
    match kind {
        ExprKind::Variable(_) => true,
        ExprKind::Cast(cast) => is_converted_variable(&cast.operand.kind),
        _ => false,
    }
}

fn order_position(digits: &str, columns: usize) -> SqlResult<OrderTerm> {
    match digits.parse::<usize>() {
        Ok(n) if (1..=columns).contains(&n) => Ok(OrderTerm::Item(n - 1)),
        _ => Err(SqlError::new(messages::ORDER_BY_POSITION, &[&digits])),
    }
}

/// Adds the key of item `n`; one that is there already under the same name is error 169. Columns of
/// a derived table may be one slot under several names: then the first suffices.
pub(crate) fn push_key(
    keys: &mut Vec<SortKey>,
    slot: Slot,
    collation: types::Collation,
    items: &[ast::OrderItem],
    n: usize,
) -> SqlResult<()> {
    let item = &items[n];
    if !keys.iter().any(|k| k.slot == slot) {
        keys.push(SortKey { slot, collation, descending: item.descending });
        return Ok(());
    }
    match items[..n].iter().any(|earlier| named_alike(&earlier.expr, &item.expr)) {
        true => Err(SqlError::new(messages::ORDER_BY_DUPLICATE, &[]).at_line(item.expr.span.line)),
        false => Ok(()),
    }
}

/// Whether two items name a column or a position alike.
fn named_alike(a: &ast::Expr, b: &ast::Expr) -> bool {
    match (&a.kind, &b.kind) {
        (ExprKind::Column(a), ExprKind::Column(b)) => {
            a.name.text.eq_ignore_ascii_case(&b.name.text)
        }
        (ExprKind::Literal(a), ExprKind::Literal(b)) => a == b,
        _ => false,
    }
}

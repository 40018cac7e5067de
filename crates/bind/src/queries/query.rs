//! Queries: statements, CTEs, what may stand where.

use crate::binder::Binder;
use crate::expressions::collation::check_column;
use crate::expressions::draws::DrawRule;
use crate::names::cte::Cte;
use crate::names::result::{Ordering, OutColumn, Place, QueryResult};
use crate::names::scope::Scope;
use crate::queries::document::{ASSIGNMENT, refuse_document};
use crate::refusal::unsupported;
use base::{SqlError, SqlResult, messages};
use plan::{Logical, Query, ResultColumn, SelectAssign, Statement};
use std::rc::Rc;
use tsql::ast::{self, QueryBody, SelectItem};

impl Binder<'_> {
    pub(crate) fn select_statement(
        &mut self,
        s: &ast::SelectStatement,
    ) -> SqlResult<Statement<Logical>> {
        self.options(&s.options)?;
        self.with_ctes(s.with.as_deref(), |b| match assigning(&s.query) {
            Some(select) => b.select_assign(select, &s.query),
            None => {
                b.embeds = b.header.recompile;
                if crate::into_of(s).is_some() {
                    refuse_document(&s.query, "SELECT INTO")?;
                }
                b.into = crate::into_of(s).map(crate::IntoTable::of);
                let mut result = b.query(&s.query, Place::Statement)?;
                check_columns(&result)?;
                b.note_into(&mut result.tree, &result.columns)?;
                let columns = result.columns.iter().map(result_column).collect();
                Ok(Statement::Query(Query { source: result.tree, columns }))
            }
        })
    }

    fn select_assign(
        &mut self,
        select: &ast::Select,
        query: &ast::Query,
    ) -> SqlResult<Statement<Logical>> {
        refuse_document(query, ASSIGNMENT)?;
        let mixed = select.items.iter().any(|i| !matches!(i, SelectItem::Assign { .. }));
        if mixed || select.into.is_some() {
            return Err(SqlError::new(messages::SELECT_ASSIGN_MIXED, &[]));
        }
        if select.distinct {
            return Err(unsupported("DISTINCT with assignments", select.span.line));
        }
        let (source, assignments) = self.assigning_select(select, Ordering::of(query))?;
        Ok(Statement::Assign(SelectAssign { source, assignments }))
    }

    /// Binds within the names that a WITH clause defines.
    pub(crate) fn with_ctes<T>(
        &mut self,
        with: Option<&ast::WithClause>,
        body: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let (before, namespaces) = (self.ctes.len(), self.xml_namespaces.len());
        if let Some(with) = with {
            self.check_cte_names(with)?;
            let declared = with
                .xml_namespaces
                .iter()
                .map(|n| (n.prefix.as_ref().map_or("".into(), |p| p.text.clone()), n.uri.clone()));
            self.xml_namespaces.extend(declared);
            for cte in &with.ctes {
                let entry = Cte {
                    name: cte.name.text.clone(),
                    columns: cte.columns.clone(),
                    query: cte.query.clone(),
                    work: None,
                };
                self.ctes.push(Rc::new(entry));
            }
        }
        let result = body(self);
        self.ctes.truncate(before);
        self.xml_namespaces.truncate(namespaces);
        result
    }

    /// No name twice: 239.
    fn check_cte_names(&self, with: &ast::WithClause) -> SqlResult<()> {
        for (n, cte) in with.ctes.iter().enumerate() {
            if with.ctes[..n].iter().any(|earlier| self.same(&earlier.name, &cte.name)) {
                let error = SqlError::new(messages::CTE_DUPLICATE, &[&cte.name]);
                return Err(error.at_line(cte.name.line));
            }
        }
        Ok(())
    }

    /// A CTE where it is named: its query, seeing only the CTEs before it.
    pub(crate) fn cte_query(&mut self, position: usize) -> SqlResult<QueryResult> {
        let cte = Rc::clone(&self.ctes[position]);
        let later = self.ctes.split_off(position);
        let outer = std::mem::take(&mut self.scopes);
        let within = self.in_recursion.take();
        let result = if self.names_itself(&cte) {
            let bound = self.nested(2, |b| b.recursive(&cte));
            bound.map_err(|e| e.at_line(cte.query.span.line))
        } else {
            self.query(&cte.query, Place::Derived)
        };
        self.in_recursion = within;
        self.scopes = outer;
        self.ctes.extend(later);
        result
    }

    /// A query.
    pub(crate) fn query(&mut self, q: &ast::Query, place: Place) -> SqlResult<QueryResult> {
        let rule = DrawRule::Refused(messages::NEXT_VALUE_CLAUSE);
        let bound = self.nested(2, |b| b.drawing(rule, |b| b.query_kind(q, place)));
        bound.map_err(|e| e.at_line(q.span.line))
    }

    fn query_kind(&mut self, q: &ast::Query, place: Place) -> SqlResult<QueryResult> {
        if let Some(clause) = &q.for_clause {
            let ordered = place == Place::Subquery { exists: false } || place == Place::Derived;
            let inside = if ordered { Place::Document } else { place };
            let result = self.query_body(q, inside)?;
            if place == Place::Statement {
                check_columns(&result)?;
            }
            return self.document(result, clause, &q.body, place);
        }
        self.query_body(q, place)
    }

    fn query_body(&mut self, q: &ast::Query, place: Place) -> SqlResult<QueryResult> {
        let limited = q.offset.is_some() || has_top(&q.body);
        let orders = matches!(place, Place::Statement | Place::Document);
        if !q.order_by.is_empty() && !orders && !limited {
            return Err(SqlError::new(messages::ORDER_BY_IN_DERIVED, &[]));
        }
        match &q.body {
            QueryBody::Select(select) => self.select(select, Ordering::of(q), place),
            QueryBody::Parenthesized(inner) => {
                let place = if q.order_by.is_empty() { place } else { Place::Operand };
                let result = self.query(inner, place)?;
                self.ordered(result, q)
            }
            QueryBody::SetOperation(operation) => {
                let result = self.set_operation(operation)?;
                self.ordered(result, q)
            }
        }
    }

    /// One operand of a set operation.
    pub(crate) fn body(&mut self, body: &ast::QueryBody) -> SqlResult<QueryResult> {
        match body {
            QueryBody::Select(s) => self.nested(1, |b| b.select(s, Ordering::NONE, Place::Operand)),
            QueryBody::Parenthesized(q) => self.query(q, Place::Operand),
            QueryBody::SetOperation(operation) => self.nested(1, |b| b.set_operation(operation)),
        }
    }

    /// A scope on top, for as long as a part is bound.
    pub(crate) fn within<T>(
        &mut self,
        scope: Scope,
        body: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        self.scopes.push(scope);
        let result = body(self);
        self.scopes.pop();
        result
    }
}

/// The columns of a statement's own result must have collations; those of a query within another
/// need none.
fn check_columns(result: &QueryResult) -> SqlResult<()> {
    let mut columns = (1..).zip(&result.columns);
    columns.try_for_each(|(place, c)| check_column(c.ty, "SELECT", place))
}

fn result_column(c: &OutColumn) -> ResultColumn {
    ResultColumn {
        name: c.name.clone().unwrap_or_default(),
        slot: c.slot,
        sql_type: c.ty.sql_type,
        user_type_id: c.user_type_id,
        nullable: c.ty.nullable,
        collation: c.ty.collation,
        identity: c.identity,
        updatable: c.stored,
        untyped: c.untyped_null,
    }
}

/// Whether a SELECT of the body has a TOP, for which an order may stand behind the whole. Operands
/// in parentheses are queries of their own.
fn has_top(body: &ast::QueryBody) -> bool {
    match body {
        QueryBody::Select(s) => s.top.is_some(),
        QueryBody::Parenthesized(_) => false,
        QueryBody::SetOperation(o) => {
            has_top(&o.first) || o.rest.iter().any(|operand| has_top(&operand.body))
        }
    }
}

/// The SELECT of a statement that assigns to variables.
fn assigning(q: &ast::Query) -> Option<&ast::Select> {
    match &q.body {
        QueryBody::Select(s) => {
            s.items.iter().any(|i| matches!(i, SelectItem::Assign { .. })).then_some(s)
        }
        QueryBody::Parenthesized(_) | QueryBody::SetOperation(_) => None,
    }
}

/// Whether a SELECT gives values to variables and gives others to the client: 141.
pub fn mixes_assignment(query: &ast::Query) -> bool {
    let QueryBody::Select(select) = &query.body else { return false };
    let assigns = |i: &SelectItem| matches!(i, SelectItem::Assign { .. });
    select.items.iter().any(assigns) && !select.items.iter().all(assigns)
}

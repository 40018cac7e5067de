//! Common table expressions that name themselves.
//!
//! The body is a list of queries joined by UNION ALL; those that name the expression are its
//! recursive members, the ones before are the anchor. A member is bound with the expression's
//! name standing for one row, whose slots the members of `plan::Recursion` read as outer ones.
//!
//! Invariants
//!  1. Types are the anchor's: a member that gives others is error 240.
//!  2. A member names the expression once, in its FROM, not in a subquery.

use crate::binder::Binder;
use crate::expressions::collation::{as_column, settled};
use crate::names::cte::{Cte, Work};
use crate::names::from::FromPart;
use crate::names::result::{OutColumn, QueryResult};
use crate::names::scope::{Clause, Columns, DerivedColumn, Source};
use base::{SqlError, SqlResult, messages};
use plan::{CombiningOperator, Logical, Recursion, Scalar, Slot};
use std::cell::Cell;
use std::rc::Rc;
use tsql::ast::{self, QueryBody, SetOperator, TableSourceKind};

/// The parts of a recursive body: queries, each with the operator before it.
type Parts<'q> = Vec<(Option<SetOperator>, &'q QueryBody)>;

impl Binder<'_> {
    /// Whether the FROM clauses of an expression name it.
    pub(crate) fn names_itself(&self, cte: &Cte) -> bool {
        self.body_names(&cte.query.body, &cte.name)
    }

    fn body_names(&self, body: &QueryBody, name: &str) -> bool {
        match body {
            QueryBody::Select(s) => s.from.iter().any(|t| self.source_names(t, name)),
            QueryBody::Parenthesized(q) => self.body_names(&q.body, name),
            QueryBody::SetOperation(o) => {
                self.body_names(&o.first, name)
                    || o.rest.iter().any(|r| self.body_names(&r.body, name))
            }
        }
    }

    fn source_names(&self, source: &ast::TableSource, name: &str) -> bool {
        match &source.kind {
            TableSourceKind::Table(t) => t.name.schema.is_none() && self.same(&t.name.object, name),
            TableSourceKind::Joined { first, joins } => {
                self.source_names(first, name)
                    || joins.iter().any(|j| self.source_names(&j.right, name))
            }
            TableSourceKind::Derived { query, .. } => self.body_names(&query.body, name),
            _ => false,
        }
    }

    /// An expression that names itself.
    pub(crate) fn recursive(&mut self, cte: &Rc<Cte>) -> SqlResult<QueryResult> {
        let name = &cte.name;
        let parts = self.parts(cte)?;
        let first = parts.iter().position(|(_, p)| self.body_names(p, name)).unwrap_or(0);
        let error = |message| SqlError::new(message, &[name]);
        if first == 0 {
            return Err(error(messages::RECURSIVE_NO_ANCHOR));
        }
        let (anchors, members) = parts.split_at(first);
        if members.iter().any(|(_, p)| !self.body_names(p, name)) {
            return Err(error(messages::RECURSIVE_ANCHOR_LATE));
        }
        if members.iter().any(|(op, _)| *op != Some(SetOperator::UnionAll)) {
            return Err(error(messages::RECURSIVE_UNION_ALL));
        }
        let anchor = self.anchor(anchors)?;
        let columns = self.recursive_columns(cte, &anchor)?;
        let work: Vec<DerivedColumn> =
            columns.iter().map(|c| DerivedColumn { slot: self.new_slot(), ..c.clone() }).collect();
        let mut bound = Vec::with_capacity(members.len());
        for (_, member) in members {
            bound.push(self.member(cte, member, &work)?);
        }
        let out = columns.iter().zip(&anchor.columns).map(|(c, from)| OutColumn {
            name: from.name.clone(),
            slot: c.slot,
            ty: c.ty,
            user_type_id: from.user_type_id,
            identity: false,
            stored: false,
            source: None,
            calculated: true,
            untyped_null: false,
        });
        let out: Vec<OutColumn> = out.collect();
        let tree = Recursion {
            name: name.clone(),
            anchor_slots: anchor.columns.iter().map(|c| c.slot).collect(),
            anchor: anchor.tree,
            members: bound,
            columns: columns.iter().map(|c| c.slot).collect(),
            work: work.iter().map(|c| c.slot).collect(),
            limit: (self.max_recursion > 0).then_some(self.max_recursion),
        };
        let tree = Logical::Recursive(Box::new(tree));
        Ok(QueryResult { tree, columns: out, only_null: false })
    }

    /// The queries of the body.
    fn parts<'q>(&self, cte: &'q Cte) -> SqlResult<Parts<'q>> {
        let QueryBody::SetOperation(o) = &cte.query.body else {
            return Err(SqlError::new(messages::RECURSIVE_UNION_ALL, &[&cte.name]));
        };
        if !cte.query.order_by.is_empty() && cte.query.offset.is_none() {
            return Err(SqlError::new(messages::ORDER_BY_IN_DERIVED, &[]));
        }
        let mut parts: Parts<'q> = vec![(None, &o.first)];
        parts.extend(o.rest.iter().map(|r| (Some(r.op), &r.body)));
        Ok(parts)
    }

    fn anchor(&mut self, parts: &[(Option<SetOperator>, &QueryBody)]) -> SqlResult<QueryResult> {
        let rest = parts.iter().skip(1).map(|(op, body)| ast::SetOperand {
            op: op.unwrap_or(SetOperator::UnionAll),
            body: (*body).clone(),
            span: ast::Span::default(),
        });
        let rest: Vec<ast::SetOperand> = rest.collect();
        let (_, first) = parts[0];
        if rest.is_empty() {
            return self.body(first);
        }
        self.set_operation(&ast::SetOperation { first: first.clone(), rest })
    }

    /// The columns of the whole: the anchor's, any of which may be NULL.
    fn recursive_columns(
        &mut self,
        cte: &Cte,
        anchor: &QueryResult,
    ) -> SqlResult<Vec<DerivedColumn>> {
        let count = anchor.columns.len();
        if !cte.columns.is_empty() {
            crate::names::from::check_alias_count(&cte.name, count, &cte.columns)?;
        }
        let mut columns = Vec::with_capacity(count);
        for (n, c) in anchor.columns.iter().enumerate() {
            let given = cte.columns.get(n).map(|a| a.text.clone()).or_else(|| c.name.clone());
            let name = given
                .ok_or_else(|| SqlError::new(messages::NO_COLUMN_NAME, &[&(n + 1), &cte.name]))?;
            columns.push(DerivedColumn {
                name,
                slot: self.new_slot(),
                ty: as_column(plan::ScalarType { nullable: true, ..c.ty }),
                user_type_id: c.user_type_id,
                identity: false,
            });
        }
        Ok(columns)
    }

    /// A recursive member over the row it runs for.
    fn member(
        &mut self,
        cte: &Rc<Cte>,
        body: &QueryBody,
        work: &[DerivedColumn],
    ) -> SqlResult<(Logical, Vec<Slot>)> {
        forbidden(body, &cte.name)?;
        let references = Rc::new(Cell::new(0));
        let work_row = Work { columns: work.to_vec(), references: Rc::clone(&references) };
        self.ctes.push(Rc::new(Cte {
            name: cte.name.clone(),
            columns: Vec::new(),
            query: cte.query.clone(),
            work: Some(work_row),
        }));
        self.in_recursion = Some(cte.name.clone());
        let bound = self.body(body);
        self.in_recursion = None;
        self.ctes.pop();
        let bound = bound?;
        if references.get() > 1 {
            return Err(SqlError::new(messages::RECURSIVE_TWICE, &[&cte.name]));
        }
        if bound.columns.len() != work.len() {
            return Err(SqlError::new(messages::UNION_COUNT, &[]));
        }
        let slots = bound.columns.iter().map(|c| c.slot).collect();
        for (own, wanted) in bound.columns.iter().zip(work) {
            if !own.untyped_null && own.ty.sql_type != wanted.ty.sql_type {
                let facts: [&dyn std::fmt::Display; 2] = [&wanted.name, &cte.name];
                return Err(SqlError::new(messages::RECURSIVE_TYPES, &facts));
            }
            let pair = [Scalar::column(wanted.slot, wanted.ty), Scalar::column(own.slot, own.ty)];
            settled(wanted.ty, pair.iter(), CombiningOperator::UnionAll)?;
        }
        Ok((bound.tree, slots))
    }

    /// The expression's name within its own member: one row, whose values stand outside.
    pub(crate) fn work_row(
        &mut self,
        name: &str,
        work: &Work,
        alias: Option<&ast::Name>,
    ) -> SqlResult<FromPart> {
        let in_subquery = self.scopes.iter().any(|s| s.clause != Clause::From);
        if in_subquery {
            return Err(SqlError::new(messages::RECURSIVE_SUBQUERY, &[]));
        }
        work.references.set(work.references.get() + 1);
        let name: Box<str> = alias.map_or_else(|| name.into(), |a| a.text.clone());
        let source = Source {
            shown: name.clone(),
            name,
            schema: None,
            database: None,
            aliased: true,
            columns: Columns::Derived(work.columns.clone()),
            body: None,
        };
        let tree = Logical::Values { rows: vec![Vec::new()], columns: Vec::new() };
        Ok(FromPart { tree, sources: vec![source] })
    }
}

/// What a recursive member may not have.
fn forbidden(body: &QueryBody, name: &str) -> SqlResult<()> {
    let QueryBody::Select(s) = body else {
        return Err(SqlError::new(messages::RECURSIVE_UNION_ALL, &[&name]));
    };
    let message = if s.distinct {
        messages::RECURSIVE_DISTINCT
    } else if s.top.is_some() {
        messages::RECURSIVE_TOP
    } else if s.group_by.is_some() || s.having.is_some() {
        messages::RECURSIVE_GROUP
    } else if s.from.iter().any(has_outer_join) {
        messages::RECURSIVE_OUTER_JOIN
    } else {
        return Ok(());
    };
    Err(SqlError::new(message, &[&name]))
}

fn has_outer_join(source: &ast::TableSource) -> bool {
    let TableSourceKind::Joined { first, joins } = &source.kind else { return false };
    let outer = |j: &ast::Join| {
        use ast::JoinKind as K;
        matches!(j.kind, K::Left | K::Right | K::Full | K::OuterApply) || has_outer_join(&j.right)
    };
    has_outer_join(first) || joins.iter().any(outer)
}

//! SELECT … INTO: the columns of the table that is to be, and the INSERT that fills it.
//!
//! A column takes name, type, collation and nullability of what the query gives. It inherits
//! IDENTITY when it is an identity column of the only table that the query reads, and is listed
//! once; joins, groups and set operations leave a plain column that is not null.

use crate::binder::Binder;
use crate::into_table::{IdentityFunction, IntoColumn};
use crate::names::result::OutColumn;
use base::{SqlError, SqlResult, messages};
use catalog::view::{Object, ResolvedObject};
use plan::{Logical, Scalar};
use std::sync::Arc;
use tsql::ast::{self, QueryBody};
use types::SqlType;

/// The SELECT of a query that may have an INTO: the first.
pub(crate) fn first_select(q: &ast::Query) -> Option<&ast::Select> {
    fn of_body(body: &QueryBody) -> Option<&ast::Select> {
        match body {
            QueryBody::Select(s) => Some(s),
            QueryBody::Parenthesized(q) => first_select(q),
            QueryBody::SetOperation(s) => of_body(&s.first),
        }
    }
    of_body(&q.body)
}

/// The INTO of a statement.
pub fn into_of(s: &ast::SelectStatement) -> Option<&ast::SelectInto> {
    first_select(&s.query)?.into.as_deref()
}

impl Binder<'_> {
    /// Notes an item `IDENTITY(type, seed, increment)`; its value until then is NULL.
    pub(crate) fn identity_function(
        &mut self,
        position: usize,
        f: &ast::IdentityColumn,
        line: u32,
    ) -> SqlResult<Scalar> {
        let Some(into) = &self.into else {
            return Err(SqlError::new(messages::IDENTITY_FUNCTION_NO_INTO, &[]).at_line(line));
        };
        let name = into.name.object.text.clone();
        let sql_type = crate::declared_type(&f.type_name, 1)?;
        let allowed = match sql_type {
            SqlType::TinyInt | SqlType::SmallInt | SqlType::Int | SqlType::BigInt => true,
            SqlType::Decimal { scale, .. } => scale == 0,
            _ => false,
        };
        if !allowed {
            let e = SqlError::new(messages::IDENTITY_INVALID_TYPE, &[&name]);
            return Err(e.at_line(line));
        }
        let (seed, increment) = match &f.seed_increment {
            Some((seed, increment)) => (self.whole(seed)?, self.whole(increment)?),
            None => (1, 1),
        };
        if increment == 0 {
            let e = SqlError::new(messages::IDENTITY_INCREMENT_INVALID, &[&name]);
            return Err(e.at_line(line));
        }
        if self.identity_functions.iter().any(|f| f.position != position) {
            let e = SqlError::new(messages::INTO_IDENTITY_MULTIPLE, &[&name]);
            return Err(e.at_line(line));
        }
        self.identity_functions.push(IdentityFunction { position, sql_type, seed, increment });
        Ok(Scalar { ty: self.plain(sql_type, false), ..Scalar::null(sql_type) })
    }

    fn whole(&mut self, e: &ast::Expr) -> SqlResult<i128> {
        let x = self.expr(e)?;
        let x = self.implicit(x, SqlType::BigInt)?;
        let n = x.as_constant().and_then(types::Value::as_i64).map(i128::from);
        n.ok_or_else(|| SqlError::new(messages::SYNTAX_NEAR, &[&"IDENTITY"]).at_line(e.span.line))
    }

    /// The columns of the table that a query is to make.
    pub(crate) fn note_into(&mut self, tree: &mut Logical, columns: &[OutColumn]) -> SqlResult<()> {
        if self.into.is_none() {
            return Ok(());
        }
        let inherited = self.inherited(tree, columns);
        let Some(into) = &mut self.into else { return Ok(()) };
        let table = &into.name.object.text;
        for (n, c) in columns.iter().enumerate() {
            let Some(name) = c.name.clone().filter(|name| !name.is_empty()) else {
                let e = SqlError::new(messages::NAME_EMPTY, &[]).with_state(5);
                return Err(e.at_line(into.name.span.line));
            };
            let of_function = self.identity_functions.iter().find(|f| f.position == n);
            let own = inherited.filter(|(at, ..)| *at == n);
            let identity = match of_function {
                Some(f) => Some((f.seed, f.increment)),
                None => own.map(|(_, seed, increment)| (seed, increment)),
            };
            into.columns.push(IntoColumn {
                name,
                sql_type: of_function.map_or(c.ty.sql_type, |f| f.sql_type),
                user_type_id: c.user_type_id,
                nullable: identity.is_none() && (c.ty.nullable || c.untyped_null || c.calculated),
                collation: c.ty.collation,
                identity,
            });
        }
        if let (Some((at, ..)), false) = (inherited, self.identity_functions.is_empty()) {
            let args: [&dyn std::fmt::Display; 2] = [table, &into.columns[at].name];
            let e = SqlError::new(messages::INTO_IDENTITY_INHERITED, &args);
            return Err(e.at_line(into.name.span.line));
        }
        Ok(())
    }

    /// The column that inherits IDENTITY, with seed and increment.
    fn inherited(&self, tree: &mut Logical, columns: &[OutColumn]) -> Option<(usize, i128, i128)> {
        let mut plain = true;
        tree.for_each_mut(&mut |node| {
            plain &= !matches!(
                node,
                Logical::Join { .. }
                    | Logical::Aggregate(_)
                    | Logical::Concatenate { .. }
                    | Logical::Recursive(_)
            );
        });
        let mut tables = self.references.iter().filter_map(|r| match &r.object {
            Object::Table(t) => t.identity().and_then(|c| t.columns[c].identity),
            Object::Virtual(_) | Object::Sequence(_) | Object::Synonym(_) | Object::Module(_) => {
                None
            }
        });
        let (Some(own), None, true) = (tables.next(), tables.next(), plain) else { return None };
        let mut listed = columns.iter().enumerate().filter(|(_, c)| c.identity);
        match (listed.next(), listed.next()) {
            (Some((at, _)), None) => Some((at, own.seed, own.increment)),
            _ => None,
        }
    }

    /// What a SELECT INTO reads by the name of the temporary table that it has made: the one that
    /// it hides.
    pub(crate) fn hidden_by_made(&self, name: &str) -> Option<ResolvedObject> {
        let (made, table) = self.filled.as_ref()?;
        if !self.same(made, name) {
            return None;
        }
        let catalogs = self.environment.catalogs;
        let table = Arc::clone(table);
        let database = catalogs.database("tempdb").unwrap_or_else(|| catalogs.current());
        Some(ResolvedObject { database, object: Object::Table(table) })
    }
}

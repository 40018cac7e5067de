//! FROM: tables, system views and functions, derived tables, joins.

use crate::binder::Binder;
use crate::expressions::collation::as_column;
use crate::names::from::no_changes;
use crate::names::from::{FromPart, check_alias_count};
use crate::names::hint::{self, Use};
use crate::names::result::{Place, QueryResult};
use crate::names::scope::{Body, Clause, Columns, DerivedColumn, Scope, Source};
use crate::refusal::{standing, unsupported};
use crate::tree::{computed_columns, tables_of};
use base::{SqlError, SqlResult, messages};
use catalog::view::{self, Object, Table, VirtualTable, follow, resolve};
use plan::{
    CombiningOperator, Get, JoinHint, JoinKind, LockHints, Logical, Predicate, Reads, Scalar,
    TableNo, VirtualGet,
};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use tsql::ast::{self, TableSourceKind};

impl Binder<'_> {
    /// A FROM clause; one row without columns when there is none.
    pub(crate) fn from(&mut self, list: &[ast::TableSource]) -> SqlResult<FromPart> {
        if list.len() > 1 {
            no_changes(list, messages::CHANGES_IN_JOIN)?;
        }
        standing(list.len())?;
        let mut all: Option<FromPart> = None;
        for source in list {
            let next = self.table_source(source)?;
            all = Some(match all.take() {
                None => next,
                Some(left) => self.joined(left, next, JoinKind::Inner, Predicate::TRUE, None)?,
            });
        }
        let all = all.unwrap_or_else(|| FromPart {
            tree: Logical::Values { rows: vec![Vec::new()], columns: Vec::new() },
            sources: Vec::new(),
        });
        standing(all.tree.height())?;
        Ok(all)
    }

    fn joined(
        &mut self,
        left: FromPart,
        right: FromPart,
        kind: JoinKind,
        on: Predicate,
        hint: Option<JoinHint>,
    ) -> SqlResult<FromPart> {
        let sources = self.united(left.sources, right.sources)?;
        let (left, right) = (Box::new(left.tree), Box::new(right.tree));
        Ok(FromPart { tree: Logical::Join { kind, left, right, on, hint, apply: false }, sources })
    }

    /// The sources of two sides; exposed names must differ.
    fn united(&self, left: Vec<Source>, right: Vec<Source>) -> SqlResult<Vec<Source>> {
        let mut all = left;
        for source in right {
            for known in &all {
                if !self.same(&known.name, &source.name) {
                    continue;
                }
                let apart = known.schema.is_some()
                    && source.schema.is_some()
                    && (known.schema != source.schema || known.database != source.database);
                if apart {
                    continue;
                }
                return Err(if known.aliased && source.aliased {
                    SqlError::new(messages::CORRELATION_DUPLICATE, &[&source.name])
                } else {
                    SqlError::new(messages::TABLE_NAME_DUPLICATE, &[&known.shown, &source.shown])
                });
            }
            all.push(source);
        }
        Ok(all)
    }

    pub(crate) fn table_source(&mut self, source: &ast::TableSource) -> SqlResult<FromPart> {
        let bound = self.nested(1, |b| b.source_kind(source));
        // A table that isn't there is reported at its statement's line, as SQL Server does.
        bound.map_err(|e| match e.number() {
            208 | 5313 => e,
            _ => e.at_line(source.span.line),
        })
    }

    fn source_kind(&mut self, source: &ast::TableSource) -> SqlResult<FromPart> {
        let line = source.span.line;
        match &source.kind {
            TableSourceKind::Table(t) => self.named_table(t),
            TableSourceKind::Variable { variable, alias } => {
                let table = self.table_variable(variable)?;
                self.read_table(table, None, variable, alias.as_ref(), &[], Use::Read)
            }
            TableSourceKind::Function(f) => self.table_function(f),
            TableSourceKind::Derived { query, alias, columns } => {
                let result = self.query(query, Place::Derived)?;
                self.derived(result, alias.as_ref(), columns)
            }
            TableSourceKind::Values { rows, alias, columns } => {
                let result = self.values(rows)?;
                self.derived(result, alias.as_ref(), columns)
            }
            TableSourceKind::Joined { first, joins } => self.joins(first, joins),
            TableSourceKind::Method { call, alias, columns } => {
                self.nodes(call, alias.as_ref(), columns)
            }
            TableSourceKind::Changed { .. } => {
                Err(SqlError::new(messages::CHANGES_NOT_INSERTED, &[]).at_line(line))
            }
            TableSourceKind::Pivot(pivot) => self.pivot(pivot),
            TableSourceKind::Unpivot(unpivot) => self.unpivot(unpivot),
        }
    }

    pub(crate) fn table_variable(&self, name: &ast::Name) -> SqlResult<Arc<Table>> {
        // A module sees none of its caller's but those that it was given.
        let around = self.modules.is_empty().then_some(self.environment.catalogs);
        let found = around.and_then(|c| c.table_variable(name));
        found.or_else(|| self.table_parameter(name)).ok_or_else(|| {
            SqlError::new(messages::TABLE_VARIABLE_UNDECLARED, &[name]).at_line(name.line)
        })
    }

    /// What a name means in the catalog.
    pub(crate) fn lookup(&self, name: &ast::ObjectName) -> SqlResult<view::ResolvedObject> {
        if let Some(server) = &name.server {
            return Err(unsupported("linked servers", server.line));
        }
        let parts = view::ObjectName {
            database: name.database.as_deref(),
            schema: name.schema.as_deref(),
            object: &name.object,
        };
        if let Some(hidden) = self.hidden_by_made(parts.object) {
            return Ok(hidden);
        }
        let found = match parts.database {
            None if !self.modules.is_empty() => self.find_within(parts)?,
            _ => resolve(self.environment.catalogs, parts),
        };
        let found = found.ok_or_else(|| {
            let e = SqlError::new(messages::INVALID_OBJECT, &[name]);
            if name.object.starts_with('#') { e.with_state(0) } else { e }
        })?;
        self.followed(found, name)
    }

    /// What a synonym stands for; anything else is what it is.
    fn followed(
        &self,
        found: view::ResolvedObject,
        name: &ast::ObjectName,
    ) -> SqlResult<view::ResolvedObject> {
        let Object::Synonym(synonym) = &found.object else { return Ok(found) };
        if synonym.base.server.is_some() {
            return Err(unsupported("linked servers", name.span.line));
        }
        let (shown, base) = (synonym.two_part_name(), synonym.base.quoted());
        self.followed.borrow_mut().push(Arc::clone(&found.database));
        let id = synonym.object_id;
        let to = follow(self.environment.catalogs, found);
        match &to.object {
            Object::Synonym(same) if same.object_id == id => {
                Err(SqlError::new(messages::SYNONYM_INVALID, &[&shown]))
            }
            Object::Synonym(_) => Err(SqlError::new(messages::SYNONYM_CHAIN, &[&shown, &base])),
            _ => Ok(to),
        }
    }

    /// Under its synonym's name, where a source was found by one and has no alias.
    fn as_named(&self, mut from: FromPart, t: &ast::NamedTable, own: &str) -> FromPart {
        let renamed = t.alias.is_none() && !self.same(own, &t.name.object);
        if let Some(source) = from.sources.first_mut().filter(|_| renamed) {
            source.name = t.name.object.text.clone();
            source.schema = t.name.schema.as_ref().map(|s| s.text.clone());
        }
        from
    }

    pub(crate) fn named_table(&mut self, t: &ast::NamedTable) -> SqlResult<FromPart> {
        let line = t.name.span.line;
        if let Some(sample) = &t.sample {
            let whole = ast::NamedTable { sample: None, ..t.clone() };
            let from = self.named_table(&whole)?;
            return self.sampled(from, sample, line);
        }
        if t.system_time.is_some() {
            return Err(unsupported("FOR SYSTEM_TIME", line));
        }
        let logical = ["inserted", "deleted"].iter().any(|n| self.same(n, &t.name.object));
        if logical
            && t.name.schema.is_none()
            && self.modules.is_empty()
            && let Some(rows) = self.environment.catalogs.table_variable(&t.name.object)
        {
            let (alias, hints) = (t.alias.as_ref(), &t.hints);
            return self.read_table(rows, None, &t.name, alias, hints, Use::Read);
        }
        if t.name.schema.is_none() && t.name.database.is_none() {
            let cte = self.ctes.iter().rposition(|c| self.same(&c.name, &t.name.object));
            if let Some(position) = cte {
                let entry = Rc::clone(&self.ctes[position]);
                if let Some(work) = &entry.work {
                    return self.work_row(&entry.name, work, t.alias.as_ref());
                }
                let columns = self.ctes[position].columns.clone();
                let result = self.cte_query(position)?;
                let alias = t.alias.as_ref().unwrap_or(&t.name.object);
                return self.derived(result, Some(alias), &columns);
            }
        }
        let found = self.lookup(&t.name)?;
        let own: Box<str> = found.object.name().into();
        let from = self.object_rows(t, found)?;
        Ok(self.as_named(from, t, &own))
    }

    /// The rows of a table, a system view or a view.
    fn object_rows(
        &mut self,
        t: &ast::NamedTable,
        found: view::ResolvedObject,
    ) -> SqlResult<FromPart> {
        match found.object {
            Object::Table(table) => {
                let shown = &t.name;
                self.read_found(
                    table,
                    &found.database,
                    shown,
                    t.alias.as_ref(),
                    &t.hints,
                    Use::Read,
                )
            }
            Object::Virtual(v) if v.parameters.is_some() => {
                Err(SqlError::new(messages::PARAMETERS_NOT_SUPPLIED, &[&t.name]))
            }
            Object::Virtual(v) => {
                hint::read(&t.hints, None, self.collation, Use::Read)?;
                self.read_virtual(v, &found.database, &t.name, t.alias.as_ref(), Vec::new())
            }
            Object::Module(ref m) => match m.kind {
                view::ModuleKind::View => self.view(&found, &Arc::clone(m), t),
                view::ModuleKind::InlineFunction | view::ModuleKind::TableFunction => {
                    Err(SqlError::new(messages::PARAMETERS_NOT_SUPPLIED, &[&t.name]))
                }
                view::ModuleKind::Procedure
                | view::ModuleKind::ScalarFunction
                | view::ModuleKind::Trigger => {
                    Err(SqlError::new(messages::INVALID_OBJECT, &[&t.name]))
                }
            },
            Object::Sequence(_) | Object::Synonym(_) => {
                Err(SqlError::new(messages::INVALID_OBJECT, &[&t.name]))
            }
        }
    }

    /// A reference to a table found by name.
    pub(crate) fn read_found(
        &mut self,
        table: Arc<Table>,
        database: &Arc<view::DatabaseView>,
        name: &ast::ObjectName,
        alias: Option<&ast::Name>,
        hints: &[ast::TableHint],
        purpose: Use,
    ) -> SqlResult<FromPart> {
        let hints = self.hints_of(name, alias, hints)?;
        self.read_table(table, Some(database), name, alias, &hints, purpose)
    }

    fn read_table(
        &mut self,
        table: Arc<Table>,
        database: Option<&Arc<view::DatabaseView>>,
        shown: &dyn std::fmt::Display,
        alias: Option<&ast::Name>,
        hints: &[ast::TableHint],
        purpose: Use,
    ) -> SqlResult<FromPart> {
        let hints = hint::read(hints, Some(&table), self.collation, purpose)?;
        let current = Arc::clone(&self.database);
        let database = database.unwrap_or(&current);
        let reference = Object::Table(Arc::clone(&table));
        let no = self.refer(database, reference)?;
        let variable = table.object_id.table_variable().is_some();
        self.note_level(database.id(), &table, &hints.locks);
        let source = Source {
            name: alias.map_or_else(|| table.name.clone(), |a| a.text.clone()),
            schema: (alias.is_none() && !variable).then(|| table.schema_name.clone()),
            database: (alias.is_none() && !variable).then(|| database.name().into()),
            shown: alias.map_or_else(|| shown.to_string().into(), |a| a.text.clone()),
            aliased: alias.is_some(),
            columns: Columns::Reference(no),
            body: None,
        };
        let get = Get {
            table: no,
            alias: source.name.clone(),
            columns: Vec::new(),
            checks: Vec::new(),
            locks: if variable { LockHints::private() } else { hints.locks },
            index: hints.index,
            further: hints.further,
            force_seek: hints.force_seek,
            seek_columns: hints.seek_columns,
            force_scan: hints.force_scan,
            sample: None,
            target: None,
            location: None,
        };
        Ok(FromPart { tree: Logical::Get(Box::new(get)), sources: vec![source] })
    }

    pub(crate) fn read_virtual(
        &mut self,
        view: Arc<VirtualTable>,
        database: &Arc<view::DatabaseView>,
        name: &ast::ObjectName,
        alias: Option<&ast::Name>,
        arguments: Vec<Scalar>,
    ) -> SqlResult<FromPart> {
        let no: TableNo = self.refer(database, Object::Virtual(Arc::clone(&view)))?;
        let source = Source {
            name: alias.map_or_else(|| view.name.clone(), |a| a.text.clone()),
            schema: alias.is_none().then(|| view.schema_name.clone()),
            database: alias.is_none().then(|| database.name().into()),
            shown: alias.map_or_else(|| name.to_string().into(), |a| a.text.clone()),
            aliased: alias.is_some(),
            columns: Columns::Reference(no),
            body: None,
        };
        let get = VirtualGet {
            table: no,
            database: database.id(),
            object: view.object_id,
            name: format!("{}.{}", view.schema_name, view.name).into(),
            arguments,
            columns: Vec::new(),
        };
        Ok(FromPart { tree: Logical::Virtual(Box::new(get)), sources: vec![source] })
    }

    fn table_function(&mut self, f: &ast::TableFunction) -> SqlResult<FromPart> {
        let name = &f.call.name;
        if let Some(rows) = self.row_function(f)? {
            return Ok(rows);
        }
        if let Some(rows) = self.column_nodes(f)? {
            return Ok(rows);
        }
        if !f.schema.is_empty() {
            return Err(unsupported("WITH columns of a function", f.call.span.line));
        }
        let found = self.lookup(name)?;
        let view = match &found.object {
            Object::Virtual(view) => Arc::clone(view),
            Object::Table(_) => {
                return Err(SqlError::new(messages::PARAMETERS_SUPPLIED, &[name]));
            }
            Object::Module(m) => {
                let m = Arc::clone(m);
                let result = self.function_rows(&found, &m, f)?;
                let renamed = !f.columns.is_empty();
                return if renamed { self.renamed(result, &f.columns) } else { Ok(result) };
            }
            Object::Sequence(_) | Object::Synonym(_) => {
                return Err(SqlError::new(messages::INVALID_OBJECT, &[name]));
            }
        };
        let Some(parameters) = &view.parameters else {
            return Err(SqlError::new(messages::PARAMETERS_SUPPLIED, &[name]));
        };
        let given = f.call.arguments.len();
        if given > parameters.len() {
            return Err(SqlError::new(messages::TOO_MANY_PROC_ARGUMENTS, &[name]));
        }
        if given < parameters.len() {
            let e = SqlError::new(messages::INVALID_PARAMETERS_TO_TVF, &[name]);
            return Err(e.with_state(3));
        }
        hint::read(&f.hints, None, self.collation, Use::Read)?;
        let mut arguments = Vec::with_capacity(given);
        for (argument, parameter) in f.call.arguments.iter().zip(parameters) {
            let bound = match argument.kind {
                ast::ExprKind::Default => Scalar::null(parameter.sql_type),
                _ => self.expr(argument)?,
            };
            let bound = self.implicit(bound, parameter.sql_type);
            arguments.push(bound.map_err(|e| e.at_line(argument.span.line))?);
        }
        let result = self.read_virtual(
            Arc::clone(&view),
            &found.database,
            name,
            f.alias.as_ref(),
            arguments,
        )?;
        if f.columns.is_empty() { Ok(result) } else { self.renamed(result, &f.columns) }
    }

    /// A source under other column names.
    fn renamed(&mut self, from: FromPart, columns: &[ast::Name]) -> SqlResult<FromPart> {
        let source = from.sources.into_iter().next().expect("one function is one source");
        let count = self.column_count(&source);
        check_alias_count(&source.name, count, columns)?;
        let mut derived = Vec::with_capacity(count);
        for (n, name) in columns.iter().enumerate() {
            let c = self.column_of(&source, n)?;
            let slot = c.scalar.as_column().expect("a system function's column is a column");
            derived.push(DerivedColumn {
                name: name.text.clone(),
                slot,
                ty: c.scalar.ty,
                user_type_id: c.user_type_id,
                identity: false,
            });
        }
        let source = Source { columns: Columns::Derived(derived), ..source };
        Ok(FromPart { tree: from.tree, sources: vec![source] })
    }

    pub(crate) fn derived(
        &mut self,
        result: QueryResult,
        alias: Option<&ast::Name>,
        columns: &[ast::Name],
    ) -> SqlResult<FromPart> {
        let name: Box<str> = alias.map_or_else(|| "".into(), |a| a.text.clone());
        if !columns.is_empty() {
            check_alias_count(&name, result.columns.len(), columns)?;
        }
        let mut derived: Vec<DerivedColumn> = Vec::with_capacity(result.columns.len());
        for (n, c) in result.columns.iter().enumerate() {
            let given = columns.get(n).map(|name| name.text.clone()).or_else(|| c.name.clone());
            let Some(column) = given.filter(|c| !c.is_empty()) else {
                return Err(SqlError::new(messages::NO_COLUMN_NAME, &[&(n + 1), &name]));
            };
            if derived.iter().any(|d| self.same(&d.name, &column)) {
                return Err(SqlError::new(messages::COLUMN_NAME_TWICE, &[&column, &name]));
            }
            derived.push(DerivedColumn {
                name: column,
                slot: c.slot,
                ty: as_column(c.ty),
                user_type_id: c.user_type_id,
                identity: c.identity,
            });
        }
        let source = Source {
            shown: name.clone(),
            name,
            schema: None,
            database: None,
            aliased: true,
            columns: Columns::Derived(derived),
            body: Some(Body { tables: tables_of(&result.tree), view: None }),
        };
        Ok(FromPart { tree: result.tree, sources: vec![source] })
    }

    fn joins(&mut self, first: &ast::TableSource, joins: &[ast::Join]) -> SqlResult<FromPart> {
        let sources = std::iter::once(first).chain(joins.iter().map(|j| &j.right));
        no_changes(sources, messages::CHANGES_IN_JOIN)?;
        standing(joins.len())?;
        let mut left = self.table_source(first)?;
        for join in joins {
            left = self.join(left, join)?;
        }
        standing(left.tree.height())?;
        Ok(left)
    }

    fn join(&mut self, left: FromPart, join: &ast::Join) -> SqlResult<FromPart> {
        let (kind, apply) = match join.kind {
            ast::JoinKind::Inner | ast::JoinKind::Cross => (JoinKind::Inner, false),
            ast::JoinKind::Left => (JoinKind::Left, false),
            ast::JoinKind::Right => (JoinKind::Right, false),
            ast::JoinKind::Full => (JoinKind::Full, false),
            ast::JoinKind::CrossApply => (JoinKind::Inner, true),
            ast::JoinKind::OuterApply => (JoinKind::Left, true),
        };
        let hint = match join.hint {
            None => None,
            Some(ast::JoinHint::Loop) => Some(JoinHint::Loop),
            Some(ast::JoinHint::Hash) => Some(JoinHint::Hash),
            Some(ast::JoinHint::Merge) => Some(JoinHint::Merge),
            Some(ast::JoinHint::Remote) => {
                return Err(unsupported("REMOTE", join.right.span.line));
            }
        };
        let mut right = if apply {
            let scope = Scope::new(left.sources.clone(), Clause::From);
            self.within(scope, |b| b.table_source(&join.right))?
        } else {
            self.table_source(&join.right)?
        };
        let mut left = left;
        // A side that may be absent gives NULLs.
        if matches!(kind, JoinKind::Left | JoinKind::Full) {
            self.make_nullable(&mut right)?;
        }
        if matches!(kind, JoinKind::Right | JoinKind::Full) {
            self.make_nullable(&mut left)?;
        }
        let on = match &join.on {
            None => Predicate::TRUE,
            Some(c) => {
                let sources = left.sources.iter().chain(&right.sources).cloned().collect();
                self.within(Scope::new(sources, Clause::On), |b| b.condition(c))?
            }
        };
        let mut result = self.joined(left, right, kind, on, hint)?;
        if let Logical::Join { apply: a, .. } = &mut result.tree {
            *a = apply;
        }
        Ok(result)
    }

    /// A derived side's columns that it reads from outside become its own: they are NULL where it
    /// has no row.
    fn own_columns(&mut self, from: &mut FromPart) {
        let (mut reads, mut own) = (Reads::default(), BTreeSet::new());
        from.tree.reads_and_writes(&mut reads, &mut own);
        // What is read of a table is noted with its reference.
        from.tree.for_each(&mut |node| {
            let table = match node {
                Logical::Get(get) => get.table,
                Logical::Virtual(get) => get.table,
                _ => return,
            };
            own.extend(self.references.used(table).values());
        });
        let mut computed = Vec::new();
        for source in &mut from.sources {
            let Columns::Derived(columns) = &mut source.columns else { continue };
            for c in columns.iter_mut().filter(|c| !own.contains(&c.slot)) {
                let slot = self.new_slot();
                computed.push((slot, Scalar::column(c.slot, c.ty)));
                c.slot = slot;
            }
        }
        let nothing = Logical::Values { rows: Vec::new(), columns: Vec::new() };
        let tree = std::mem::replace(&mut from.tree, nothing);
        from.tree = computed_columns(tree, computed);
    }

    /// Marks a derived side's columns as nullable. Columns of tables are told by their reference.
    pub(crate) fn make_nullable(&mut self, from: &mut FromPart) -> SqlResult<()> {
        self.own_columns(from);
        for source in &mut from.sources {
            match &mut source.columns {
                Columns::Derived(columns) => {
                    columns.iter_mut().for_each(|c| c.ty.nullable = true);
                }
                Columns::Reference(no) => {
                    self.references.make_nullable(*no);
                }
                Columns::Made(_) | Columns::Given(_) => {}
            }
        }
        Ok(())
    }

    /// Rows of VALUES as a table: columns take the common type of theirs.
    pub(crate) fn values(&mut self, rows: &[Vec<ast::Expr>]) -> SqlResult<QueryResult> {
        let width = rows.first().map_or(0, Vec::len);
        let mut bound: Vec<Vec<Scalar>> = Vec::with_capacity(rows.len());
        for row in rows {
            if row.len() != width {
                return Err(SqlError::new(messages::VALUES_COUNT, &[]));
            }
            let row: SqlResult<Vec<Scalar>> = row.iter().map(|e| self.expr(e)).collect();
            bound.push(row?);
        }
        self.rows_result(bound, width)
    }

    /// Bound rows of one width, columns converted to their common types.
    pub(crate) fn rows_result(
        &mut self,
        mut rows: Vec<Vec<Scalar>>,
        width: usize,
    ) -> SqlResult<QueryResult> {
        let mut columns = Vec::with_capacity(width);
        for n in 0..width {
            let ty = self.common(rows.iter().map(|r| &r[n]), CombiningOperator::UnionAll)?;
            let untyped_null = ty.is_none();
            let ty = ty.unwrap_or_else(|| self.plain(types::SqlType::Int, true));
            for row in &mut rows {
                let x = std::mem::replace(&mut row[n], Scalar::null(ty.sql_type));
                row[n] = self.as_result(x, ty)?;
            }
            columns.push(crate::names::result::OutColumn {
                name: None,
                slot: self.new_slot(),
                ty,
                user_type_id: 0,
                identity: false,
                stored: false,
                source: None,
                untyped_null,
                calculated: false,
            });
        }
        let slots = columns.iter().map(|c| c.slot).collect();
        Ok(QueryResult {
            tree: Logical::Values { rows, columns: slots },
            columns,
            only_null: false,
        })
    }
}

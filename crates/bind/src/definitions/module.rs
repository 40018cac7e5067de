//! Views and inline functions where they are named: their text, bound in their own place.
//!
//! Invariants
//!  1. Within a module its own parameters and names are seen, nothing of the statement around it.
//!  2. A module offers the columns that it had when it was made, by position: of a `*` in its
//!     text the columns that its tables have got since are left out.
//!  3. A module never expands within itself (4429), nor deeper than 32 (217).

use crate::binder::Binder;
use crate::expressions::collation::as_column;
use crate::expressions::deduction::Inference;
use crate::names::expansion::{CheckedView, Expansion, PassedView};
use crate::names::from::FromPart;
use crate::names::hint::{self, Hints, Use};
use crate::names::reference::Reference;
use crate::names::result::{Place, QueryResult};
use crate::names::scope::{Body, Clause, Columns, DerivedColumn, Scope, Source};
use crate::refusal::unsupported;
use crate::tree::tables_of;
use base::{ObjectId, SqlError, SqlResult, messages};
use catalog::view::{
    Column, DatabaseView, Module, ModuleKind, Object, ObjectName, Parameter, ResolvedObject, Table,
    VirtualColumn, VirtualTable, in_database,
};
use plan::{Granule, JoinKind, LockHints, Logical, Predicate, Scalar, ScalarKind};
use std::sync::Arc;
use tsql::ast::{self, FunctionBody, StatementKind};

/// How deep views and functions may stand within each other.
const NESTING_MAX: usize = 32;

/// The statement that a module's text is.
pub(crate) fn parsed(module: &Module) -> SqlResult<StatementKind> {
    let options = tsql::ParseOptions { quoted_identifier: module.quoted_identifier };
    let parsed = tsql::parse(&module.text, options);
    if let Some(e) = parsed.errors.into_iter().next() {
        return Err(e);
    }
    let first = parsed.batch.statements.into_iter().next().map(|s| s.kind);
    first.ok_or_else(|| not_as_stored(module))
}

fn not_as_stored(module: &Module) -> SqlError {
    let what = format!("the text of {} is of something else", module.name);
    SqlError::new(messages::INTERNAL, &[&what])
}

/// Columns of a view or inline function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModuleColumns {
    /// What it offers.
    pub offered: Vec<Column>,
    /// The tables that its own text reads, and the ordinals of the columns it reads.
    pub read: Vec<(ObjectId, Vec<usize>)>,
}

impl Binder<'_> {
    /// Finds a name as the module that is being expanded means it.
    pub(crate) fn find_within(&self, name: ObjectName<'_>) -> SqlResult<Option<ResolvedObject>> {
        let Some(around) = self.modules.innermost() else { return Ok(None) };
        if name.object.starts_with('#') {
            return Err(SqlError::new(messages::VIEW_ON_TEMPORARY, &[&name.object]));
        }
        let database = Arc::clone(&self.database);
        let first = Some(around.module.schema_id);
        let object = in_database(&database, name.schema, first, name.object);
        Ok(object.map(|object| ResolvedObject { database, object }))
    }

    /// A parameter of the module that is being expanded; `None` outside of one.
    pub(crate) fn module_parameter(&self, name: &ast::Name) -> Option<SqlResult<Scalar>> {
        let around = self.modules.innermost()?;
        let is_it = |(p, _): &(&Parameter, &Scalar)| p.name.eq_ignore_ascii_case(name);
        let found = around.module.arguments().zip(&around.parameters).find(is_it);
        Some(found.map(|(_, value)| value.clone()).ok_or_else(|| {
            SqlError::new(messages::VARIABLE_UNDECLARED, &[name]).at_line(name.line)
        }))
    }

    /// A view in FROM.
    pub(crate) fn view(
        &mut self,
        found: &ResolvedObject,
        module: &Arc<Module>,
        t: &ast::NamedTable,
    ) -> SqlResult<FromPart> {
        let hints = hint::read(&t.hints, None, self.collation, Use::Read)?;
        let from = self.view_source(found, module, &t.name, t.alias.as_ref())?;
        self.hinted(from, &hints, t.name.span.line)
    }

    /// A view's rows under its name.
    pub(crate) fn view_source(
        &mut self,
        found: &ResolvedObject,
        module: &Arc<Module>,
        name: &ast::ObjectName,
        alias: Option<&ast::Name>,
    ) -> SqlResult<FromPart> {
        let first = self.references.len();
        let result = self.expand(found, module, Vec::new(), name)?;
        let tables = first..self.references.len();
        self.modules.note_passed(PassedView {
            database: Arc::clone(&found.database),
            module: Arc::clone(module),
            tables,
        });
        self.offered(found, module, result, name, alias)
    }

    /// A function of the user in FROM.
    pub(crate) fn function_rows(
        &mut self,
        found: &ResolvedObject,
        module: &Arc<Module>,
        f: &ast::TableFunction,
    ) -> SqlResult<FromPart> {
        match module.kind {
            ModuleKind::InlineFunction => self.inline_function(found, module, f),
            ModuleKind::TableFunction => {
                hint::read(&f.hints, None, self.collation, Use::Read)?;
                let arguments = self.arguments(module, &f.call)?;
                self.header.calls = true;
                let table = Arc::new(as_virtual(module));
                let (database, alias) = (&found.database, f.alias.as_ref());
                self.read_virtual(table, database, &f.call.name, alias, arguments)
            }
            ModuleKind::View => Err(SqlError::new(messages::PARAMETERS_SUPPLIED, &[&f.call.name])),
            ModuleKind::Procedure | ModuleKind::ScalarFunction | ModuleKind::Trigger => {
                Err(SqlError::new(messages::INVALID_OBJECT, &[&f.call.name]))
            }
        }
    }

    /// An inline function in FROM.
    pub(crate) fn inline_function(
        &mut self,
        found: &ResolvedObject,
        module: &Arc<Module>,
        f: &ast::TableFunction,
    ) -> SqlResult<FromPart> {
        let hints = hint::read(&f.hints, None, self.collation, Use::Read)?;
        let arguments = self.arguments(module, &f.call)?;
        // What takes time to compute, or may answer differently, is computed once for the call.
        let mut computed = Vec::new();
        let mut parameters = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let (shared, once) = self.shared(argument);
            computed.extend(once);
            parameters.push(shared);
        }
        let result = self.expand(found, module, parameters, &f.call.name)?;
        let mut from = self.offered(found, module, result, &f.call.name, f.alias.as_ref())?;
        from = self.hinted(from, &hints, f.call.span.line)?;
        if !computed.is_empty() {
            let one_row = Logical::Values { rows: vec![Vec::new()], columns: Vec::new() };
            let left = Logical::Compute { input: Box::new(one_row), columns: computed };
            from.tree = Logical::Join {
                kind: JoinKind::Inner,
                left: Box::new(left),
                right: Box::new(from.tree),
                on: Predicate::TRUE,
                hint: None,
                apply: true,
            };
        }
        Ok(from)
    }

    /// The arguments of a function's call, in the types of its parameters.
    pub(crate) fn arguments(
        &mut self,
        module: &Module,
        call: &ast::FunctionCall,
    ) -> SqlResult<Vec<Scalar>> {
        let declared: Vec<&Parameter> = module.arguments().collect();
        let given = call.arguments.len();
        if given > declared.len() {
            return Err(SqlError::new(messages::TOO_MANY_PROC_ARGUMENTS, &[&call.name]));
        }
        if given < declared.len() {
            return Err(SqlError::new(messages::INVALID_PARAMETERS_TO_TVF, &[&call.name]));
        }
        let mut arguments = Vec::with_capacity(given);
        for (argument, parameter) in call.arguments.iter().zip(declared) {
            if parameter.read_only {
                arguments.push(self.table_argument(argument, parameter)?);
                continue;
            }
            let bound = match argument.kind {
                ast::ExprKind::Default => self.parameter_default(module, parameter, call)?,
                _ => self.expr(argument)?,
            };
            self.learn(&bound, || Inference::Formal(parameter.name.clone()));
            let bound = self.assigned(bound, parameter.sql_type);
            arguments.push(bound.map_err(|e| e.at_line(argument.span.line))?);
        }
        Ok(arguments)
    }

    /// A table variable as an argument: its number stands for it.
    fn table_argument(&mut self, argument: &ast::Expr, parameter: &Parameter) -> SqlResult<Scalar> {
        let line = argument.span.line;
        let wanted = self.database.user_type_by_id(parameter.user_type_id);
        let wanted = wanted.map_or_else(|| "table".into(), |t| t.name.clone());
        let clash = |is: &str| {
            let args: [&dyn std::fmt::Display; 2] = [&is, &wanted];
            Err(SqlError::new(messages::OPERAND_CLASH, &args).at_line(line))
        };
        let ast::ExprKind::Variable(name) = &argument.kind else {
            let given = self.expr(argument)?;
            return clash(given.ty.sql_type.name());
        };
        let table = self.table_variable(name)?;
        let (of, shown) = match self.modules.innermost() {
            Some(around) => {
                let mut all = around.module.arguments();
                let own = all.find(|p| p.read_only && p.name.eq_ignore_ascii_case(name));
                (own.map(|p| p.user_type_id), "table".into())
            }
            None => match self.environment.catalogs.declared_table(name).of_type {
                Some((id, shown)) => (Some(id), shown),
                None => (None, "table".into()),
            },
        };
        if of != Some(parameter.user_type_id) {
            return clash(&shown);
        }
        let number = table.object_id.table_variable().unwrap_or_default();
        let database = Arc::clone(&self.database);
        self.refer(&database, Object::Table(table))?;
        Ok(Scalar::constant(types::Value::Int(i32::from(number)), types::SqlType::Int))
    }

    /// The caller's table that a parameter of the module that is being expanded stands for.
    pub(crate) fn table_parameter(&self, name: &ast::Name) -> Option<Arc<Table>> {
        let around = self.modules.innermost()?;
        let is_it =
            |(p, _): &(&Parameter, &Scalar)| p.read_only && p.name.eq_ignore_ascii_case(name);
        let (parameter, value) = around.module.arguments().zip(&around.parameters).find(is_it)?;
        let Some(number) = value.as_constant().and_then(types::Value::as_i64) else {
            // While the module is made there is no caller: its type stands for a table.
            let of = self.database.user_type_by_id(parameter.user_type_id)?;
            return of.table().map(Arc::clone);
        };
        let number = u16::try_from(number).ok()?;
        let wanted = base::ObjectId::of_table_variable(number);
        self.references.iter().find_map(|r| match &r.object {
            Object::Table(t) if t.object_id == wanted => Some(Arc::clone(t)),
            _ => None,
        })
    }

    /// DEFAULT as an argument: the value that the function's text gives the parameter.
    fn parameter_default(
        &mut self,
        module: &Module,
        parameter: &Parameter,
        call: &ast::FunctionCall,
    ) -> SqlResult<Scalar> {
        let StatementKind::Function(function) = parsed(module)? else {
            return Err(not_as_stored(module));
        };
        let declared = function.parameters.iter().find(|p| *p.name == *parameter.name);
        match declared.and_then(|p| p.default.as_ref()) {
            Some(default) => {
                let scope = Scope::barrier(Clause::Definition);
                self.nested(1, |b| b.within(scope, |b| b.expr(default)))
            }
            None => Err(SqlError::new(messages::INVALID_PARAMETERS_TO_TVF, &[&call.name])),
        }
    }

    /// The query of a view or inline function, bound where the module stands.
    fn expand(
        &mut self,
        found: &ResolvedObject,
        module: &Arc<Module>,
        parameters: Vec<Scalar>,
        name: &ast::ObjectName,
    ) -> SqlResult<QueryResult> {
        let statement = parsed(module)?;
        self.refer(&found.database, Object::Module(Arc::clone(module)))?;
        let first = self.references.len() as u32;
        let result = self.in_module(&found.database, module, parameters, |b| match &statement {
            StatementKind::View(view) => {
                let line = view.query_span.line;
                b.module_query(&view.query).map_err(|e| e.at_line(line))
            }
            StatementKind::Function(f) => match &f.body {
                FunctionBody::Inline { query } => b.module_query(query),
                FunctionBody::Scalar { .. } | FunctionBody::Table { .. } => {
                    Err(not_as_stored(module))
                }
            },
            _ => Err(not_as_stored(module)),
        });
        let result = result.map_err(|e| because_of(name, e))?;
        if module.options.check_option {
            let mut conditions = Vec::new();
            conditions_of(&result.tree, &mut conditions);
            let tables = first..self.references.len() as u32;
            let name = module.name.clone();
            self.modules.note_checked(CheckedView { name, tables, conditions });
        }
        Ok(result)
    }

    pub(crate) fn module_query(&mut self, s: &ast::SelectStatement) -> SqlResult<QueryResult> {
        if let Some(option) = s.options.first() {
            let e = SqlError::new(messages::SYNTAX_NEAR_KEYWORD, &[&"OPTION"]);
            return Err(e.at_line(option.span.line));
        }
        self.with_ctes(s.with.as_deref(), |b| b.query(&s.query, Place::Derived))
    }

    /// Binds as a module sees names: invariants 1 and 3.
    pub(crate) fn in_module<T>(
        &mut self,
        database: &Arc<DatabaseView>,
        module: &Arc<Module>,
        parameters: Vec<Scalar>,
        body: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        if self.modules.holds(module) && self.database.id() == database.id() {
            return Err(SqlError::new(messages::MODULE_SELF_REFERENCE, &[&module.name]));
        }
        if self.modules.depth() >= NESTING_MAX {
            return Err(SqlError::new(messages::MAX_NESTING, &[&NESTING_MAX]));
        }
        let scopes = std::mem::take(&mut self.scopes);
        let ctes = std::mem::take(&mut self.ctes);
        let outer = std::mem::replace(&mut self.database, Arc::clone(database));
        let collation = std::mem::replace(&mut self.collation, database.collation());
        let ansi_nulls = std::mem::replace(&mut self.ansi_nulls, module.ansi_nulls);
        self.modules.push(Expansion { module: Arc::clone(module), parameters });
        let result = body(self);
        self.modules.pop();
        (self.scopes, self.ctes) = (scopes, ctes);
        (self.database, self.collation) = (outer, collation);
        self.ansi_nulls = ansi_nulls;
        result.map_err(|e| match is_of_nesting(&e) {
            true => e,
            false => e.in_procedure(&module.name),
        })
    }

    /// A module's rows under the columns that it offers: invariant 2.
    fn offered(
        &self,
        found: &ResolvedObject,
        module: &Module,
        result: QueryResult,
        name: &ast::ObjectName,
        alias: Option<&ast::Name>,
    ) -> SqlResult<FromPart> {
        if result.columns.len() < module.columns.len() {
            return Err(SqlError::new(messages::VIEW_MORE_NAMES, &[name]));
        }
        let column = |(stored, c): (&Column, &crate::names::result::OutColumn)| DerivedColumn {
            name: stored.name.clone(),
            slot: c.slot,
            ty: as_column(c.ty),
            user_type_id: c.user_type_id,
            identity: c.identity,
        };
        let bare = alias.is_none();
        let source = Source {
            name: alias.map_or_else(|| module.name.clone(), |a| a.text.clone()),
            schema: bare.then(|| module.schema_name.clone()),
            database: bare.then(|| found.database.name().into()),
            shown: alias.map_or_else(|| name.to_string().into(), |a| a.text.clone()),
            aliased: !bare,
            columns: Columns::Derived(
                module.columns.iter().zip(&result.columns).map(column).collect(),
            ),
            body: Some(Body { tables: tables_of(&result.tree), view: Some(module.name.clone()) }),
        };
        Ok(FromPart { tree: result.tree, sources: vec![source] })
    }

    /// Hints behind a view's name are hints for each of its tables.
    fn hinted(&mut self, mut from: FromPart, hints: &Hints, line: u32) -> SqlResult<FromPart> {
        if hints.force_seek || hints.force_scan {
            return Err(unsupported("FORCESEEK and FORCESCAN on a view", line));
        }
        if hints.locks != LockHints::default() {
            from.tree.for_each_mut(&mut |node| {
                if let Logical::Get(get) = node {
                    merge(&mut get.locks, &hints.locks);
                }
            });
        }
        Ok(from)
    }

    /// The columns of a view or inline function as CREATE stores them.
    pub(crate) fn module_columns(
        &mut self,
        database: &Arc<DatabaseView>,
        module: &Arc<Module>,
    ) -> SqlResult<ModuleColumns> {
        let statement = parsed(module)?;
        let none = Vec::new();
        let (query, listed) = match &statement {
            StatementKind::View(view) => (&view.query, &view.columns),
            StatementKind::Function(f) => match &f.body {
                FunctionBody::Inline { query } => (&**query, &none),
                FunctionBody::Scalar { .. } | FunctionBody::Table { .. } => {
                    return Err(not_as_stored(module));
                }
            },
            _ => return Err(not_as_stored(module)),
        };
        let line = query.query.span.line;
        let variable = |(n, p): (usize, &Parameter)| Scalar {
            kind: ScalarKind::Variable(plan::VariableId(n as u32)),
            ty: self.plain(p.sql_type, true),
        };
        let parameters = module.arguments().enumerate().map(variable).collect();
        let bound = self.in_module(database, module, parameters, |b| {
            b.module_query(query).map_err(|e| e.at_line(line))
        });
        // What is wrong with the text is told alone: nobody uses it yet.
        let result = bound.map_err(|e| e.explanation())?;
        if module.options.check_option {
            self.checkable(&result, line)?;
        }
        let offered = self.named_columns(module, listed, &result, line)?;
        let own = self.references.iter().filter(|r| r.depth == 1);
        let of_table = |r: &Reference| match &r.object {
            Object::Table(t) => Some((t.object_id, r.used.keys().copied().collect())),
            _ => None,
        };
        Ok(ModuleColumns { offered, read: own.filter_map(of_table).collect() })
    }

    fn checkable(&self, result: &QueryResult, line: u32) -> SqlResult<()> {
        let mut conditions = Vec::new();
        conditions_of(&result.tree, &mut conditions);
        if conditions.iter().any(|p| !p.reads().subqueries.is_empty()) {
            return Err(unsupported("WITH CHECK OPTION over a subquery", line));
        }
        let (mut tables, mut limited) = (0, false);
        result.tree.for_each(&mut |node| match node {
            Logical::Get(_) => tables += 1,
            Logical::Top { .. } => limited = true,
            _ => {}
        });
        if tables > 1 {
            return Err(unsupported("WITH CHECK OPTION on a view of several tables", line));
        }
        if limited {
            return Err(unsupported("WITH CHECK OPTION on a view with TOP or OFFSET", line));
        }
        Ok(())
    }

    fn named_columns(
        &self,
        module: &Module,
        listed: &[ast::Name],
        result: &QueryResult,
        line: u32,
    ) -> SqlResult<Vec<Column>> {
        let fail = |e: SqlError| Err(e.at_line(line).in_procedure(&module.name));
        if !listed.is_empty() && listed.len() != result.columns.len() {
            let message = match listed.len() < result.columns.len() {
                true => messages::FEWER_COLUMN_ALIASES,
                false => messages::MORE_COLUMN_ALIASES,
            };
            return fail(SqlError::new(message, &[&module.name]));
        }
        let mut columns: Vec<Column> = Vec::with_capacity(result.columns.len());
        for (n, c) in result.columns.iter().enumerate() {
            let given = listed.get(n).map(|name| name.text.clone()).or_else(|| c.name.clone());
            let Some(name) = given.filter(|name| !name.is_empty()) else {
                return fail(SqlError::new(messages::VIEW_COLUMN_UNNAMED, &[&(n + 1)]));
            };
            if columns.iter().any(|known| self.same(&known.name, &name)) {
                let e = SqlError::new(messages::VIEW_COLUMN_TWICE, &[&name, &module.name]);
                return fail(e);
            }
            columns.push(Column {
                column_id: n as i32 + 1,
                name,
                sql_type: c.ty.sql_type,
                user_type_id: match c.user_type_id {
                    0 => c.ty.sql_type.user_type_id(),
                    id => id,
                },
                nullable: c.ty.nullable,
                collation: c.ty.collation,
                row_guid: false,
                identity: None,
                default: None,
                computed: None,
                physical: None,
            });
        }
        Ok(columns)
    }
}

/// A multi-statement function as something whose rows are made.
fn as_virtual(module: &Module) -> VirtualTable {
    let column = |c: &Column| VirtualColumn {
        name: c.name.clone(),
        sql_type: c.sql_type,
        nullable: c.nullable,
    };
    VirtualTable {
        object_id: module.object_id,
        schema_id: module.schema_id,
        schema_name: module.schema_name.clone(),
        name: module.name.clone(),
        compatibility: false,
        parameters: Some(Vec::new()),
        columns: module.columns.iter().map(column).collect(),
    }
}

fn is_of_nesting(e: &SqlError) -> bool {
    [messages::MODULE_SELF_REFERENCE.number, messages::MAX_NESTING.number].contains(&e.number())
}

/// An error within a module, and what it means for whoever uses the module: 4413.
fn because_of(name: &ast::ObjectName, e: SqlError) -> SqlError {
    if is_of_nesting(&e) {
        return e;
    }
    SqlError::new(messages::VIEW_BINDING_ERRORS, &[name]).after(e)
}

/// What must be true of a row for it to be among those of a tree.
fn conditions_of(tree: &Logical, out: &mut Vec<Predicate>) {
    tree.for_each(&mut |node| {
        if let Logical::Filter { predicate, .. } = node {
            out.push(predicate.clone());
        }
    });
}

fn merge(own: &mut LockHints, outer: &LockHints) {
    own.level = own.level.or(outer.level);
    if own.granule == Granule::Row {
        own.granule = outer.granule;
    }
    own.strength = own.strength.max(outer.strength);
    own.hold |= outer.hold;
    own.read_past |= outer.read_past;
    own.no_wait |= outer.no_wait;
}

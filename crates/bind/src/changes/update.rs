//! UPDATE, and what it shares with DELETE: the rows to change.

use crate::binder::Binder;
use crate::changes::output::{deleted, made_row};
use crate::changes::row_slots::{RowAction, RowSlots};
use crate::changes::target::{TargetTable, mark_affected, set_target};
use crate::changes::updatable_columns::{UpdatableColumns, given_deleted};
use crate::expressions::collation::check_assigned;
use crate::expressions::deduction::{Inference, untyped};
use crate::expressions::draws::DrawRule;
use crate::expressions::expression::assigning_operator;
use crate::names::from::FromPart;
use crate::names::from::no_changes;
use crate::names::hint::Use;
use crate::names::scope::{Clause, Columns, Scope, Source};
use crate::refusal::unsupported;
use crate::tree::filtered;
use base::{SqlError, SqlResult, messages};
use catalog::view::{Events, ForeignKey, Object, Table};
use plan::{
    Assignment, JoinKind, LockHints, Logical, OldRow, Predicate, Scalar, ScalarKind, ScalarType,
    Slot, Statement, Strength, TableNo, Update, VariableId,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use tsql::ast::{self, AssignmentKind, DmlFilter, DmlTargetKind, ExprKind};

/// The rows a change concerns, before its filter.
pub(crate) struct AffectedRows {
    pub(crate) target: TargetTable,
    pub(crate) no: TableNo,
    pub(crate) source: Source,
    pub(crate) from: FromPart,
    pub(crate) locks: LockHints,
    /// Other sources stand beside the target: a row may come several times.
    pub(crate) joined: bool,
    /// How the source's columns are the target's, where it is not the table itself.
    pub(crate) through: Option<UpdatableColumns>,
}

/// What an UPDATE is made of.
pub(crate) struct Parts {
    pub(crate) source: Logical,
    pub(crate) old: OldRow,
    pub(crate) assignments: Vec<Assignment>,
    /// The columns that SET names.
    pub(crate) columns: BTreeSet<usize>,
    pub(crate) locks: LockHints,
}

impl AffectedRows {
    /// The sources beside the target: what an OUTPUT may name.
    pub(crate) fn beside(&self) -> Vec<Source> {
        let target = &self.source;
        let same = |s: &Source| s.name == target.name && s.schema == target.schema;
        let own = |s: &&Source| match s.columns {
            Columns::Reference(no) => no == self.no,
            _ => self.through.is_some() && same(s),
        };
        self.from.sources.iter().filter(|s| !own(s)).cloned().collect()
    }
}

impl Binder<'_> {
    pub(crate) fn update(&mut self, s: &ast::Update) -> SqlResult<Statement<Logical>> {
        self.options(&s.options)?;
        let assigns = |a: &ast::Assignment| {
            use ast::AssignmentKind as K;
            matches!(a.kind, K::Variable { .. } | K::VariableColumn { .. })
        };
        self.embeds = self.header.recompile && !s.assignments.iter().any(assigns);
        self.with_ctes(s.with.as_deref(), |b| b.update_rows(s))
    }

    fn update_rows(&mut self, s: &ast::Update) -> SqlResult<Statement<Logical>> {
        let set: Vec<&ast::Name> = s.assignments.iter().filter_map(set_name).collect();
        let changed = self.changed_rows(&s.target, &s.from, Some(&set))?;
        if changed.through.is_some()
            && let Some(parent) =
                self.base_parent(&changed.target, Events::UPDATE, s.output.as_deref())?
        {
            return self.instead_update_through(s, &parent, changed);
        }
        let table = changed.target.table.clone();
        let beside = changed.beside();
        let scope = Scope::new(changed.from.sources, Clause::Where);
        let (no, locks) = (changed.no, changed.locks);
        let named = TargetNames { source: &changed.source, through: changed.through.as_ref() };
        let (filter, assignments, columns) = self.within(scope, |b| {
            let filter = b.dml_filter(s.filter.as_ref(), Some(no))?;
            b.scopes.last_mut().expect("the scope was opened just now").clause = Clause::Set;
            let assigned = |b: &mut Self| b.assignments(&s.assignments, &table, &named);
            let (mut assignments, columns) = b.drawing(DrawRule::Row, assigned)?;
            if s.top.is_some() && !b.draws.is_empty() {
                return Err(SqlError::new(messages::NEXT_VALUE_TOP, &[]));
            }
            let mut values: Vec<&mut Scalar> =
                assignments.iter_mut().map(|a| &mut a.value).collect();
            b.draws.draw_in(&mut values);
            Ok((filter, assignments, columns))
        })?;
        let set_columns = columns.clone();
        let old = self.old_row(no, &table, |_| true);
        let mut tree = changed.from.tree;
        let filter = filter.and(self.present(&mut tree, no, &table, &old));
        tree = filtered(tree, filter);
        set_target(&mut tree, no, &old);
        let tree = self.dml_top(tree, s.top.as_deref())?;
        let parts = Parts { source: tree, old, assignments, columns, locks };
        let mut update = self.update_of(&changed.target, parts, None)?;
        let own: BTreeSet<Slot> = update.old.columns.iter().copied().flatten().collect();
        let new = update.new.iter().copied().flatten();
        let changed_slots: BTreeSet<Slot> = new.filter(|slot| !own.contains(slot)).collect();
        update.target.checks.extend(self.view_checks(no, &update.new, Some(&changed_slots)));
        let new_key = match changed.through {
            None => self.new_key(s, &changed.target, &set_columns)?,
            Some(_) => None,
        };
        let output = match s.output.as_deref().or(new_key.as_ref()) {
            Some(o) => {
                let own = match &changed.through {
                    Some(t) => {
                        let inserted = self.given_row(t, no, (&table, &update.new), None)?;
                        vec![inserted, given_deleted(&changed.source)]
                    }
                    None => vec![made_row(&table, &update.new, None), deleted(no)],
                };
                Some(Box::new(self.output(o, [own, beside].concat())?))
            }
            None => None,
        };
        let update = Update { distinct_rows: changed.joined, output, ..update };
        Ok(Statement::Update(Box::new(update)))
    }

    /// An UPDATE whose rows and values are known. `obeyed` is the foreign key that it obeys.
    pub(crate) fn update_of(
        &mut self,
        updated: &TargetTable,
        parts: Parts,
        obeyed: Option<&ForeignKey>,
    ) -> SqlResult<Update<Logical>> {
        let Parts { source, old, mut assignments, mut columns, locks } = parts;
        let computed = self.dependents(&updated.table, &columns)?;
        columns.extend(&computed);
        let new: Vec<Option<Slot>> = old
            .columns
            .iter()
            .enumerate()
            .map(|(n, own)| if columns.contains(&n) { Some(self.new_slot()) } else { *own })
            .collect();
        for &column in &computed {
            if let Some(value) = self.computed_value(&updated.table, column, &new)? {
                assignments.push(Assignment { column: Some(column), variable: None, value });
            }
        }
        let mut target = self.target(updated, locks);
        mark_affected(&mut target, &columns);
        let changed_slots: BTreeSet<Slot> = columns.iter().filter_map(|&n| new[n]).collect();
        target.checks = self.checks(&updated.table, &new, Some(&changed_slots))?;
        let slots = RowSlots { old: &old.columns, new: &new };
        target.references = self.references(updated, RowAction::Update(&columns), slots, obeyed)?;
        let distinct_rows = false;
        Ok(Update { target, source, old, new, assignments, distinct_rows, output: None })
    }

    /// The change that gives stored computed columns their values, and others their defaults: of
    /// nothing else, so that no trigger fires and no constraint is judged.
    pub(crate) fn fill(
        &mut self,
        table: Arc<Table>,
        columns: &BTreeSet<usize>,
    ) -> SqlResult<Statement<Logical>> {
        let part = |text: &str| ast::Name { text: text.into(), line: 0 };
        let name = ast::ObjectName {
            server: None,
            database: None,
            schema: Some(part(&table.schema_name)),
            object: part(&table.name),
            span: ast::Span::default(),
        };
        let database = Arc::clone(&self.database);
        let hints: &[ast::TableHint] = &[];
        let from =
            self.read_found(Arc::clone(&table), &database, &name, None, hints, Use::Change)?;
        let Some(Columns::Reference(no)) = from.sources.first().map(|s| s.columns.clone()) else {
            return Err(SqlError::new(messages::INTERNAL, &[&"a table is read by reference"]));
        };
        let old = self.old_row(no, &table, |_| true);
        let own = old.columns.iter().enumerate();
        let new: Vec<Option<Slot>> = own
            .map(|(n, own)| if columns.contains(&n) { Some(self.new_slot()) } else { *own })
            .collect();
        let mut assignments = Vec::with_capacity(columns.len());
        let (computed, own): (Vec<usize>, Vec<usize>) =
            columns.iter().partition(|&&n| table.columns[n].computed.is_some());
        for column in own {
            let value = self.default_value(&table, column)?;
            assignments.push(Assignment { column: Some(column), variable: None, value });
        }
        for column in computed {
            if let Some(value) = self.computed_value(&table, column, &new)? {
                assignments.push(Assignment { column: Some(column), variable: None, value });
            }
        }
        let mut source = from.tree;
        set_target(&mut source, no, &old);
        let filled = TargetTable { table, database };
        let mut target = self.target(&filled, LockHints::default());
        mark_affected(&mut target, columns);
        let (distinct_rows, output) = (false, None);
        let update = Update { target, source, old, new, assignments, distinct_rows, output };
        Ok(Statement::Update(Box::new(update)))
    }

    /// A target that an outer join may leave absent must be there to be changed.
    pub(crate) fn present(
        &mut self,
        tree: &mut Logical,
        no: TableNo,
        table: &Table,
        old: &OldRow,
    ) -> Predicate {
        if !may_be_absent(tree, no) {
            return Predicate::TRUE;
        }
        let slot = self.presence(tree, no, table, old);
        let ty = ScalarType::new(types::SqlType::Int, true);
        let absent = Predicate::IsNull(Box::new(Scalar::column(slot, ty)));
        Predicate::Not(Box::new(absent))
    }

    /// The target and the sources beside it.
    pub(crate) fn changed_rows(
        &mut self,
        target: &ast::DmlTarget,
        from: &[ast::TableSource],
        set: Option<&[&ast::Name]>,
    ) -> SqlResult<AffectedRows> {
        let (rows, position) = self.target_rows(target, from)?;
        self.changed(rows, position, target, set)
    }

    /// The rows of a target with those of its FROM, and which source it is.
    pub(crate) fn target_rows(
        &mut self,
        target: &ast::DmlTarget,
        from: &[ast::TableSource],
    ) -> SqlResult<(FromPart, usize)> {
        if from.is_empty() {
            return Ok((self.read_target(target, None)?, 0));
        }
        no_changes(from, messages::CHANGES_IN_CHANGE)?;
        let bound = self.from(from)?;
        if let Some(position) = self.target_among(target, &bound.sources)? {
            return Ok((bound, position));
        }
        // A target that FROM doesn't name stands beside it, unrestricted.
        let read = self.read_target(target, None)?;
        let sources = read.sources.into_iter().chain(bound.sources).collect();
        let tree = Logical::Join {
            kind: JoinKind::Inner,
            left: Box::new(read.tree),
            right: Box::new(bound.tree),
            on: Predicate::TRUE,
            hint: None,
            apply: false,
        };
        Ok((FromPart { tree, sources }, 0))
    }

    pub(crate) fn read_target(
        &mut self,
        target: &ast::DmlTarget,
        alias: Option<&ast::Name>,
    ) -> SqlResult<FromPart> {
        if let Some(view) = self.derived_target(target, alias)? {
            return Ok(view);
        }
        let found = self.target_table(target)?;
        let name = match &target.kind {
            DmlTargetKind::Table(name) => (**name).clone(),
            DmlTargetKind::Variable(v) => ast::ObjectName {
                server: None,
                database: None,
                schema: None,
                object: v.clone(),
                span: target.span,
            },
            DmlTargetKind::Function(_) => {
                return Err(unsupported("a function as a target", target.span.line));
            }
        };
        let table = found.table.clone();
        let database = &found.database;
        let mut from =
            self.read_found(table, database, &name, alias, &target.hints, Use::Change)?;
        // A synonym's name is what columns are qualified by.
        let variable = matches!(target.kind, DmlTargetKind::Variable(_));
        if let Some(source) = from.sources.first_mut().filter(|_| alias.is_none() && !variable) {
            source.name = name.object.text.clone();
        }
        Ok(from)
    }

    /// The source that a target names: by alias, or as the table it is.
    pub(crate) fn target_among(
        &self,
        target: &ast::DmlTarget,
        sources: &[Source],
    ) -> SqlResult<Option<usize>> {
        let DmlTargetKind::Table(name) = &target.kind else {
            let DmlTargetKind::Variable(v) = &target.kind else { return Ok(None) };
            return Ok(sources.iter().position(|s| self.same(&s.name, v)));
        };
        if let Some(p) = sources.iter().position(|s| self.bears(s, name)) {
            return Ok(Some(p));
        }
        let Object::Table(wanted) = self.lookup(name)?.object else { return Ok(None) };
        let is_wanted = |s: &Source| match s.columns {
            Columns::Reference(no) => self
                .references
                .table(no)
                .is_some_and(|t| (t.database, t.object_id) == (wanted.database, wanted.object_id)),
            Columns::Derived(_) | Columns::Made(_) | Columns::Given(_) => false,
        };
        let mut positions = (0..sources.len()).filter(|&p| is_wanted(&sources[p]));
        match (positions.next(), positions.next()) {
            (Some(_), Some(_)) => {
                Err(SqlError::new(messages::TARGET_AMBIGUOUS, &[&**name]).at_line(target.span.line))
            }
            (position, _) => Ok(position),
        }
    }

    /// The target that a reference of a source is.
    pub(crate) fn as_target(
        &self,
        no: TableNo,
        source: &Source,
        written: &ast::DmlTarget,
    ) -> SqlResult<TargetTable> {
        let Some(table) = self.references.table(no) else {
            let e = SqlError::new(messages::ADHOC_SYSTEM_UPDATE, &[]);
            return Err(e.at_line(written.span.line));
        };
        self.changed_table.set(Some(no));
        let catalogs = self.environment.catalogs;
        let database = source.database.as_deref().and_then(|d| catalogs.database(d));
        let database = database.unwrap_or_else(|| self.database_of(&table));
        Ok(TargetTable { table, database })
    }

    fn database_of(&self, table: &Table) -> std::sync::Arc<catalog::view::DatabaseView> {
        // An alias hides the name: the current database, or the one that owns the id.
        let known = self.header.databases.iter().any(|(id, _)| *id == table.database);
        let names = ["tempdb", "master", "model", "msdb"];
        let other = names.iter().filter_map(|n| self.environment.catalogs.database(n));
        match self.database.id() == table.database || !known {
            true => self.database.clone(),
            false => other
                .into_iter()
                .find(|d| d.id() == table.database)
                .unwrap_or_else(|| self.database.clone()),
        }
    }

    pub(crate) fn changed(
        &mut self,
        mut from: FromPart,
        position: usize,
        written: &ast::DmlTarget,
        set: Option<&[&ast::Name]>,
    ) -> SqlResult<AffectedRows> {
        let source = from.sources[position].clone();
        let (no, through) = match source.columns {
            Columns::Reference(no) => (no, None),
            Columns::Derived(_) | Columns::Made(_) | Columns::Given(_) => {
                let found = self.through(&from.tree, &source, set);
                let (no, through) = found.map_err(|e| e.at_line(written.span.line))?;
                (no, Some(through))
            }
        };
        let target = self.as_target(no, &source, written)?;
        self.writable(&target)?;
        let hints = crate::names::hint::read(
            &written.hints,
            Some(&target.table),
            self.collation,
            Use::Change,
        )?;
        let mut locks = hints.locks;
        let mut dirty = false;
        let private = target.table.object_id.table_variable().is_some();
        from.tree.for_each_mut(&mut |node| {
            if let Logical::Get(get) = node
                && get.table == no
            {
                dirty = !private && get.locks.level == Some(plan::Level::ReadUncommitted);
                if written.hints.is_empty() {
                    locks = get.locks;
                }
                if private {
                    locks = LockHints::private();
                } else {
                    locks.strength = locks.strength.max(Strength::Update);
                }
                get.locks = locks;
            }
        });
        if dirty {
            let error = SqlError::new(messages::NOLOCK_ON_TARGET, &[]);
            return Err(error.at_line(written.span.line));
        }
        let mut tables = 0;
        from.tree.for_each(&mut |node| tables += usize::from(matches!(node, Logical::Get(_))));
        let joined = from.sources.len() > 1 || tables > 1;
        Ok(AffectedRows { target, no, source, from, locks, joined, through })
    }

    pub(crate) fn dml_filter(
        &mut self,
        filter: Option<&DmlFilter>,
        target: Option<TableNo>,
    ) -> SqlResult<Predicate> {
        match filter {
            None => Ok(Predicate::TRUE),
            Some(DmlFilter::Where(c)) => self.condition(c),
            Some(DmlFilter::CurrentOf(c)) => self.current_of(c, target),
        }
    }

    pub(crate) fn dml_top(&mut self, tree: Logical, top: Option<&ast::Top>) -> SqlResult<Logical> {
        match top {
            None => Ok(tree),
            Some(top) => {
                let top = self.top(top, &[])?;
                Ok(Logical::Top { input: Box::new(tree), top })
            }
        }
    }

    pub(crate) fn assignments(
        &mut self,
        assignments: &[ast::Assignment],
        table: &Table,
        named: &TargetNames<'_>,
    ) -> SqlResult<(Vec<Assignment>, BTreeSet<usize>)> {
        let mut out = Vec::with_capacity(assignments.len());
        let mut columns = BTreeSet::new();
        for a in assignments {
            let bound = self.assignment(a, table, named);
            let bound = bound.map_err(|e| e.at_line(a.span.line))?;
            if let Some(column) = bound.column
                && !columns.insert(column)
            {
                let name = &table.columns[column].name;
                let error = SqlError::new(messages::COLUMN_SPECIFIED_TWICE, &[name]);
                return Err(error.at_line(a.span.line));
            }
            out.push(bound);
        }
        Ok((out, columns))
    }

    fn assignment(
        &mut self,
        a: &ast::Assignment,
        table: &Table,
        named: &TargetNames<'_>,
    ) -> SqlResult<Assignment> {
        match &a.kind {
            AssignmentKind::Variable { variable, op, value } => {
                let target = self.variable(variable)?;
                let ty = target.ty;
                let id = variable_id(&target)?;
                let value = self.expr(value)?;
                let ty = ScalarType { sql_type: self.target_type(&target, &value), ..ty };
                let value = match assigning_operator(*op) {
                    Some(op) => self.binary(op, target, value)?,
                    None => value,
                };
                let value = self.assigned(value, ty.sql_type)?;
                Ok(Assignment { column: None, variable: Some((id, ty)), value })
            }
            AssignmentKind::Column { column, op, value } => {
                let (column, value) = self.set_column(column, *op, value, table, named)?;
                Ok(Assignment { column: Some(column), variable: None, value })
            }
            AssignmentKind::VariableColumn { variable, column, op, value } => {
                let target = self.variable(variable)?;
                let (column, value) = self.set_column(column, *op, value, table, named)?;
                let of_column = table.columns[column].sql_type;
                self.learn(&target, || Inference::Assigned(of_column));
                if untyped(&target).is_none() {
                    types::check_implicit(of_column, target.ty.sql_type)?;
                }
                let id = variable_id(&target)?;
                Ok(Assignment { column: Some(column), variable: Some((id, target.ty)), value })
            }
            AssignmentKind::Method { column, method, arguments } => {
                let (position, ordinal) = self.set_target(column, table, named)?;
                if table.columns[ordinal].sql_type != types::SqlType::Xml {
                    let own = self.column_of(named.source, position)?.scalar;
                    let value = self.written(own, column, method, arguments)?;
                    let value = self.for_column(value, table, ordinal)?;
                    return Ok(Assignment { column: Some(ordinal), variable: None, value });
                }
                let kind = ast::ExprKind::Column(Box::new(column.clone()));
                let call = ast::MethodCall {
                    target: ast::MethodTarget::Value(ast::Expr { kind, span: a.span }),
                    method: method.clone(),
                    arguments: arguments.clone(),
                    mutator: true,
                };
                let kind = ast::ExprKind::Method(Box::new(call));
                let value = ast::Expr { kind, span: a.span };
                let (column, value) =
                    self.set_column(column, ast::AssignOp::Set, &value, table, named)?;
                Ok(Assignment { column: Some(column), variable: None, value })
            }
        }
    }

    /// The value of a column after `column.WRITE(expression, offset, length)`.
    fn written(
        &mut self,
        own: Scalar,
        column: &ast::ColumnName,
        method: &ast::Name,
        arguments: &[ast::Expr],
    ) -> SqlResult<Scalar> {
        let ty = own.ty;
        if !ty.sql_type.is_max() || ty.sql_type.is_text_image() {
            return Err(SqlError::new(messages::METHODS_OF_TYPE, &[&ty.sql_type.name()]));
        }
        if column.qualifier.is_some() || !method.eq_ignore_ascii_case("WRITE") {
            return Err(SqlError::new(messages::SYNTAX_NEAR, &[method]));
        }
        let [value, offset, length] = arguments else {
            let message = match arguments.len() {
                0..3 => messages::INVALID_PARAMETERS_TO_TVF,
                _ => messages::TOO_MANY_PROC_ARGUMENTS,
            };
            return Err(SqlError::new(message, &[&"write"]));
        };
        let value = self.expr(value)?;
        check_assigned(value.ty, ty.sql_type)?;
        let value = self.as_result(value, ty)?;
        let mut args = vec![own, value];
        for number in [offset, length] {
            let number = self.expr(number)?;
            args.push(self.implicit(number, types::SqlType::BigInt)?);
        }
        let name = types::Value::nvarchar(&column.name);
        args.push(self.constant(name, types::SqlType::SYSNAME));
        let arg_types = args.iter().map(|x| x.ty.sql_type).collect();
        let kind = ScalarKind::Function { function: &builtins::WRITE, args, arg_types };
        Ok(Scalar { kind, ty: ScalarType { nullable: true, ..ty } })
    }

    /// A column that SET names: its place in the target's source, and in the table.
    fn set_target(
        &mut self,
        name: &ast::ColumnName,
        table: &Table,
        named: &TargetNames<'_>,
    ) -> SqlResult<(usize, usize)> {
        if let Some(q) = &name.qualifier
            && !self.bears(named.source, q)
        {
            return Err(SqlError::new(messages::MULTIPART_UNBOUND, &[name]));
        }
        let (position, ordinal) = match named.through {
            Some(t) => (self.through_position(t, &name.name)?, self.through_column(t, &name.name)?),
            None => {
                let found = table.column(&name.name, self.collation).ok_or_else(|| {
                    SqlError::new(messages::INVALID_COLUMN, &[&name.name]).at_line(name.name.line)
                })?;
                (found, found)
            }
        };
        let c = &table.columns[ordinal];
        if c.identity.is_some() {
            return Err(SqlError::new(messages::UPDATE_IDENTITY, &[&c.name]));
        }
        if c.sql_type == types::SqlType::RowVersion {
            return Err(SqlError::new(messages::UPDATE_ROW_VERSION, &[]));
        }
        if c.computed.is_some() {
            return Err(SqlError::new(messages::UPDATE_COMPUTED, &[&c.name]));
        }
        Ok((position, ordinal))
    }

    fn set_column(
        &mut self,
        name: &ast::ColumnName,
        op: ast::AssignOp,
        value: &ast::Expr,
        table: &Table,
        named: &TargetNames<'_>,
    ) -> SqlResult<(usize, Scalar)> {
        let (position, ordinal) = self.set_target(name, table, named)?;
        let value = match (&value.kind, assigning_operator(op)) {
            (ExprKind::Default, _) => return Ok((ordinal, self.default_value(table, ordinal)?)),
            (_, None) => self.expr(value)?,
            (_, Some(op)) => {
                let own = self.column_of(named.source, position)?.scalar;
                let value = self.expr(value)?;
                self.binary(op, own, value)?
            }
        };
        Ok((ordinal, self.for_column(value, table, ordinal)?))
    }
}

/// A target's names: its source, and how that is the table if it is not.
#[derive(Clone, Copy)]
pub(crate) struct TargetNames<'c> {
    pub(crate) source: &'c Source,
    pub(crate) through: Option<&'c UpdatableColumns>,
}

/// The column that an item of SET changes.
pub(crate) fn set_name(a: &ast::Assignment) -> Option<&ast::Name> {
    match &a.kind {
        AssignmentKind::Column { column, .. }
        | AssignmentKind::VariableColumn { column, .. }
        | AssignmentKind::Method { column, .. } => Some(&column.name),
        AssignmentKind::Variable { .. } => None,
    }
}

/// Whether a join may give rows without one of a table.
fn may_be_absent(tree: &Logical, no: TableNo) -> bool {
    let mut absent = false;
    tree.for_each(&mut |node| {
        let Logical::Join { kind, left, right, .. } = node else { return };
        let (loses_left, loses_right) = match kind {
            JoinKind::Left => (false, true),
            JoinKind::Right => (true, false),
            JoinKind::Full => (true, true),
            JoinKind::Inner | JoinKind::Semi | JoinKind::Anti => (false, false),
        };
        absent |= loses_left && reads_table(left, no) || loses_right && reads_table(right, no);
    });
    absent
}

fn reads_table(tree: &Logical, no: TableNo) -> bool {
    let mut found = false;
    tree.for_each(&mut |node| found |= matches!(node, Logical::Get(get) if get.table == no));
    found
}

fn variable_id(x: &Scalar) -> SqlResult<VariableId> {
    match x.kind {
        ScalarKind::Variable(id) => Ok(id),
        _ => Err(SqlError::new(messages::SYNTAX_NEAR, &[&"SET"])),
    }
}

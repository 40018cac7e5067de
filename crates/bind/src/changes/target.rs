//! Targets of changes: indexes to maintain, constraints to test, old and new rows.

use crate::binder::Binder;
use crate::expressions::collation::check_assigned;
use crate::expressions::deduction::{Inference, takes_any_type};
use crate::expressions::draws::DrawRule;
use crate::names::from::FromPart;
use crate::names::scope::{Clause, Columns, DerivedColumn, Scope, Source};
use crate::tree::flag_rows;
use base::{SqlError, SqlResult, messages};
use catalog::view::{DatabaseView, Index, ModuleKind, Object, PhysicalColumn, Table};
use plan::{
    CheckConstraint, Coercibility, EntryField, IdentityColumn, IndexTarget, KeyPart, LockHints,
    Logical, OldRow, References, Scalar, ScalarKind, ScalarType, Slot, TableNo, Target,
    TargetColumn, Uniqueness,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tsql::ast::{self, DmlTargetKind};
use types::{Fit, SqlType, coerce_for_column};

/// A table that a statement changes, found.
pub(crate) struct TargetTable {
    pub(crate) table: Arc<Table>,
    pub(crate) database: Arc<DatabaseView>,
}

impl Binder<'_> {
    /// The table that a DML statement names itself.
    pub(crate) fn target_table(&self, target: &ast::DmlTarget) -> SqlResult<TargetTable> {
        match &target.kind {
            DmlTargetKind::Variable(name) => Ok(TargetTable {
                table: self.table_variable(name)?,
                database: Arc::clone(&self.database),
            }),
            DmlTargetKind::Function(_) => {
                Err(crate::refusal::unsupported("a function as a target", target.span.line))
            }
            DmlTargetKind::Table(name) => {
                let found = self.lookup(name)?;
                match found.object {
                    Object::Table(table) => Ok(TargetTable { table, database: found.database }),
                    Object::Virtual(_) => {
                        let error = SqlError::new(messages::ADHOC_SYSTEM_UPDATE, &[]);
                        Err(error.at_line(target.span.line))
                    }
                    Object::Module(_) | Object::Sequence(_) | Object::Synonym(_) => {
                        Err(SqlError::new(messages::INVALID_OBJECT, &[name]))
                    }
                }
            }
        }
    }

    /// 10700, 286: a table-valued parameter and what a trigger is given are not changed.
    pub(crate) fn writable(&self, target: &TargetTable) -> SqlResult<()> {
        let table = &target.table;
        let private = table.object_id.table_variable().is_some();
        if !private || !self.environment.catalogs.declared_table(&table.name).read_only {
            return Ok(());
        }
        match table.name.starts_with('@') {
            true => Err(SqlError::new(messages::TABLE_PARAMETER_READ_ONLY, &[&table.name])),
            false => Err(SqlError::new(messages::LOGICAL_TABLE_READ_ONLY, &[])),
        }
    }

    /// The rows of a target that is a view or a common table expression.
    pub(crate) fn derived_target(
        &mut self,
        target: &ast::DmlTarget,
        alias: Option<&ast::Name>,
    ) -> SqlResult<Option<FromPart>> {
        let DmlTargetKind::Table(name) = &target.kind else { return Ok(None) };
        let is_cte = name.schema.is_none()
            && name.database.is_none()
            && self.ctes.iter().any(|c| self.same(&c.name, &name.object));
        if !is_cte {
            let found = self.lookup(name)?;
            let Object::Module(m) = &found.object else { return Ok(None) };
            if m.kind != ModuleKind::View {
                return Ok(None);
            }
        }
        let named = ast::NamedTable {
            name: (**name).clone(),
            alias: alias.cloned(),
            hints: target.hints.clone(),
            sample: None,
            system_time: None,
        };
        self.named_table(&named).map(Some)
    }

    /// The plan's description of a target.
    pub(crate) fn target(&self, target: &TargetTable, locks: LockHints) -> Target {
        let table = &target.table;
        let indexes = table.indexes.iter().filter(|i| !i.disabled);
        let private = table.object_id.table_variable().is_some();
        let database_name = if table.is_temp { "tempdb" } else { target.database.name() };
        Target {
            database: table.database,
            object: table.object_id,
            database_name: database_name.into(),
            schema_name: table.schema_name.clone(),
            table_name: table.name.clone(),
            columns: table.columns.iter().map(target_column).collect(),
            indexes: indexes.map(|i| index_target(table, i)).collect(),
            checks: Vec::new(),
            references: References::default(),
            locks: if private { LockHints::private() } else { locks },
            wide: None,
        }
    }

    /// CHECKs over new values; only those that read one of `changed`, if given.
    pub(crate) fn checks(
        &mut self,
        table: &Table,
        new: &[Option<Slot>],
        changed: Option<&BTreeSet<Slot>>,
    ) -> SqlResult<Vec<CheckConstraint>> {
        let mut out = Vec::new();
        for check in table.checks.iter().filter(|c| !c.disabled) {
            let condition = tsql::parse_condition(&check.text, tsql::ParseOptions::default())?;
            let scope = self.new_row_scope(table, new);
            let rule = DrawRule::Refused(messages::NEXT_VALUE_NESTED);
            let predicate = |b: &mut Self| b.within(scope, |b| b.condition(&condition));
            let predicate = self.nested(1, |b| b.drawing(rule, predicate))?;
            let reads = predicate.reads().slots;
            if changed.is_some_and(|changed| changed.is_disjoint(&reads)) {
                continue;
            }
            let column = check.column.and_then(|c| table.columns.get(c));
            out.push(CheckConstraint {
                name: check.name.clone(),
                column: column.map(|c| c.name.clone()),
                predicate,
                of_view: false,
            });
        }
        Ok(out)
    }

    /// A scope in which a table's column names mean given slots.
    pub(crate) fn new_row_scope(&self, table: &Table, new: &[Option<Slot>]) -> Scope {
        let columns = table.columns.iter().zip(new).filter_map(|(c, slot)| {
            let ty = ScalarType {
                sql_type: c.sql_type,
                nullable: c.nullable,
                collation: c.collation,
                coercibility: Coercibility::Implicit,
            };
            let (name, user_type_id) = (c.name.clone(), c.user_type_id);
            slot.map(|slot| DerivedColumn { name, slot, ty, user_type_id, identity: false })
        });
        let source = Source {
            name: table.name.clone(),
            schema: Some(table.schema_name.clone()),
            database: None,
            shown: table.name.clone(),
            aliased: false,
            columns: Columns::Derived(columns.collect()),
            body: None,
        };
        let mut scope = Scope::barrier(Clause::Definition);
        scope.sources.push(source);
        scope
    }

    /// The value a column takes when none is given: its default, or NULL.
    pub(crate) fn default_value(&mut self, table: &Table, column: usize) -> SqlResult<Scalar> {
        let c = &table.columns[column];
        // A rowversion is made where the row is.
        let Some(default) = &c.default else {
            return Ok(Scalar::null(c.sql_type));
        };
        let expr = tsql::parse_expression(&default.text, tsql::ParseOptions::default())?;
        let scope = Scope::barrier(Clause::Definition);
        let value = |b: &mut Self| b.within(scope, |b| b.expr(&expr));
        let value = self.nested(1, |b| b.drawing(DrawRule::Row, value))?;
        self.for_column(value, table, column)
    }

    /// A value on its way into a column: convertible, and converted already if it is a constant
    /// that fits.
    pub(crate) fn for_column(&self, x: Scalar, table: &Table, column: usize) -> SqlResult<Scalar> {
        let to = table.columns[column].sql_type;
        self.learn(&x, || Inference::Is(to));
        self.costs(&x, to);
        if takes_any_type(&x) {
            return Ok(Scalar { ty: x.ty.converted(to), ..x });
        }
        check_assigned(x.ty, to)?;
        let collation = table.columns[column].collation;
        let x = self.for_text_column(x, to, collation);
        if to == SqlType::Variant {
            // A variant keeps the collation of what it is made of.
            return self.implicit(x, to);
        }
        types::check_implicit(x.ty.sql_type, to)?;
        // Dates as text depend on the session: `implicit` knows when.
        let dated = types::is_dated(x.ty.sql_type, to);
        if dated && x.as_constant().is_some() {
            let converted = self.implicit(x.clone(), to)?;
            return Ok(if converted.as_constant().is_some() { converted } else { x });
        }
        let fitting = match x.as_constant() {
            Some(value) => {
                let source = x.ty.collation;
                let (from, dialect) = (x.ty.sql_type, self.environment.dialect);
                match coerce_for_column(value, from, to, dialect, (source, collation)) {
                    Ok(Fit::Fits(value)) => Some(value),
                    Ok(Fit::Truncated(_)) | Err(_) => None,
                }
            }
            None => None,
        };
        Ok(match fitting {
            Some(value) => Scalar { kind: ScalarKind::Constant(value), ty: x.ty.converted(to) },
            None => x,
        })
    }

    /// Slots of the old row: the columns that `needed` says, and how to find the row again.
    pub(crate) fn old_row(
        &mut self,
        no: TableNo,
        table: &Table,
        needed: impl Fn(usize) -> bool,
    ) -> OldRow {
        let mut columns = Vec::with_capacity(table.columns.len());
        for (n, c) in table.columns.iter().enumerate() {
            let wanted = c.physical.is_some() && needed(n);
            columns.push(if wanted { Some(self.references.use_column(no, n)) } else { None });
        }
        let base = table.base();
        let uniquifier =
            (base.kind.is_clustered() && !base.unique).then(|| self.references.use_place(no));
        let rid = base.kind.is_heap().then(|| self.references.use_place(no));
        OldRow { columns, uniquifier, rid, hint: Some(self.new_slot()) }
    }

    /// A slot that is NULL where a join has no row of the target: of a column that never is, or
    /// of a constant beside the target's rows.
    pub(crate) fn presence(
        &mut self,
        tree: &mut Logical,
        no: TableNo,
        table: &Table,
        old: &OldRow,
    ) -> Slot {
        let columns = table.columns.iter().zip(&old.columns);
        let certain = columns.filter(|(c, _)| !c.nullable).find_map(|(_, slot)| *slot);
        if let Some(slot) = old.rid.or(certain) {
            return slot;
        }
        let slot = self.new_slot();
        flag_rows(tree, &mut BTreeMap::from([(no, slot)]));
        slot
    }

    /// Whether all definitions of a table have a meaning.
    pub(crate) fn definition(&mut self, table: &Arc<Table>) -> SqlResult<()> {
        for (n, c) in table.columns.iter().enumerate() {
            if c.default.is_some() {
                self.default_value(table, n)?;
            }
        }
        let slots: Vec<Option<Slot>> =
            table.columns.iter().map(|c| c.physical.map(|_| self.new_slot())).collect();
        self.checks(table, &slots, None)?;
        Ok(())
    }
}

fn target_column(c: &catalog::view::Column) -> TargetColumn {
    TargetColumn {
        name: c.name.clone(),
        sql_type: c.sql_type,
        nullable: c.nullable,
        collation: c.collation,
        stored: c.physical.is_some(),
    }
}

/// Marks the indexes that a change of some columns touches.
pub(crate) fn mark_affected(target: &mut Target, changed: &BTreeSet<usize>) {
    let base_key_changes = {
        let base = target.base();
        key_columns(base).any(|c| changed.contains(&c))
    };
    for (n, index) in target.indexes.iter_mut().enumerate() {
        let touches = |f: &EntryField| match f {
            EntryField::Column(c) => changed.contains(c),
            // A row of a heap keeps its RID, wherever it goes.
            EntryField::Dropped | EntryField::Rid => false,
            // A new key may get another uniquifier.
            EntryField::Uniquifier => base_key_changes,
        };
        // A row may come into a filtered index, or leave it.
        let filter = index.filter.as_deref();
        let enters = filter.is_some_and(|f| changed.iter().any(|&c| f.reads(c)));
        let of_key = index.key.iter().any(|k| touches(&index.fields[k.field]));
        index.key_changes = enters || of_key;
        index.affected = n == 0 || enters || index.fields.iter().any(touches);
    }
}

fn index_target(table: &Table, index: &Index) -> IndexTarget {
    let layout = table.hobt_layout(index);
    let field = |c: &PhysicalColumn| match *c {
        PhysicalColumn::Column(n) => EntryField::Column(n),
        PhysicalColumn::Dropped(_) => EntryField::Dropped,
        PhysicalColumn::Uniquifier => EntryField::Uniquifier,
        PhysicalColumn::Rid => EntryField::Rid,
    };
    let part = |k: &catalog::view::KeyField| KeyPart { field: k.field, descending: k.descending };
    IndexTarget {
        index: index.index_id,
        hobt: index.partitions.sole(),
        name: index.name.clone(),
        fields: layout.columns.iter().map(field).collect(),
        key: layout.key.iter().map(part).collect(),
        declared_key: layout.declared_key,
        unique: match index {
            Index { primary_key: true, .. } => Uniqueness::PrimaryKey,
            Index { unique_constraint: true, .. } => Uniqueness::Constraint,
            Index { unique: true, .. } => Uniqueness::Index,
            Index { .. } => Uniqueness::No,
        },
        affected: true,
        key_changes: true,
        filter: index.filter.clone(),
        ignore_duplicates: index.ignore_dup_key,
        wide: false,
    }
}

/// The table's columns among the key of an index.
pub(crate) fn key_columns(index: &IndexTarget) -> impl Iterator<Item = usize> + '_ {
    index.key.iter().filter_map(|k| match index.fields[k.field] {
        EntryField::Column(c) => Some(c),
        EntryField::Dropped | EntryField::Uniquifier | EntryField::Rid => None,
    })
}

/// Makes the reference of a number the target of the change.
pub(crate) fn set_target(tree: &mut Logical, no: TableNo, old: &OldRow) {
    tree.for_each_mut(&mut |node| {
        if let Logical::Get(get) = node
            && get.table == no
        {
            get.target = Some(old.clone());
        }
    });
}

/// The columns that get values when none are listed.
pub(crate) fn free_columns(table: &Table) -> Vec<usize> {
    let identity = table.identity();
    let free =
        |(n, c): &(usize, &catalog::view::Column)| c.computed.is_none() && Some(*n) != identity;
    table.columns.iter().enumerate().filter(free).map(|(n, _)| n).collect()
}

/// The identity column of a target, and whether the statement gives its values.
pub(crate) fn identity_column(table: &Table, listed: &[usize]) -> Option<IdentityColumn> {
    let column = table.identity()?;
    let own = table.columns[column].identity?;
    let explicit = listed.contains(&column);
    Some(IdentityColumn { column, seed: own.seed, increment: own.increment, explicit })
}

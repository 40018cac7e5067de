//! Defaults and checks for ddl: bound, and evaluated over rows that are there already.

use crate::instance::Instance;
use access::Isolation;
use base::{DatabaseId, HobtId, ObjectId, SqlError, SqlResult, messages};
use bind::{Bound, Environment, Variables};
use builtins::{Fact, Question, SessionFacts};
use catalog::view::{Catalogs, Check, DatabaseView, DeclaredTable, Module, RowKey, Table};
use exec::{ExecContext, Executor, NoRows};
use plan::VariableId;
use session::Storage;
use std::collections::BTreeSet;
use std::sync::Arc;
use tsql::ParseOptions;
use types::datetime::{Dialect, Moment};
use types::{Collation, Family, Fit, SqlType, Value, coerce_for_column};
use work::Work;

/// Expressions of definitions, without a session's variables.
pub(crate) struct SessionExpressions<'a> {
    pub(crate) instance: &'a Instance,
    /// Of the session that defines.
    pub(crate) dialect: Dialect,
}

/// One view, and the published ones of other databases.
struct OneView<'a> {
    view: Arc<DatabaseView>,
    instance: &'a Instance,
}

impl Catalogs for OneView<'_> {
    fn current(&self) -> Arc<DatabaseView> {
        Arc::clone(&self.view)
    }

    fn database(&self, name: &str) -> Option<Arc<DatabaseView>> {
        self.instance.database_by_name(name).map(|d| d.view())
    }

    fn temp_table(&self, _: &str) -> Option<Arc<Table>> {
        None
    }

    fn table_variable(&self, _: &str) -> Option<Arc<Table>> {
        None
    }

    fn cursor_keys(&self, name: &str, _: bool) -> SqlResult<Vec<RowKey>> {
        Err(SqlError::new(messages::CURSOR_UNKNOWN, &[&name]))
    }

    fn is_firing(&self, _: DatabaseId, _: ObjectId) -> bool {
        false
    }

    fn declared_table(&self, _: &str) -> DeclaredTable {
        DeclaredTable::default()
    }
}

struct NoVariables;

impl Variables for NoVariables {
    fn first_free(&self) -> u32 {
        0
    }

    fn variable(&self, _: &str) -> Option<(VariableId, SqlType)> {
        None
    }
}

/// Facts without a session: defaults over existing rows may ask for the time and little else.
struct SystemFacts {
    dialect: Dialect,
}

impl SessionFacts for SystemFacts {
    fn fact(&self, _: Fact) -> SqlResult<Value> {
        Ok(Value::Null)
    }

    fn resolve(&self, _: Question, _: &[Value]) -> SqlResult<Value> {
        Ok(Value::Null)
    }

    fn clock(&self) -> Moment {
        let ns = os::clock::now().0;
        let day = 86_400_000_000_000;
        Moment {
            days: (ns.div_euclid(day) + 719_162) as i32,
            ticks: (ns.rem_euclid(day) / 100) as u64,
            offset: 0,
        }
    }

    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn random(&self) -> u64 {
        os::entropy::random_u64()
    }
}

/// What compiling texts of definitions knows: nothing of tables, and the request that defines,
/// which may be over while it goes on.
struct DefinitionFacts;

impl plan::Watch for DefinitionFacts {
    /// What is made is counted where it is allocated.
    fn goes_on(&self, _more_bytes: usize) -> SqlResult<()> {
        os::values::look()
    }
}

impl optimize::Facts for DefinitionFacts {
    fn size(&self, database: DatabaseId, hobt: HobtId) -> Option<optimize::Size> {
        optimize::NoFacts.size(database, hobt)
    }

    fn value(&self, variable: VariableId) -> Option<Value> {
        optimize::NoFacts.value(variable)
    }

    fn modifications(&self, database: DatabaseId, table: ObjectId, column: i32) -> Option<u64> {
        optimize::NoFacts.modifications(database, table, column)
    }

    fn memory(&self) -> optimize::Memory {
        optimize::NoFacts.memory()
    }

    fn watch(&self) -> Option<&dyn plan::Watch> {
        Some(self)
    }
}

impl SessionExpressions<'_> {
    fn catalogs(&self, view: &DatabaseView) -> OneView<'_> {
        OneView { view: Arc::new(view.clone()), instance: self.instance }
    }

    /// What texts of definitions are bound in.
    fn environment<'e>(&self, catalogs: &'e OneView<'_>) -> Environment<'e> {
        Environment {
            catalogs,
            variables: &NoVariables,
            identity_insert: None,
            ansi_nulls: true,
            dialect: self.dialect,
            unguarded: bind::SkippedGuards::default(),
            deduction: None,
            watch: Some(&DefinitionFacts),
        }
    }

    /// Runs a statement in a database as it is in a view; gives the count of its rows.
    fn execute(&self, work: &mut Work, view: &Arc<DatabaseView>, text: &str) -> SqlResult<u64> {
        let parsed = tsql::parse(text, ParseOptions { quoted_identifier: true });
        if let Some(e) = parsed.errors.into_iter().next() {
            return Err(e);
        }
        let catalogs = OneView { view: Arc::clone(view), instance: self.instance };
        let environment = self.environment(&catalogs);
        let statement = parsed.batch.statements.first();
        let statement =
            statement.ok_or_else(|| SqlError::new(messages::INTERNAL, &[&"no statement"]))?;
        self.run(work, bind::bind_statement(&environment, statement)?)
    }

    fn run(&self, work: &mut Work, bound: Bound) -> SqlResult<u64> {
        let mut executor =
            Executor::new(&optimize::optimize(bound.plan, &bound.references, &DefinitionFacts)?)?;
        let outcome = self.with_context(work, |context| executor.run(context, &mut NoRows))?;
        Ok(outcome.rows_affected)
    }

    fn with_context<R>(
        &self,
        work: &mut Work,
        then: impl FnOnce(&mut ExecContext<'_>) -> SqlResult<R>,
    ) -> SqlResult<R> {
        let mut context = ExecContext {
            work,
            private: None,
            hobts: self.instance.hobts(),
            spill: Storage::spill(self.instance),
            variables: &mut [],
            facts: &SystemFacts { dialect: self.dialect },
            identity: self.instance.identity(),
            callout: &exec::NoCallout,
            grant: exec::GrantTerms { workers: None, ..self.instance.grant() },
            isolation: Isolation::ReadCommitted,
            as_of: None,
            qualifies_first: false,
            row_limit: None,
        };
        then(&mut context)
    }
}

impl ddl::Expressions for SessionExpressions<'_> {
    fn check_default(
        &self,
        view: &DatabaseView,
        text: &str,
        column: SqlType,
        quoted_identifier: bool,
    ) -> SqlResult<()> {
        let parsed = tsql::parse_expression(text, ParseOptions { quoted_identifier })?;
        let catalogs = self.catalogs(view);
        let environment = self.environment(&catalogs);
        bind::bind_default(&environment, &parsed, column, None).map(|_| ())
    }

    fn check_condition(
        &self,
        view: &DatabaseView,
        table: &Table,
        text: &str,
        _quoted_identifier: bool,
    ) -> SqlResult<()> {
        let catalogs = self.catalogs(view);
        let environment = self.environment(&catalogs);
        let mut table = table.clone();
        let check = Check {
            object_id: table.object_id,
            name: "CK".into(),
            system_named: true,
            text: text.into(),
            column: None,
            disabled: false,
            not_trusted: false,
            not_for_replication: false,
        };
        table.checks = vec![check];
        bind::check_definition(&environment, &Arc::new(table))
    }

    fn default_value(
        &self,
        work: &mut Work,
        view: &DatabaseView,
        text: &str,
        (column, collation): (SqlType, Collation),
    ) -> SqlResult<Value> {
        let parsed = tsql::parse_expression(text, ParseOptions { quoted_identifier: true })?;
        let catalogs = self.catalogs(view);
        let environment = self.environment(&catalogs);
        // What is longer than the column is refused, not cut.
        let whole = match column.family() {
            Family::Char => SqlType::VARCHAR_MAX,
            Family::NChar => SqlType::NVARCHAR_MAX,
            Family::Binary => SqlType::VARBINARY_MAX,
            _ => column,
        };
        let bound = bind::bind_default(&environment, &parsed, whole, Some(collation))?;
        let mut executor =
            Executor::new(&optimize::optimize(bound.plan, &bound.references, &DefinitionFacts)?)?;
        let value = self.with_context(work, |context| executor.evaluate(context))?;
        match coerce_for_column(&value, whole, column, self.dialect, (collation, collation))? {
            Fit::Fits(value) => Ok(value),
            Fit::Truncated(_) => Err(SqlError::new(messages::STRING_TRUNCATED_PLAIN, &[])),
        }
    }

    fn module_columns(
        &self,
        view: &DatabaseView,
        module: &Arc<Module>,
    ) -> SqlResult<bind::ModuleColumns> {
        let catalogs = self.catalogs(view);
        let environment = self.environment(&catalogs);
        bind::module_columns(&environment, module)
    }

    fn any_row(&self, work: &mut Work, view: &Arc<DatabaseView>, query: &str) -> SqlResult<bool> {
        let rows = self.execute(work, view, &format!("SELECT 1 WHERE EXISTS ({query})"))?;
        Ok(rows != 0)
    }

    fn computed_type(
        &self,
        view: &DatabaseView,
        table: &Table,
        text: &str,
    ) -> SqlResult<bind::ComputedType> {
        let catalogs = self.catalogs(view);
        let environment = self.environment(&catalogs);
        bind::bind_computed(&environment, table, text)
    }

    fn user_of(&self, view: &DatabaseView, table: &Table, module: &Module) -> Option<Box<str>> {
        let catalogs = self.catalogs(view);
        let environment = self.environment(&catalogs);
        bind::user_of(&environment, table, module.object_id, &module.name)
    }

    fn fill(
        &self,
        work: &mut Work,
        view: &Arc<DatabaseView>,
        table: ObjectId,
        columns: &BTreeSet<usize>,
    ) -> SqlResult<()> {
        let missing = || SqlError::new(messages::INTERNAL, &[&"the table has just been altered"]);
        let table = view.table(table).ok_or_else(missing)?;
        let catalogs = OneView { view: Arc::clone(view), instance: self.instance };
        let environment = self.environment(&catalogs);
        self.run(work, bind::bind_fill(&environment, table, columns)?).map(drop)
    }
}

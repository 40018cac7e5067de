//! INSERT BULK: what a client announces, and the rows that it then sends.
//!
//! ```text
//! batch        INSERT BULK t (a int, b varchar(20)) WITH (TABLOCK)
//! is kept as   INSERT INTO t WITH (TABLOCK) (a, b) VALUES (@c1, @c2), @c1 int, @c2 varchar(20)
//! bulk load    each row sets the variables, and the INSERT runs again, all in one statement
//! ```
//!
//! So conversions, defaults, identity values and messages are those of INSERT. A listed column
//! takes the values that the client sends; an identity column does so, too. NULL becomes the
//! column's default unless KEEP_NULLS is given. With FIRE_TRIGGERS the table's triggers run once,
//! after the last row. Without it no trigger runs, not even an INSTEAD OF trigger.
//!
//! Without CHECK_CONSTRAINTS neither CHECK nor FOREIGN KEY constraints check the rows, and none of
//! them is trusted from then on (`is_not_trusted`). Plans do not rely on them until ALTER TABLE
//! WITH CHECK CHECK CONSTRAINT has checked all rows. Source: Microsoft's pages of BULK INSERT and
//! of SqlBulkCopyOptions. Here the trust ends at INSERT BULK itself, not at the first row. So it
//! does not come back when the load fails, and rows can come without a Sch-M lock. This is our
//! choice.
//!
//! ORDER gives the order in which rows come. If it is the order of the clustered index, a row that
//! comes too late ends the load (4819). Any other order is ignored, as the reference of BULK INSERT
//! says.
//!
//! Invariants
//!  1. An announcement is valid only for the next request.
//!  2. A load that fails leaves none of its rows.
//!  3. Rows that constraints have not checked enter only a table that trusts no constraint. If a
//!     constraint was checked again after the announcement, the load is refused (4891).

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::answer::sink::{Command, DoneScope};
use crate::host::definitions::ProcedureCall;
use crate::program::steps::{Program, StepKind};
use crate::request::BulkRows;
use crate::request::announcement::{Bulk, OrderColumn};
use crate::request::run::ResultTarget;
use crate::session::Session;
use crate::session::state::IdentityInsert;
use base::{SqlError, SqlResult, messages};
use bind::SkippedGuards;
use catalog::view::{Object, Table};
use exec::RowFeed;
use plancache::Entry;
use std::cmp::Ordering;
use std::sync::Arc;
use tsql::ast;
use tsql::ast::SettingValue;
use types::datetime::Dialect;
use types::{CodePage, Family, Fit, Length, SqlType, Value, coerce_for_column};

/// The options that are implemented.
#[derive(Default)]
struct Options {
    /// ORDER: the names, and whether each is descending.
    order: Vec<(Box<str>, bool)>,
    keep_nulls: bool,
    table_lock: bool,
    check: bool,
    fire: bool,
}

impl Session {
    /// Runs INSERT BULK: everything except the rows.
    pub(crate) fn announce_bulk(
        &mut self,
        it: &ast::InsertBulk,
        out: &mut Output<'_>,
    ) -> Result<(), Failure> {
        let options = options(&it.options)?;
        let found = self.find_object(&it.table, self.state.database.id);
        let Some((database, Object::Table(table))) = found else {
            let e = SqlError::new(messages::INVALID_OBJECT, &[&it.table]);
            return Err(Failure::of_binding(e));
        };
        let unguarded = SkippedGuards { constraints: !options.check, triggers: !options.fire };
        if unguarded.constraints && table.trusts_constraints() {
            self.define_by_call(&ProcedureCall::Distrust(it.table.clone()), out)?;
        }
        let identity = table.identity().map(|c| &table.columns[c]);
        let listed = identity.is_some_and(|i| it.columns.iter().any(|c| same(&c.name, &i.name)));
        let identity = listed.then(|| IdentityInsert {
            database,
            object: table.object_id,
            name: table.two_part_name(),
        });
        let (parameters, text) =
            insert_of(it, &table, &options, self.state.own_collation().code_page())?;
        let program = self.with_identity(identity.clone(), |s| {
            let program = s.loading_program(&parameters, &text, unguarded);
            program.map_err(|mut errors| errors.swap_remove(0))
        });
        let program = program.map_err(Failure::of_binding)?;
        let (order, unique) = order_of(it, &table, &options.order)?;
        self.bulk = Some(Bulk { program, columns: it.columns.len(), order, unique, identity });
        Ok(())
    }

    /// Takes the rows of an announced INSERT BULK.
    pub(crate) fn load_rows(
        &mut self,
        rows: &mut dyn BulkRows,
        out: &mut Output<'_>,
    ) -> Result<(), Failure> {
        let Some(bulk) = self.bulk.take() else {
            return Err(SqlError::new(messages::BULK_NOT_BEGUN, &[]).into());
        };
        let declared: Vec<SqlType> =
            bulk.program.value.variables.iter().map(|v| v.sql_type).collect();
        check_columns(rows.columns(), &declared[..bulk.columns])?;
        let dialect = self.state.settings.dialect();
        let from = sent_types(rows.columns());
        let Bulk { program, order, unique, identity, .. } = bulk;
        let last = Vec::new();
        let mut feed = Feed { from, to: declared, dialect, rows, order, unique, last };
        let result = self.with_identity(identity, |s| s.run_load(&program, &mut feed, out));
        match result {
            Ok(outcome) => {
                self.state.last.error = 0;
                self.state.last.rows = outcome.rows_affected;
                self.finish_statement(
                    outcome,
                    Command::BulkInsert,
                    ResultTarget::Nothing,
                    out,
                    DoneScope::Statement,
                );
                Ok(())
            }
            Err(failure) => {
                let mut failure = failure;
                self.settle_transaction(&mut failure, false)?;
                Err(failure)
            }
        }
    }

    fn run_load(
        &mut self,
        program: &Arc<Entry<Program>>,
        feed: &mut Feed<'_>,
        out: &mut Output<'_>,
    ) -> Result<exec::Outcome, Failure> {
        let place = program.value.steps.iter().find_map(|step| match step.kind {
            StepKind::Run(place) => Some(place),
            _ => None,
        });
        let Some(place) = place else {
            return Err(SqlError::new(messages::INTERNAL, &[&"a bulk load has no INSERT"]).into());
        };
        let mut act = self.idle.take(program);
        let meter = self.meter();
        let result = self.run_fed(&mut act, place, feed, out);
        if let Ok(outcome) = &result {
            self.count_run(&act, place, &meter, outcome.rows_affected);
            self.state.note_changes(&act, place, outcome.rows_affected);
        }
        self.idle.give_back(act);
        result
    }

    /// Runs something while the identity column of a table accepts values, as under
    /// IDENTITY_INSERT.
    fn with_identity<T>(
        &mut self,
        table: Option<IdentityInsert>,
        run: impl FnOnce(&mut Session) -> T,
    ) -> T {
        let Some(table) = table else { return run(self) };
        let before = self.state.identity.insert.replace(table);
        self.state.names_version += 1;
        let result = run(self);
        self.state.identity.insert = before;
        self.state.names_version += 1;
        result
    }
}

fn same(a: &ast::Name, b: &str) -> bool {
    a.text.to_lowercase() == b.to_lowercase()
}

fn options(list: &[ast::Setting]) -> SqlResult<Options> {
    let mut options = Options::default();
    for option in list {
        let plain = matches!(option.value, SettingValue::None);
        match &*option.name {
            "KEEP_NULLS" if plain => options.keep_nulls = true,
            "TABLOCK" if plain => options.table_lock = true,
            "CHECK_CONSTRAINTS" if plain => options.check = true,
            "FIRE_TRIGGERS" if plain => options.fire = true,
            "ORDER" => options.order = order(option),
            // How many rows the client expects to send: this has no effect.
            "ROWS_PER_BATCH" | "KILOBYTES_PER_BATCH" => {}
            name => {
                let what = format!("INSERT BULK ... WITH ({name})");
                return Err(SqlError::new(messages::FEATURE_NOT_SUPPORTED, &[&what])
                    .at_line(option.span.line));
            }
        }
    }
    Ok(options)
}

/// The columns that ORDER names.
fn order(option: &ast::Setting) -> Vec<(Box<str>, bool)> {
    let SettingValue::Group { settings, .. } = &option.value else { return Vec::new() };
    let one = |s: &ast::Setting| {
        let descending = matches!(&s.value, SettingValue::Word(w) if &**w == "DESC");
        (s.name.clone(), descending)
    };
    settings.iter().map(one).collect()
}

/// The order that rows must have, as far as it was given, and whether it must be unique: the order
/// of the clustered index.
fn order_of(
    it: &ast::InsertBulk,
    table: &Table,
    said: &[(Box<str>, bool)],
) -> SqlResult<(Vec<OrderColumn>, bool)> {
    let mut places: Vec<(usize, bool)> = Vec::with_capacity(said.len());
    for (name, descending) in said {
        let alike = |other: &str| other.to_lowercase() == name.to_lowercase();
        let Some(at) = table.columns.iter().position(|c| alike(&c.name)) else {
            return Err(SqlError::new(messages::BULK_ORDER_COLUMN, &[name]));
        };
        if places.iter().any(|(other, _)| *other == at) {
            return Err(SqlError::new(messages::BULK_ORDER_TWICE, &[name]));
        }
        places.push((at, *descending));
    }
    let base = table.base();
    let key = base.key.iter().map(|k| (k.column, k.descending));
    let of_index = places.len() <= base.key.len() && key.zip(&places).all(|(k, p)| k == *p);
    let ordered = |&(column, descending): &(usize, bool)| {
        let of = &table.columns[column];
        let at = it.columns.iter().position(|c| same(&c.name, &of.name))?;
        Some(OrderColumn { at, descending, collation: of.collation })
    };
    let sent: Option<Vec<OrderColumn>> = places.iter().map(ordered).collect();
    let order = sent.filter(|_| of_index).unwrap_or_default();
    let unique = base.unique && order.len() == base.key.len();
    Ok((order, unique))
}

fn is_wide(value: &Value) -> bool {
    matches!(value, Value::NChar(_))
}

/// The parameters and the text of the INSERT.
fn insert_of(
    it: &ast::InsertBulk,
    table: &Table,
    options: &Options,
    page: CodePage,
) -> SqlResult<(String, String)> {
    let (mut parameters, mut names, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for (n, column) in it.columns.iter().enumerate() {
        let declared = bind::declared_type(&column.type_name, 1)?;
        let taker = table.columns.iter().find(|c| same(&column.name, &c.name));
        let declared = match taker.is_some_and(|c| c.collation.code_page() != page) {
            true => widened(declared),
            false => declared,
        };
        let number = n + 1;
        parameters.push(format!("@c{number} {declared}"));
        names.push(bracketed(&column.name.text));
        let default = table.columns.iter().find(|c| same(&column.name, &c.name));
        let default = default.and_then(|c| c.default.as_ref()).filter(|_| !options.keep_nulls);
        values.push(match default {
            None => format!("@c{number}"),
            Some(d) => format!(
                "CASE WHEN @c{number} IS NULL THEN CAST({} AS {declared}) ELSE @c{number} END",
                d.text
            ),
        });
    }
    let hint = if options.table_lock { " WITH (TABLOCK)" } else { "" };
    let target = match &it.table.schema {
        _ if names.is_empty() => {
            return Err(SqlError::new(messages::SYNTAX_NEAR, &[&it.table]));
        }
        schema => {
            let parts = [it.table.database.as_deref(), schema.as_deref()];
            // An absent schema between two names leaves nothing between two dots.
            let skip = parts.iter().take_while(|p| p.is_none()).count();
            let parts = parts[skip..].iter().map(|p| p.map_or(String::new(), bracketed));
            parts.chain([bracketed(&it.table.object)]).collect::<Vec<_>>().join(".")
        }
    };
    let (names, values) = (names.join(", "), values.join(", "));
    let text = format!("INSERT INTO {target}{hint} ({names}) VALUES ({values})");
    Ok((parameters.join(", "), text))
}

/// The type that can hold the characters of varchar in any code page.
fn widened(declared: SqlType) -> SqlType {
    match declared {
        SqlType::Char(n) | SqlType::VarChar(Length::N(n)) if n <= 4000 => SqlType::nvarchar(n),
        SqlType::Char(_) | SqlType::VarChar(_) => SqlType::NVARCHAR_MAX,
        other => other,
    }
}

fn bracketed(name: &str) -> String {
    format!("[{}]", name.replace(']', "]]"))
}

/// The types that arrive: a char(n) that was sent shorter is padded later, like a varchar.
fn sent_types(columns: &[SqlType]) -> Vec<SqlType> {
    let sent = |&t: &SqlType| match t {
        SqlType::Char(n) => SqlType::varchar(n),
        SqlType::NChar(n) => SqlType::nvarchar(n),
        SqlType::Binary(n) => SqlType::varbinary(n),
        other => other,
    };
    columns.iter().map(sent).collect()
}

/// Error 4816 if a column is sent with another type than was announced; 4804 if columns are
/// missing.
fn check_columns(sent: &[SqlType], declared: &[SqlType]) -> SqlResult<()> {
    if sent.len() != declared.len() {
        return Err(SqlError::new(messages::BULK_PREMATURE_END, &[]));
    }
    for (n, (sent, declared)) in sent.iter().zip(declared).enumerate() {
        // xml arrives as text.
        let text = *declared == SqlType::Xml && *sent == SqlType::NVARCHAR_MAX;
        let wider = kin(*sent) == "varchar" && kin(*declared) == "nvarchar";
        if sent.name() != declared.name() && kin(*sent) != kin(*declared) && !text && !wider {
            return Err(SqlError::new(messages::BULK_COLUMN_TYPE, &[&(n + 1)]));
        }
    }
    Ok(())
}

/// The group of types that are sent in the same form; any other type is a group of its own.
fn kin(sql_type: SqlType) -> &'static str {
    match sql_type {
        SqlType::Char(_) | SqlType::VarChar(_) | SqlType::Text => "varchar",
        SqlType::NChar(_) | SqlType::NVarChar(_) | SqlType::NText => "nvarchar",
        SqlType::Binary(_) | SqlType::VarBinary(_) | SqlType::RowVersion | SqlType::Image => {
            "varbinary"
        }
        other => other.name(),
    }
}

/// Sets the variables of the INSERT to one row after another.
struct Feed<'r> {
    from: Vec<SqlType>,
    to: Vec<SqlType>,
    dialect: Dialect,
    rows: &'r mut dyn BulkRows,
    order: Vec<OrderColumn>,
    unique: bool,
    /// The key of the row before.
    last: Vec<Value>,
}

impl Feed<'_> {
    /// Error 4819 for a row that belongs before the row that preceded it.
    fn in_order(&mut self, row: &[Value]) -> SqlResult<()> {
        let key: Vec<Value> = self.order.iter().map(|o| row[o.at].clone()).collect();
        let last = std::mem::replace(&mut self.last, key);
        if last.is_empty() {
            return Ok(());
        }
        let pairs = self.order.iter().zip(last.iter().zip(&self.last));
        let compared = pairs.map(|(o, (before, now))| {
            let ordering = types::compare(before, now, o.collation);
            if o.descending { ordering.reverse() } else { ordering }
        });
        let ordering = compared.fold(Ordering::Equal, Ordering::then);
        if ordering == Ordering::Less || ordering == Ordering::Equal && !self.unique {
            return Ok(());
        }
        let shown = |key: &[Value]| {
            let parts: Vec<String> = key.iter().map(Value::to_string).collect();
            format!("({})", parts.join(", "))
        };
        let args: [&dyn std::fmt::Display; 2] = [&shown(&last), &shown(&self.last)];
        Err(SqlError::new(messages::BULK_NOT_SORTED, &args))
    }
}

impl RowFeed for Feed<'_> {
    fn next(&mut self, variables: &mut [Value]) -> SqlResult<bool> {
        if !self.rows.next(&mut variables[..self.from.len()])? {
            return Ok(false);
        }
        for (n, (&from, &to)) in self.from.iter().zip(&self.to).enumerate() {
            let value = &mut variables[n];
            // A varchar of another code page than 1252 arrives as characters.
            let same = from == to && (from.family() == Family::NChar || !is_wide(value));
            if same || value.is_null() {
                continue;
            }
            match coerce_for_column(value, from, to, self.dialect, Default::default())? {
                Fit::Fits(fitting) => *value = fitting,
                Fit::Truncated(_) => {
                    return Err(SqlError::new(messages::BULK_COLUMN_LENGTH, &[&(n + 1)]));
                }
            }
        }
        if !self.order.is_empty() {
            self.in_order(variables)?;
        }
        Ok(true)
    }
}

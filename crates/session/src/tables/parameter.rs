//! Table-valued parameters: tables that a caller passes to a procedure or a prepared statement.
//!
//! A table variable is passed by reference: the called program reads its caller's table. Rows that
//! a client sends are first inserted into a table variable of the parameter's type. An INSERT of
//! our own does this, so that conversions, defaults, keys and checks are those of INSERT:
//!
//! ```text
//! DECLARE @t [dbo].[type]; INSERT INTO @t ([a], [b]) VALUES (@c1, @c2)      one run a row
//! ```

use crate::answer::failure::Failure;
use crate::procedures::call::{CallArgument, PassedObject};
use crate::program::steps::StepKind;
use crate::request::TableValue;
use crate::request::activation::Activation;
use crate::session::Session;
use crate::tables::private::PrivateTable;
use base::{SqlError, SqlResult, messages};
use catalog::view::UserType;
use exec::RowFeed;
use std::sync::Arc;
use types::{SqlType, Value};

impl Session {
    /// A table variable of an activation as an argument.
    pub(crate) fn pass_table(
        &mut self,
        act: &mut Activation,
        number: u16,
    ) -> Result<PassedObject, Failure> {
        let made = self.make_table(act, number)?;
        let table = act.program.value.tables.get(usize::from(number));
        Ok(PassedObject::Made(made, table.and_then(|t| t.of.clone())))
    }

    /// Gives a table-valued parameter its table.
    pub(crate) fn take_table(
        &mut self,
        act: &mut Activation,
        number: u16,
        argument: &CallArgument,
    ) -> Result<(), Failure> {
        let program = Arc::clone(&act.program);
        let at = usize::from(number);
        let of = program.value.tables.get(at).and_then(|t| t.of.as_ref());
        let Some(of) = of else {
            let what = "a table-valued parameter has no type";
            return Err(SqlError::new(messages::INTERNAL, &[&what]).into());
        };
        let made = match &argument.table {
            Some(PassedObject::Made(made, given)) => {
                if given.as_ref().is_none_or(|g| g.object_id != of.object_id) {
                    return Err(self.clash(argument, of).into());
                }
                Some(Arc::clone(made))
            }
            Some(PassedObject::Sent(table)) => {
                if !names(&table.type_name, of) {
                    return Err(self.clash(argument, of).into());
                }
                if program.value.database != self.state.database.id {
                    let what = "a client's table for a procedure of another database";
                    return Err(SqlError::new(messages::NOT_SUPPORTED, &[&what]).into());
                }
                self.receive_table(table, of)?
            }
            Some(PassedObject::Cursor(_)) | None => return Err(self.clash(argument, of).into()),
        };
        act.tables.resize(program.value.tables.len(), None);
        act.tables[at] = made;
        Ok(())
    }

    fn clash(&self, argument: &CallArgument, of: &UserType) -> SqlError {
        match &argument.table {
            Some(passed) => passed.clash(&of.name),
            None => {
                let args: [&dyn std::fmt::Display; 2] = [&argument.sql_type.name(), &of.name];
                SqlError::new(messages::OPERAND_CLASH, &args)
            }
        }
    }

    /// Inserts a client's rows into a table of the type; `None` if there are no rows.
    fn receive_table(
        &mut self,
        table: &TableValue,
        of: &UserType,
    ) -> Result<Option<Arc<PrivateTable>>, Failure> {
        let wanted = of.table().map_or(0, |t| t.columns.len());
        let sent = table.columns.len();
        // A NULL table has no columns at all.
        if sent != wanted && !(sent == 0 && table.rows.is_empty()) {
            return Err(SqlError::new(messages::TABLE_VALUE_COLUMNS, &[&sent, &wanted]).into());
        }
        if table.rows.is_empty() {
            return Ok(None);
        }
        let (parameters, text) = insert_of(table, of);
        let program = self.prepared_program(&parameters, &text);
        let program = program.map_err(|mut errors| Failure::of_binding(errors.swap_remove(0)))?;
        let place = program.value.steps.iter().find_map(|step| match step.kind {
            StepKind::Run(place) => Some(place),
            _ => None,
        });
        let Some(place) = place else {
            return Err(SqlError::new(messages::INTERNAL, &[&"no INSERT of a table"]).into());
        };
        let mut act = self.idle.take(&program);
        let mut feed = Feed { rows: &table.rows, at: 0 };
        let result = self
            .ready(&mut act, place)
            .map(|_| ())
            .and_then(|()| self.within_transaction(&mut act, place, |e, c| e.load(c, &mut feed)));
        let made = act.tables.first_mut().and_then(Option::take);
        let kept = result.map(|_| made.clone());
        if kept.is_err() {
            act.tables.push(made);
        }
        self.drop_tables(&mut act);
        self.idle.give_back(act);
        kept
    }
}

/// Whether a name that a client gives is the type's. An empty name leaves the choice to the
/// procedure.
fn names(written: &str, of: &UserType) -> bool {
    if written.is_empty() {
        return true;
    }
    let same = |a: &str, b: &str| a.to_lowercase() == b.to_lowercase();
    match tsql::parse_object_name(written) {
        Ok(name) => {
            let schema = name.schema.as_deref().filter(|s| !s.is_empty());
            same(&name.object, &of.name) && schema.is_none_or(|s| same(s, &of.schema_name))
        }
        Err(_) => false,
    }
}

/// The parameters and the text of the INSERT.
fn insert_of(table: &TableValue, of: &UserType) -> (String, String) {
    let (mut parameters, mut names, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let columns = of.table().map(|t| &t.columns[..]).unwrap_or_default();
    for (sent, column) in table.columns.iter().zip(columns).filter(|(sent, _)| !sent.default) {
        let number = names.len() + 1;
        parameters.push(format!("@c{number} {}", declared(sent.sql_type)));
        names.push(bracketed(&column.name));
        values.push(format!("@c{number}"));
    }
    let what = match names.is_empty() {
        true => "DEFAULT VALUES".to_owned(),
        false => format!("({}) VALUES ({})", names.join(", "), values.join(", ")),
    };
    let (schema, name) = (bracketed(&of.schema_name), bracketed(&of.name));
    let text = format!("DECLARE @t {schema}.{name}; INSERT INTO @t {what}");
    (parameters.join(", "), text)
}

/// The type that arrives: a char(n) that was sent shorter is not padded.
fn declared(sent: SqlType) -> SqlType {
    match sent {
        SqlType::Char(n) => SqlType::varchar(n),
        SqlType::NChar(n) => SqlType::nvarchar(n),
        SqlType::Binary(n) => SqlType::varbinary(n),
        other => other,
    }
}

fn bracketed(name: &str) -> String {
    format!("[{}]", name.replace(']', "]]"))
}

/// Sets the variables of the INSERT to one row after another.
struct Feed<'r> {
    rows: &'r [Vec<Value>],
    at: usize,
}

impl RowFeed for Feed<'_> {
    fn next(&mut self, variables: &mut [Value]) -> SqlResult<bool> {
        let Some(row) = self.rows.get(self.at) else { return Ok(false) };
        self.at += 1;
        for (variable, value) in variables.iter_mut().zip(row) {
            variable.clone_from(value);
        }
        Ok(true)
    }
}

//! DBCC PAGE and DBCC IND: their arguments, and where their output goes.
//!
//! DBCC IND returns a result set. The output of DBCC PAGE goes to the client when trace flag 3604
//! is on, and to the error log when trace flag 3605 is on, for the session or for the server. WITH
//! TABLERESULTS returns a result set and needs no trace flag. Without any of the three, the
//! arguments are still checked.

use crate::administration::dbcc::argument_value;
use crate::host::definitions::DdlAnswer;
use crate::host::pages::{PageRequest, PagesRequest};
use crate::request::activation::Activation;
use crate::session::Session;
use crate::session::state::State;
use base::{DatabaseId, ObjectId, SqlError, SqlResult, messages};
use catalog::view::{Object, Table};
use std::sync::Arc;
use tsql::ast::{Dbcc, DbccArgument, ExprKind, UnaryOp};
use types::Value;

/// The state of error 2583 that SQL Server reports for DBCC PAGE.
const WRONG_COUNT: u8 = 3;

/// The state of error 2520.
const NO_NAME: u8 = 5;

/// The state of error 2521.
const NO_ID: u8 = 10;

/// The state of error 2501.
const NO_TABLE: u8 = 45;

impl Session {
    /// `DBCC IND (database, table, index)`
    pub(crate) fn list_pages(&self, dbcc: &Dbcc, act: &Activation) -> SqlResult<DdlAnswer> {
        let [_, table, index] = &dbcc.arguments[..] else {
            return Err(SqlError::new(messages::DBCC_PARAMETER_COUNT, &[]));
        };
        let database = self.state.database_argument(dbcc, act)?;
        let table = self.table_argument(database, table, act)?;
        let wrong = || SqlError::new(messages::DBCC_PARAMETER, &[&3]);
        let index = whole_argument(index, act).filter(|n| *n >= -2).ok_or_else(wrong)?;
        let set = self.host.list_pages(&self.work, &PagesRequest { table, index })?;
        Ok(DdlAnswer { results: vec![set], ..DdlAnswer::default() })
    }

    /// The table that an argument names, by its name or its object id.
    fn table_argument(
        &self,
        database: DatabaseId,
        argument: &DbccArgument,
        act: &Activation,
    ) -> SqlResult<Arc<Table>> {
        let name = match argument {
            DbccArgument::Name(name) => Ok(name.clone()),
            DbccArgument::Value(_) => match whole_argument(argument, act) {
                Some(id) => Err(id),
                None => {
                    let wrong = || SqlError::new(messages::DBCC_PARAMETER, &[&2]);
                    let text = argument_value(argument, act).ok_or_else(wrong)?;
                    let text = text.as_text().ok_or_else(wrong)?;
                    Ok(tsql::parse_object_name(&text).map_err(|_| wrong())?)
                }
            },
        };
        let (shown, found) = match &name {
            Ok(name) => (name.to_string(), self.find_object(name, database).map(|(_, o)| o)),
            Err(id) => {
                let view = self.host.view(self.state.id(), database);
                let id = i32::try_from(*id).map(ObjectId).unwrap_or_default();
                (id.to_string(), view.and_then(|v| v.by_id(id)))
            }
        };
        match found {
            Some(Object::Table(table)) => Ok(table),
            _ => Err(SqlError::new(messages::DBCC_NO_TABLE, &[&shown]).with_state(NO_TABLE)),
        }
    }

    /// `DBCC PAGE (database, file, page [, style]) [WITH TABLERESULTS]`
    pub(crate) fn show_page(&self, dbcc: &Dbcc, act: &Activation) -> SqlResult<DdlAnswer> {
        let as_table = dbcc.options.iter().any(|o| &*o.name == "TABLERESULTS");
        if !matches!(dbcc.arguments.len(), 3 | 4) {
            return Err(SqlError::new(messages::DBCC_PARAMETER_COUNT, &[]).with_state(WRONG_COUNT));
        }
        let database = self.state.database_argument(dbcc, act)?;
        let number = |at: usize| -> SqlResult<i64> {
            let wrong = || SqlError::new(messages::DBCC_PARAMETER, &[&(at + 1)]);
            whole_argument(&dbcc.arguments[at], act).ok_or_else(wrong)
        };
        let style = if dbcc.arguments.len() > 3 { number(3)? } else { 0 };
        let ask = PageRequest { database, file: number(1)?, page: number(2)?, style, as_table };
        let mut answer = self.host.show_page(&self.work, &ask)?;
        if as_table {
            return Ok(answer);
        }
        if self.state.has_flag(work::DBCC_TO_LOG) {
            answer.messages.iter().for_each(|line| self.host.log(line.text()));
        }
        if !self.state.has_flag(work::DBCC_TO_CLIENT) {
            answer = DdlAnswer::default();
        }
        Ok(answer)
    }
}

impl State {
    fn has_flag(&self, number: i16) -> bool {
        let global = &self.host.engine().trace_flags;
        self.trace_flags.has(number) || global.all().has(number)
    }

    /// The database that the first argument names, by name or by number; 0 is the current database.
    pub(crate) fn database_argument(&self, dbcc: &Dbcc, act: &Activation) -> SqlResult<DatabaseId> {
        let wrong = || SqlError::new(messages::DBCC_PARAMETER, &[&1]);
        let first = dbcc.arguments.first().ok_or_else(wrong)?;
        let name = match first {
            DbccArgument::Name(name) => Some(name.object.text.to_string()),
            DbccArgument::Value(_) => {
                argument_value(first, act).as_ref().and_then(Value::as_text).map(|t| t.to_string())
            }
        };
        if let Some(name) = name {
            let unknown = || SqlError::new(messages::DBCC_NO_DATABASE, &[&name]);
            return self.host.database_id(&name).ok_or_else(|| unknown().with_state(NO_NAME));
        }
        let number = whole_argument(first, act).filter(|n| *n >= 0).ok_or_else(wrong)?;
        if number == 0 {
            return Ok(self.database.id);
        }
        let all = self.host.databases();
        let found = all.into_iter().map(|(id, _)| id).find(|id| i64::from(id.0) == number);
        let unknown = || SqlError::new(messages::DBCC_NO_DATABASE_ID, &[&number]).with_state(NO_ID);
        found.ok_or_else(unknown)
    }
}

/// The value of an argument that is a whole number, or a variable that holds one.
pub(crate) fn whole_argument(argument: &DbccArgument, act: &Activation) -> Option<i64> {
    let DbccArgument::Value(e) = argument else { return None };
    let (sign, e) = match &e.kind {
        ExprKind::Unary { op: UnaryOp::Minus, operand } => (-1, &**operand),
        _ => (1, e),
    };
    let value = crate::administration::dbcc::value_of(e, act)?;
    value.as_text().is_none().then(|| value.as_i64())?.and_then(|n| n.checked_mul(sign))
}

//! DBCC TRACEON, TRACEOFF and TRACESTATUS: trace flags of the session, and of the server when -1 is
//! among the arguments.
//!
//! Every number that fits the column TraceFlag is a valid flag, as in SQL Server, which "will set
//! the bit" of a flag that nothing honours (the blog of ialonso, "What is the expected behavior
//! from an attempt to enable a trace flag which is not defined"). A number outside that range gives
//! message 2597, and the other flags of the list are still turned. Flags of a session end with the
//! session, or when a connection pool resets it. Microsoft does not list what sp_reset_connection
//! does; the list of sqldev.net (articles/sp_reset_connection), which is often cited for it, has
//! "any session level trace options using dbcc traceon()". Flags of the server end when the server
//! stops.
//!
//! Differences from SQL Server
//!  - TRACEON of a flag that has no effect here says so (50004), so that nobody relies on it. WITH
//!    NO_INFOMSGS suppresses the message to the client; the error log always has it.
//!  - The end of the range: in SQL Server it depends on the version (9300 in 2008 R2).

use crate::administration::dbcc::value_of;
use crate::host::rowset::Rowset;
use crate::request::activation::Activation;
use crate::session::Session;
use crate::session::state::State;
use base::{SqlError, SqlResult, messages};
use tsql::ast::{Dbcc, DbccArgument, ExprKind, UnaryOp};
use types::{SqlType, Value};

/// The arguments of one statement.
#[derive(Default)]
struct TraceFlagRequest {
    /// Flag numbers, in the order of the text.
    numbers: Vec<i16>,
    /// Numbers that cannot be flags.
    invalid: Vec<i64>,
    /// Whether -1 is among them: the whole server is meant.
    everywhere: bool,
}

impl Session {
    /// `DBCC TRACEON (n [, …] [, -1])`, `DBCC TRACEOFF (n [, …] [, -1])`. Returns the messages.
    pub(crate) fn turn_trace_flags(
        &mut self,
        dbcc: &Dbcc,
        act: &Activation,
    ) -> SqlResult<Vec<SqlError>> {
        let TraceFlagRequest { numbers, invalid, everywhere } = asked(dbcc, act)?;
        if numbers.is_empty() && invalid.is_empty() {
            return Err(SqlError::new(messages::DBCC_PARAMETER_COUNT, &[]));
        }
        let turns_on = &*dbcc.name == "TRACEON";
        let global = &self.host.engine().trace_flags;
        match (everywhere, turns_on) {
            (true, true) => global.turn_on(&numbers),
            (true, false) => global.turn_off(&numbers),
            (false, true) => self.state.trace_flags.add(&numbers),
            (false, false) => self.state.trace_flags.remove(&numbers),
        }
        if !numbers.is_empty() {
            self.state.log_turn(&dbcc.name, &numbers);
        }
        let ignored = invalid.iter().map(|n| SqlError::new(messages::TRACE_FLAG_IGNORED, &[n]));
        let mut said: Vec<SqlError> = ignored.collect();
        for number in numbers.iter().filter(|n| turns_on && !work::means_something(**n)) {
            let without = SqlError::new(messages::TRACE_FLAG_WITHOUT_EFFECT, &[number]);
            self.host.log(without.text());
            said.push(without);
        }
        Ok(said)
    }

    /// `DBCC TRACESTATUS ([n, …] [, -1])`: the flags of the list, or all that are on for the
    /// session or the server. -1 filters nothing: today's documentation says that it shows flags of
    /// the session, too. Without a row there is no result set.
    pub(crate) fn trace_status(&self, dbcc: &Dbcc, act: &Activation) -> SqlResult<Vec<Rowset>> {
        let TraceFlagRequest { mut numbers, invalid, .. } = asked(dbcc, act)?;
        let (global, own) = (self.host.engine().trace_flags.all(), &self.state.trace_flags);
        if numbers.is_empty() && invalid.is_empty() {
            let mut on = global.clone();
            on.add(&own.numbers().collect::<Vec<_>>());
            numbers = on.numbers().collect();
        }
        let row = |number: i16| {
            let (global, own) = (global.has(number), own.has(number));
            let bit = |is_on: bool| i16::from(is_on);
            [number, bit(global || own), bit(global), bit(own)].map(Value::SmallInt).into()
        };
        let rows: Vec<Vec<Value>> = numbers.into_iter().map(row).collect();
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let columns = ["TraceFlag", "Status", "Global", "Session"];
        let columns = columns.map(|name| (name.to_owned(), SqlType::SmallInt, false)).into();
        Ok(vec![Rowset { columns, rows }])
    }
}

impl State {
    /// Writes a line to the error log, in SQL Server's words.
    fn log_turn(&self, verb: &str, numbers: &[i16]) {
        let numbers: Vec<String> = numbers.iter().map(i16::to_string).collect();
        let id = self.id();
        self.host.log(&format!(
            "DBCC {verb} {}, server process ID (SPID) {id}. This is an informational message only; \
             no user action is required.",
            numbers.join(", ")
        ));
    }
}

fn asked(dbcc: &Dbcc, act: &Activation) -> SqlResult<TraceFlagRequest> {
    let mut asked = TraceFlagRequest::default();
    for (at, argument) in dbcc.arguments.iter().enumerate() {
        let wrong = || SqlError::new(messages::DBCC_PARAMETER, &[&(at + 1)]);
        let number = number_of(argument, act).ok_or_else(wrong)?;
        match i16::try_from(number) {
            Ok(-1) => asked.everywhere = true,
            Ok(flag) if flag >= 0 => asked.numbers.push(flag),
            Ok(_) | Err(_) => asked.invalid.push(number),
        }
    }
    Ok(asked)
}

fn number_of(argument: &DbccArgument, act: &Activation) -> Option<i64> {
    let DbccArgument::Value(e) = argument else { return None };
    let (sign, e) = match &e.kind {
        ExprKind::Unary { op: UnaryOp::Minus, operand } => (-1, &**operand),
        _ => (1, e),
    };
    value_of(e, act)?.as_i64()?.checked_mul(sign)
}

//! DBCC TRACEON, TRACEOFF and TRACESTATUS: trace flags of the session, and with -1 the server's.
//!
//! Flags of a session end with it, or when a pool resets it: Microsoft does not list what
//! sp_reset_connection does, but the list of sqldev.net (articles/sp_reset_connection), which is
//! cited for it, has "any session level trace options using dbcc traceon()". Flags of the
//! server end when it stops.
//!
//! Where this is not SQL Server's
//!  - TRACEON of a number that means nothing here is 40517; SQL Server turns on any number of its
//!    range. TRACEOFF of one is done as there: it never is on.
//!  - A flag of [`TraceFlag::is_global_only`] is refused without -1 (40517). Microsoft says of such
//!    flags that they have no effect then ("Trace Flags"), and of 661 that it holds for the server
//!    also when a session turns it on (KB 920093): whoever forgot -1 is not left to guess.

use crate::activation::Activation;
use crate::dbcc::value_of;
use crate::host::Rowset;
use crate::session::Session;
use base::{SqlError, SqlResult, messages};
use tsql::ast::{Dbcc, DbccArgument, ExprKind, UnaryOp};
use types::{SqlType, Value};
use work::{TraceFlag, TraceFlagSet};

/// What stands in the parentheses.
struct Asked {
    /// Numbers of flags, as they stand there.
    numbers: Vec<i16>,
    /// -1 is among them: the whole server is meant.
    everywhere: bool,
}

impl Session {
    /// `DBCC TRACEON (n [, …] [, -1])`, `DBCC TRACEOFF (n [, …] [, -1])`: all flags or none.
    pub(crate) fn turn_trace_flags(
        &mut self,
        dbcc: &Dbcc,
        act: &Activation,
    ) -> SqlResult<Vec<Rowset>> {
        let Asked { numbers, everywhere } = asked(dbcc, act)?;
        if numbers.is_empty() {
            return Err(SqlError::new(messages::DBCC_PARAMETER_COUNT, &[]));
        }
        let turns_on = &*dbcc.name == "TRACEON";
        let mut flags = Vec::new();
        for &number in &numbers {
            let refused = |without: &str| {
                let what = format!("DBCC {} ({number}){without}", dbcc.name);
                Err(SqlError::new(messages::FEATURE_NOT_SUPPORTED, &[&what]))
            };
            match TraceFlag::of_number(number) {
                Some(flag) if flag.is_global_only() && !everywhere => {
                    return refused(" without -1");
                }
                Some(flag) => flags.push(flag),
                None if turns_on => return refused(""),
                None => {}
            }
        }
        let flags: TraceFlagSet = flags.into_iter().collect();
        let of_no_session = |f: &TraceFlag| f.is_global_only() && flags.has(*f);
        assert!(everywhere || !TraceFlag::ALL.iter().any(of_no_session), "it was refused above");
        let global = &self.host.engine().trace_flags;
        match (everywhere, turns_on) {
            (true, true) => global.turn_on(flags),
            (true, false) => global.turn_off(flags),
            (false, true) => self.state.trace_flags.add(flags),
            (false, false) => self.state.trace_flags.remove(flags),
        }
        self.log_turn(&dbcc.name, &numbers);
        Ok(Vec::new())
    }

    /// Tells the error log, in SQL Server's words.
    fn log_turn(&self, verb: &str, numbers: &[i16]) {
        let numbers: Vec<String> = numbers.iter().map(i16::to_string).collect();
        let id = self.state.id();
        self.host.log(&format!(
            "DBCC {verb} {}, server process ID (SPID) {id}. This is an informational message only; \
             no user action is required.",
            numbers.join(", ")
        ));
    }

    /// `DBCC TRACESTATUS ([n, …] [, -1])`: the flags that are asked for, or all that are on for the
    /// session or the server. -1 selects nothing: the documentation of today has it show those
    /// of the session, too. Without a row there is no result set.
    pub(crate) fn trace_status(&self, dbcc: &Dbcc, act: &Activation) -> SqlResult<Vec<Rowset>> {
        let mut numbers = asked(dbcc, act)?.numbers;
        let (global, own) = (self.host.engine().trace_flags.all(), self.state.trace_flags);
        if numbers.is_empty() {
            let on = TraceFlag::ALL.into_iter().filter(|f| global.has(*f) || own.has(*f));
            numbers = on.map(TraceFlag::number).collect();
        }
        let row = |number: i16| {
            let flag = TraceFlag::of_number(number);
            let (global, own) =
                (flag.is_some_and(|f| global.has(f)), flag.is_some_and(|f| own.has(f)));
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

fn asked(dbcc: &Dbcc, act: &Activation) -> SqlResult<Asked> {
    let mut asked = Asked { numbers: Vec::new(), everywhere: false };
    for (at, argument) in dbcc.arguments.iter().enumerate() {
        match number_of(argument, act) {
            Some(-1) => asked.everywhere = true,
            Some(number) if number >= 0 => asked.numbers.push(number),
            _ => return Err(SqlError::new(messages::DBCC_PARAMETER, &[&(at + 1)])),
        }
    }
    Ok(asked)
}

/// A number as the column TraceFlag can show it.
fn number_of(argument: &DbccArgument, act: &Activation) -> Option<i16> {
    let DbccArgument::Value(e) = argument else { return None };
    let (sign, e) = match &e.kind {
        ExprKind::Unary { op: UnaryOp::Minus, operand } => (-1, &**operand),
        _ => (1, e),
    };
    i16::try_from(value_of(e, act)?.as_i64()?.checked_mul(sign)?).ok()
}

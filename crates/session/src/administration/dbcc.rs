//! DBCC statements that the session runs itself: FORCEGHOSTCLEANUP, FREEPROCCACHE, IND,
//! INPUTBUFFER, PAGE, USEROPTIONS and those of trace flags; also RECONFIGURE and CLEAR
//! PROCEDURE_CACHE. They read sessions, plans, pages and options of the server. None of them
//! changes a database.

use crate::host::definitions::DdlAnswer;
use crate::host::rowset::Rowset;
use crate::request::activation::Activation;
use crate::session::Session;
use crate::session::registry::Input;
use crate::session::settings::Settings;
use crate::session::state::State;
use base::{SessionId, SqlError, SqlResult, messages};
use plancache::{PlanHandle, TextHandle};
use tsql::ast::{AlterDatabaseAction, Dbcc, DbccArgument, Expr, ExprKind, Literal, StatementKind};
use types::{SqlType, Value};

/// The DBCC statements that the session runs itself.
const OWN: [&str; 9] = [
    "FORCEGHOSTCLEANUP",
    "FREEPROCCACHE",
    "IND",
    "INPUTBUFFER",
    "PAGE",
    "TRACEOFF",
    "TRACEON",
    "TRACESTATUS",
    "USEROPTIONS",
];

/// The DBCC statements that show pages. Only these accept WITH TABLERESULTS.
const SHOWS_PAGES: [&str; 2] = ["IND", "PAGE"];

impl Session {
    /// Runs a statement that the session handles itself; `None` when the host handles it.
    pub(crate) fn own_dbcc(
        &mut self,
        statement: &StatementKind,
        act: &Activation,
    ) -> SqlResult<Option<DdlAnswer>> {
        let dbcc = match statement {
            StatementKind::Dbcc(dbcc) => dbcc,
            StatementKind::Reconfigure { .. } => return self.state.reconfigure().map(Some),
            StatementKind::AlterDatabase(it) => return self.state.clear_plans(&it.action),
            _ => return Ok(None),
        };
        if !OWN.contains(&&*dbcc.name) {
            return Ok(None);
        }
        let mut quiet = false;
        for option in &dbcc.options {
            let is_form = &*option.name == "TABLERESULTS" && SHOWS_PAGES.contains(&&*dbcc.name);
            if &*option.name != "NO_INFOMSGS" && !is_form {
                let what = format!("DBCC {} WITH {}", dbcc.name, option.name);
                let e = SqlError::new(messages::FEATURE_NOT_SUPPORTED, &[&what]);
                return Err(e.at_line(option.span.line));
            }
            quiet |= !is_form;
        }
        if SHOWS_PAGES.contains(&&*dbcc.name) {
            let mut answer = match &*dbcc.name {
                "IND" => self.list_pages(dbcc, act)?,
                _ => self.show_page(dbcc, act)?,
            };
            if !quiet {
                answer.messages.push(SqlError::new(messages::DBCC_COMPLETED, &[]));
            }
            return Ok(Some(answer));
        }
        let mut said = Vec::new();
        let results = match &*dbcc.name {
            "FORCEGHOSTCLEANUP" => self.force_ghost_cleanup(dbcc)?,
            "FREEPROCCACHE" => self.state.free_plans(dbcc, act)?,
            "TRACEON" | "TRACEOFF" => {
                said = self.turn_trace_flags(dbcc, act)?;
                Vec::new()
            }
            "TRACESTATUS" => self.trace_status(dbcc, act)?,
            "USEROPTIONS" => {
                let versions = self.host.reads_versions(self.state.database.id);
                vec![user_options(&self.state.settings, versions)]
            }
            _ => self.input_buffer(dbcc, act)?,
        };
        said.push(SqlError::new(messages::DBCC_COMPLETED, &[]));
        let messages = if quiet { Vec::new() } else { said };
        Ok(Some(DdlAnswer { messages, results, ..DdlAnswer::default() }))
    }

    /// `DBCC FORCEGHOSTCLEANUP`, which Microsoft does not document: removes from all databases the
    /// ghosts that no transaction needs any more, even while the background cleaner is idle.
    fn force_ghost_cleanup(&self, dbcc: &Dbcc) -> SqlResult<Vec<Rowset>> {
        if !dbcc.arguments.is_empty() {
            return Err(SqlError::new(messages::DBCC_PARAMETER_COUNT, &[]));
        }
        let databases = self.host.databases().into_iter();
        for (database, _) in databases.filter(|(id, _)| self.host.home(*id).is_some()) {
            match self.host.clean_ghosts(&self.work, database, None, 0) {
                // The database was dropped meanwhile.
                Err(e) if e.number() == messages::DATABASE_NOT_FOUND.number => {}
                cleaned => cleaned?,
            }
        }
        Ok(Vec::new())
    }

    /// `DBCC INPUTBUFFER (session [, request])`
    fn input_buffer(&self, dbcc: &Dbcc, act: &Activation) -> SqlResult<Vec<Rowset>> {
        let wrong = |n: i32| SqlError::new(messages::DBCC_PARAMETER, &[&n]);
        let number = |at: usize| Some(argument_value(dbcc.arguments.get(at)?, act)?.as_i64());
        let session = number(0).flatten().ok_or_else(|| wrong(1))?;
        if number(1).flatten().is_some_and(|request| request != 0) {
            return Err(wrong(2));
        }
        let unknown = || SqlError::new(messages::SPID_INVALID, &[&session]);
        let id = i16::try_from(session).map_err(|_| unknown())?;
        let entry = self.host.registry().find(SessionId(id)).ok_or_else(unknown)?;
        Ok(vec![shown(&entry.input())])
    }
}

impl State {
    fn reconfigure(&self) -> SqlResult<DdlAnswer> {
        if self.transaction.count > 0 {
            return Err(SqlError::new(messages::NOT_IN_TRANSACTION_PROC, &[&"CONFIG"]));
        }
        self.host.reconfigure();
        Ok(DdlAnswer::default())
    }

    /// `ALTER DATABASE SCOPED CONFIGURATION CLEAR PROCEDURE_CACHE`
    fn clear_plans(&self, action: &AlterDatabaseAction) -> SqlResult<Option<DdlAnswer>> {
        let AlterDatabaseAction::ScopedConfiguration { secondary, clear: true, setting } = action
        else {
            return Ok(None);
        };
        if *secondary || &*setting.name != "PROCEDURE_CACHE" {
            let what = format!("DATABASE SCOPED CONFIGURATION CLEAR {}", setting.name);
            return Err(SqlError::new(messages::FEATURE_NOT_SUPPORTED, &[&what]));
        }
        if self.transaction.count > 0 {
            return Err(SqlError::new(messages::NOT_IN_TRANSACTION, &[&"ALTER DATABASE"]));
        }
        self.host.programs().clear_database(self.database.id);
        Ok(Some(DdlAnswer::default()))
    }

    /// `DBCC FREEPROCCACHE [(plan_handle | sql_handle | 'pool')]`
    fn free_plans(&self, dbcc: &Dbcc, act: &Activation) -> SqlResult<Vec<Rowset>> {
        let programs = self.host.programs();
        let Some(argument) = dbcc.arguments.first() else {
            programs.clear();
            return Ok(Vec::new());
        };
        let wrong = || SqlError::new(messages::DBCC_PARAMETER, &[&1]);
        let handle = match argument_value(argument, act).ok_or_else(wrong)? {
            // There is one pool, so a pool's name means all plans.
            text if text.as_text().is_some() => {
                let what = "DBCC FREEPROCCACHE (pool)";
                return Err(SqlError::new(messages::NOT_SUPPORTED, &[&what]));
            }
            Value::Binary(bytes) => bytes,
            _ => return Err(wrong()),
        };
        if let Some(plan) = PlanHandle::read(&handle) {
            programs.remove_where(|e| e.plan_handle() == plan);
        } else if let Some(text) = TextHandle::read(&handle) {
            programs.remove_where(|e| e.text_handle() == text);
        } else {
            return Err(wrong());
        }
        Ok(Vec::new())
    }
}

/// `DBCC USEROPTIONS`
fn user_options(settings: &Settings, reads_versions: bool) -> Rowset {
    let column = |name: &str, sql_type| (name.to_owned(), sql_type, false);
    let rows = settings.shown(reads_versions).into_iter();
    Rowset {
        columns: vec![
            column("Set Option", SqlType::nvarchar(128)),
            column("Value", SqlType::nvarchar(256)),
        ],
        rows: rows.map(|(name, value)| [name, value].map(|t| Value::nvarchar(&t)).into()).collect(),
    }
}

fn shown(input: &Input) -> Rowset {
    let column = |name: &str, sql_type| (name.to_owned(), sql_type, true);
    let text: Option<String> = input.text.as_ref().map(|t| t.chars().take(4000).collect());
    Rowset {
        columns: vec![
            column("EventType", SqlType::nvarchar(30)),
            column("Parameters", SqlType::SmallInt),
            column("EventInfo", SqlType::nvarchar(4000)),
        ],
        rows: vec![vec![
            Value::nvarchar(if input.is_call { "RPC Event" } else { "Language Event" }),
            Value::SmallInt(i16::try_from(input.parameters).unwrap_or(i16::MAX)),
            text.as_deref().map_or(Value::Null, Value::nvarchar),
        ]],
    }
}

/// The value of an expression that is a constant or a variable.
pub(crate) fn value_of(e: &Expr, act: &Activation) -> Option<Value> {
    match &e.kind {
        ExprKind::Literal(Literal::Binary(bytes)) => Some(Value::varbinary(bytes)),
        ExprKind::Literal(Literal::Integer(text)) => text.parse().ok().map(Value::BigInt),
        ExprKind::Literal(Literal::String(text) | Literal::National(text)) => {
            Some(Value::nvarchar(text))
        }
        ExprKind::Variable(name) => {
            let (id, _) = act.program.value.variables.scalar(name, usize::MAX)?;
            act.variables.get(id.0 as usize).cloned()
        }
        _ => None,
    }
}

/// The value of an argument that is a constant or a variable.
pub(crate) fn argument_value(argument: &DbccArgument, act: &Activation) -> Option<Value> {
    let DbccArgument::Value(e) = argument else { return None };
    value_of(e, act)
}

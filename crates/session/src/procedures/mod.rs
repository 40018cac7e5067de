//! System procedures, one a file, and how they are called.

mod applock;
mod clean_space;
mod columns;
mod configure;
mod cursors;
mod databases;
mod datatype_info;
mod describe;
mod each;
mod executesql;
mod extended_property;
mod flush_log;
mod help;
mod helpindex;
mod helplanguage;
mod helptext;
mod keys;
mod msver;
mod odbc_types;
mod prepare;
mod readerrorlog;
mod recompile;
mod refreshmodule;
mod rename;
mod session_context;
mod settriggerorder;
mod sprocs;
mod tables;
mod text;
mod undeclared;
mod updatestats;
mod user_types;
mod who;

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::program::steps::Program;
use crate::request::Parameter;
use crate::session::Session;
use crate::session::registry::Input;
use crate::showplan::cached::shown_text;
use crate::tables::parameter::Passed;
use base::{SqlError, messages};
use plancache::Entry;
use std::sync::Arc;
use types::{SqlType, Value};

/// A call of a procedure, from text or from a client.
#[derive(Default)]
pub(crate) struct Call {
    pub(crate) arguments: Vec<CallArgument>,
    /// EXECUTE … WITH RECOMPILE: the plan is made for this call and not kept.
    pub(crate) recompile: bool,
    /// The status of a text that ends early is the number of its error.
    pub(crate) tells_error: bool,
}

/// An argument of a [`Call`]. Of an output argument the value is replaced.
pub(crate) struct CallArgument {
    pub(crate) name: Option<Box<str>>,
    pub(crate) value: Value,
    pub(crate) sql_type: SqlType,
    pub(crate) output: bool,
    pub(crate) default: bool,
    /// A table or cursor instead of a value.
    pub(crate) table: Option<Passed>,
}

/// What a handle of the session stands for.
#[derive(Clone)]
pub(crate) enum Prepared {
    Text {
        parameters: String,
        text: String,
        entry: Arc<Entry<Program>>,
    },
    /// A procedure, by its name as the client wrote it.
    Call(String),
}

/// A system procedure. The answer is its return status.
pub(crate) type SystemProcedure =
    fn(&mut Session, &mut Call, &mut Output<'_>) -> Result<i32, Failure>;

const PROCEDURES: &[(&str, SystemProcedure)] = &[
    ("sp_executesql", executesql::run),
    ("sp_prepare", prepare::prepare),
    ("sp_prepexec", prepare::prepare_and_execute),
    ("sp_prepexecrpc", prepare::prepare_call),
    ("sp_execute", prepare::execute),
    ("sp_unprepare", prepare::unprepare),
    ("sp_cursor", cursors::change),
    ("sp_cursoropen", cursors::open),
    ("sp_cursorprepare", cursors::prepare),
    ("sp_cursorexecute", cursors::execute),
    ("sp_cursorprepexec", cursors::prepare_and_execute),
    ("sp_cursorunprepare", cursors::unprepare),
    ("sp_cursorfetch", cursors::fetch),
    ("sp_cursoroption", cursors::option),
    ("sp_cursorclose", cursors::close),
    ("sp_tables", tables::run),
    ("sp_datatype_info", datatype_info::run),
    ("sp_datatype_info_90", datatype_info::run),
    ("sp_datatype_info_100", datatype_info::run),
    ("sp_helpindex", helpindex::run),
    ("sp_pkeys", keys::primary),
    ("sp_fkeys", keys::foreign),
    ("sp_rename", rename::run),
    ("sp_addtype", user_types::add),
    ("sp_droptype", user_types::remove),
    ("sp_bindrule", |_, _, _| user_types::unbuilt("sp_bindrule")),
    ("sp_unbindrule", |_, _, _| user_types::unbuilt("sp_unbindrule")),
    ("sp_bindefault", |_, _, _| user_types::unbuilt("sp_bindefault")),
    ("sp_unbindefault", |_, _, _| user_types::unbuilt("sp_unbindefault")),
    ("sp_settriggerorder", settriggerorder::run),
    ("sp_addextendedproperty", extended_property::add),
    ("sp_updateextendedproperty", extended_property::update),
    ("sp_dropextendedproperty", extended_property::remove),
    ("sp_helptext", helptext::run),
    ("sp_helplanguage", helplanguage::run),
    ("sp_refreshview", refreshmodule::view),
    ("sp_refreshsqlmodule", refreshmodule::module),
    ("sp_flush_log", flush_log::run),
    ("sp_clean_db_free_space", clean_space::database),
    ("sp_clean_db_file_free_space", clean_space::file),
    ("sp_updatestats", updatestats::run),
    ("sp_recompile", recompile::run),
    ("sp_configure", configure::run),
    ("sp_columns", |s, c, o| text::run(s, c, o, &columns::COLUMNS)),
    ("sp_columns_90", |s, c, o| text::run(s, c, o, &columns::COLUMNS_100)),
    ("sp_columns_100", |s, c, o| text::run(s, c, o, &columns::COLUMNS_100)),
    ("sp_special_columns", |s, c, o| text::run(s, c, o, &columns::SPECIAL_COLUMNS)),
    ("sp_special_columns_100", |s, c, o| text::run(s, c, o, &columns::SPECIAL_COLUMNS)),
    ("sp_statistics", |s, c, o| text::run(s, c, o, &sprocs::STATISTICS)),
    ("sp_statistics_100", |s, c, o| text::run(s, c, o, &sprocs::STATISTICS)),
    ("sp_stored_procedures", |s, c, o| text::run(s, c, o, &sprocs::STORED_PROCEDURES)),
    ("sp_sproc_columns", |s, c, o| text::run(s, c, o, &sprocs::SPROC_COLUMNS)),
    ("sp_sproc_columns_100", |s, c, o| text::run(s, c, o, &sprocs::SPROC_COLUMNS_100)),
    ("sp_help", |s, c, o| text::of_object(s, c, o, &help::HELP)),
    ("sp_helpconstraint", |s, c, o| text::of_object(s, c, o, &help::HELP_CONSTRAINT)),
    ("sp_helpstats", |s, c, o| text::of_object(s, c, o, &help::HELP_STATS)),
    ("sp_helptrigger", help::help_trigger),
    ("sp_spaceused", |s, c, o| text::of_object(s, c, o, &help::SPACE_USED)),
    ("sp_who", |s, c, o| text::run(s, c, o, &who::WHO)),
    ("sp_who2", |s, c, o| text::run(s, c, o, &who::WHO2)),
    ("sp_lock", |s, c, o| text::run(s, c, o, &who::LOCK)),
    ("sp_set_session_context", session_context::run),
    ("sp_databases", |s, c, o| text::run(s, c, o, &databases::DATABASES)),
    ("sp_helpdb", databases::help),
    ("sp_helpfile", |s, c, o| text::run(s, c, o, &databases::FILE)),
    ("sp_MSforeachtable", |s, c, o| text::run(s, c, o, &each::TABLE)),
    ("sp_MSforeachdb", |s, c, o| text::run(s, c, o, &each::DATABASE)),
    ("sp_describe_first_result_set", describe::run),
    ("sp_describe_undeclared_parameters", undeclared::run),
    ("sp_tablecollations", |s, c, o| text::run(s, c, o, &columns::COLLATIONS)),
    ("sp_tablecollations_90", |s, c, o| text::run(s, c, o, &columns::COLLATIONS)),
    ("sp_tablecollations_100", |s, c, o| text::run(s, c, o, &columns::COLLATIONS)),
    ("sp_getapplock", applock::get),
    ("sp_releaseapplock", applock::release),
    ("sp_readerrorlog", readerrorlog::sp),
    ("xp_readerrorlog", readerrorlog::xp),
    ("xp_msver", msver::run),
    ("sp_cycle_errorlog", readerrorlog::cycle),
    ("sp_reset_connection", |_, _, _| Ok(0)),
];

/// A system procedure by its name without schema.
pub(crate) fn find(name: &str) -> Option<SystemProcedure> {
    PROCEDURES.iter().find(|p| p.0.eq_ignore_ascii_case(name)).map(|p| p.1)
}

impl Call {
    pub(crate) fn of_parameters(parameters: Vec<Parameter>) -> Call {
        let argument = |p: Parameter| CallArgument {
            name: (!p.name.is_empty()).then(|| p.name.into_boxed_str()),
            value: p.value,
            sql_type: p.sql_type,
            output: p.output,
            default: p.default,
            table: p.table.map(Passed::Sent),
        };
        Call { arguments: parameters.into_iter().map(argument).collect(), ..Call::default() }
    }

    /// What the views show of a call by number: the text that it runs or prepares.
    pub(crate) fn input_of(&self, number: u16) -> Input {
        let at = |n: usize| self.arguments.get(n)?.value.as_text().filter(|t| !t.is_empty());
        let text = match number {
            2 => at(1),
            5 => at(3),
            7 => Some("sp_cursorfetch".to_owned()),
            10 => at(0).map(|text| shown_text(&at(1).unwrap_or_default(), &text)),
            11 | 13 => at(2).map(|text| shown_text(&at(1).unwrap_or_default(), &text)),
            12 => Some("sp_execute".to_owned()),
            14 => at(1),
            15 => Some("sp_unprepare".to_owned()),
            _ => None,
        };
        Input::call(&text.unwrap_or_default(), self.arguments.len())
    }

    /// Takes the first arguments away, those that are the system procedure's own.
    pub(crate) fn rest(&mut self, own: usize) -> Call {
        let at = own.min(self.arguments.len());
        Call { arguments: self.arguments.split_off(at), ..Call::default() }
    }
}

impl Session {
    /// A procedure that clients call by number.
    pub(crate) fn call_numbered(
        &mut self,
        number: u16,
        call: &mut Call,
        out: &mut Output<'_>,
    ) -> Result<i32, Failure> {
        let procedure: SystemProcedure = match number {
            1 => cursors::change,
            2 => cursors::open,
            3 => cursors::prepare,
            4 => cursors::execute,
            5 => cursors::prepare_and_execute,
            6 => cursors::unprepare,
            7 => cursors::fetch,
            8 => cursors::option,
            9 => cursors::close,
            10 => executesql::run,
            11 => prepare::prepare,
            12 => prepare::execute,
            13 => prepare::prepare_and_execute,
            14 => prepare::prepare_call,
            15 => prepare::unprepare,
            _ => return Err(SqlError::new(messages::TDS_RPC_NAME, &[]).into()),
        };
        self.last &= matches!(number, 10 | 12 | 13);
        procedure(self, call, out)
    }
}

pub(crate) fn unsupported(what: &str) -> Failure {
    SqlError::new(messages::NOT_SUPPORTED, &[&what]).into()
}

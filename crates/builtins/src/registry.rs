//! Names of functions and of `@@` variables.

use crate::call::{Fact, Function};
use types::SqlType;

/// The function of a name, in any case.
pub fn lookup(name: &str) -> Option<&'static Function> {
    families().find(|f| f.name.eq_ignore_ascii_case(name))
}

/// Every function.
pub fn families() -> impl Iterator<Item = &'static Function> {
    [
        crate::bits::FUNCTIONS,
        crate::collation::FUNCTIONS,
        crate::place::FUNCTIONS,
        crate::crypto::FUNCTIONS,
        crate::crypto::MORE,
        crate::date::FUNCTIONS,
        crate::date_bucket::FUNCTIONS,
        crate::extreme::FUNCTIONS,
        crate::format::FUNCTIONS,
        crate::json::FUNCTIONS,
        crate::key::FUNCTIONS,
        crate::math::FUNCTIONS,
        crate::metadata::FUNCTIONS,
        crate::password::FUNCTIONS,
        crate::session::FUNCTIONS,
        crate::session::OF_FACTS,
        crate::string::FUNCTIONS,
        crate::string_search::FUNCTIONS,
        crate::variant::FUNCTIONS,
        crate::zone::FUNCTIONS,
    ]
    .into_iter()
    .flatten()
}

const I: SqlType = SqlType::Int;
const NAME: SqlType = SqlType::SYSNAME;

const GLOBALS: &[(&str, Fact, SqlType)] = &[
    ("@@CONNECTIONS", Fact::Connections, I),
    ("@@CPU_BUSY", Fact::CpuBusy, I),
    ("@@CURSOR_ROWS", Fact::CursorRows, I),
    ("@@DATEFIRST", Fact::DateFirst, SqlType::TinyInt),
    ("@@DBTS", Fact::Dbts, SqlType::varbinary(8)),
    ("@@ERROR", Fact::Error, I),
    ("@@FETCH_STATUS", Fact::FetchStatus, I),
    ("@@IDENTITY", Fact::LastIdentity, SqlType::decimal(38, 0)),
    ("@@IDLE", Fact::Idle, I),
    ("@@IO_BUSY", Fact::IoBusy, I),
    ("@@LANGID", Fact::LangId, SqlType::SmallInt),
    ("@@LANGUAGE", Fact::Language, NAME),
    ("@@LOCK_TIMEOUT", Fact::LockTimeout, I),
    ("@@MAX_CONNECTIONS", Fact::MaxConnections, I),
    ("@@MAX_PRECISION", Fact::MaxPrecision, SqlType::TinyInt),
    ("@@MICROSOFTVERSION", Fact::MicrosoftVersion, I),
    ("@@NESTLEVEL", Fact::NestLevel, I),
    ("@@OPTIONS", Fact::Options, I),
    ("@@PACKET_ERRORS", Fact::PacketErrors, I),
    ("@@PACK_RECEIVED", Fact::PackReceived, I),
    ("@@PACK_SENT", Fact::PackSent, I),
    ("@@PROCID", Fact::ProcId, I),
    ("@@REMSERVER", Fact::RemoteServer, NAME),
    ("@@ROWCOUNT", Fact::RowCount, I),
    ("@@SERVERNAME", Fact::ServerName, NAME),
    ("@@SERVICENAME", Fact::ServiceName, NAME),
    ("@@SPID", Fact::Spid, SqlType::SmallInt),
    ("@@TEXTSIZE", Fact::TextSize, I),
    ("@@TIMETICKS", Fact::TimeTicks, I),
    ("@@TOTAL_ERRORS", Fact::TotalErrors, I),
    ("@@TOTAL_READ", Fact::TotalRead, I),
    ("@@TOTAL_WRITE", Fact::TotalWrite, I),
    ("@@TRANCOUNT", Fact::TranCount, I),
    ("@@VERSION", Fact::Version, SqlType::nvarchar(300)),
];

/// The fact behind an `@@` variable, with its type.
pub fn global(name: &str) -> Option<(Fact, SqlType)> {
    GLOBALS.iter().find(|g| g.0.eq_ignore_ascii_case(name)).map(|g| (g.1, g.2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Functions whose names or arguments are forms of the language: the binder knows them.
    const FORMS: [&str; 18] = [
        "AT TIME ZONE",
        "CAST",
        "COALESCE",
        "COLUMNS_UPDATED",
        "CONVERT",
        "GROUPING",
        "GROUPING_ID",
        "IIF",
        "JSON_ARRAY",
        "JSON_OBJECT",
        "NEXT VALUE FOR",
        "NULLIF",
        "PARSE",
        "TRIGGER_NESTLEVEL",
        "TRY_CAST",
        "TRY_CONVERT",
        "TRY_PARSE",
        "UPDATE",
    ];

    /// Issue 3 asks for 250 scalar functions: those of the registry, `@@` ones, forms. No name
    /// stands twice.
    #[test]
    fn there_are_as_many_as_were_promised() {
        let mut names: BTreeSet<&str> = BTreeSet::new();
        let all = families().map(|f| f.name).chain(GLOBALS.iter().map(|g| g.0)).chain(FORMS);
        for name in all {
            assert!(names.insert(name), "{name} stands twice");
        }
        assert!(names.len() >= 250, "{} scalar functions", names.len());
    }
}

//! Procedures about databases and their files: sp_databases, sp_helpdb, sp_helpfile.

use super::text::{TextProcedure, run};
use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::procedures::call::Call;
use crate::session::Session;
use base::{SqlError, messages};

/// The columns of a file `f`.
macro_rules! files_text {
    () => {
        "SELECT f.name, CAST(f.file_id AS smallint) AS fileid, CAST(f.physical_name AS nchar(260)) AS
    filename,
  CAST(CASE f.type WHEN 0 THEN N'PRIMARY' END AS sysname) AS filegroup,
  CAST(CONCAT(CAST(f.size AS bigint) * 8, N' KB') AS nvarchar(18)) AS size,
  CAST(CASE WHEN f.max_size < 0 THEN N'Unlimited'
    ELSE CONCAT(CAST(f.max_size AS bigint) * 8, N' KB') END AS nvarchar(18)) AS maxsize,
  CAST(CASE f.is_percent_growth WHEN 1 THEN CONCAT(f.growth, N'%')
    ELSE CONCAT(CAST(f.growth AS bigint) * 8, N' KB') END AS nvarchar(18)) AS growth,
  CAST(CASE f.type WHEN 0 THEN 'data only' ELSE 'log only' END AS varchar(9)) AS usage
"
    };
}

/// `sp_databases`: sizes in KB.
pub(crate) const DATABASES: TextProcedure = TextProcedure {
    parameters: "",
    text: "SET NOCOUNT ON;
SELECT d.name AS DATABASE_NAME, CAST(SUM(CAST(f.size AS bigint)) * 8 AS int) AS DATABASE_SIZE,
  CAST(NULL AS varchar(254)) AS REMARKS
FROM sys.databases d JOIN sys.master_files f ON f.database_id = d.database_id
GROUP BY d.name ORDER BY d.name",
};

/// `sp_helpdb ['database']`: for a named database it also shows the files. 15010 if there is no
/// such database.
pub(crate) fn help(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    if let Some(name) = call.text("@dbname", 0)
        && session.host.database_id(&name).is_none()
    {
        return Err(SqlError::new(messages::DATABASE_NOT_THERE, &[&name]).into());
    }
    run(session, call, out, &HELP)
}

const HELP: TextProcedure = TextProcedure {
    parameters: "@dbname sysname = NULL",
    text: concat!(
        "SET NOCOUNT ON;
SELECT d.name, CAST(STR(SUM(CAST(f.size AS bigint)) / 128.0, 10, 2) + N' MB' AS nvarchar(13))
    AS db_size,
  SUSER_SNAME(d.owner_sid) AS owner, CAST(d.database_id AS smallint) AS dbid,
  CAST(CONVERT(nvarchar(11), d.create_date) AS nvarchar(11)) AS created,
  CAST(CONCAT(N'Status=', DATABASEPROPERTYEX(d.name, 'Status'), N', Updateability=',
    DATABASEPROPERTYEX(d.name, 'Updateability'), N', UserAccess=', d.user_access_desc,
    N', Recovery=', d.recovery_model_desc, N', Collation=', d.collation_name)
    AS nvarchar(600)) AS status, d.compatibility_level
FROM sys.databases d JOIN sys.master_files f ON f.database_id = d.database_id
WHERE @dbname IS NULL OR d.name = @dbname
GROUP BY d.name, d.owner_sid, d.database_id, d.create_date, d.user_access_desc,
  d.recovery_model_desc, d.collation_name, d.compatibility_level
ORDER BY d.name;
IF @dbname IS NOT NULL
",
        files_text!(),
        "FROM sys.master_files f WHERE f.database_id = DB_ID(@dbname) ORDER BY f.file_id"
    ),
};

/// `sp_helpfile ['name']`
pub(crate) const FILE: TextProcedure = TextProcedure {
    parameters: "@filename sysname = NULL",
    text: concat!(
        "SET NOCOUNT ON;
",
        files_text!(),
        "FROM sys.database_files f WHERE @filename IS NULL OR f.name = @filename ORDER BY f.file_id"
    ),
};

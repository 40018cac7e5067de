//! Procedures about sessions: sp_who, sp_who2, sp_lock.

use super::text::TextProcedure;

/// `sp_who`
pub(crate) const WHO: TextProcedure = TextProcedure {
    parameters: "@loginame sysname = NULL",
    text: "SET NOCOUNT ON;
SELECT s.session_id AS spid, CAST(0 AS smallint) AS ecid, CAST(ISNULL(r.status, s.status) AS
    nchar(30)) AS status,
  CAST(s.original_login_name AS nvarchar(128)) AS loginame, CAST(s.host_name AS nchar(128))
      AS hostname,
  CAST(ISNULL(r.blocking_session_id, 0) AS char(5)) AS blk, DB_NAME(s.database_id) AS dbname,
  CAST(ISNULL(r.command, 'AWAITING COMMAND') AS nchar(26)) AS cmd, CAST(ISNULL(r.request_id,
      0) AS int) AS request_id
FROM sys.dm_exec_sessions s LEFT JOIN sys.dm_exec_requests r ON r.session_id = s.session_id
WHERE @loginame IS NULL OR s.original_login_name = @loginame OR TRY_CAST(@loginame AS int) =
    s.session_id
  OR LOWER(@loginame) = 'active' AND r.session_id IS NOT NULL
ORDER BY s.session_id",
};

/// `sp_who2`
pub(crate) const WHO2: TextProcedure = TextProcedure {
    parameters: "@loginame sysname = NULL",
    text: "SET NOCOUNT ON;
SELECT CAST(s.session_id AS char(5)) AS SPID, CAST(ISNULL(r.status, s.status) AS
    nvarchar(30)) AS Status, CAST(s.original_login_name AS nvarchar(128)) AS Login,
  CAST(ISNULL(s.host_name, '  .') AS nvarchar(128)) AS HostName, CAST(CASE WHEN
      ISNULL(r.blocking_session_id, 0) = 0 THEN '  .' ELSE CAST(r.blocking_session_id AS
      char(5)) END AS char(5)) AS BlkBy,
  DB_NAME(s.database_id) AS DBName, CAST(ISNULL(r.command, 'AWAITING COMMAND') AS
      nvarchar(32)) AS Command, s.cpu_time AS CPUTime, s.reads + s.writes AS DiskIO,
  CONVERT(char(5), s.last_request_start_time, 1) + ' ' + CONVERT(char(8),
      s.last_request_start_time, 8) AS LastBatch,
  CAST(s.program_name AS nvarchar(128)) AS ProgramName, CAST(s.session_id AS char(5)) AS
      SPID2, CAST(ISNULL(r.request_id, 0) AS char(5)) AS REQUESTID
FROM sys.dm_exec_sessions s LEFT JOIN sys.dm_exec_requests r ON r.session_id = s.session_id
WHERE @loginame IS NULL OR s.original_login_name = @loginame OR TRY_CAST(@loginame AS int) =
    s.session_id
  OR LOWER(@loginame) = 'active' AND r.session_id IS NOT NULL
ORDER BY s.session_id",
};

/// `sp_lock`
pub(crate) const LOCK: TextProcedure = TextProcedure {
    parameters: "@spid1 int = NULL, @spid2 int = NULL",
    text: "SET NOCOUNT ON;
DECLARE @places nvarchar(max) = N'';
SELECT @places = @places + N' UNION ALL SELECT ' + CAST(d.database_id AS nvarchar(10))
    + N', hobt_id, object_id, index_id FROM ' + QUOTENAME(d.name) + N'.sys.partitions'
  FROM sys.databases d WHERE HAS_DBACCESS(d.name) = 1 AND d.database_id IN
    (SELECT resource_database_id FROM sys.dm_tran_locks
      WHERE resource_type IN ('PAGE', 'KEY', 'RID', 'HOBT'));
DECLARE @query nvarchar(max) = N'
SELECT CAST(l.request_session_id AS smallint) AS spid, CAST(l.resource_database_id AS
    smallint) AS dbid,
  CAST(CASE l.resource_type WHEN ''OBJECT'' THEN l.resource_associated_entity_id ELSE
      ISNULL(p.object_id, 0) END AS int) AS ObjId,
  CAST(ISNULL(p.index_id, 0) AS smallint) AS IndId,
  CAST(CASE l.resource_type WHEN ''DATABASE'' THEN ''DB'' WHEN ''OBJECT'' THEN ''TAB'' WHEN ''PAGE''
      THEN ''PAG'' WHEN ''KEY'' THEN ''KEY'' WHEN ''RID'' THEN ''RID''
    WHEN ''EXTENT'' THEN ''EXT'' WHEN ''METADATA'' THEN ''MD'' WHEN ''HOBT'' THEN ''HBT'' ELSE
        LEFT(l.resource_type, 4) END AS nvarchar(4)) AS [Type],
  CAST(l.resource_description AS nvarchar(32)) AS Resource, CAST(l.request_mode AS
      nvarchar(8)) AS Mode, CAST(l.request_status AS nvarchar(5)) AS Status
FROM sys.dm_tran_locks l LEFT JOIN (SELECT CAST(NULL AS int), CAST(NULL AS bigint), CAST(NULL AS
    int), CAST(NULL AS int)' + @places + N') AS p (database_id, hobt_id, object_id, index_id)
  ON p.hobt_id = l.resource_associated_entity_id AND p.database_id = l.resource_database_id
  AND l.resource_type IN (''PAGE'', ''KEY'', ''RID'', ''HOBT'')
WHERE @spid1 IS NULL OR l.request_session_id IN (@spid1, @spid2) ORDER BY spid, dbid, ObjId,
    IndId';
EXEC sp_executesql @query, N'@spid1 int, @spid2 int', @spid1, @spid2",
};

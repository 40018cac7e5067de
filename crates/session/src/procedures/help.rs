//! Procedures about objects: sp_help, sp_helpconstraint, sp_helpstats, sp_helptrigger,
//! sp_spaceused.

use super::text::{TextProcedure, of_object};
use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::procedures::call::Call;
use crate::session::Session;
use base::{SqlError, messages};

/// `sp_help`
pub(crate) const HELP: TextProcedure = TextProcedure {
    parameters: "@objname nvarchar(776) = NULL",
    text: "SET NOCOUNT ON;
IF @objname IS NULL
BEGIN
  SELECT o.name AS Name, CAST(SCHEMA_NAME(o.schema_id) AS sysname) AS Owner,
    CAST(LOWER(REPLACE(REPLACE(o.type_desc, N'SQL_', N''), N'_', N' ')) AS nvarchar(31)) AS
        Object_type
  FROM sys.all_objects o WHERE o.parent_object_id = 0 ORDER BY Owner, Object_type DESC, Name;
  SELECT t.name AS User_type, CAST(TYPE_NAME(t.system_type_id) AS sysname) AS Storage_type,
      t.max_length AS Length,
    t.[precision] AS Prec, t.scale AS Scale, CASE t.is_nullable WHEN 1 THEN 'yes' ELSE 'no' END
        AS Nullable,
    N'none' AS Default_name, N'none' AS Rule_name, t.collation_name AS [Collation]
  FROM sys.types t WHERE t.is_user_defined = 1 ORDER BY t.name;
  RETURN;
END;
DECLARE @id int = OBJECT_ID(@objname);
SELECT o.name AS Name, CAST(SCHEMA_NAME(o.schema_id) AS sysname) AS Owner,
  CAST(LOWER(REPLACE(REPLACE(o.type_desc, N'SQL_', N''), N'_', N' ')) AS nvarchar(31)) AS
      [Type], o.create_date AS Created_datetime
FROM sys.all_objects o WHERE o.object_id = @id;
IF EXISTS (SELECT * FROM sys.all_columns WHERE object_id = @id)
BEGIN
  SELECT c.name AS Column_name, CAST(TYPE_NAME(c.user_type_id) AS sysname) AS [Type],
    CASE c.is_computed WHEN 1 THEN 'yes' ELSE 'no' END AS Computed, CAST(c.max_length AS int)
        AS Length,
    CASE WHEN c.system_type_id IN (48, 52, 56, 59, 60, 62, 106, 108, 122, 127) THEN
        CONVERT(char(5), c.[precision]) ELSE '     ' END AS Prec,
    CASE WHEN c.system_type_id IN (48, 52, 56, 60, 106, 108, 122, 127) THEN CONVERT(char(5),
        c.scale) ELSE '     ' END AS Scale,
    CASE c.is_nullable WHEN 1 THEN 'yes' ELSE 'no' END AS Nullable,
    CASE WHEN c.system_type_id IN (165, 167, 173, 175, 231) THEN CASE c.is_ansi_padded WHEN 1
        THEN 'no' ELSE 'yes' END ELSE '(n/a)' END AS TrimTrailingBlanks,
    CASE WHEN c.system_type_id IN (165, 167, 173, 175) THEN CASE c.is_nullable WHEN 1 THEN
        'no' ELSE 'yes' END ELSE '(n/a)' END AS FixedLenNullInSource,
    c.collation_name AS [Collation]
  FROM sys.all_columns c WHERE c.object_id = @id ORDER BY c.column_id;
  SELECT ISNULL(i.name, N'No identity column defined.') AS [Identity], i.seed_value AS Seed,
      i.increment_value AS Increment,
    CAST(CASE WHEN i.name IS NULL THEN NULL ELSE 0 END AS int) AS [Not For Replication]
  FROM (SELECT 1 AS one) x LEFT JOIN sys.identity_columns i ON i.object_id = @id;
  SELECT N'No rowguidcol column defined.' AS [RowGuidCol];
  SELECT N'PRIMARY' AS Data_located_on_filegroup FROM sys.tables WHERE object_id = @id;
END;
IF EXISTS (SELECT * FROM sys.parameters WHERE object_id = @id AND parameter_id > 0)
  SELECT p.name AS Parameter_name, CAST(TYPE_NAME(p.user_type_id) AS sysname) AS [Type],
      p.max_length AS Length,
    CAST(CASE WHEN p.system_type_id IN (231, 239) THEN p.max_length / 2 WHEN p.[precision] = 0
        THEN p.max_length ELSE p.[precision] END AS int) AS Prec,
    CAST(CASE WHEN p.[precision] = 0 THEN NULL ELSE p.scale END AS int) AS Scale,
        p.parameter_id AS Param_order,
    CAST(CASE WHEN p.system_type_id IN (167, 175, 231, 239) THEN
        DATABASEPROPERTYEX(DB_NAME(), 'Collation') END AS sysname) AS [Collation]
  FROM sys.parameters p WHERE p.object_id = @id AND p.parameter_id > 0 ORDER BY p.parameter_id;
IF EXISTS (SELECT * FROM sys.tables WHERE object_id = @id)
BEGIN
  EXEC sp_helpindex @objname;
  EXEC sp_helpconstraint @objname, 'nomsg';
END;",
};

/// `sp_helpconstraint`
pub(crate) const HELP_CONSTRAINT: TextProcedure = TextProcedure {
    parameters: "@objname nvarchar(776), @nomsg varchar(5) = 'msg'",
    text: "SET NOCOUNT ON;
DECLARE @id int = OBJECT_ID(@objname);
IF @nomsg <> 'nomsg'
  SELECT @objname AS [Object Name];
WITH parts AS (
  SELECT k.object_id, k.name, CASE k.type WHEN 'PK' THEN 'PRIMARY KEY' ELSE 'UNIQUE' END
      + CASE i.type WHEN 1 THEN ' (clustered)' ELSE ' (non-clustered)' END AS kind,
    '(n/a)' AS on_delete, '(n/a)' AS on_update, '(n/a)' AS enabled,
    (SELECT STRING_AGG(CAST(COL_NAME(c.object_id, c.column_id) AS nvarchar(max)), N', ')
        WITHIN GROUP (ORDER BY c.key_ordinal)
      FROM sys.index_columns c WHERE c.object_id = @id AND c.index_id = i.index_id AND
          c.key_ordinal > 0) AS keys, 1 AS line
  FROM sys.key_constraints k JOIN sys.indexes i ON i.object_id = k.parent_object_id AND
      i.index_id = k.unique_index_id
  WHERE k.parent_object_id = @id
  UNION ALL
  SELECT c.object_id, c.name, 'CHECK ' + CASE c.parent_column_id WHEN 0 THEN 'Table Level '
      ELSE 'on column ' + COL_NAME(@id, c.parent_column_id) END, '(n/a)', '(n/a)',
    CASE c.is_disabled WHEN 1 THEN 'Disabled' ELSE 'Enabled' END, c.definition, 1
  FROM sys.check_constraints c WHERE c.parent_object_id = @id
  UNION ALL
  SELECT d.object_id, d.name, 'DEFAULT on column ' + COL_NAME(@id, d.parent_column_id),
      '(n/a)', '(n/a)', '(n/a)', d.definition, 1
  FROM sys.default_constraints d WHERE d.parent_object_id = @id
  UNION ALL
  SELECT f.object_id, f.name, 'FOREIGN KEY', REPLACE(LOWER(f.delete_referential_action_desc),
      N'_', N' '),
    REPLACE(LOWER(f.update_referential_action_desc), N'_', N' '), CASE f.is_disabled WHEN 1
        THEN 'Disabled' ELSE 'Enabled' END,
    (SELECT STRING_AGG(CAST(COL_NAME(c.parent_object_id, c.parent_column_id) AS
        nvarchar(max)), N', ') WITHIN GROUP (ORDER BY c.constraint_column_id)
      FROM sys.foreign_key_columns c WHERE c.constraint_object_id = f.object_id), 1
  FROM sys.foreign_keys f WHERE f.parent_object_id = @id
  UNION ALL
  SELECT f.object_id, f.name, ' ', ' ', ' ', ' ', N'REFERENCES ' + DB_NAME() + N'.' +
      SCHEMA_NAME(t.schema_id) + N'.' + t.name + N' ('
    + (SELECT STRING_AGG(CAST(COL_NAME(c.referenced_object_id, c.referenced_column_id) AS
        nvarchar(max)), N', ') WITHIN GROUP (ORDER BY c.constraint_column_id)
      FROM sys.foreign_key_columns c WHERE c.constraint_object_id = f.object_id) + N')', 2
  FROM sys.foreign_keys f JOIN sys.tables t ON t.object_id = f.referenced_object_id WHERE
      f.parent_object_id = @id)
SELECT CAST(kind AS nvarchar(146)) AS constraint_type, CAST(CASE line WHEN 1 THEN name ELSE
    N' ' END AS nvarchar(128)) AS constraint_name,
  CAST(on_delete AS nvarchar(11)) AS delete_action, CAST(on_update AS nvarchar(11)) AS
      update_action,
  CAST(enabled AS varchar(8)) AS status_enabled, CAST(CASE WHEN enabled = '(n/a)' OR enabled
      = ' ' THEN enabled ELSE 'Is_For_Replication' END AS varchar(19)) AS
      status_for_replication,
  CAST(keys AS nvarchar(2126)) AS constraint_keys
FROM parts ORDER BY name, line;
SELECT QUOTENAME(DB_NAME()) + N'.' + QUOTENAME(SCHEMA_NAME(t.schema_id)) + N'.' +
    QUOTENAME(t.name) + N': ' + f.name AS [Table is referenced by foreign key]
FROM sys.foreign_keys f JOIN sys.tables t ON t.object_id = f.parent_object_id WHERE
    f.referenced_object_id = @id ORDER BY 1",
};

/// `sp_spaceused`
pub(crate) const SPACE_USED: TextProcedure = TextProcedure {
    parameters: "@objname nvarchar(776) = NULL, @updateusage varchar(5) = 'false'",
    text: "SET NOCOUNT ON;
DECLARE @id int;
IF @objname IS NOT NULL
BEGIN
  SET @id = OBJECT_ID(@objname);
  SELECT CAST(OBJECT_NAME(@id) AS nvarchar(128)) AS name, CONVERT(char(20), s.rows) AS rows,
    CAST(CONVERT(varchar(15), s.reserved * 8) + ' KB' AS varchar(18)) AS reserved,
        CAST(CONVERT(varchar(15), s.data * 8) + ' KB' AS varchar(18)) AS data,
    CAST(CONVERT(varchar(15), (s.used - s.data) * 8) + ' KB' AS varchar(18)) AS index_size,
        CAST(CONVERT(varchar(15), (s.reserved - s.used) * 8) + ' KB' AS varchar(18)) AS unused
  FROM (SELECT SUM(CASE WHEN index_id < 2 THEN row_count ELSE 0 END) AS rows,
      SUM(reserved_page_count) AS reserved,
      SUM(used_page_count) AS used, SUM(CASE WHEN index_id < 2 THEN in_row_data_page_count +
          lob_used_page_count + row_overflow_used_page_count ELSE 0 END) AS data
    FROM sys.dm_db_partition_stats WHERE object_id = @id) s;
  RETURN;
END;
DECLARE @pages bigint, @log bigint, @reserved bigint, @used bigint, @data bigint;
SELECT @pages = SUM(CASE type WHEN 1 THEN 0 ELSE size END), @log = SUM(CASE type WHEN 1 THEN
    size ELSE 0 END) FROM sys.database_files;
SELECT @reserved = SUM(reserved_page_count), @used = SUM(used_page_count),
  @data = SUM(CASE WHEN index_id < 2 THEN in_row_data_page_count + lob_used_page_count +
      row_overflow_used_page_count ELSE 0 END)
FROM sys.dm_db_partition_stats;
SELECT DB_NAME() AS database_name, CAST(LTRIM(STR((@pages + @log) / 128.0, 15, 2)) + ' MB' AS
    varchar(18)) AS database_size,
  CAST(LTRIM(STR((@pages - @reserved) / 128.0, 15, 2)) + ' MB' AS varchar(18)) AS
      [unallocated space];
SELECT CAST(CONVERT(varchar(15), @reserved * 8) + ' KB' AS varchar(18)) AS reserved,
    CAST(CONVERT(varchar(15), @data * 8) + ' KB' AS varchar(18)) AS data,
  CAST(CONVERT(varchar(15), (@used - @data) * 8) + ' KB' AS varchar(18)) AS index_size,
      CAST(CONVERT(varchar(15), (@reserved - @used) * 8) + ' KB' AS varchar(18)) AS unused",
};

/// `sp_helptrigger`, of one kind of statement if it is named.
pub(crate) fn help_trigger(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    if let Some(event) = call.text("@triggertype", 1) {
        let known = ["INSERT", "UPDATE", "DELETE"];
        if !known.iter().any(|k| k.eq_ignore_ascii_case(event.trim())) {
            return Err(SqlError::new(messages::TRIGGER_TYPE, &[]).into());
        }
    }
    of_object(session, call, out, &HELP_TRIGGER)
}

const HELP_TRIGGER: TextProcedure = TextProcedure {
    parameters: "@tabname nvarchar(776), @triggertype char(6) = NULL",
    text: "SET NOCOUNT ON;
SELECT t.name AS trigger_name, CAST(N'dbo' AS sysname) AS trigger_owner,
  OBJECTPROPERTY(t.object_id, 'ExecIsUpdateTrigger') AS isupdate,
  OBJECTPROPERTY(t.object_id, 'ExecIsDeleteTrigger') AS isdelete,
  OBJECTPROPERTY(t.object_id, 'ExecIsInsertTrigger') AS isinsert,
  OBJECTPROPERTY(t.object_id, 'ExecIsAfterTrigger') AS isafter,
  OBJECTPROPERTY(t.object_id, 'ExecIsInsteadOfTrigger') AS isinsteadof,
  CAST(OBJECT_SCHEMA_NAME(t.object_id) AS sysname) AS trigger_schema
FROM sys.triggers t
WHERE t.parent_id = OBJECT_ID(@tabname)
  AND (@triggertype IS NULL
    OR OBJECTPROPERTY(t.object_id, 'ExecIs' + RTRIM(@triggertype) + 'Trigger') = 1)
ORDER BY t.object_id;",
};

/// `sp_helpstats`
pub(crate) const HELP_STATS: TextProcedure = TextProcedure {
    parameters: "@objname nvarchar(776), @results nvarchar(5) = N'STATS'",
    text: "SET NOCOUNT ON;
DECLARE @id int = OBJECT_ID(@objname);
IF NOT EXISTS (SELECT * FROM sys.stats s WHERE s.object_id = @id
    AND (UPPER(@results) = N'ALL' OR s.user_created = 1 OR s.auto_created = 1))
BEGIN
  IF UPPER(@results) = N'ALL' PRINT 'This object does not have any statistics or indexes.';
  ELSE PRINT 'This object does not have any statistics.';
  RETURN;
END;
SELECT s.name AS statistics_name,
  CAST((SELECT STRING_AGG(CAST(COL_NAME(c.object_id, c.column_id) AS nvarchar(max)), N', ')
      WITHIN GROUP (ORDER BY c.stats_column_id)
    FROM sys.stats_columns c WHERE c.object_id = s.object_id AND c.stats_id = s.stats_id)
    AS nvarchar(2078)) AS statistics_keys
FROM sys.stats s WHERE s.object_id = @id
  AND (UPPER(@results) = N'ALL' OR s.user_created = 1 OR s.auto_created = 1)
ORDER BY s.name;",
};

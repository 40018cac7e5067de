//! Procedures by which ODBC and JDBC read procedures and indexes: sp_stored_procedures,
//! sp_sproc_columns, sp_statistics.

use super::odbc_types::odbc_types;
use super::text::TextProcedure;

/// `sp_stored_procedures`
pub(crate) const STORED_PROCEDURES: TextProcedure = TextProcedure {
    parameters: "@sp_name nvarchar(390) = NULL, @sp_owner nvarchar(384) = NULL, \
        @sp_qualifier sysname = NULL, @fUsePattern bit = 1",
    text: "SET NOCOUNT ON;
SELECT CAST(DB_NAME() AS sysname) AS PROCEDURE_QUALIFIER, CAST(SCHEMA_NAME(o.schema_id) AS
    sysname) AS PROCEDURE_OWNER,
  CAST(o.name + CASE o.type WHEN 'P' THEN N';1' ELSE N';0' END AS nvarchar(134)) AS
      PROCEDURE_NAME,
  CAST(-1 AS int) AS NUM_INPUT_PARAMS, CAST(-1 AS int) AS NUM_OUTPUT_PARAMS, CAST(-1 AS int)
      AS NUM_RESULT_SETS,
  CAST(NULL AS varchar(254)) AS REMARKS, CAST(2 AS smallint) AS PROCEDURE_TYPE
FROM sys.objects o WHERE o.type IN ('P', 'FN', 'IF', 'TF')
  AND (@sp_qualifier IS NULL OR @sp_qualifier = DB_NAME() OR @sp_qualifier = '')
  AND (@sp_name IS NULL OR @fUsePattern = 1 AND o.name LIKE @sp_name OR o.name = @sp_name)
  AND (@sp_owner IS NULL OR @fUsePattern = 1 AND SCHEMA_NAME(o.schema_id) LIKE @sp_owner OR
      SCHEMA_NAME(o.schema_id) = @sp_owner)
ORDER BY PROCEDURE_OWNER, PROCEDURE_NAME",
};

/// Parameters of procedures and functions, with `$more` before the last column of the answer.
macro_rules! parameters_text {
    ($more:literal) => {
        concat!(
            "SET NOCOUNT ON;
WITH c AS (
  SELECT p.object_id, p.name, p.parameter_id, p.system_type_id, p.user_type_id, p.max_length,
    p.[precision], p.scale, CASE WHEN p.parameter_id = 0 THEN 5 WHEN p.is_output = 1 THEN 2
        ELSE 1 END AS role
  FROM sys.parameters p
  UNION ALL
  SELECT o.object_id, N'@RETURN_VALUE', 0, 56, 56, 4, 10, 0, 5 FROM sys.procedures o)
SELECT CAST(DB_NAME() AS sysname) AS PROCEDURE_QUALIFIER, CAST(SCHEMA_NAME(o.schema_id) AS
    sysname) AS PROCEDURE_OWNER,
  CAST(o.name + CASE o.type WHEN 'P' THEN N';1' ELSE N';0' END AS nvarchar(134)) AS
      PROCEDURE_NAME,
  CAST(CASE c.parameter_id WHEN 0 THEN N'@RETURN_VALUE' ELSE c.name END AS sysname) AS
      COLUMN_NAME,
  CAST(c.role AS smallint) AS COLUMN_TYPE, CAST(d.code AS smallint) AS DATA_TYPE,
  CAST(TYPE_NAME(c.user_type_id) AS sysname) AS TYPE_NAME, CAST(d.digits AS int) AS [PRECISION],
  CAST(d.bytes AS int) AS LENGTH, CAST(d.scale AS smallint) AS SCALE, CAST(m.radix AS
      smallint) AS RADIX,
  CAST(CASE c.role WHEN 5 THEN 0 ELSE 1 END AS smallint) AS NULLABLE, CAST(NULL AS
      varchar(254)) AS REMARKS,
  CAST(NULL AS nvarchar(4000)) AS COLUMN_DEF, CAST(d.verbose AS smallint) AS SQL_DATA_TYPE,
  CAST(d.sub AS smallint) AS SQL_DATETIME_SUB, CAST(d.octets AS int) AS CHAR_OCTET_LENGTH,
  CAST(c.parameter_id AS int) AS ORDINAL_POSITION,
  CAST(CASE c.role WHEN 5 THEN 'NO' ELSE 'YES' END AS varchar(254)) AS IS_NULLABLE,
",
            $more,
            "  CAST(CASE c.role WHEN 5 THEN m.fixed ELSE m.nullable END AS tinyint) AS SS_DATA_TYPE
FROM c JOIN sys.objects o ON o.object_id = c.object_id AND o.type IN ('P', 'FN', 'IF', 'TF')
",
            odbc_types!(),
            "WHERE (@procedure_qualifier IS NULL OR @procedure_qualifier = DB_NAME() OR
    @procedure_qualifier = '')
  AND (@procedure_name IS NULL OR @fUsePattern = 1 AND o.name LIKE @procedure_name OR o.name
      = @procedure_name)
  AND (@procedure_owner IS NULL OR @fUsePattern = 1 AND SCHEMA_NAME(o.schema_id) LIKE
      @procedure_owner OR SCHEMA_NAME(o.schema_id) = @procedure_owner)
  AND (@column_name IS NULL OR @fUsePattern = 1 AND c.name LIKE @column_name OR c.name =
      @column_name)
ORDER BY PROCEDURE_OWNER, PROCEDURE_NAME, ORDINAL_POSITION"
        )
    };
}

/// `sp_sproc_columns`
pub(crate) const SPROC_COLUMNS: TextProcedure = TextProcedure {
    parameters: "@procedure_name nvarchar(384) = NULL, @procedure_owner nvarchar(384) = NULL, \
        @procedure_qualifier sysname = NULL, @column_name nvarchar(384) = NULL, \
        @ODBCVer int = 2, @fUsePattern bit = 1",
    text: parameters_text!(""),
};

/// `sp_sproc_columns_100`
pub(crate) const SPROC_COLUMNS_100: TextProcedure = TextProcedure {
    parameters: "@procedure_name nvarchar(384) = NULL, @procedure_owner nvarchar(384) = NULL, \
        @procedure_qualifier sysname = NULL, @column_name nvarchar(384) = NULL, \
        @ODBCVer int = 2, @fUsePattern bit = 1",
    text: parameters_text!(
        "  CAST(CASE c.system_type_id WHEN 243 THEN DB_NAME() END AS sysname) AS SS_TYPE_CATALOG_NAME,
  CAST(CASE c.system_type_id WHEN 243 THEN (SELECT SCHEMA_NAME(t.schema_id) FROM sys.types t
      WHERE t.user_type_id = c.user_type_id) END AS sysname) AS SS_TYPE_SCHEMA_NAME,
  CAST(NULL AS sysname) AS SS_UDT_CATALOG_NAME, CAST(NULL AS sysname) AS SS_UDT_SCHEMA_NAME,
  CAST(NULL AS nvarchar(4000)) AS SS_UDT_ASSEMBLY_TYPE_NAME,
  CAST(NULL AS sysname) AS SS_XML_SCHEMACOLLECTION_CATALOG_NAME,
  CAST(NULL AS sysname) AS SS_XML_SCHEMACOLLECTION_SCHEMA_NAME,
  CAST(NULL AS sysname) AS SS_XML_SCHEMACOLLECTION_NAME,
"
    ),
};

/// `sp_statistics`, `sp_statistics_100`
pub(crate) const STATISTICS: TextProcedure = TextProcedure {
    parameters: "@table_name sysname, @table_owner sysname = NULL, @table_qualifier sysname = NULL, \
        @index_name sysname = '%', @is_unique char(1) = 'N', @accuracy char(1) = 'Q'",
    text: "SET NOCOUNT ON;
SELECT TABLE_QUALIFIER, TABLE_OWNER, TABLE_NAME, NON_UNIQUE, INDEX_QUALIFIER, INDEX_NAME,
    [TYPE],
  SEQ_IN_INDEX, COLUMN_NAME, [COLLATION], CARDINALITY, PAGES, FILTER_CONDITION
FROM (
  SELECT CAST(DB_NAME() AS sysname) AS TABLE_QUALIFIER, CAST(SCHEMA_NAME(o.schema_id) AS
      sysname) AS TABLE_OWNER,
    CAST(o.name AS sysname) AS TABLE_NAME, CAST(NULL AS smallint) AS NON_UNIQUE, CAST(NULL AS
        sysname) AS INDEX_QUALIFIER,
    CAST(NULL AS sysname) AS INDEX_NAME, CAST(0 AS smallint) AS [TYPE], CAST(NULL AS
        smallint) AS SEQ_IN_INDEX,
    CAST(NULL AS sysname) AS COLUMN_NAME, CAST(NULL AS char(1)) AS [COLLATION],
    CAST((SELECT SUM(p.rows) FROM sys.partitions p WHERE p.object_id = o.object_id AND
        p.index_id < 2) AS int) AS CARDINALITY,
    CAST((SELECT SUM(a.used_pages) FROM sys.allocation_units a JOIN sys.partitions p ON
        p.hobt_id = a.container_id
      WHERE p.object_id = o.object_id AND p.index_id < 2) AS int) AS PAGES,
    CAST(NULL AS varchar(128)) AS FILTER_CONDITION
  FROM sys.tables o WHERE o.name = @table_name AND (@table_owner IS NULL OR
      SCHEMA_NAME(o.schema_id) LIKE @table_owner)
  UNION ALL
  SELECT DB_NAME(), SCHEMA_NAME(o.schema_id), o.name, 1 - i.is_unique, o.name, i.name,
    CASE i.type WHEN 1 THEN 1 ELSE 3 END, c.key_ordinal, COL_NAME(o.object_id, c.column_id),
    CASE c.is_descending_key WHEN 1 THEN 'D' ELSE 'A' END,
    (SELECT SUM(p.rows) FROM sys.partitions p WHERE p.object_id = o.object_id AND p.index_id =
        i.index_id),
    (SELECT SUM(a.used_pages) FROM sys.allocation_units a JOIN sys.partitions p ON p.hobt_id
        = a.container_id
      WHERE p.object_id = o.object_id AND p.index_id = i.index_id), NULL
  FROM sys.tables o JOIN sys.indexes i ON i.object_id = o.object_id AND i.index_id > 0 AND
      i.is_disabled = 0
    JOIN sys.index_columns c ON c.object_id = o.object_id AND c.index_id = i.index_id AND
        c.key_ordinal > 0
  WHERE o.name = @table_name AND (@table_owner IS NULL OR SCHEMA_NAME(o.schema_id) LIKE
      @table_owner)
    AND i.name LIKE @index_name AND (@is_unique <> 'Y' OR i.is_unique = 1)) s
ORDER BY NON_UNIQUE, [TYPE], INDEX_NAME, SEQ_IN_INDEX",
};

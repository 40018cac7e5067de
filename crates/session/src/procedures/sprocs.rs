//! What ODBC and JDBC ask of procedures and indexes: sp_stored_procedures, sp_sproc_columns,
//! sp_statistics.

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

/// `sp_sproc_columns`
pub(crate) const SPROC_COLUMNS: TextProcedure = TextProcedure {
    parameters: "@procedure_name nvarchar(384) = NULL, @procedure_owner nvarchar(384) = NULL, \
        @procedure_qualifier sysname = NULL, @column_name nvarchar(384) = NULL, \
        @ODBCVer int = 2, @fUsePattern bit = 1",
    text: "SET NOCOUNT ON;
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
  CAST(CASE c.role WHEN 5 THEN m.fixed ELSE m.nullable END AS tinyint) AS SS_DATA_TYPE
FROM c JOIN sys.objects o ON o.object_id = c.object_id AND o.type IN ('P', 'FN', 'IF', 'TF')
  -- id, ODBC code, digits or characters, bytes, radix, scale: NULL where the column says it.
  CROSS APPLY (SELECT m.code, m.digits, m.bytes, m.radix, m.scale, m.fixed, m.nullable FROM
      (VALUES
    (36, -11, 36, 16, NULL, NULL, 37, 37), (40, 91, 10, 6, NULL, 0, 0, 0),
    (41, -154, NULL, 12, NULL, NULL, 0, 0), (42, 93, NULL, 16, NULL, NULL, 0, 0),
    (43, -155, NULL, 20, NULL, NULL, 0, 0), (48, -6, 3, 1, 10, 0, 48, 38),
    (52, 5, 5, 2, 10, 0, 52, 38), (56, 4, 10, 4, 10, 0, 56, 38),
    (58, 93, 16, 16, NULL, 0, 58, 111), (59, 7, 24, 4, 2, NULL, 59, 109),
    (60, 3, 19, 21, 10, 4, 60, 110), (61, 93, 23, 16, NULL, 3, 61, 111),
    (62, 6, 53, 8, 2, NULL, 62, 109), (98, -150, 8000, 8000, NULL, NULL, 39, 39),
    (104, -7, 1, 1, NULL, NULL, 50, 50), (106, 3, NULL, NULL, 10, NULL, 55, 106),
    (108, 2, NULL, NULL, 10, NULL, 63, 108), (122, 3, 10, 12, 10, 4, 122, 110),
    (127, -5, 19, 8, 10, 0, 63, 108), (165, -3, NULL, NULL, NULL, NULL, 37, 37),
    (167, 12, NULL, NULL, NULL, NULL, 39, 39), (173, -2, NULL, NULL, NULL, NULL, 45, 37),
    (175, 1, NULL, NULL, NULL, NULL, 47, 39), (189, -2, 8, 8, NULL, NULL, 45, 45),
    (231, -9, NULL, NULL, NULL, NULL, 39, 39), (239, -8, NULL, NULL, NULL, NULL, 39, 39),
    (241, -152, 0, 0, NULL, NULL, 0, 0), (243, -153, 0, 0, NULL, NULL, 0, 0))
    m (id, code, digits, bytes, radix, scale, fixed, nullable) WHERE m.id = c.system_type_id) m
  CROSS APPLY (SELECT
    CASE WHEN m.digits IS NOT NULL THEN m.digits
      WHEN c.system_type_id IN (106, 108) THEN c.[precision]
      WHEN c.system_type_id = 41 THEN 8 + CASE c.scale WHEN 0 THEN 0 ELSE 1 + c.scale END
      WHEN c.system_type_id = 42 THEN 19 + CASE c.scale WHEN 0 THEN 0 ELSE 1 + c.scale END
      WHEN c.system_type_id = 43 THEN 26 + CASE c.scale WHEN 0 THEN 0 ELSE 1 + c.scale END
      WHEN c.max_length = -1 AND c.system_type_id = 231 THEN 1073741823
      WHEN c.max_length = -1 THEN 2147483647
      WHEN c.system_type_id IN (231, 239) THEN c.max_length / 2
      ELSE c.max_length END AS digits,
    CASE WHEN m.bytes IS NOT NULL THEN m.bytes
      WHEN c.system_type_id IN (106, 108) THEN c.[precision] + 2
      WHEN c.max_length = -1 THEN 2147483647 ELSE c.max_length END AS bytes,
    CASE WHEN m.scale IS NOT NULL THEN m.scale
      WHEN c.system_type_id IN (41, 42, 43, 106, 108) THEN c.scale END AS scale,
    CASE WHEN m.code IN (91, 93) AND @ODBCVer < 3
      THEN CASE m.code WHEN 91 THEN 9 ELSE 11 END ELSE m.code END AS code,
    CASE WHEN m.code IN (91, 93) THEN 9 ELSE m.code END AS verbose,
    CASE m.code WHEN 91 THEN 1 WHEN 93 THEN 3 END AS sub,
    CASE WHEN c.system_type_id IN (165, 167, 173, 175, 231, 239)
      THEN CASE c.max_length WHEN -1 THEN 2147483647 ELSE c.max_length END END AS octets) d
WHERE (@procedure_qualifier IS NULL OR @procedure_qualifier = DB_NAME() OR
    @procedure_qualifier = '')
  AND (@procedure_name IS NULL OR @fUsePattern = 1 AND o.name LIKE @procedure_name OR o.name
      = @procedure_name)
  AND (@procedure_owner IS NULL OR @fUsePattern = 1 AND SCHEMA_NAME(o.schema_id) LIKE
      @procedure_owner OR SCHEMA_NAME(o.schema_id) = @procedure_owner)
  AND (@column_name IS NULL OR @fUsePattern = 1 AND c.name LIKE @column_name OR c.name =
      @column_name)
ORDER BY PROCEDURE_OWNER, PROCEDURE_NAME, ORDINAL_POSITION",
};

/// `sp_sproc_columns_100`
pub(crate) const SPROC_COLUMNS_100: TextProcedure = TextProcedure {
    parameters: "@procedure_name nvarchar(384) = NULL, @procedure_owner nvarchar(384) = NULL, \
        @procedure_qualifier sysname = NULL, @column_name nvarchar(384) = NULL, \
        @ODBCVer int = 2, @fUsePattern bit = 1",
    text: "SET NOCOUNT ON;
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
  CAST(CASE c.system_type_id WHEN 243 THEN DB_NAME() END AS sysname) AS SS_TYPE_CATALOG_NAME,
  CAST(CASE c.system_type_id WHEN 243 THEN (SELECT SCHEMA_NAME(t.schema_id) FROM sys.types t
      WHERE t.user_type_id = c.user_type_id) END AS sysname) AS SS_TYPE_SCHEMA_NAME,
  CAST(NULL AS sysname) AS SS_UDT_CATALOG_NAME, CAST(NULL AS sysname) AS SS_UDT_SCHEMA_NAME,
  CAST(NULL AS nvarchar(4000)) AS SS_UDT_ASSEMBLY_TYPE_NAME,
  CAST(NULL AS sysname) AS SS_XML_SCHEMACOLLECTION_CATALOG_NAME,
  CAST(NULL AS sysname) AS SS_XML_SCHEMACOLLECTION_SCHEMA_NAME,
  CAST(NULL AS sysname) AS SS_XML_SCHEMACOLLECTION_NAME,
  CAST(CASE c.role WHEN 5 THEN m.fixed ELSE m.nullable END AS tinyint) AS SS_DATA_TYPE
FROM c JOIN sys.objects o ON o.object_id = c.object_id AND o.type IN ('P', 'FN', 'IF', 'TF')
  -- id, ODBC code, digits or characters, bytes, radix, scale: NULL where the column says it.
  CROSS APPLY (SELECT m.code, m.digits, m.bytes, m.radix, m.scale, m.fixed, m.nullable FROM
      (VALUES
    (36, -11, 36, 16, NULL, NULL, 37, 37), (40, 91, 10, 6, NULL, 0, 0, 0),
    (41, -154, NULL, 12, NULL, NULL, 0, 0), (42, 93, NULL, 16, NULL, NULL, 0, 0),
    (43, -155, NULL, 20, NULL, NULL, 0, 0), (48, -6, 3, 1, 10, 0, 48, 38),
    (52, 5, 5, 2, 10, 0, 52, 38), (56, 4, 10, 4, 10, 0, 56, 38),
    (58, 93, 16, 16, NULL, 0, 58, 111), (59, 7, 24, 4, 2, NULL, 59, 109),
    (60, 3, 19, 21, 10, 4, 60, 110), (61, 93, 23, 16, NULL, 3, 61, 111),
    (62, 6, 53, 8, 2, NULL, 62, 109), (98, -150, 8000, 8000, NULL, NULL, 39, 39),
    (104, -7, 1, 1, NULL, NULL, 50, 50), (106, 3, NULL, NULL, 10, NULL, 55, 106),
    (108, 2, NULL, NULL, 10, NULL, 63, 108), (122, 3, 10, 12, 10, 4, 122, 110),
    (127, -5, 19, 8, 10, 0, 63, 108), (165, -3, NULL, NULL, NULL, NULL, 37, 37),
    (167, 12, NULL, NULL, NULL, NULL, 39, 39), (173, -2, NULL, NULL, NULL, NULL, 45, 37),
    (175, 1, NULL, NULL, NULL, NULL, 47, 39), (189, -2, 8, 8, NULL, NULL, 45, 45),
    (231, -9, NULL, NULL, NULL, NULL, 39, 39), (239, -8, NULL, NULL, NULL, NULL, 39, 39),
    (241, -152, 0, 0, NULL, NULL, 0, 0), (243, -153, 0, 0, NULL, NULL, 0, 0))
    m (id, code, digits, bytes, radix, scale, fixed, nullable) WHERE m.id = c.system_type_id) m
  CROSS APPLY (SELECT
    CASE WHEN m.digits IS NOT NULL THEN m.digits
      WHEN c.system_type_id IN (106, 108) THEN c.[precision]
      WHEN c.system_type_id = 41 THEN 8 + CASE c.scale WHEN 0 THEN 0 ELSE 1 + c.scale END
      WHEN c.system_type_id = 42 THEN 19 + CASE c.scale WHEN 0 THEN 0 ELSE 1 + c.scale END
      WHEN c.system_type_id = 43 THEN 26 + CASE c.scale WHEN 0 THEN 0 ELSE 1 + c.scale END
      WHEN c.max_length = -1 AND c.system_type_id = 231 THEN 1073741823
      WHEN c.max_length = -1 THEN 2147483647
      WHEN c.system_type_id IN (231, 239) THEN c.max_length / 2
      ELSE c.max_length END AS digits,
    CASE WHEN m.bytes IS NOT NULL THEN m.bytes
      WHEN c.system_type_id IN (106, 108) THEN c.[precision] + 2
      WHEN c.max_length = -1 THEN 2147483647 ELSE c.max_length END AS bytes,
    CASE WHEN m.scale IS NOT NULL THEN m.scale
      WHEN c.system_type_id IN (41, 42, 43, 106, 108) THEN c.scale END AS scale,
    CASE WHEN m.code IN (91, 93) AND @ODBCVer < 3
      THEN CASE m.code WHEN 91 THEN 9 ELSE 11 END ELSE m.code END AS code,
    CASE WHEN m.code IN (91, 93) THEN 9 ELSE m.code END AS verbose,
    CASE m.code WHEN 91 THEN 1 WHEN 93 THEN 3 END AS sub,
    CASE WHEN c.system_type_id IN (165, 167, 173, 175, 231, 239)
      THEN CASE c.max_length WHEN -1 THEN 2147483647 ELSE c.max_length END END AS octets) d
WHERE (@procedure_qualifier IS NULL OR @procedure_qualifier = DB_NAME() OR
    @procedure_qualifier = '')
  AND (@procedure_name IS NULL OR @fUsePattern = 1 AND o.name LIKE @procedure_name OR o.name
      = @procedure_name)
  AND (@procedure_owner IS NULL OR @fUsePattern = 1 AND SCHEMA_NAME(o.schema_id) LIKE
      @procedure_owner OR SCHEMA_NAME(o.schema_id) = @procedure_owner)
  AND (@column_name IS NULL OR @fUsePattern = 1 AND c.name LIKE @column_name OR c.name =
      @column_name)
ORDER BY PROCEDURE_OWNER, PROCEDURE_NAME, ORDINAL_POSITION",
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
    (SELECT p.rows FROM sys.partitions p WHERE p.object_id = o.object_id AND p.index_id =
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

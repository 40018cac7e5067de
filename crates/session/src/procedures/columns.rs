//! Procedures by which ODBC, JDBC and .NET read the columns of tables: sp_columns,
//! sp_special_columns, sp_tablecollations.

use super::odbc_types::odbc_types;
use super::text::TextProcedure;

/// Columns of tables, with `$more` before the last column of the answer.
macro_rules! columns_text {
    ($more:literal) => {
        concat!(
            "SET NOCOUNT ON;
SELECT CAST(DB_NAME() AS sysname) AS TABLE_QUALIFIER, CAST(SCHEMA_NAME(o.schema_id) AS
    sysname) AS TABLE_OWNER,
  CAST(o.name AS sysname) AS TABLE_NAME, CAST(c.name AS sysname) AS COLUMN_NAME,
  CAST(d.code AS smallint) AS DATA_TYPE,
  CAST(TYPE_NAME(c.user_type_id) + CASE c.is_identity WHEN 1 THEN N' identity' ELSE N'' END
      AS sysname) AS TYPE_NAME,
  CAST(d.digits AS int) AS [PRECISION], CAST(d.bytes AS int) AS LENGTH, CAST(d.scale AS
      smallint) AS SCALE,
  CAST(m.radix AS smallint) AS RADIX, CAST(c.is_nullable AS smallint) AS NULLABLE,
  CAST(NULL AS varchar(254)) AS REMARKS, CAST((SELECT x.definition FROM
  sys.default_constraints x WHERE x.object_id = c.default_object_id) AS
      nvarchar(4000)) AS COLUMN_DEF,
  CAST(d.verbose AS smallint) AS SQL_DATA_TYPE, CAST(d.sub AS smallint) AS SQL_DATETIME_SUB,
  CAST(d.octets AS int) AS CHAR_OCTET_LENGTH,
  CAST(ROW_NUMBER() OVER (PARTITION BY o.object_id ORDER BY c.column_id) AS int) AS
      ORDINAL_POSITION,
  CAST(CASE c.is_nullable WHEN 1 THEN 'YES' ELSE 'NO' END AS varchar(254)) AS IS_NULLABLE,
",
            $more,
            "  CAST(CASE c.is_nullable WHEN 1 THEN m.nullable ELSE m.fixed END AS tinyint) AS SS_DATA_TYPE
FROM sys.all_columns c JOIN sys.all_objects o ON o.object_id = c.object_id AND o.type IN
    ('U', 'V', 'S', 'IF', 'TF')
",
            odbc_types!(),
            "WHERE (@table_qualifier IS NULL OR @table_qualifier = DB_NAME() OR @table_qualifier = '')
  AND (@table_name IS NULL OR @fUsePattern = 1 AND o.name LIKE @table_name OR o.name =
      @table_name)
  AND (@table_owner IS NULL OR @fUsePattern = 1 AND SCHEMA_NAME(o.schema_id) LIKE
      @table_owner OR SCHEMA_NAME(o.schema_id) = @table_owner)
  AND (@column_name IS NULL OR @fUsePattern = 1 AND c.name LIKE @column_name OR c.name =
      @column_name)
ORDER BY TABLE_OWNER, TABLE_NAME, ORDINAL_POSITION"
        )
    };
}

/// `sp_columns`
pub(crate) const COLUMNS: TextProcedure = TextProcedure {
    parameters: "@table_name nvarchar(384) = NULL, @table_owner nvarchar(384) = NULL, \
        @table_qualifier sysname = NULL, @column_name nvarchar(384) = NULL, \
        @ODBCVer int = 2, @fUsePattern bit = 1",
    text: columns_text!(""),
};

/// `sp_columns_100`, `sp_columns_90`
pub(crate) const COLUMNS_100: TextProcedure = TextProcedure {
    parameters: "@table_name nvarchar(384) = NULL, @table_owner nvarchar(384) = NULL, \
        @table_qualifier sysname = NULL, @column_name nvarchar(384) = NULL, \
        @NameScope int = 0, @ODBCVer int = 2, @fUsePattern bit = 1",
    text: columns_text!(
        "  CAST(0 AS smallint) AS SS_IS_SPARSE, CAST(0 AS smallint) AS SS_IS_COLUMN_SET,
  CAST(c.is_computed AS smallint) AS SS_IS_COMPUTED, CAST(c.is_identity AS smallint) AS
      SS_IS_IDENTITY,
  CAST(NULL AS sysname) AS SS_UDT_CATALOG_NAME, CAST(NULL AS sysname) AS SS_UDT_SCHEMA_NAME,
  CAST(NULL AS nvarchar(4000)) AS SS_UDT_ASSEMBLY_TYPE_NAME,
  CAST(NULL AS sysname) AS SS_XML_SCHEMACOLLECTION_CATALOG_NAME,
  CAST(NULL AS sysname) AS SS_XML_SCHEMACOLLECTION_SCHEMA_NAME,
  CAST(NULL AS sysname) AS SS_XML_SCHEMACOLLECTION_NAME,
"
    ),
};

/// `sp_special_columns`, `sp_special_columns_100`
pub(crate) const SPECIAL_COLUMNS: TextProcedure = TextProcedure {
    parameters: "@table_name nvarchar(384) = NULL, @table_owner nvarchar(384) = NULL, \
        @table_qualifier sysname = NULL, @col_type char(1) = 'R', @scope char(1) = 'T', \
        @nullable char(1) = 'U', @ODBCVer int = 2",
    text: concat!(
        "SET NOCOUNT ON;
DECLARE @id int = (SELECT object_id FROM sys.objects o WHERE o.type = 'U' AND o.name =
    @table_name
  AND SCHEMA_NAME(o.schema_id) = ISNULL(NULLIF(@table_owner, ''), N'dbo'));
DECLARE @index int = (SELECT TOP (1) i.index_id FROM sys.indexes i WHERE i.object_id = @id
    AND i.is_unique = 1
  AND i.is_disabled = 0 AND (@nullable = 'U' OR NOT EXISTS (SELECT * FROM sys.index_columns x
    JOIN sys.columns y ON y.object_id = x.object_id AND y.column_id = x.column_id
    WHERE x.object_id = @id AND x.index_id = i.index_id AND x.key_ordinal > 0 AND
        y.is_nullable = 1))
  ORDER BY i.is_primary_key DESC, i.index_id);
SELECT CAST(CASE @col_type WHEN 'R' THEN 0 END AS smallint) AS SCOPE, CAST(c.name AS sysname)
    AS COLUMN_NAME,
  CAST(d.code AS smallint) AS DATA_TYPE,
  CAST(TYPE_NAME(c.user_type_id) + CASE c.is_identity WHEN 1 THEN N' identity' ELSE N'' END
      AS sysname) AS TYPE_NAME,
  CAST(d.digits AS int) AS [PRECISION], CAST(d.bytes AS int) AS LENGTH, CAST(d.scale AS
      smallint) AS SCALE,
  CAST(1 AS smallint) AS PSEUDO_COLUMN
FROM sys.columns c LEFT JOIN sys.index_columns k ON k.object_id = c.object_id AND k.column_id
    = c.column_id
    AND k.index_id = @index AND k.key_ordinal > 0
",
        odbc_types!(),
        "WHERE c.object_id = @id AND (@col_type = 'R' AND k.key_ordinal IS NOT NULL OR @col_type = 'V'
    AND c.system_type_id = 189)
ORDER BY k.key_ordinal, c.column_id"
    ),
};

/// `sp_tablecollations_100 'table'`: SqlBulkCopy of .NET calls it before a load.
pub(crate) const COLLATIONS: TextProcedure = TextProcedure {
    parameters: "@object nvarchar(4000)",
    text: "SET NOCOUNT ON;
SELECT c.column_id AS colid, c.name AS name,
  CAST(COLLATIONPROPERTY(c.collation_name, 'TdsCollation') AS binary(5)) AS tds_collation,
  c.collation_name AS collation
FROM sys.all_columns c WHERE c.object_id = OBJECT_ID(@object) ORDER BY c.column_id",
};

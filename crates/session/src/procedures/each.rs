//! sp_MSforeachtable and sp_MSforeachdb: a text that runs once for each table or database, with its
//! name in place of each `?`. SQL Server does not document them; this implements what published
//! scripts use. An error in one call does not end the others.

use super::text::TextProcedure;

/// The loop over `@names`, which `$find` fills.
macro_rules! each_text {
    ($find:literal) => {
        concat!(
            "DECLARE @quiet bit = IIF(@@OPTIONS & 512 = 0, 0, 1);
SET NOCOUNT ON;
DECLARE @names TABLE (n int IDENTITY PRIMARY KEY, name nvarchar(600) NOT NULL);
INSERT @names (name) EXEC (N'",
            $find,
            "' + ISNULL(@whereand, N''));
IF @quiet = 0 SET NOCOUNT OFF;
IF @precommand IS NOT NULL EXEC (@precommand);
DECLARE @n int = 1, @name nvarchar(600), @text nvarchar(max);
WHILE @n <= (SELECT COUNT(*) FROM @names)
BEGIN
  SET @name = (SELECT name FROM @names WHERE n = @n);
  SET @text = REPLACE(@command1, @replacechar, @name);
  EXEC (@text);
  SET @text = REPLACE(@command2, @replacechar, @name);
  IF @text IS NOT NULL EXEC (@text);
  SET @text = REPLACE(@command3, @replacechar, @name);
  IF @text IS NOT NULL EXEC (@text);
  SET @n += 1;
END;
IF @postcommand IS NOT NULL EXEC (@postcommand);"
        )
    };
}

/// `sp_MSforeachtable`: `@whereand` sees `o`, as sysobjects has it, and `syso` of sys.all_objects.
pub(crate) const TABLE: TextProcedure = TextProcedure {
    parameters: "@command1 nvarchar(2000), @replacechar nchar(1) = N'?', \
        @command2 nvarchar(2000) = NULL, @command3 nvarchar(2000) = NULL, \
        @whereand nvarchar(2000) = N'', @precommand nvarchar(2000) = NULL, \
        @postcommand nvarchar(2000) = NULL",
    text: each_text!(
        "SELECT QUOTENAME(SCHEMA_NAME(syso.schema_id)) + N''.'' + QUOTENAME(syso.name)
  FROM (SELECT name, object_id AS id, type AS xtype, type, schema_id AS uid,
      parent_object_id AS parent_obj, create_date AS crdate FROM sys.objects) o
    JOIN sys.all_objects syso ON syso.object_id = o.id
  WHERE syso.type = ''U'' "
    ),
};

/// `sp_MSforeachdb`
pub(crate) const DATABASE: TextProcedure = TextProcedure {
    parameters: "@command1 nvarchar(2000), @replacechar nchar(1) = N'?', \
        @command2 nvarchar(2000) = NULL, @command3 nvarchar(2000) = NULL, \
        @precommand nvarchar(2000) = NULL, @postcommand nvarchar(2000) = NULL, \
        @whereand nvarchar(1) = N''",
    text: each_text!("SELECT name FROM sys.databases WHERE HAS_DBACCESS(name) = 1"),
};

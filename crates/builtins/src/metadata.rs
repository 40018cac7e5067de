//! Functions that ask the session about names and ids: OBJECT_ID, DB_NAME, COL_LENGTH.
//!
//! They only carry the question; what a name means is the session's to say.

use crate::call::{Call, Fact, Function, NullRule, Question};
use base::SqlResult;
use types::{SqlType, Value, convert};

macro_rules! questions {
    ($($name:literal, $min:literal, $max:literal, $result:expr, $question:ident;)*) => {
        /// Functions that are questions.
        pub(crate) const FUNCTIONS: &[Function] = &[
            $(Function {
                name: $name,
                min_args: $min,
                max_args: $max,
                result: |_| Ok($result),
                deterministic: false,
                nulls: NullRule::Own,
                date_part: false,
                eval: |call, args| ask(call, Question::$question, args),
            }),*
        ];
    };
}

const I: SqlType = SqlType::Int;
const NAME: SqlType = SqlType::SYSNAME;
const VARIANT: SqlType = SqlType::Variant;

questions! {
    "APPLOCK_MODE", 3, 3, SqlType::nvarchar(32), ApplockMode;
    "APPLOCK_TEST", 4, 4, SqlType::SmallInt, ApplockTest;
    "ASSEMBLYPROPERTY", 2, 2, VARIANT, AssemblyProperty;
    "COL_LENGTH", 2, 2, SqlType::SmallInt, ColLength;
    "COL_NAME", 2, 2, NAME, ColName;
    "COLUMNPROPERTY", 3, 3, I, ColumnProperty;
    "CONNECTIONPROPERTY", 1, 1, VARIANT, ConnectionProperty;
    "CURSOR_STATUS", 2, 2, SqlType::SmallInt, CursorStatus;
    "DATABASE_PRINCIPAL_ID", 0, 1, I, DatabasePrincipalId;
    "DATABASEPROPERTY", 2, 2, I, DatabaseProperty;
    "DATABASEPROPERTYEX", 2, 2, VARIANT, DatabasePropertyEx;
    "DB_ID", 0, 1, SqlType::SmallInt, DatabaseId;
    "DB_NAME", 0, 1, NAME, DatabaseName;
    "FILE_ID", 1, 1, SqlType::SmallInt, FileId;
    "FILE_IDEX", 1, 1, I, FileId;
    "FILE_NAME", 1, 1, NAME, FileName;
    "FILEGROUP_ID", 1, 1, I, FileGroupId;
    "FILEGROUP_NAME", 1, 1, NAME, FileGroupName;
    "FILEGROUPPROPERTY", 2, 2, I, FileGroupProperty;
    "FILEPROPERTY", 2, 2, I, FileProperty;
    "FULLTEXTCATALOGPROPERTY", 2, 2, I, FullTextCatalogProperty;
    "FULLTEXTSERVICEPROPERTY", 1, 1, I, FullTextServiceProperty;
    "GETANSINULL", 0, 1, SqlType::SmallInt, GetAnsiNull;
    "HAS_DBACCESS", 1, 1, I, HasDbAccess;
    "HAS_PERMS_BY_NAME", 3, 5, I, HasPermsByName;
    "IDENT_CURRENT", 1, 1, SqlType::decimal(38, 0), IdentCurrent;
    "IDENT_INCR", 1, 1, SqlType::decimal(38, 0), IdentIncr;
    "IDENT_SEED", 1, 1, SqlType::decimal(38, 0), IdentSeed;
    "INDEX_COL", 3, 3, NAME, IndexCol;
    "INDEXKEY_PROPERTY", 4, 4, I, IndexKeyProperty;
    "INDEXPROPERTY", 3, 3, I, IndexProperty;
    "IS_MEMBER", 1, 1, I, IsMember;
    "IS_OBJECTSIGNED", 4, 4, I, IsObjectSigned;
    "IS_ROLEMEMBER", 1, 2, I, IsRoleMember;
    "IS_SRVROLEMEMBER", 1, 2, I, IsSrvRoleMember;
    "LOGINPROPERTY", 2, 2, VARIANT, LoginProperty;
    "OBJECT_DEFINITION", 1, 1, SqlType::NVARCHAR_MAX, ObjectDefinition;
    "OBJECT_ID", 1, 2, I, ObjectId;
    "OBJECT_NAME", 1, 2, NAME, ObjectName;
    "OBJECT_SCHEMA_NAME", 1, 2, NAME, ObjectSchemaName;
    "OBJECTPROPERTY", 2, 2, I, ObjectProperty;
    "OBJECTPROPERTYEX", 2, 2, VARIANT, ObjectPropertyEx;
    "SCHEMA_ID", 0, 1, I, SchemaId;
    "SCHEMA_NAME", 0, 1, NAME, SchemaName;
    "SERVERPROPERTY", 1, 1, VARIANT, ServerProperty;
    "SESSION_CONTEXT", 1, 1, VARIANT, SessionContext;
    "SESSIONPROPERTY", 1, 1, VARIANT, SessionProperty;
    "STATS_DATE", 2, 2, SqlType::DateTime, StatsDate;
    "SUSER_ID", 0, 1, I, SuserId;
    "SUSER_NAME", 0, 1, NAME, SuserName;
    "SUSER_SID", 0, 2, SqlType::varbinary(85), SuserSid;
    "SUSER_SNAME", 0, 1, NAME, SuserName;
    "TYPE_ID", 1, 1, I, TypeId;
    "TYPE_NAME", 1, 1, NAME, TypeName;
    "TYPEPROPERTY", 2, 2, I, TypeProperty;
    "USER_ID", 0, 1, I, UserId;
    "USER_NAME", 0, 1, NAME, UserName;
}

/// The next rowversion of a database whose id is the argument: what a rowversion column takes.
pub static NEXT_ROW_VERSION: Function = Function {
    name: "NEXT ROWVERSION",
    min_args: 1,
    max_args: 1,
    result: |_| Ok(SqlType::RowVersion),
    deterministic: false,
    nulls: NullRule::Own,
    date_part: false,
    eval: |call, args| call.facts.resolve(Question::NextRowVersion, args),
};

fn ask(call: &mut Call<'_>, question: Question, args: &[Value]) -> SqlResult<Value> {
    // Without argument some of these are facts of the session.
    let fact = match question {
        _ if !args.is_empty() => None,
        Question::DatabaseId => Some(Fact::CurrentDatabaseId),
        Question::DatabaseName => Some(Fact::CurrentDatabaseName),
        Question::SchemaName => Some(Fact::CurrentSchemaName),
        Question::SuserName => Some(Fact::LoginName),
        Question::UserName => Some(Fact::CurrentUser),
        _ => None,
    };
    let answer = match fact {
        Some(fact) => call.facts.fact(fact)?,
        None => call.facts.resolve(question, args)?,
    };
    fitted(answer, call.result)
}

/// The longest name.
const NAME_BYTES: usize = 256;

/// An answer of whatever kind, in the type of the function.
pub(crate) fn fitted(answer: Value, result: SqlType) -> SqlResult<Value> {
    let from = match &answer {
        Value::Null => return Ok(Value::Null),
        Value::Bit(_) => SqlType::Bit,
        Value::TinyInt(_) => SqlType::TinyInt,
        Value::SmallInt(_) => SqlType::SmallInt,
        Value::Int(_) => SqlType::Int,
        Value::BigInt(_) => SqlType::BigInt,
        Value::Decimal(d) => SqlType::decimal(38, d.scale()),
        Value::Char(_) => SqlType::VARCHAR_MAX,
        // Names in a variant are names: nvarchar(128).
        Value::NChar(b) if result == VARIANT && b.len() <= NAME_BYTES => NAME,
        Value::NChar(_) => SqlType::NVARCHAR_MAX,
        Value::Binary(_) => SqlType::VARBINARY_MAX,
        Value::DateTime(_) => SqlType::DateTime,
        Value::Guid(_) => SqlType::UniqueIdentifier,
        // Other kinds are answered only in their own type.
        _ => return Ok(answer),
    };
    convert(&answer, from, result, 0)
}

//! What a function is, and what it may ask while it runs.
//!
//! Invariants
//!  1. A `Strict` function never sees NULL: `Function::call` answers NULL before it.
//!  2. A value that a function answers has the kind of `Call::result`, or is NULL; it is no longer
//!     than that: `Function::call` cuts what is, behind every function.

use crate::rand::Rand;
use base::{SqlError, SqlResult, messages};
use types::datetime::{DatePart, Dialect, Moment};
use types::{Collation, Family, SqlType, Value, convert_collated, is_dated};

/// A fact about the session, its request or the server: the `@@` variables and their kin.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "each is the function or variable of that name")]
pub enum Fact {
    AppName,
    Connections,
    ContextInfo,
    CpuBusy,
    CursorRows,
    /// `DB_ID()`
    CurrentDatabaseId,
    /// `DB_NAME()`
    CurrentDatabaseName,
    /// `SCHEMA_NAME()`, `SCHEMA_ID()` is `Question::SchemaId` without argument
    CurrentSchemaName,
    /// `CURRENT_USER`, `USER_NAME()`
    CurrentUser,
    DateFirst,
    Dbts,
    Error,
    ErrorLine,
    ErrorMessage,
    ErrorNumber,
    ErrorProcedure,
    ErrorSeverity,
    ErrorState,
    FetchStatus,
    HostId,
    HostName,
    Idle,
    IoBusy,
    LangId,
    Language,
    LastIdentity,
    LockTimeout,
    MaxConnections,
    MaxPrecision,
    MicrosoftVersion,
    NestLevel,
    /// `TRIGGER_NESTLEVEL()`
    TriggerNestLevel,
    /// `COLUMNS_UPDATED()`
    ColumnsUpdated,
    /// `MIN_ACTIVE_ROWVERSION()`
    MinActiveRowVersion,
    Options,
    OriginalDatabaseName,
    OriginalLogin,
    PackReceived,
    PackSent,
    PacketErrors,
    ProcId,
    RemoteServer,
    RequestId,
    RowCount,
    ScopeIdentity,
    ServerName,
    ServiceName,
    Spid,
    /// `SUSER_SNAME()`, `SYSTEM_USER`
    LoginName,
    TextSize,
    TimeTicks,
    TotalErrors,
    TotalRead,
    TotalWrite,
    TranCount,
    TransactionId,
    Version,
    XactState,
}

/// A question about a name or id; the arguments follow as the function received them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "each is the function of that name")]
pub enum Question {
    ApplockMode,
    ApplockTest,
    AssemblyProperty,
    ColLength,
    ColName,
    ColumnProperty,
    ConnectionProperty,
    CursorStatus,
    DatabaseId,
    DatabaseName,
    DatabasePrincipalId,
    DatabaseProperty,
    DatabasePropertyEx,
    FileGroupId,
    FileGroupName,
    FileGroupProperty,
    FileId,
    FileName,
    FileProperty,
    FullTextCatalogProperty,
    FullTextServiceProperty,
    GetAnsiNull,
    HasDbAccess,
    HasPermsByName,
    IdentCurrent,
    IdentIncr,
    IdentSeed,
    IndexCol,
    IndexKeyProperty,
    IndexProperty,
    IsMember,
    IsObjectSigned,
    IsRoleMember,
    IsSrvRoleMember,
    LoginProperty,
    /// The next rowversion of a database, by its id.
    NextRowVersion,
    ObjectDefinition,
    ObjectId,
    ObjectName,
    ObjectProperty,
    ObjectPropertyEx,
    ObjectSchemaName,
    SchemaId,
    SchemaName,
    ServerProperty,
    SessionContext,
    SessionProperty,
    StatsDate,
    SuserId,
    SuserName,
    SuserSid,
    TypeId,
    TypeName,
    TypeProperty,
    UserId,
    UserName,
}

/// What functions need from the session they run in. Implemented by `session`.
pub trait SessionFacts {
    /// The value of a fact, converted by the caller to its documented type.
    ///
    /// # Errors
    /// When the fact cannot be had.
    fn fact(&self, fact: Fact) -> SqlResult<Value>;

    /// The answer to a question; NULL when the name or id is unknown.
    ///
    /// # Errors
    /// When the question cannot be answered.
    fn resolve(&self, question: Question, arguments: &[Value]) -> SqlResult<Value>;

    /// Now: local time with its offset from UTC. Constant within a statement.
    fn clock(&self) -> Moment;

    /// SET LANGUAGE and SET DATEFORMAT: how dates are written and read as text.
    fn dialect(&self) -> Dialect;

    /// 64 random bits.
    fn random(&self) -> u64;

    /// The next number of the session's generator, which a seed sets first. Here of one that is
    /// not kept.
    fn rand(&self, seed: Option<i64>) -> f64 {
        seed.map_or_else(|| Rand::drawn(self.random()), Rand::seeded).draw()
    }
}

/// One run of a function.
pub struct Call<'a> {
    /// The session's answers.
    pub facts: &'a dyn SessionFacts,
    /// The types of the arguments, as `Function::result` saw them.
    pub arg_types: &'a [SqlType],
    /// The type that `Function::result` gave.
    pub result: SqlType,
    /// The collation of the character arguments.
    pub collation: Collation,
}

/// Whether NULL arguments reach the function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NullRule {
    /// NULL in, NULL out.
    Strict,
    /// The function sees NULL.
    Own,
}

/// A scalar function.
pub struct Function {
    /// Its name in upper case.
    pub name: &'static str,
    /// Fewest arguments.
    pub min_args: usize,
    /// Most arguments.
    pub max_args: usize,
    /// The type of the result from the types of the arguments.
    pub result: fn(&[SqlType]) -> SqlResult<SqlType>,
    /// Same arguments, same answer: it may be computed when the plan is made.
    pub deterministic: bool,
    /// What NULL arguments do.
    pub nulls: NullRule,
    /// The first argument is a bare date part, passed as `datepart_argument` gives it.
    pub date_part: bool,
    /// The function itself; call it through `call`.
    pub eval: fn(&mut Call<'_>, &[Value]) -> SqlResult<Value>,
}

/// Functions whose answer may be another each time that they are asked, in one statement too. All
/// others that their arguments do not decide are decided by the statement's moment, session,
/// settings and definitions.
const OF_EACH_CALL: [&str; 14] = [
    "APPLOCK_MODE",
    "APPLOCK_TEST",
    "CRYPT_GEN_RANDOM",
    "CURSOR_STATUS",
    "ENCRYPTBYASYMKEY",
    "ENCRYPTBYCERT",
    "ENCRYPTBYKEY",
    "ENCRYPTBYPASSPHRASE",
    "IDENT_CURRENT",
    "MIN_ACTIVE_ROWVERSION",
    "NEWID",
    "NEWSEQUENTIALID",
    "NEXT ROWVERSION",
    "PWDENCRYPT",
];

impl Function {
    /// Same arguments, same answer as long as one statement runs: SQL Server's runtime constants.
    /// Of [`Function::is_drawn`] that is so for each place where it stands.
    pub fn is_runtime_constant(&self) -> bool {
        self.deterministic || !OF_EACH_CALL.contains(&self.name)
    }

    /// Whether it reads an argument's text as characters, whatever collation the other arguments
    /// have: a name of metadata, or what goes into a message or document.
    pub fn reads_characters(&self, place: usize) -> bool {
        match self.name {
            "FORMATMESSAGE" | "JSON_ARRAY" | "JSON_OBJECT" => true,
            "JSON_MODIFY" | "JSON_MODIFY JSON" => place == 2,
            name => crate::metadata::FUNCTIONS.iter().any(|function| function.name == name),
        }
    }

    /// RAND: each place where it stands draws an answer of its own, once in a statement.
    pub fn is_drawn(&self) -> bool {
        self.name == "RAND"
    }
}

/// A list of functions that only know their arguments: NULL in, NULL out, the same answer always.
macro_rules! strict_functions {
    (
        $(#[$doc:meta])*
        $($name:literal, $min:literal, $max:literal, $result:expr, $eval:expr;)*
    ) => {
        $(#[$doc])*
        pub(crate) const FUNCTIONS: &[$crate::call::Function] = &[
            $($crate::call::Function {
                name: $name,
                min_args: $min,
                max_args: $max,
                result: $result,
                deterministic: true,
                nulls: $crate::call::NullRule::Strict,
                date_part: false,
                eval: $eval,
            }),*
        ];
    };
}
pub(crate) use strict_functions;

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Names are unique in the registry.
impl PartialEq for Function {
    fn eq(&self, other: &Function) -> bool {
        self.name == other.name
    }
}

impl Eq for Function {}

impl Function {
    /// Runs it, NULL rule included.
    ///
    /// # Errors
    /// What the function answers.
    pub fn call(&self, call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
        debug_assert!(args.len() >= self.min_args && args.len() <= self.max_args);
        debug_assert_eq!(args.len(), call.arg_types.len());
        if self.nulls == NullRule::Strict && args.iter().any(Value::is_null) {
            return Ok(Value::Null);
        }
        (self.eval)(call, args).map(|value| value.cut_to(call.result))
    }

    /// Whether a number of arguments is right.
    ///
    /// # Errors
    /// 174 or 189.
    pub fn check_count(&self, count: usize) -> SqlResult<()> {
        if (self.min_args..=self.max_args).contains(&count) {
            return Ok(());
        }
        let name = self.name.to_ascii_lowercase();
        Err(if self.min_args == self.max_args {
            SqlError::new(messages::FUNCTION_ARGUMENT_COUNT, &[&name, &self.min_args])
        } else {
            let range: [&dyn std::fmt::Display; 3] = [&name, &self.min_args, &self.max_args];
            SqlError::new(messages::FUNCTION_ARGUMENT_RANGE, &range)
        })
    }
}

/// The value that stands for a date part in an argument list; its type is tinyint.
///
/// # Errors
/// 155 when there is no such part.
pub fn datepart_argument(name: &str, function: &str) -> SqlResult<Value> {
    match DatePart::by_name(name) {
        Some(part) => Ok(Value::TinyInt(part as u8)),
        None => {
            let function = function.to_ascii_lowercase();
            Err(SqlError::new(messages::OPTION_UNKNOWN, &[&name, &function]))
        }
    }
}

impl Call<'_> {
    /// An argument converted to a type.
    pub(crate) fn to(&self, args: &[Value], i: usize, to: SqlType) -> SqlResult<Value> {
        let from = self.arg_types[i];
        let dated = is_dated(from, to) && !args[i].is_null();
        let dialect = if dated { self.facts.dialect() } else { Dialect::default() };
        let collations = (self.collation, self.collation);
        convert_collated(&args[i], from, to, 0, dialect, collations)
    }

    /// An argument as a whole number.
    pub(crate) fn int(&self, args: &[Value], i: usize) -> SqlResult<i64> {
        if let Some(n) = args[i].as_i64() {
            return Ok(n);
        }
        Ok(self.to(args, i, SqlType::BigInt)?.as_i64().unwrap_or(0))
    }

    /// An argument as a float.
    pub(crate) fn float(&self, args: &[Value], i: usize) -> SqlResult<f64> {
        match self.to(args, i, SqlType::Float)? {
            Value::Float(x) => Ok(x),
            _ => Ok(0.0),
        }
    }

    /// An argument as text.
    pub(crate) fn string(&self, args: &[Value], i: usize) -> SqlResult<String> {
        os::values::room(args[i].as_bytes().map_or(0, <[u8]>::len))?;
        if let Value::Char(b) = &args[i] {
            return Ok(self.collation.code_page().decode(b));
        }
        if let Some(s) = args[i].as_text() {
            return Ok(s);
        }
        Ok(self.to(args, i, SqlType::NVARCHAR_MAX)?.as_text().unwrap_or_default())
    }

    /// An argument as a date or time, text being read as a datetime, with the type it has then.
    pub(crate) fn moment(&self, args: &[Value], i: usize) -> SqlResult<(Moment, SqlType)> {
        let to = moment_type(self.arg_types[i]);
        let value = self.to(args, i, to)?;
        Moment::of(&value).map(|m| (m, to)).ok_or_else(|| self.invalid(i, "date"))
    }

    /// 8116 for an argument.
    pub(crate) fn invalid(&self, i: usize, function: &str) -> SqlError {
        invalid_argument(self.arg_types[i], i, function)
    }
}

/// 8116: "Argument data type {type} is invalid for argument {n} of {function} function."
pub(crate) fn invalid_argument(t: SqlType, i: usize, function: &str) -> SqlError {
    SqlError::new(messages::ARGUMENT_TYPE_INVALID, &[&t.error_name(), &(i + 1), &function])
}

/// The type in which date functions take an argument: text and numbers become datetime.
pub(crate) fn moment_type(t: SqlType) -> SqlType {
    match t.family() {
        Family::Temporal => t,
        _ => SqlType::DateTime,
    }
}

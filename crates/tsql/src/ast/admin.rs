//! Administration: DROP, DBCC, KILL, permissions, and statements known only by name.
#![expect(missing_docs, reason = "fields are named as the grammar names them")]

use super::{Expr, Name, ObjectName, Setting, Span};

/// DROP of anything.
#[derive(Clone, Debug, PartialEq)]
pub struct Drop {
    pub kind: DropKind,
    pub if_exists: bool,
    pub items: Vec<DropItem>,
    pub span: Span,
}

/// What is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropKind {
    Table,
    View,
    Procedure,
    Function,
    Trigger,
    Index,
    Statistics,
    Database,
    Schema,
    Sequence,
    Synonym,
    Type,
    PartitionFunction,
    PartitionScheme,
    Default,
    Rule,
    User,
    Login,
    Role,
}

/// One dropped thing.
#[derive(Clone, Debug, PartialEq)]
pub struct DropItem {
    /// For an index or statistics: the index's own name alone, its table in `table`.
    pub name: ObjectName,
    pub table: Option<ObjectName>,
    pub options: Vec<Setting>,
}

/// `DBCC name [(arguments)] [WITH options]`
#[derive(Clone, Debug, PartialEq)]
pub struct Dbcc {
    /// Upper case.
    pub name: Box<str>,
    pub arguments: Vec<DbccArgument>,
    pub options: Vec<Setting>,
}

/// An argument of [`Dbcc`].
#[derive(Clone, Debug, PartialEq)]
pub enum DbccArgument {
    /// A constant, signed too, or a variable.
    Value(Expr),
    /// A name, as written; also "quoted" text when quoted identifiers are on.
    Name(ObjectName),
}

/// `KILL session [WITH STATUSONLY]`
#[derive(Clone, Debug, PartialEq)]
pub struct Kill {
    /// A number, a string (unit of work), or a variable.
    pub target: Expr,
    pub status_only: bool,
}

/// GRANT, DENY or REVOKE.
#[derive(Clone, Debug, PartialEq)]
pub struct Permission {
    pub verb: PermissionVerb,
    /// Upper case, words joined by a blank; with columns where given.
    pub permissions: Vec<(Box<str>, Vec<Name>)>,
    /// The class before `::`, upper case.
    pub class: Option<Box<str>>,
    pub securable: Option<ObjectName>,
    pub principals: Vec<Name>,
    pub grant_option: bool,
    pub cascade: bool,
}

/// See [`Permission`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermissionVerb {
    Grant,
    Deny,
    Revoke,
}

/// `ALTER SERVER CONFIGURATION SET …`, e.g. `PROCESS AFFINITY CPU = AUTO`.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterServerConfiguration {
    pub setting: Setting,
    /// Ranges of `CPU = 0 TO 3, 5`; empty for AUTO and other settings.
    pub ranges: Vec<(u32, u32)>,
}

/// A statement that is recognised by its first words and has no tree: BACKUP, CREATE LOGIN …
#[derive(Clone, Debug, PartialEq)]
pub struct OpaqueStatement {
    /// Its first words in upper case, for the error that names it.
    pub name: Box<str>,
}

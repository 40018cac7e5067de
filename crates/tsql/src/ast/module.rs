//! Procedures, views, functions, triggers. The module's own text is its statement's span.
#![expect(missing_docs, reason = "fields are named as the grammar names them")]

use super::{
    Expr, Name, ObjectName, SelectStatement, Setting, Span, Statement, TableDefinition, TypeName,
};

/// CREATE, ALTER or CREATE OR ALTER.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleVerb {
    Create,
    Alter,
    CreateOrAlter,
}

/// A parameter of a procedure or function, or of sp_executesql.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// With its `@`.
    pub name: Name,
    pub type_name: TypeName,
    pub nullable: Option<bool>,
    pub default: Option<Expr>,
    pub output: bool,
    pub read_only: bool,
    /// `CURSOR VARYING`, in this order
    pub varying: bool,
    pub span: Span,
}

/// CREATE PROCEDURE
#[derive(Clone, Debug, PartialEq)]
pub struct Procedure {
    pub verb: ModuleVerb,
    pub name: ObjectName,
    /// `;2` behind the name
    pub number: Option<u32>,
    pub parameters: Vec<Parameter>,
    /// `RECOMPILE`, `ENCRYPTION`, `EXECUTE AS`, `NATIVE_COMPILATION`, `SCHEMABINDING` …
    pub options: Vec<Setting>,
    pub for_replication: bool,
    pub body: Vec<Statement>,
}

/// CREATE VIEW
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    pub verb: ModuleVerb,
    pub name: ObjectName,
    pub columns: Vec<Name>,
    pub options: Vec<Setting>,
    pub query: SelectStatement,
    pub check_option: bool,
    /// Where the query's text is.
    pub query_span: Span,
}

/// CREATE FUNCTION
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    pub verb: ModuleVerb,
    pub name: ObjectName,
    pub parameters: Vec<Parameter>,
    pub options: Vec<Setting>,
    pub body: FunctionBody,
}

/// What a function returns, and how.
#[derive(Clone, Debug, PartialEq)]
pub enum FunctionBody {
    Scalar { returns: TypeName, body: Vec<Statement> },
    Inline { query: Box<SelectStatement> },
    Table { variable: Name, definition: TableDefinition, body: Vec<Statement> },
}

/// CREATE TRIGGER
#[derive(Clone, Debug, PartialEq)]
pub struct Trigger {
    pub verb: ModuleVerb,
    pub name: ObjectName,
    pub target: TriggerTarget,
    pub options: Vec<Setting>,
    pub instead_of: bool,
    /// Upper case: `INSERT`, `UPDATE`, `DELETE`, or DDL events.
    pub events: Vec<Box<str>>,
    pub not_for_replication: bool,
    pub body: Vec<Statement>,
}

/// What a trigger watches.
#[derive(Clone, Debug, PartialEq)]
pub enum TriggerTarget {
    Table(ObjectName),
    Database,
    Server,
}

/// `ENABLE|DISABLE TRIGGER names|ALL ON target`
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchTrigger {
    pub enable: bool,
    /// Empty means ALL.
    pub names: Vec<ObjectName>,
    pub target: TriggerTarget,
}

/// `CREATE TYPE name FROM type [NULL] | AS TABLE (…)`
#[derive(Clone, Debug, PartialEq)]
pub struct CreateType {
    pub name: ObjectName,
    pub kind: CreateTypeKind,
}

/// See [`CreateType`].
#[derive(Clone, Debug, PartialEq)]
pub enum CreateTypeKind {
    Alias { base: TypeName, nullable: Option<bool> },
    Table { definition: TableDefinition, options: Vec<Setting> },
}

/// CREATE or ALTER SEQUENCE
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    pub alter: bool,
    pub name: ObjectName,
    pub type_name: Option<TypeName>,
    pub options: Vec<SequenceOption>,
}

/// A property of a sequence; None stands for `RESTART` without value, `NO MINVALUE`, `NO CACHE` …
#[derive(Clone, Debug, PartialEq)]
pub enum SequenceOption {
    Start(Expr),
    Restart(Option<Expr>),
    Increment(Expr),
    MinValue(Option<Expr>),
    MaxValue(Option<Expr>),
    Cycle(bool),
    /// `CACHE`, `CACHE n`
    Cache(Option<Expr>),
    NoCache,
}

/// `CREATE SCHEMA name [AUTHORIZATION owner] [statements]`
#[derive(Clone, Debug, PartialEq)]
pub struct CreateSchema {
    /// None when only AUTHORIZATION is given.
    pub name: Option<Name>,
    pub owner: Option<Name>,
    pub elements: Vec<Statement>,
}

/// `ALTER SCHEMA schema TRANSFER [class ::] name`
#[derive(Clone, Debug, PartialEq)]
pub struct AlterSchema {
    /// Where it goes.
    pub schema: Name,
    /// OBJECT, TYPE or XML SCHEMA COLLECTION.
    pub class: Box<str>,
    /// What goes there.
    pub name: ObjectName,
}

/// `CREATE SYNONYM name FOR target`
#[derive(Clone, Debug, PartialEq)]
pub struct CreateSynonym {
    pub name: ObjectName,
    pub target: ObjectName,
}

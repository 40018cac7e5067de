//! EXECUTE: what is executed, with its arguments, and what it gives.
#![expect(missing_docs, reason = "fields are named as the grammar names them")]

use super::{Expr, Name, ObjectName, Setting, TypeName};

/// EXEC in all its forms.
#[derive(Clone, Debug, PartialEq)]
pub struct Execute {
    /// `@r` of `EXEC @r = p`
    pub result: Option<Name>,
    pub what: ExecuteTarget,
    pub recompile: bool,
    /// `RESULT SETS …`
    pub result_sets: Option<ResultSets>,
}

/// What is executed.
#[derive(Clone, Debug, PartialEq)]
pub enum ExecuteTarget {
    Procedure {
        name: ObjectName,
        /// `;2` behind the name
        number: Option<u32>,
        arguments: Vec<Argument>,
    },
    /// `EXEC @name …`: the procedure's name is in a variable.
    Variable { variable: Name, arguments: Vec<Argument> },
    /// `EXEC ('…' + @x) [AS USER = '…'] [AT server]`
    Text {
        text: Expr,
        /// For the `?` of a text that runs AT a server.
        arguments: Vec<Argument>,
        execute_as: Option<Setting>,
        server: Option<Name>,
    },
}

/// One argument of a procedure. A bare word is a string literal already.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// With its `@`.
    pub name: Option<Name>,
    /// `ExprKind::Default` for DEFAULT.
    pub value: Expr,
    pub output: bool,
}

/// What an EXECUTE says that it gives.
#[derive(Clone, Debug, PartialEq)]
pub enum ResultSets {
    Undefined,
    /// Those and no others; NONE: none.
    Declared(Vec<ResultSet>),
}

/// One of them.
#[derive(Clone, Debug, PartialEq)]
pub enum ResultSet {
    Columns(Vec<DeclaredColumn>),
    /// `AS TYPE name`: a table type.
    Type(TypeName),
    /// `AS OBJECT name`
    Object,
    /// `AS FOR XML`
    Xml,
}

/// `name type [COLLATE collation] [NULL | NOT NULL]`
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredColumn {
    pub name: Name,
    pub type_name: TypeName,
    pub collation: Option<Name>,
    pub nullable: bool,
}

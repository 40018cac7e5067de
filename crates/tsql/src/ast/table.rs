//! CREATE TABLE, ALTER TABLE, table types and what they are made of.
#![expect(missing_docs, reason = "fields are named as the grammar names them")]

use super::{Condition, Expr, IndexColumn, IndexKind, Name, ObjectName, Setting, Span, TypeName};

/// `CREATE TABLE name (…) ON … WITH (…)`
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTable {
    pub name: ObjectName,
    pub definition: TableDefinition,
    pub placement: Placements,
    pub options: Vec<Setting>,
}

/// Where data goes: `ON`, `TEXTIMAGE_ON`, `FILESTREAM_ON`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placements {
    pub on: Option<Placement>,
    pub text_image: Option<Name>,
    pub filestream: Option<Name>,
}

/// `filegroup`, or `scheme (column)`
#[derive(Clone, Debug, PartialEq)]
pub struct Placement {
    pub name: Name,
    /// Present for a partition scheme.
    pub column: Option<Name>,
}

/// Columns, constraints and indexes in parentheses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableDefinition {
    pub columns: Vec<ColumnDefinition>,
    pub constraints: Vec<TableConstraint>,
    pub indexes: Vec<InlineIndex>,
    /// `PERIOD FOR SYSTEM_TIME (start, end)`
    pub period: Option<(Name, Name)>,
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnDefinition {
    pub name: Name,
    pub kind: ColumnKind,
    pub collation: Option<Name>,
    /// None when the text doesn't say.
    pub nullable: Option<bool>,
    pub identity: Option<Identity>,
    pub default: Option<DefaultConstraint>,
    pub row_guid: bool,
    pub sparse: bool,
    /// Attributes we only name: MASKED, HIDDEN, GENERATED ALWAYS …
    pub attributes: Vec<Setting>,
    pub constraints: Vec<TableConstraint>,
    pub indexes: Vec<InlineIndex>,
    pub span: Span,
}

/// Stored with a type, or computed.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnKind {
    Typed(TypeName),
    /// `AS expr [PERSISTED]`
    Computed {
        expr: Expr,
        persisted: bool,
    },
    /// `timestamp` without a name for its type: the column's name is its type.
    Untyped,
}

/// `IDENTITY [(seed, increment)] [NOT FOR REPLICATION]`
#[derive(Clone, Debug, PartialEq)]
pub struct Identity {
    pub seed: Option<Expr>,
    pub increment: Option<Expr>,
    pub not_for_replication: bool,
}

/// `[CONSTRAINT name] DEFAULT expr [WITH VALUES]`; the expression's span gives its text.
#[derive(Clone, Debug, PartialEq)]
pub struct DefaultConstraint {
    pub name: Option<Name>,
    pub value: Expr,
    pub with_values: bool,
}

/// A constraint, of the table or behind a column (then its column list is empty).
#[derive(Clone, Debug, PartialEq)]
pub struct TableConstraint {
    pub name: Option<Name>,
    pub kind: ConstraintKind,
    pub span: Span,
}

/// See [`TableConstraint`].
#[derive(Clone, Debug, PartialEq)]
pub enum ConstraintKind {
    Key(Box<KeyConstraint>),
    /// The condition's span gives its text.
    Check {
        condition: Condition,
        not_for_replication: bool,
    },
    ForeignKey(Box<ForeignKey>),
    /// `DEFAULT expr FOR column` of ALTER TABLE ADD
    Default {
        value: Expr,
        column: Name,
        with_values: bool,
    },
}

/// PRIMARY KEY or UNIQUE
#[derive(Clone, Debug, PartialEq)]
pub struct KeyConstraint {
    pub primary: bool,
    /// None when the text doesn't say.
    pub clustered: Option<bool>,
    pub columns: Vec<IndexColumn>,
    pub options: Vec<Setting>,
    pub on: Option<Placement>,
}

/// FOREIGN KEY or REFERENCES
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignKey {
    pub columns: Vec<Name>,
    pub table: ObjectName,
    pub referenced: Vec<Name>,
    pub on_delete: Option<ReferentialAction>,
    pub on_update: Option<ReferentialAction>,
    pub not_for_replication: bool,
}

/// What happens to rows that refer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferentialAction {
    NoAction,
    Cascade,
    SetNull,
    SetDefault,
}

/// `INDEX name …` within a table.
#[derive(Clone, Debug, PartialEq)]
pub struct InlineIndex {
    pub name: Name,
    pub unique: bool,
    pub kind: IndexKind,
    pub columns: Vec<IndexColumn>,
    pub include: Vec<Name>,
    pub filter: Option<Condition>,
    pub options: Vec<Setting>,
    pub on: Option<Placement>,
    pub span: Span,
}

/// `ALTER TABLE name …`
#[derive(Clone, Debug, PartialEq)]
pub struct AlterTable {
    pub name: ObjectName,
    pub action: AlterTableAction,
}

/// See [`AlterTable`].
#[derive(Clone, Debug, PartialEq)]
pub enum AlterTableAction {
    /// `[WITH CHECK|NOCHECK] ADD …`
    Add {
        check: Option<bool>,
        definition: TableDefinition,
    },
    AlterColumn(Box<AlterColumn>),
    Drop(Vec<AlterTableDrop>),
    /// `[WITH CHECK|NOCHECK] CHECK|NOCHECK CONSTRAINT ALL|names`; no names means ALL.
    CheckConstraint {
        with_check: Option<bool>,
        enable: bool,
        names: Vec<Name>,
    },
    /// `ENABLE|DISABLE TRIGGER ALL|names`; no names means ALL.
    Trigger {
        enable: bool,
        names: Vec<Name>,
    },
    /// `REBUILD [PARTITION = ALL|n] [WITH (…)]`
    Rebuild {
        partition: Option<Expr>,
        options: Vec<Setting>,
    },
    /// `SWITCH [PARTITION n] TO table [PARTITION m]`
    Switch {
        partition: Option<Expr>,
        target: ObjectName,
        target_partition: Option<Expr>,
        options: Vec<Setting>,
    },
    /// `SET (LOCK_ESCALATION = …)`
    Set(Vec<Setting>),
    /// `ENABLE|DISABLE CHANGE_TRACKING …`
    ChangeTracking {
        enable: bool,
        options: Vec<Setting>,
    },
}

/// `ALTER COLUMN name …`
#[derive(Clone, Debug, PartialEq)]
pub struct AlterColumn {
    pub name: Name,
    pub change: AlterColumnChange,
    pub options: Vec<Setting>,
}

/// See [`AlterColumn`].
#[derive(Clone, Debug, PartialEq)]
pub enum AlterColumnChange {
    Type {
        type_name: TypeName,
        collation: Option<Name>,
        nullable: Option<bool>,
        /// `SPARSE`
        sparse: bool,
    },
    /// `ADD|DROP ROWGUIDCOL|PERSISTED|SPARSE|HIDDEN|NOT FOR REPLICATION|MASKED`
    Attribute { add: bool, attribute: Setting },
}

/// One thing that ALTER TABLE DROP drops.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterTableDrop {
    pub kind: AlterTableDropKind,
    pub if_exists: bool,
    pub name: Name,
    pub options: Vec<Setting>,
}

/// See [`AlterTableDrop`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlterTableDropKind {
    Column,
    /// Also a name without a word before it.
    Constraint,
    Index,
    Period,
}

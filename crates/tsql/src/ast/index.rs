//! Indexes, statistics, partitions.
#![expect(missing_docs, reason = "fields are named as the grammar names them")]

use super::{Condition, Expr, Name, ObjectName, Placement, Setting, TypeName};

/// What an index is made as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexKind {
    /// Nothing said: nonclustered.
    Unspecified,
    Clustered,
    Nonclustered,
    ClusteredColumnstore,
    NonclusteredColumnstore,
    Hash,
    Xml,
    Spatial,
    FullText,
}

/// A key column.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexColumn {
    pub name: Name,
    pub descending: bool,
}

/// CREATE INDEX in all its forms.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateIndex {
    pub name: Name,
    pub unique: bool,
    pub kind: IndexKind,
    pub table: ObjectName,
    pub columns: Vec<IndexColumn>,
    pub include: Vec<Name>,
    /// `ORDER (…)` of a columnstore
    pub order: Vec<Name>,
    pub filter: Option<Condition>,
    pub options: Vec<Setting>,
    pub on: Option<Placement>,
}

/// `ALTER INDEX name|ALL ON table …`
#[derive(Clone, Debug, PartialEq)]
pub struct AlterIndex {
    /// None means ALL.
    pub name: Option<Name>,
    pub table: ObjectName,
    pub action: AlterIndexAction,
    /// `PARTITION = ALL` is None, as is nothing said.
    pub partition: Option<Expr>,
    pub options: Vec<Setting>,
}

/// What ALTER INDEX does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlterIndexAction {
    Rebuild,
    Reorganize,
    Disable,
    Set,
    Resume,
    Pause,
    Abort,
}

/// `CREATE STATISTICS name ON table (columns) [WHERE …] [WITH …]`
#[derive(Clone, Debug, PartialEq)]
pub struct CreateStatistics {
    pub name: Name,
    pub table: ObjectName,
    pub columns: Vec<Name>,
    pub filter: Option<Condition>,
    pub options: Vec<Setting>,
}

/// `UPDATE STATISTICS table [names] [WITH …]`
#[derive(Clone, Debug, PartialEq)]
pub struct UpdateStatistics {
    pub table: ObjectName,
    pub names: Vec<Name>,
    pub options: Vec<Setting>,
}

/// `CREATE PARTITION FUNCTION name (type) AS RANGE LEFT|RIGHT FOR VALUES (…)`
#[derive(Clone, Debug, PartialEq)]
pub struct CreatePartitionFunction {
    pub name: Name,
    pub type_name: TypeName,
    pub right: bool,
    pub values: Vec<Expr>,
}

/// `ALTER PARTITION FUNCTION name() SPLIT|MERGE RANGE (value)`
#[derive(Clone, Debug, PartialEq)]
pub struct AlterPartitionFunction {
    pub name: Name,
    pub split: bool,
    pub value: Option<Expr>,
}

/// `CREATE PARTITION SCHEME name AS PARTITION function [ALL] TO (filegroups)`
#[derive(Clone, Debug, PartialEq)]
pub struct CreatePartitionScheme {
    pub name: Name,
    pub function: Name,
    pub all: bool,
    pub filegroups: Vec<Name>,
}

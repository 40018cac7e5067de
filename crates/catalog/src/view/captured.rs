//! Rows as a trigger sees them: `inserted` and `deleted`.

use super::{Column, Index, IndexKind, Partitions, RowHistory, SchemaId, Table};
use base::{DatabaseId, HobtId, IndexId, ObjectId};

/// Where table variables are.
const TEMPDB: DatabaseId = DatabaseId(2);

/// A table variable of a table's or view's columns, without anything that restricts its rows.
pub fn captured_rows(columns: &[Column], name: &str, number: u16) -> Table {
    let column = |(n, c): (usize, &Column)| Column {
        nullable: true,
        identity: None,
        default: None,
        computed: None,
        physical: u16::try_from(n).ok(),
        ..c.clone()
    };
    let heap = Index {
        index_id: IndexId(0),
        name: "".into(),
        kind: IndexKind::Heap,
        unique: false,
        primary_key: false,
        unique_constraint: false,
        constraint_id: None,
        system_named: false,
        key: Vec::new(),
        included: Vec::new(),
        partitions: Partitions::one(HobtId::of_table_variable(number, 0)),
        fill_factor: 0,
        auto_fill: None,
        padded: false,
        ignore_dup_key: false,
        disabled: false,
        filter: None,
        gathered: super::StatisticsContent::default(),
    };
    Table {
        database: TEMPDB,
        object_id: ObjectId::of_table_variable(number),
        schema_id: SchemaId::DBO,
        schema_name: "dbo".into(),
        name: name.into(),
        columns: columns.iter().enumerate().map(column).collect(),
        indexes: vec![heap],
        statistics: Vec::new(),
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        history: RowHistory::default(),
        properties: Vec::new(),
        is_temp: true,
    }
}

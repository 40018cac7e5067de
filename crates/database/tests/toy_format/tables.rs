//! The tables of the test: two of the toy format, one of them with an index on pages, and one of
//! rows on pages.

use base::{DatabaseId, HobtId, IndexId, ObjectId};
use catalog::view::{Column, Index, IndexColumn, IndexKind, Partitions, SchemaId, Table};
use types::{Collation, SqlType};

pub(crate) const TOY: HobtId = HobtId(300);
pub(crate) const BY_NAME: HobtId = HobtId(301);
pub(crate) const LOADED: HobtId = HobtId(302);
pub(crate) const ON_PAGES: HobtId = HobtId(303);

/// The table of a clustered index.
pub(crate) fn object(hobt: HobtId) -> ObjectId {
    ObjectId(100_000 + hobt.0 as i32)
}

fn column(id: i32, name: &str, sql_type: SqlType) -> Column {
    Column {
        column_id: id,
        name: name.into(),
        sql_type,
        user_type_id: sql_type.user_type_id(),
        nullable: false,
        collation: Collation::default(),
        row_guid: false,
        identity: None,
        default: None,
        computed: None,
        physical: Some((id - 1) as u16),
    }
}

fn index(id: i32, kind: IndexKind, key: usize, hobt: HobtId) -> Index {
    Index {
        index_id: IndexId(id),
        name: format!("i{id}").into(),
        kind,
        unique: kind == IndexKind::Clustered,
        primary_key: false,
        unique_constraint: false,
        constraint_id: None,
        system_named: false,
        key: vec![IndexColumn { column: key, descending: false }],
        included: Vec::new(),
        partitions: Partitions::one(hobt),
        fill_factor: 0,
        auto_fill: None,
        padded: false,
        ignore_dup_key: false,
        disabled: false,
        filter: None,
        gathered: Default::default(),
    }
}

fn table(name: &str, indexes: Vec<Index>) -> Table {
    Table {
        database: DatabaseId(5),
        object_id: object(indexes[0].partitions.sole()),
        schema_id: SchemaId::DBO,
        schema_name: "dbo".into(),
        name: name.into(),
        columns: vec![column(1, "k", SqlType::Int), column(2, "name", SqlType::varchar(40))],
        indexes,
        statistics: Vec::new(),
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        history: Default::default(),
        properties: Vec::new(),
        is_temp: false,
    }
}

pub(crate) fn toy() -> Table {
    let base = index(1, IndexKind::Clustered, 0, TOY);
    table("toy", vec![base, index(2, IndexKind::Nonclustered, 1, BY_NAME)])
}

pub(crate) fn all() -> [Table; 3] {
    let alone = |name, hobt| table(name, vec![index(1, IndexKind::Clustered, 0, hobt)]);
    [toy(), alone("loaded", LOADED), alone("on_pages", ON_PAGES)]
}

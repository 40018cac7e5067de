//! The tables of the run, and rows of them.

use super::Random;
use access::Field;
use base::{DatabaseId, HobtId, IndexId, ObjectId};
use catalog::view::{Column, Index, IndexColumn, IndexKind, Partitions, SchemaId, Table};
use types::{Collation, SqlType};

/// The tree, its index on v; the heap, its unique index on k.
pub(crate) const HOBTS: [HobtId; 4] = [HobtId(300), HobtId(301), HobtId(302), HobtId(303)];
/// Object ids: two tables, and from here on those that come and go.
pub(crate) const OBJECTS: i32 = 100_000;

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

fn index(id: i32, kind: IndexKind, key: Option<usize>, unique: bool, hobt: HobtId) -> Index {
    Index {
        index_id: IndexId(id),
        name: format!("i{id}").into(),
        kind,
        unique,
        primary_key: false,
        unique_constraint: false,
        constraint_id: None,
        system_named: false,
        key: key.map(|column| IndexColumn { column, descending: false }).into_iter().collect(),
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

fn table(object: i32, name: &str, indexes: Vec<Index>) -> Table {
    Table {
        database: DatabaseId(5),
        object_id: ObjectId(object),
        schema_id: SchemaId::DBO,
        schema_name: "dbo".into(),
        name: name.into(),
        columns: vec![
            column(1, "k", SqlType::Int),
            column(2, "v", SqlType::BigInt),
            column(3, "filler", SqlType::varchar(8000)),
        ],
        indexes,
        statistics: Vec::new(),
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        history: Default::default(),
        properties: Vec::new(),
        is_temp: false,
    }
}

pub(crate) fn tree() -> Table {
    let base = index(1, IndexKind::Clustered, Some(0), true, HOBTS[0]);
    let by_value = index(2, IndexKind::Nonclustered, Some(1), false, HOBTS[1]);
    table(OBJECTS, "A", vec![base, by_value])
}

pub(crate) fn heap() -> Table {
    let base = index(0, IndexKind::Heap, None, false, HOBTS[2]);
    let by_key = index(2, IndexKind::Nonclustered, Some(0), true, HOBTS[3]);
    table(OBJECTS + 1, "H", vec![base, by_key])
}

/// A table that comes and goes.
pub(crate) fn passing(object: i32, hobt: HobtId) -> Table {
    let kind = if object % 2 == 0 { IndexKind::Heap } else { IndexKind::Clustered };
    let key = (kind == IndexKind::Clustered).then_some(0);
    table(
        object,
        &format!("X{object}"),
        vec![index(key.is_some().into(), kind, key, key.is_some(), hobt)],
    )
}

pub(crate) struct Row {
    pub(crate) key: [u8; 4],
    pub(crate) value: [u8; 8],
    pub(crate) filler: Vec<u8>,
}

impl Row {
    pub(crate) fn new(key: u64, value: u64, r: &mut Random) -> Row {
        let most = if r.below(8) == 0 { 7000 } else { 800 };
        let filler = vec![b'x'; 1 + r.below(most) as usize];
        Row { key: (key as i32).to_le_bytes(), value: value.to_le_bytes(), filler }
    }

    pub(crate) fn fields(&self) -> [Field<'_>; 3] {
        [Field::Inline(&self.key), Field::Inline(&self.value), Field::Inline(&self.filler)]
    }
}

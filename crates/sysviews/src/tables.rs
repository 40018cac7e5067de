//! Tables as views list them: those of the database, and the system tables that store their
//! definitions.

use crate::view::System;
use base::{DatabaseId, HobtId, IndexId, SqlResult};
use catalog::view::{
    Column, Index, IndexColumn, IndexKind, Module, Object, Partitions, SchemaId, Table,
    VirtualTable,
};
use catalog::{SYSTEM_TABLES, SystemTable};
use std::sync::Arc;
use types::{Collation, SqlType};

/// The database's own tables by schema and name.
pub(crate) fn own(system: &System<'_>) -> SqlResult<Vec<Arc<Table>>> {
    let view = system.view()?;
    let table = |o: &Object| match o {
        Object::Table(t) => Some(Arc::clone(t)),
        Object::Module(_) | Object::Sequence(_) | Object::Synonym(_) | Object::Virtual(_) => None,
    };
    Ok(view.objects().filter_map(table).collect())
}

/// The database's modules by schema and name.
pub(crate) fn modules(system: &System<'_>) -> SqlResult<Vec<Arc<Module>>> {
    let view = system.view()?;
    let module = |o: &Object| match o {
        Object::Module(m) => Some(Arc::clone(m)),
        Object::Table(_) | Object::Sequence(_) | Object::Synonym(_) | Object::Virtual(_) => None,
    };
    Ok(view.objects().filter_map(module).collect())
}

/// The system tables, and then its own.
pub(crate) fn all(system: &System<'_>) -> SqlResult<Vec<Arc<Table>>> {
    let mut tables: Vec<_> = SYSTEM_TABLES.iter().map(|t| described(system.current, t)).collect();
    tables.extend(own(system)?);
    Ok(tables)
}

/// The system tables of a database, and then its own.
pub(crate) fn all_of(system: &System<'_>, database: DatabaseId) -> SqlResult<Vec<Arc<Table>>> {
    let elsewhere = System { current: database, ..*system };
    all(&elsewhere)
}

/// The database's own tables, and the tables of table types.
pub(crate) fn own_and_types(system: &System<'_>) -> SqlResult<Vec<Arc<Table>>> {
    let view = system.view()?;
    let of_types = view.types().filter_map(|t| t.table().map(Arc::clone));
    Ok(own(system)?.into_iter().chain(of_types).collect())
}

/// The system tables, its own, and the tables of table types.
pub(crate) fn all_and_types(system: &System<'_>) -> SqlResult<Vec<Arc<Table>>> {
    let view = system.view()?;
    let of_types = view.types().filter_map(|t| t.table().map(Arc::clone));
    Ok(all(system)?.into_iter().chain(of_types).collect())
}

/// A column of an object that stores no definition of itself.
fn column(at: usize, name: &str, sql_type: SqlType, nullable: bool, names: Collation) -> Column {
    let sysname = sql_type == SqlType::SYSNAME;
    Column {
        column_id: at as i32 + 1,
        name: name.into(),
        sql_type,
        user_type_id: if sysname { 256 } else { sql_type.user_type_id() },
        nullable,
        collation: names,
        row_guid: false,
        identity: None,
        default: None,
        computed: None,
        physical: Some(at as u16),
    }
}

/// The columns of a system view or function.
pub(crate) fn columns_of(virtual_table: &VirtualTable, names: Collation) -> Vec<Column> {
    let columns = virtual_table.columns.iter().enumerate();
    columns.map(|(at, c)| column(at, &c.name, c.sql_type, c.nullable, names)).collect()
}

/// The system table of a hobt.
pub(crate) fn system_table(database: DatabaseId, hobt: HobtId) -> Option<Arc<Table>> {
    let found = SYSTEM_TABLES.iter().find(|t| t.id.hobt() == hobt)?;
    Some(described(database, found))
}

/// A system table as a definition.
fn described(database: DatabaseId, table: &SystemTable) -> Arc<Table> {
    let columns = table.columns.iter().enumerate();
    let of = |(at, c): (usize, &catalog::SystemColumn)| {
        column(at, c.name, c.sql_type, c.nullable, Collation::LATIN1_BIN2)
    };
    let index = Index {
        index_id: IndexId(1),
        name: "clst".into(),
        kind: IndexKind::Clustered,
        unique: true,
        primary_key: false,
        unique_constraint: false,
        constraint_id: None,
        system_named: false,
        key: (0..table.key).map(|column| IndexColumn { column, descending: false }).collect(),
        included: Vec::new(),
        partitions: Partitions::one(table.id.hobt()),
        fill_factor: 0,
        auto_fill: None,
        padded: false,
        ignore_dup_key: false,
        disabled: false,
        filter: None,
        gathered: Default::default(),
    };
    Arc::new(Table {
        database,
        object_id: table.id.object_id(),
        schema_id: SchemaId::SYS,
        schema_name: "sys".into(),
        name: table.name.into(),
        columns: columns.map(of).collect(),
        indexes: vec![index],
        statistics: Vec::new(),
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        history: Default::default(),
        properties: Vec::new(),
        is_temp: false,
    })
}

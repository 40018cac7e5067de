//! Types of users: other names for a system type, and types of tables.
//!
//! They have a space of names of their own: a table and a type of a schema may be called alike.

use super::{ExtendedProperty, SchemaId, Table};
use base::ObjectId;
use std::sync::Arc;
use types::SqlType;

/// `sys.types.system_type_id` of every table type.
pub const TABLE_TYPE: u8 = 243;

/// A type made by CREATE TYPE.
#[derive(Clone, Debug, PartialEq)]
pub struct UserType {
    /// Its object: of a table type the one that its columns belong to.
    pub object_id: ObjectId,
    /// `sys.types.user_type_id`, from 257.
    pub user_type_id: i32,
    /// Its schema.
    pub schema_id: SchemaId,
    /// The schema's name.
    pub schema_name: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// What it is.
    pub kind: UserTypeKind,
    /// Its extended properties and those of a table type's columns.
    pub properties: Vec<ExtendedProperty>,
}

/// See [`UserType`].
#[derive(Clone, Debug, PartialEq)]
pub enum UserTypeKind {
    /// FROM another type.
    Alias {
        /// That type.
        sql_type: SqlType,
        /// Its own `user_type_id`: tells numeric from decimal.
        base: i32,
        /// Whether columns that say nothing hold NULL.
        nullable: bool,
    },
    /// AS TABLE: its hobts are numbered as those of a table variable.
    Table(Arc<Table>),
}

impl UserType {
    /// The table that it is a type of.
    pub fn table(&self) -> Option<&Arc<Table>> {
        match &self.kind {
            UserTypeKind::Table(table) => Some(table),
            UserTypeKind::Alias { .. } => None,
        }
    }

    /// The type that it is another name of.
    pub fn alias(&self) -> Option<SqlType> {
        match &self.kind {
            UserTypeKind::Alias { sql_type, .. } => Some(*sql_type),
            UserTypeKind::Table(_) => None,
        }
    }

    /// `sys.types.system_type_id`.
    pub fn system_type_id(&self) -> u8 {
        match &self.kind {
            UserTypeKind::Alias { base: 108, .. } => 108,
            UserTypeKind::Alias { sql_type, .. } => sql_type.system_type_id(),
            UserTypeKind::Table(_) => TABLE_TYPE,
        }
    }

    /// `schema.type`
    pub fn two_part_name(&self) -> String {
        format!("{}.{}", self.schema_name, self.name)
    }

    /// What `sys.objects` calls a table type's object.
    pub fn object_name(&self) -> String {
        format!("TT_{}_{:08X}", self.name, self.object_id.0)
    }
}

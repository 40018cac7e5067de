//! Schemas: their ids, names and extended properties.

use super::ExtendedProperty;

/// A schema's id: 1 dbo, 2 guest, 3 INFORMATION_SCHEMA, 4 sys, users' from 5.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SchemaId(pub i32);

impl SchemaId {
    /// `dbo`
    pub const DBO: SchemaId = SchemaId(1);
    /// `guest`
    pub const GUEST: SchemaId = SchemaId(2);
    /// `INFORMATION_SCHEMA`
    pub const INFORMATION_SCHEMA: SchemaId = SchemaId(3);
    /// `sys`
    pub const SYS: SchemaId = SchemaId(4);
}

/// A schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// Its id.
    pub id: SchemaId,
    /// Its name.
    pub name: Box<str>,
    /// Its extended properties.
    pub properties: Vec<ExtendedProperty>,
}

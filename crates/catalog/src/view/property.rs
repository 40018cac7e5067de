//! Extended properties: what people note about objects and their parts, under names.

use super::SchemaId;
use base::ObjectId;

/// What a property is of: `sys.extended_properties.class`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum PropertyClass {
    /// The database itself: both numbers are 0.
    Database,
    /// An object or constraint; with a minor number one of its columns.
    ObjectOrColumn,
    /// A parameter of a module.
    Parameter,
    /// A schema, by its id.
    Schema,
    /// A type of a user, by its object.
    Type,
    /// An index.
    Index,
    /// A column of a table type, by the type's object.
    TypeColumn,
}

impl PropertyClass {
    /// All of them.
    pub const ALL: [PropertyClass; 7] = [
        PropertyClass::Database,
        PropertyClass::ObjectOrColumn,
        PropertyClass::Parameter,
        PropertyClass::Schema,
        PropertyClass::Type,
        PropertyClass::Index,
        PropertyClass::TypeColumn,
    ];

    /// Its number and name in `sys.extended_properties`.
    pub fn shown(self) -> (u8, &'static str) {
        match self {
            PropertyClass::Database => (0, "DATABASE"),
            PropertyClass::ObjectOrColumn => (1, "OBJECT_OR_COLUMN"),
            PropertyClass::Parameter => (2, "PARAMETER"),
            PropertyClass::Schema => (3, "SCHEMA"),
            PropertyClass::Type => (6, "TYPE"),
            PropertyClass::Index => (7, "INDEX"),
            PropertyClass::TypeColumn => (8, "TYPE_COLUMN"),
        }
    }
}

/// Who has a property.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PropertyOwner {
    /// What sort of thing it is.
    pub class: PropertyClass,
    /// The object, or the constraint; of a schema its id, of a type its object.
    pub major: ObjectId,
    /// The column, parameter or index; 0 for the object itself.
    pub minor: i32,
}

impl PropertyOwner {
    /// The database itself.
    pub const DATABASE: PropertyOwner =
        PropertyOwner { class: PropertyClass::Database, major: ObjectId(0), minor: 0 };

    /// A schema.
    pub const fn of_schema(id: SchemaId) -> PropertyOwner {
        PropertyOwner { class: PropertyClass::Schema, major: ObjectId(id.0), minor: 0 }
    }
}

/// An extended property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtendedProperty {
    /// Whose it is.
    pub owner: PropertyOwner,
    /// Its name.
    pub name: Box<str>,
    /// Its value, as sql_variant is stored.
    pub value: Option<Box<[u8]>>,
}

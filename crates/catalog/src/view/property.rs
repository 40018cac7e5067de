//! Extended properties: what people note about objects and their parts, under names.

use super::{ModuleKind, Object, SchemaId, Table};
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

impl Object {
    /// What procedures of extended properties call it, below a schema.
    pub fn level(&self) -> Option<&'static str> {
        match self {
            Object::Table(_) => Some("TABLE"),
            Object::Module(m) => match m.kind {
                ModuleKind::Procedure => Some("PROCEDURE"),
                ModuleKind::View => Some("VIEW"),
                ModuleKind::ScalarFunction
                | ModuleKind::InlineFunction
                | ModuleKind::TableFunction => Some("FUNCTION"),
                ModuleKind::Trigger => None,
            },
            Object::Sequence(_) => Some("SEQUENCE"),
            Object::Synonym(_) => Some("SYNONYM"),
            Object::Virtual(_) => None,
        }
    }
}

impl Table {
    /// Forgets the properties of columns, indexes and constraints that are gone.
    pub fn forget_orphans(&mut self) {
        let all = std::mem::take(&mut self.properties);
        self.properties = all.into_iter().filter(|p| self.has_part(p.owner)).collect();
    }

    fn has_part(&self, owner: PropertyOwner) -> bool {
        let PropertyOwner { class, major, minor } = owner;
        match class {
            PropertyClass::ObjectOrColumn if major == self.object_id => {
                minor == 0 || self.columns.iter().any(|c| c.column_id == minor)
            }
            PropertyClass::ObjectOrColumn => self.constraints().any(|c| c.object_id == major),
            PropertyClass::Index => self.indexes.iter().any(|i| i.index_id.0 == minor),
            PropertyClass::Database
            | PropertyClass::Parameter
            | PropertyClass::Schema
            | PropertyClass::Type
            | PropertyClass::TypeColumn => false,
        }
    }
}

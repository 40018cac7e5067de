//! Extended properties: what people note about objects and their parts, under names.

use super::Table;
use base::ObjectId;

/// What a property is of: `sys.extended_properties.class`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum PropertyClass {
    /// An object or constraint; with a minor number one of its columns.
    ObjectOrColumn,
    /// A parameter of a module.
    Parameter,
    /// An index.
    Index,
}

impl PropertyClass {
    /// All of them.
    pub const ALL: [PropertyClass; 3] =
        [PropertyClass::ObjectOrColumn, PropertyClass::Parameter, PropertyClass::Index];

    /// Its number and name in `sys.extended_properties`.
    pub fn shown(self) -> (u8, &'static str) {
        match self {
            PropertyClass::ObjectOrColumn => (1, "OBJECT_OR_COLUMN"),
            PropertyClass::Parameter => (2, "PARAMETER"),
            PropertyClass::Index => (7, "INDEX"),
        }
    }
}

/// Who has a property.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PropertyOwner {
    /// What sort of thing it is.
    pub class: PropertyClass,
    /// The object, or the constraint.
    pub major: ObjectId,
    /// The column, parameter or index; 0 for the object itself.
    pub minor: i32,
}

/// An extended property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtendedProperty {
    /// Whose it is.
    pub owner: PropertyOwner,
    /// Its name.
    pub name: Box<str>,
    /// Its value, as text.
    pub value: Option<Box<str>>,
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
            PropertyClass::Parameter => false,
        }
    }
}

//! System views and table-valued system functions: definitions whose rows are made, not stored.
//!
//! `sysviews` registers them at boot; a reader finds them like any table, in schema `sys` of
//! every database.

use super::SchemaId;
use super::lookup::folded;
use base::ObjectId;
use std::collections::BTreeMap;
use std::sync::Arc;
use types::{Collation, SqlType};

/// A system view, or a function when it has a parameter list.
#[derive(Clone, Debug, PartialEq)]
pub struct VirtualTable {
    /// Its object id, negative.
    pub object_id: ObjectId,
    /// `sys` or INFORMATION_SCHEMA.
    pub schema_id: SchemaId,
    /// The schema's name.
    pub schema_name: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// A system table of old, found in schema dbo too.
    pub compatibility: bool,
    /// The parameters of a function; `None` for a view.
    pub parameters: Option<Vec<VirtualParameter>>,
    /// Its columns.
    pub columns: Vec<VirtualColumn>,
}

/// A parameter of a table-valued system function. DEFAULT means NULL.
#[derive(Clone, Debug, PartialEq)]
pub struct VirtualParameter {
    /// With its `@`.
    pub name: Box<str>,
    /// What arguments are converted to.
    pub sql_type: SqlType,
}

/// A column of a [`VirtualTable`].
#[derive(Clone, Debug, PartialEq)]
pub struct VirtualColumn {
    /// Its name.
    pub name: Box<str>,
    /// Its type.
    pub sql_type: SqlType,
    /// Whether it may be NULL.
    pub nullable: bool,
}

/// All of them; one set for the instance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SystemObjects {
    by_name: BTreeMap<(SchemaId, Box<str>), Arc<VirtualTable>>,
}

/// System names are found in any case, as in a case-insensitive database.
const NAMES: Collation = Collation::SQL_LATIN1_CI_AS;

impl SystemObjects {
    /// The set of these; a later one of the same name replaces an earlier one.
    pub fn new(objects: impl IntoIterator<Item = VirtualTable>) -> Self {
        let entry = |o: VirtualTable| ((o.schema_id, folded(&o.name, NAMES)), Arc::new(o));
        SystemObjects { by_name: objects.into_iter().map(entry).collect() }
    }

    /// The object of a name.
    pub fn find(&self, schema: SchemaId, name: &str) -> Option<&Arc<VirtualTable>> {
        self.by_name.get(&(schema, folded(name, NAMES)))
    }

    /// The compatibility view of a name.
    pub fn compatibility(&self, name: &str) -> Option<&Arc<VirtualTable>> {
        self.find(SchemaId::SYS, name).filter(|v| v.compatibility)
    }

    /// The object of an id.
    pub fn by_id(&self, id: ObjectId) -> Option<&Arc<VirtualTable>> {
        self.by_name.values().find(|o| o.object_id == id)
    }

    /// All of them by schema and name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<VirtualTable>> {
        self.by_name.values()
    }
}

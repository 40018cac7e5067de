//! One database's definitions at one schema version.

use super::lookup::folded;
use super::{
    Events, ExtendedProperty, Module, ModuleKind, Schema, SchemaId, Sequence, Synonym,
    SystemObjects, Table, UserType, VirtualTable,
};
use base::{DatabaseId, ObjectId};
use rpds::{RedBlackTreeMapSync as Map, RedBlackTreeSetSync as Set};
use std::collections::BTreeMap;
use std::sync::Arc;
use types::Collation;

/// Anything that a schema holds under a name.
#[derive(Clone, Debug, PartialEq)]
pub enum Object {
    /// A table.
    Table(Arc<Table>),
    /// A procedure, or another thing kept as text.
    Module(Arc<Module>),
    /// A sequence.
    Sequence(Arc<Sequence>),
    /// A name for another object.
    Synonym(Arc<Synonym>),
    /// A system view or function.
    Virtual(Arc<VirtualTable>),
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

    /// Its id.
    pub fn object_id(&self) -> ObjectId {
        match self {
            Object::Table(t) => t.object_id,
            Object::Module(m) => m.object_id,
            Object::Sequence(s) => s.object_id,
            Object::Synonym(s) => s.object_id,
            Object::Virtual(v) => v.object_id,
        }
    }

    /// Its schema.
    pub fn schema_id(&self) -> SchemaId {
        match self {
            Object::Table(t) => t.schema_id,
            Object::Module(m) => m.schema_id,
            Object::Sequence(s) => s.schema_id,
            Object::Synonym(s) => s.schema_id,
            Object::Virtual(v) => v.schema_id,
        }
    }

    /// The table or view of a trigger.
    pub fn trigger_parent(&self) -> Option<ObjectId> {
        match self {
            Object::Module(m) => m.trigger.as_ref().map(|t| t.parent),
            Object::Table(_) | Object::Sequence(_) | Object::Synonym(_) | Object::Virtual(_) => {
                None
            }
        }
    }

    /// Its extended properties and those of its parts.
    pub fn properties(&self) -> &[ExtendedProperty] {
        match self {
            Object::Table(t) => &t.properties,
            Object::Module(m) => &m.properties,
            Object::Sequence(s) => &s.properties,
            Object::Synonym(s) => &s.properties,
            Object::Virtual(_) => &[],
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Object::Table(t) => &t.name,
            Object::Module(m) => &m.name,
            Object::Sequence(s) => &s.name,
            Object::Synonym(s) => &s.name,
            Object::Virtual(v) => &v.name,
        }
    }
}

/// A database's definitions. A copy shares them and the indexes of their names: a change of one
/// costs no more where there are many.
#[derive(Clone, Debug, PartialEq)]
pub struct DatabaseView {
    id: DatabaseId,
    name: Box<str>,
    collation: Collation,
    schema_version: u64,
    schemas: Vec<Schema>,
    properties: Arc<[ExtendedProperty]>,
    by_name: Map<(SchemaId, Box<str>), Object>,
    by_id: Map<ObjectId, (SchemaId, Box<str>)>,
    /// The tables whose foreign keys refer to a table.
    referring: Map<ObjectId, Set<ObjectId>>,
    /// Tables and views with their triggers.
    triggers: Map<ObjectId, Set<ObjectId>>,
    types: BTreeMap<(SchemaId, Box<str>), Arc<UserType>>,
    system: Arc<SystemObjects>,
}

impl DatabaseView {
    /// A database with the four system schemas and the system objects, and nothing else.
    pub fn new(
        id: DatabaseId,
        name: &str,
        collation: Collation,
        system: Arc<SystemObjects>,
    ) -> DatabaseView {
        let schema = |id, name: &str| Schema { id, name: name.into(), properties: Vec::new() };
        DatabaseView {
            id,
            name: name.into(),
            collation,
            schema_version: 0,
            schemas: vec![
                schema(SchemaId::DBO, "dbo"),
                schema(SchemaId::GUEST, "guest"),
                schema(SchemaId::INFORMATION_SCHEMA, "INFORMATION_SCHEMA"),
                schema(SchemaId::SYS, "sys"),
            ],
            properties: Arc::default(),
            by_name: Map::new_sync(),
            by_id: Map::new_sync(),
            referring: Map::new_sync(),
            triggers: Map::new_sync(),
            types: BTreeMap::new(),
            system,
        }
    }

    /// The database's id.
    pub fn id(&self) -> DatabaseId {
        self.id
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How names compare, and the collation of constants and variables.
    pub fn collation(&self) -> Collation {
        self.collation
    }

    /// Grows with each change of a definition; plans carry it.
    pub fn schema_version(&self) -> u64 {
        self.schema_version
    }

    /// Its schemas by id.
    pub fn schemas(&self) -> &[Schema] {
        &self.schemas
    }

    /// Extended properties of the database itself.
    pub fn properties(&self) -> &[ExtendedProperty] {
        &self.properties
    }

    /// Whether two names are one here.
    pub fn same_name(&self, a: &str, b: &str) -> bool {
        folded(a, self.collation) == folded(b, self.collation)
    }

    /// A schema by name.
    pub fn schema(&self, name: &str) -> Option<&Schema> {
        let wanted = folded(name, self.collation);
        self.schemas.iter().find(|s| folded(&s.name, self.collation) == wanted)
    }

    /// A schema by id.
    pub fn schema_by_id(&self, id: SchemaId) -> Option<&Schema> {
        self.schemas.iter().find(|s| s.id == id)
    }

    /// An object of a schema by name, system objects included.
    pub fn find(&self, schema: SchemaId, name: &str) -> Option<Object> {
        let key = (schema, folded(name, self.collation));
        let own = self.by_name.get(&key).cloned();
        own.or_else(|| self.system.find(schema, name).cloned().map(Object::Virtual))
    }

    /// An object by id, system objects included.
    pub fn by_id(&self, id: ObjectId) -> Option<Object> {
        match self.by_id.get(&id) {
            Some(key) => self.by_name.get(key).cloned(),
            None => self.system.by_id(id).cloned().map(Object::Virtual),
        }
    }

    /// A table by id.
    pub fn table(&self, id: ObjectId) -> Option<Arc<Table>> {
        match self.by_id(id)? {
            Object::Table(t) => Some(t),
            Object::Module(_) | Object::Sequence(_) | Object::Synonym(_) | Object::Virtual(_) => {
                None
            }
        }
    }

    /// The tables that refer to a table by foreign keys, itself perhaps, by their ids.
    pub fn referring(&self, id: ObjectId) -> impl Iterator<Item = Arc<Table>> + '_ {
        let tables = self.referring.get(&id).into_iter().flatten();
        tables.filter_map(|&id| self.table(id))
    }

    /// The database's own objects by schema and name; without system objects.
    pub fn objects(&self) -> impl Iterator<Item = &Object> {
        self.by_name.values()
    }

    /// The triggers of a table or view, by id.
    pub fn triggers_of(&self, parent: ObjectId) -> impl Iterator<Item = Arc<Module>> + '_ {
        let ids = self.triggers.get(&parent).into_iter().flatten();
        ids.filter_map(|id| match self.by_id(*id) {
            Some(Object::Module(m)) => Some(m),
            Some(
                Object::Table(_) | Object::Sequence(_) | Object::Synonym(_) | Object::Virtual(_),
            )
            | None => None,
        })
    }

    /// The first module that is bound to an object, or to one of its columns.
    pub fn bound_to(&self, object: ObjectId, column: Option<i32>) -> Option<&Arc<Module>> {
        self.objects().find_map(|o| match o {
            Object::Module(m) if m.is_bound_to(object, column) => Some(m),
            _ => None,
        })
    }

    /// The INSTEAD OF trigger that fires for an event on a table or view.
    pub fn instead_of(&self, parent: ObjectId, event: Events) -> Option<Arc<Module>> {
        let fires = |m: &Arc<Module>| m.trigger.as_ref().is_some_and(|t| t.fires_instead(event));
        self.triggers_of(parent).find(fires)
    }

    /// The system views and functions.
    pub fn system(&self) -> &Arc<SystemObjects> {
        &self.system
    }

    /// The types of users by schema and name.
    pub fn types(&self) -> impl Iterator<Item = &Arc<UserType>> {
        self.types.values()
    }

    /// A type of a user by name; without a schema that of dbo.
    pub fn user_type(&self, schema: Option<&str>, name: &str) -> Option<&Arc<UserType>> {
        let schema = match schema {
            Some(schema) => self.schema(schema)?.id,
            None => SchemaId::DBO,
        };
        self.types.get(&(schema, folded(name, self.collation)))
    }

    /// The same as text in a schema means it: without a schema it is looked for there first.
    pub fn user_type_within(
        &self,
        first: SchemaId,
        schema: Option<&str>,
        name: &str,
    ) -> Option<&Arc<UserType>> {
        let own = || self.types.get(&(first, folded(name, self.collation)));
        let own = if schema.is_none() { own() } else { None };
        own.or_else(|| self.user_type(schema, name))
    }

    /// A type of a user by its number.
    pub fn user_type_by_id(&self, user_type_id: i32) -> Option<&Arc<UserType>> {
        self.types.values().find(|t| t.user_type_id == user_type_id)
    }

    /// The same with a type.
    #[must_use]
    pub fn with_type(mut self, user_type: Arc<UserType>) -> Self {
        self = self.without_type(user_type.object_id);
        let key = (user_type.schema_id, folded(&user_type.name, self.collation));
        self.types.insert(key, user_type);
        self
    }

    /// The same without a type.
    #[must_use]
    pub fn without_type(mut self, id: ObjectId) -> Self {
        self.types.retain(|_, t| t.object_id != id);
        self
    }

    /// The same at another schema version.
    #[must_use]
    pub fn at_version(mut self, schema_version: u64) -> Self {
        self.schema_version = schema_version;
        self
    }

    /// The same under another name.
    #[must_use]
    pub fn renamed(mut self, name: &str) -> Self {
        self.name = name.into();
        self
    }

    /// The same with other properties of the database itself.
    #[must_use]
    pub fn with_properties(mut self, properties: Arc<[ExtendedProperty]>) -> Self {
        self.properties = properties;
        self
    }

    /// The same with a schema, which replaces one of the same id.
    #[must_use]
    pub fn with_schema(mut self, schema: Schema) -> Self {
        self.schemas.retain(|s| s.id != schema.id);
        self.schemas.push(schema);
        self.schemas.sort_by_key(|s| s.id);
        self
    }

    /// The same without a schema.
    #[must_use]
    pub fn without_schema(mut self, id: SchemaId) -> Self {
        self.schemas.retain(|s| s.id != id);
        self
    }

    /// The same with an object, which replaces one of the same id.
    #[must_use]
    pub fn with_object(mut self, object: Object) -> Self {
        self = self.without_object(object.object_id());
        let key = (object.schema_id(), folded(object.name(), self.collation));
        if let Object::Table(table) = &object {
            for foreign in &table.foreign_keys {
                list(&mut self.referring, foreign.referenced, table.object_id);
            }
        }
        self.by_id.insert_mut(object.object_id(), key.clone());
        if let Some(parent) = object.trigger_parent() {
            list(&mut self.triggers, parent, object.object_id());
        }
        self.by_name.insert_mut(key, object);
        self
    }

    /// The same without an object.
    #[must_use]
    pub fn without_object(mut self, id: ObjectId) -> Self {
        let Some(key) = self.by_id.get(&id).cloned() else { return self };
        let old = self.by_name.get(&key).cloned();
        self.by_id.remove_mut(&id);
        self.by_name.remove_mut(&key);
        if let Some(parent) = old.as_ref().and_then(Object::trigger_parent) {
            forget(&mut self.triggers, parent, id);
        }
        if let Some(Object::Table(table)) = old {
            for foreign in &table.foreign_keys {
                forget(&mut self.referring, foreign.referenced, id);
            }
        }
        self
    }
}

/// Puts an object to those that another one lists.
fn list(lists: &mut Map<ObjectId, Set<ObjectId>>, of: ObjectId, object: ObjectId) {
    let mut list = lists.get(&of).cloned().unwrap_or_else(Set::new_sync);
    list.insert_mut(object);
    lists.insert_mut(of, list);
}

/// Takes an object away from those that another one lists.
fn forget(lists: &mut Map<ObjectId, Set<ObjectId>>, of: ObjectId, object: ObjectId) {
    let Some(mut list) = lists.get(&of).cloned() else { return };
    list.remove_mut(&object);
    match list.is_empty() {
        true => lists.remove_mut(&of),
        false => {
            lists.insert_mut(of, list);
            true
        }
    };
}

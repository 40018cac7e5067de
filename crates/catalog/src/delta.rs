//! What a transaction changed, as objects: applied to its own view at once, and to everybody's
//! when it commits.
//!
//! Two transactions that change one database begin with the same view; each publishes what it
//! changed, not the view it made, so neither undoes the other. Sch-M and name locks, held to the
//! end, keep two deltas of one object apart.
//!
//! Invariants
//!  1. A schema version is given to one state of a view, published or not, and never again.

use crate::view::{DatabaseView, ExtendedProperty, Object, Schema, SchemaId, UserType};
use base::ObjectId;
use os::sync::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A change of a view.
#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    /// An object is new or replaced.
    PutObject(Object),
    /// An object is gone.
    RemoveObject(ObjectId),
    /// A schema is new or replaced.
    PutSchema(Schema),
    /// A schema is gone.
    RemoveSchema(SchemaId),
    /// The database itself has other extended properties.
    PutProperties(Arc<[ExtendedProperty]>),
    /// A type is new or replaced.
    PutType(Arc<UserType>),
    /// A type is gone.
    RemoveType(ObjectId),
}

/// A view after changes, at the same version.
#[must_use]
pub fn apply(view: &DatabaseView, deltas: &[Delta]) -> DatabaseView {
    let one = |view: DatabaseView, delta: &Delta| match delta {
        Delta::PutObject(object) => view.with_object(object.clone()),
        Delta::RemoveObject(id) => view.without_object(*id),
        Delta::PutSchema(schema) => view.with_schema(schema.clone()),
        Delta::RemoveSchema(id) => view.without_schema(*id),
        Delta::PutProperties(properties) => view.with_properties(Arc::clone(properties)),
        Delta::PutType(user_type) => view.with_type(Arc::clone(user_type)),
        Delta::RemoveType(id) => view.without_type(*id),
    };
    deltas.iter().fold(view.clone(), one)
}

/// What a transaction with further changes sees, at a version of its own.
#[must_use]
pub fn preview(view: &DatabaseView, deltas: &[Delta]) -> Arc<DatabaseView> {
    Arc::new(apply(view, deltas).at_version(next_version()))
}

/// The version given last, to any database of the process: one that is dropped leaves its number
/// to another, and a plan that was bound in the first must not be good in the second.
static LAST_VERSION: AtomicU64 = AtomicU64::new(0);

/// The view of a database that everybody sees.
pub struct Publisher {
    current: Mutex<Arc<DatabaseView>>,
}

impl Publisher {
    /// Begins with what was loaded.
    pub fn new(view: DatabaseView) -> Publisher {
        let view = view.at_version(next_version());
        Publisher { current: Mutex::new(Arc::new(view)) }
    }

    /// What is published.
    pub fn current(&self) -> Arc<DatabaseView> {
        Arc::clone(&self.current.lock())
    }

    /// Publishes the changes of a committed transaction.
    pub fn publish(&self, deltas: &[Delta]) -> Arc<DatabaseView> {
        let mut current = self.current.lock();
        if !deltas.is_empty() {
            let next = apply(&current, deltas).at_version(next_version());
            assert!(next.schema_version() > current.schema_version(), "versions ascend");
            *current = Arc::new(next);
        }
        Arc::clone(&current)
    }

    /// Publishes tables that differ in nothing but statistics: names mean what they meant, so the
    /// version stays.
    pub fn publish_statistics(&self, deltas: &[Delta]) {
        let mut current = self.current.lock();
        *current = Arc::new(apply(&current, deltas));
    }

    /// Publishes the database's new name.
    pub fn rename(&self, name: &str) -> Arc<DatabaseView> {
        let mut current = self.current.lock();
        let next = DatabaseView::clone(&current).renamed(name).at_version(next_version());
        *current = Arc::new(next);
        Arc::clone(&current)
    }
}

fn next_version() -> u64 {
    LAST_VERSION.fetch_add(1, Relaxed) + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::SystemObjects;
    use base::DatabaseId;
    use types::Collation;

    fn schema(id: i32, name: &str) -> Schema {
        Schema { id: SchemaId(id), name: name.into(), properties: Vec::new() }
    }

    #[test]
    fn two_open_transactions_do_not_lose_each_others_changes() {
        let system = Arc::new(SystemObjects::default());
        let view = DatabaseView::new(DatabaseId(5), "d", Collation::default(), system);
        let publisher = Publisher::new(view);
        let (a, b) = ([Delta::PutSchema(schema(5, "a"))], [Delta::PutSchema(schema(6, "b"))]);
        let current = publisher.current();
        let (sees_a, sees_b) = (preview(&current, &a), preview(&current, &b));
        assert!(sees_a.schema("a").is_some() && sees_a.schema("b").is_none());
        assert!(sees_b.schema("b").is_some() && publisher.current().schema("b").is_none());
        publisher.publish(&b);
        let last = publisher.publish(&a);
        assert!(last.schema("a").is_some() && last.schema("b").is_some());
        let versions = [&sees_a, &sees_b, &last].map(|v| v.schema_version());
        assert!(versions[0] != versions[1] && versions[2] > versions[1].max(versions[0]));
        let gone = publisher.publish(&[Delta::RemoveSchema(SchemaId(5))]);
        assert!(gone.schema("a").is_none());
    }
}

//! The names of databases, objects and indexes: as committed, or as a member of the deadlock sees
//! them, which may have just made them.

use crate::tables;
use base::{DatabaseId, HobtId, ObjectId, SessionId};
use catalog::view::{DatabaseView, Object, Table};
use std::collections::BTreeSet;
use std::sync::Arc;

type ViewLookup<'a> = &'a dyn Fn(SessionId, DatabaseId) -> Option<Arc<DatabaseView>>;

/// Names by ids.
pub(super) struct Names<'a> {
    view: ViewLookup<'a>,
    sessions: BTreeSet<SessionId>,
}

impl<'a> Names<'a> {
    /// The names as these sessions see them.
    pub(super) fn new(
        view: ViewLookup<'a>,
        sessions: impl Iterator<Item = SessionId>,
    ) -> Names<'a> {
        Names { view, sessions: sessions.collect() }
    }

    fn views(&self, database: DatabaseId) -> impl Iterator<Item = Arc<DatabaseView>> {
        self.sessions.iter().filter_map(move |&session| (self.view)(session, database))
    }

    /// The name of an open database.
    pub(super) fn database(&self, database: DatabaseId) -> Option<String> {
        self.views(database).next().map(|v| v.name().to_owned())
    }

    /// Database, schema and name of an object.
    pub(super) fn object(&self, database: DatabaseId, id: ObjectId) -> Option<String> {
        self.views(database).find_map(|view| {
            let own = match view.by_id(id)? {
                Object::Table(t) => t.two_part_name(),
                Object::Module(m) => m.two_part_name(),
                Object::Sequence(s) => s.two_part_name(),
                Object::Synonym(s) => s.two_part_name(),
                Object::Virtual(v) => format!("{}.{}", v.schema_name, v.name),
            };
            Some(format!("{}.{own}", view.name()))
        })
    }

    /// The name of a hobt's table, and the name of its index; a heap has none.
    pub(super) fn hobt(&self, database: DatabaseId, hobt: HobtId) -> Option<(String, String)> {
        let named = |view: &DatabaseView, table: &Table| {
            let index = table.partition(hobt)?.0;
            let table = format!("{}.{}", view.name(), table.two_part_name());
            Some((table, index.name.to_string()))
        };
        self.views(database).find_map(|view| {
            if let Some(table) = tables::system_table(database, hobt) {
                return named(&view, &table);
            }
            let own = view.objects().find_map(|o| match o {
                Object::Table(t) => named(&view, t),
                Object::Module(_)
                | Object::Sequence(_)
                | Object::Synonym(_)
                | Object::Virtual(_) => None,
            });
            own.or_else(|| view.types().filter_map(|t| t.table()).find_map(|t| named(&view, t)))
        })
    }
}

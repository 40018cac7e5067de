//! The twelve columns that every kind of object has, and their sources.

use crate::cell::{bit, code, datetime, int, released, text};
use crate::column::{Column, Constant, col, fixed, null, word, zero};
use crate::reason::{NO_OWNERS, NO_REPLICATION, OF_THIS_VIEW};
use crate::view::System;
use base::{ObjectId, SqlResult};
use catalog::object_dates;
use catalog::view::{Object, SchemaId, Table, UserType};
use std::collections::BTreeMap;
use types::{SqlType, Value};

const DESC: SqlType = SqlType::nvarchar(60);
const SHIPPED: &str = "Objects of the system are not in this view.";
const NO_PARENT: &str = "These have no parent.";

/// The columns of `sys.objects`.
pub(crate) const ANY: [Column; 12] = [
    col("name", SqlType::SYSNAME),
    col("object_id", SqlType::Int),
    null("principal_id", SqlType::Int, NO_OWNERS),
    col("schema_id", SqlType::Int),
    col("parent_object_id", SqlType::Int),
    col("type", SqlType::Char(2)),
    col("type_desc", DESC),
    col("create_date", SqlType::DateTime),
    col("modify_date", SqlType::DateTime),
    col("is_ms_shipped", SqlType::Bit),
    zero("is_published", SqlType::Bit, NO_REPLICATION),
    zero("is_schema_published", SqlType::Bit, NO_REPLICATION),
];

/// The same for user objects of one kind, which have no parent.
pub(crate) const fn of_kind(kind: &'static str, description: &'static str) -> [Column; 12] {
    let mut columns = ANY;
    columns[4] = zero("parent_object_id", SqlType::Int, NO_PARENT);
    columns[5] = word("type", SqlType::Char(2), kind, OF_THIS_VIEW);
    columns[6] = word("type_desc", DESC, description, OF_THIS_VIEW);
    columns[9] = zero("is_ms_shipped", SqlType::Bit, SHIPPED);
    columns
}

/// The same for constraints of one kind.
pub(crate) const fn of_constraint(kind: &'static str, description: &'static str) -> [Column; 12] {
    let mut columns = of_kind(kind, description);
    columns[4] = col("parent_object_id", SqlType::Int);
    columns
}

/// The same for system objects: `columns` with the dates of the release.
pub(crate) const fn of_release(mut columns: [Column; 12]) -> [Column; 12] {
    const WHY: &str = "System objects are as old as the release.";
    columns[7] = fixed("create_date", SqlType::DateTime, Constant::Released, WHY);
    columns[8] = fixed("modify_date", SqlType::DateTime, Constant::Released, WHY);
    columns
}

/// An object as views list it.
#[derive(Clone)]
pub(crate) struct ListedObject {
    pub(crate) name: String,
    pub(crate) id: ObjectId,
    pub(crate) schema: SchemaId,
    pub(crate) parent: ObjectId,
    pub(crate) kind: &'static str,
    pub(crate) created: Value,
    pub(crate) modified: Value,
    pub(crate) shipped: bool,
}

fn describe(kind: &str) -> &'static str {
    match kind {
        "U" => "USER_TABLE",
        "P" => "SQL_STORED_PROCEDURE",
        "V" => "VIEW",
        "FN" => "SQL_SCALAR_FUNCTION",
        "IF" => "SQL_INLINE_TABLE_VALUED_FUNCTION",
        "TF" => "SQL_TABLE_VALUED_FUNCTION",
        "SN" => "SYNONYM",
        "SO" => "SEQUENCE_OBJECT",
        "TR" => "SQL_TRIGGER",
        "TT" => "TYPE_TABLE",
        "PK" => "PRIMARY_KEY_CONSTRAINT",
        "UQ" => "UNIQUE_CONSTRAINT",
        "D" => "DEFAULT_CONSTRAINT",
        "C" => "CHECK_CONSTRAINT",
        "F" => "FOREIGN_KEY_CONSTRAINT",
        _ => "SYSTEM_TABLE",
    }
}

impl ListedObject {
    /// The written cells of [`ANY`].
    pub(crate) fn any(&self) -> Vec<Value> {
        vec![
            text(&self.name),
            int(self.id.0),
            int(self.schema.0),
            int(self.parent.0),
            code(self.kind),
            text(describe(self.kind)),
            self.created.clone(),
            self.modified.clone(),
            bit(self.shipped),
        ]
    }

    /// The written cells of [`of_kind`].
    pub(crate) fn kind_cells(&self) -> Vec<Value> {
        let (created, modified) = (self.created.clone(), self.modified.clone());
        vec![text(&self.name), int(self.id.0), int(self.schema.0), created, modified]
    }

    /// The written cells of [`of_constraint`].
    pub(crate) fn constraint_cells(&self) -> Vec<Value> {
        let mut cells = self.kind_cells();
        cells.insert(3, int(self.parent.0));
        cells
    }
}

/// Collects objects with their dates.
struct Collector {
    dates: BTreeMap<ObjectId, (i64, i64)>,
    listed: Vec<ListedObject>,
}

impl Collector {
    fn add(
        &mut self,
        kind: &'static str,
        id: ObjectId,
        name: &str,
        schema: SchemaId,
        parent: ObjectId,
    ) {
        // The dates of an object that has just been dropped are unknown.
        let dates = self.dates.get(&id).or_else(|| self.dates.get(&parent));
        let (created, modified) = match dates {
            Some(&(created, modified)) => (datetime(created), datetime(modified)),
            None => (released(), released()),
        };
        let name = name.to_owned();
        let shipped = false;
        self.listed.push(ListedObject {
            name,
            id,
            schema,
            parent,
            kind,
            created,
            modified,
            shipped,
        });
    }

    /// The entry of a table type in `sys.objects`: an object of schema sys.
    fn table_type(&mut self, t: &UserType) {
        let Some(table) = t.table() else { return };
        self.add("TT", t.object_id, &t.object_name(), SchemaId::SYS, ObjectId(0));
        for c in table.constraints() {
            self.add(c.type_code, c.object_id, c.name, SchemaId::SYS, t.object_id);
        }
    }

    fn table(&mut self, t: &Table) {
        let (schema, parent) = (t.schema_id, t.object_id);
        self.add("U", t.object_id, &t.name, schema, ObjectId(0));
        for c in t.constraints() {
            self.add(c.type_code, c.object_id, c.name, schema, parent);
        }
    }
}

/// The user objects of the database.
pub(crate) fn own(system: &System<'_>) -> SqlResult<Vec<ListedObject>> {
    let database = system.here()?;
    let mut work = database.system_work();
    let dates = object_dates(&**database.hobts(), &mut work)?.into_iter();
    let dates = dates.map(|d| (d.object, (d.created_ns, d.modified_ns))).collect();
    let mut collector = Collector { dates, listed: Vec::new() };
    for object in system.view()?.objects() {
        match object {
            Object::Table(t) => collector.table(t),
            Object::Module(m) => {
                let (id, schema) = (m.object_id, m.schema_id);
                let parent = m.trigger.as_ref().map_or(ObjectId(0), |t| t.parent);
                collector.add(m.kind.type_code(), id, &m.name, schema, parent);
            }
            Object::Sequence(s) => {
                collector.add("SO", s.object_id, &s.name, s.schema_id, ObjectId(0));
            }
            Object::Synonym(s) => {
                collector.add("SN", s.object_id, &s.name, s.schema_id, ObjectId(0));
            }
            Object::Virtual(_) => {}
        }
    }
    system.view()?.types().for_each(|t| collector.table_type(t));
    Ok(collector.listed)
}

/// The user objects of one kind.
pub(crate) fn own_of(system: &System<'_>, kind: &str) -> SqlResult<Vec<ListedObject>> {
    Ok(own(system)?.into_iter().filter(|l| l.kind == kind).collect())
}

/// All objects: system objects and user objects.
pub(crate) fn all(system: &System<'_>) -> SqlResult<Vec<ListedObject>> {
    Ok(system_tables().chain(system_objects(system)?).chain(own(system)?).collect())
}

fn shipped(name: &str, id: ObjectId, schema: SchemaId, kind: &'static str) -> ListedObject {
    ListedObject {
        name: name.to_owned(),
        id,
        schema,
        parent: ObjectId(0),
        kind,
        created: released(),
        modified: released(),
        shipped: true,
    }
}

/// The system tables that store definitions.
pub(crate) fn system_tables() -> impl Iterator<Item = ListedObject> {
    let tables = catalog::SYSTEM_TABLES.iter();
    tables.map(|t| shipped(t.name, t.id.object_id(), SchemaId::SYS, "S"))
}

/// System views and functions.
pub(crate) fn system_objects(system: &System<'_>) -> SqlResult<Vec<ListedObject>> {
    let view = system.view()?;
    let kind = |parameters: bool| if parameters { "IF" } else { "V" };
    let objects = view.system().iter();
    let listed =
        objects.map(|v| shipped(&v.name, v.object_id, v.schema_id, kind(v.parameters.is_some())));
    Ok(listed.collect())
}

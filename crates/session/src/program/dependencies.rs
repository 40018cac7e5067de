//! Which definitions name which objects, as `sys.sql_expression_dependencies` lists them.
//!
//! A schema-bound module is bound to objects and columns by id. Other modules name objects, which
//! are looked up when the view is read. Checks, computed columns and defaults name columns of their
//! own table, functions and sequences, and are bound to all of them.

use base::ObjectId;
use catalog::view::{DatabaseView, Module, Object, SchemaId, Table, in_database};
use tsql::{Mention, MentionKind, Mentions, ParseOptions};

/// A definition names an object, or a column of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The module, table or constraint that has the name in its text.
    pub referencing: ObjectId,
    /// The computed column that has it; else 0.
    pub referencing_column: i32,
    /// Whether the reference is schema-bound, so that the object cannot be dropped.
    pub bound: bool,
    /// The other database, if one is named.
    pub database: Option<Box<str>>,
    /// The schema, if one is named.
    pub schema: Option<Box<str>>,
    /// The object.
    pub name: Box<str>,
    /// The id of the object that the name means now, in this database.
    pub id: Option<ObjectId>,
    /// The column; 0 for the object itself.
    pub column: i32,
    /// Whether its meaning depends on the user who executes it.
    pub caller_dependent: bool,
}

/// All dependencies of a database.
pub fn dependencies(view: &DatabaseView) -> Vec<Dependency> {
    let mut all = Vec::new();
    for object in view.objects() {
        match object {
            Object::Module(m) if m.options.schema_bound => bound(view, m, &mut all),
            Object::Module(m) => {
                let options = ParseOptions { quoted_identifier: m.quoted_identifier };
                let mentions = tsql::mentions(&m.text, options).unwrap_or_default();
                let by = ReferringText {
                    id: m.object_id,
                    column: 0,
                    bound: false,
                    first: Some(m.schema_id),
                };
                let objects = mentions.objects.iter();
                all.extend(objects.filter_map(|mention| named(view, by, mention)));
            }
            Object::Table(t) => table(view, t, &mut all),
            Object::Sequence(_) | Object::Synonym(_) | Object::Virtual(_) => {}
        }
    }
    let mut seen = std::collections::HashSet::new();
    all.retain(|d: &Dependency| {
        let object = (d.database.clone(), d.schema.clone(), d.name.to_lowercase());
        seen.insert((d.referencing, d.referencing_column, object, d.column))
    });
    all
}

fn bound(view: &DatabaseView, module: &Module, all: &mut Vec<Dependency>) {
    for to in &module.bound {
        let Some(object) = view.by_id(to.object) else { continue };
        let schema = view.schema_by_id(object.schema_id()).map(|s| s.name.clone());
        for column in std::iter::once(0).chain(to.columns.iter().copied()) {
            all.push(Dependency {
                referencing: module.object_id,
                referencing_column: 0,
                bound: true,
                database: None,
                schema: schema.clone(),
                name: object.name().into(),
                id: Some(to.object),
                column,
                caller_dependent: false,
            });
        }
    }
}

/// The definition whose text names something.
#[derive(Clone, Copy)]
struct ReferringText {
    id: ObjectId,
    /// The computed column; else 0.
    column: i32,
    bound: bool,
    /// The schema in which a name without schema is looked up first.
    first: Option<SchemaId>,
}

/// The dependency of a mention; `None` for system objects and built-in table-valued functions.
fn named(view: &DatabaseView, by: ReferringText, mention: &Mention) -> Option<Dependency> {
    let name = &mention.name;
    let here = name.database.as_deref().is_none_or(|d| view.same_name(d, view.name()));
    let alone = name.schema.is_none() && name.database.is_none();
    let first = by.first.filter(|_| alone);
    let found =
        here.then(|| in_database(view, name.schema.as_deref(), first, &name.object)).flatten();
    let built_in = matches!(found, Some(Object::Virtual(_)))
        || (found.is_none() && alone && mention.kind == MentionKind::RowsOfCall);
    if built_in {
        return None;
    }
    Some(Dependency {
        referencing: by.id,
        referencing_column: by.column,
        bound: by.bound,
        database: name.database.as_ref().map(|n| n.text.clone()),
        schema: name.schema.as_ref().map(|n| n.text.clone()),
        name: name.object.text.clone(),
        id: found.map(|o| o.object_id()),
        column: 0,
        caller_dependent: alone && mention.kind == MentionKind::Procedure,
    })
}

/// The dependencies of a table's texts.
fn table(view: &DatabaseView, t: &Table, all: &mut Vec<Dependency>) {
    let mut add = |id: ObjectId, column: i32, text: &str, columns: bool| {
        let mentions: Mentions = tsql::mentions_of_expression(text).unwrap_or_default();
        let objects = mentions.objects.iter();
        all.extend(objects.filter_map(|m| {
            named(view, ReferringText { id, column, bound: true, first: None }, m)
        }));
        let read = t
            .columns
            .iter()
            .filter(|c| columns && mentions.columns.iter().any(|n| view.same_name(n, &c.name)));
        all.extend(read.map(|c| Dependency {
            referencing: id,
            referencing_column: column,
            bound: true,
            database: None,
            schema: Some(t.schema_name.clone()),
            name: t.name.clone(),
            id: Some(t.object_id),
            column: c.column_id,
            caller_dependent: false,
        }));
    };
    for check in &t.checks {
        add(check.object_id, 0, &check.text, true);
    }
    for column in &t.columns {
        if let Some(computed) = &column.computed {
            add(t.object_id, column.column_id, &computed.text, true);
        }
        if let Some(default) = &column.default {
            add(default.object_id, 0, &default.text, false);
        }
    }
}

/// The columns that a module's text names, of any table.
pub struct NamedColumns {
    /// Whether a select list contains `*`.
    pub all: bool,
    /// The names.
    pub names: Vec<Box<str>>,
}

/// The columns that a module names.
pub fn columns_named(module: &Module) -> NamedColumns {
    let options = ParseOptions { quoted_identifier: module.quoted_identifier };
    let mentions = tsql::mentions(&module.text, options).unwrap_or_default();
    let names = mentions.columns.into_iter().map(|n| n.text).collect();
    NamedColumns { all: !mentions.stars.is_empty(), names }
}

/// The object of a name as functions accept it: `schema.object`.
pub fn object_of_name(view: &DatabaseView, text: &str) -> Option<ObjectId> {
    let name = tsql::parse_object_name(text).ok()?;
    let schema = view.schema(name.schema.as_deref()?)?;
    view.find(schema.id, &name.object).map(|o| o.object_id())
}

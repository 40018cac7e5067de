//! Which definitions name which objects: what `sys.sql_expression_dependencies` lists.
//!
//! A schema-bound module is bound to objects and columns by id. Other modules name objects, which
//! are looked up when somebody asks. Checks, computed columns and defaults name columns of their
//! own table, functions and sequences; they hold all of them fast.

use base::ObjectId;
use catalog::view::{DatabaseView, Module, Object, SchemaId, Table, in_database};
use tsql::{Mention, MentionKind, Mentions, ParseOptions};

/// That a definition names an object, or a column of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The module, table or constraint that names it.
    pub referencing: ObjectId,
    /// The computed column that does; else 0.
    pub referencing_column: i32,
    /// Whether it holds it fast.
    pub bound: bool,
    /// Another database, where one is named.
    pub database: Option<Box<str>>,
    /// The schema, where one is named.
    pub schema: Option<Box<str>>,
    /// The object.
    pub name: Box<str>,
    /// What it is now, in this database.
    pub id: Option<ObjectId>,
    /// The column; 0 for the object.
    pub column: i32,
    /// What it is depends on who executes it.
    pub caller_dependent: bool,
}

/// All of a database.
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

/// The text that names something.
#[derive(Clone, Copy)]
struct ReferringText {
    id: ObjectId,
    /// The computed column; else 0.
    column: i32,
    bound: bool,
    /// Where a name without schema is looked for first.
    first: Option<SchemaId>,
}

/// What a mention is of; none for what is the system's, or a function of rows that is built in.
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

/// What the texts of a table name.
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

/// What columns a module's text names, whosever they are.
pub struct NamedColumns {
    /// It has a `*` in a select list.
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

/// The object of a name as functions take it: `schema.object`.
pub fn object_of_name(view: &DatabaseView, text: &str) -> Option<ObjectId> {
    let name = tsql::parse_object_name(text).ok()?;
    let schema = view.schema(name.schema.as_deref()?)?;
    view.find(schema.id, &name.object).map(|o| o.object_id())
}

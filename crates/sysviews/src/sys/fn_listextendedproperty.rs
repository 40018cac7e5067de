//! `sys.fn_listextendedproperty(name, level0type, level0name, …)`: extended properties of the
//! object that the levels name.
//!
//! A type without a name means all objects of that type with a property; no type at all means the
//! database. A name without a type, or an unknown type, returns no rows.

use super::extended_properties::value_of;
use crate::cell::text;
use crate::column::{Column, col, maybe};
use crate::view::{Rows, System, View};
use catalog::view::{
    DatabaseView, ExtendedProperty, Module, Object, PropertyClass, PropertyOwner, SchemaId, Table,
};
use types::{SqlType, Value};

const COLUMNS: [Column; 4] = [
    maybe("objtype", SqlType::SYSNAME),
    maybe("objname", SqlType::SYSNAME),
    col("name", SqlType::SYSNAME),
    maybe("value", SqlType::Variant),
];

const PARAMETERS: &[(&str, SqlType)] = &[
    ("@name", SqlType::SYSNAME),
    ("@level0type", SqlType::varchar(128)),
    ("@level0name", SqlType::SYSNAME),
    ("@level1type", SqlType::varchar(128)),
    ("@level1name", SqlType::SYSNAME),
    ("@level2type", SqlType::varchar(128)),
    ("@level2name", SqlType::SYSNAME),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "fn_listextendedproperty",
    parameters: Some(PARAMETERS),
    columns: &COLUMNS,
    rows,
};

/// The arguments of one level.
struct Level {
    /// The type in upper case.
    kind: Option<String>,
    name: Option<String>,
}

struct Search<'a> {
    view: &'a DatabaseView,
    property: Option<String>,
    found: Vec<Vec<Value>>,
}

fn rows(system: &System<'_>, arguments: &[Value]) -> Rows {
    let given = |n: usize| arguments.get(n).filter(|v| !v.is_null()).and_then(Value::as_text);
    let level = |n: usize| Level {
        kind: given(n).map(|kind| kind.trim_end().to_ascii_uppercase()),
        name: given(n + 1),
    };
    let view = system.view()?;
    let mut search = Search { view: &view, property: given(0), found: Vec::new() };
    let [outer, middle, inner] = [level(1), level(3), level(5)];
    match outer.kind.as_deref() {
        None => search.database(&outer),
        Some("SCHEMA" | "USER") => search.schemas(&outer, &middle, &inner),
        Some("TYPE") => search.types(SchemaId::DBO, "TYPE", &outer, &middle),
        Some(_) => {}
    }
    Ok(search.found)
}

impl Search<'_> {
    fn database(&mut self, outer: &Level) {
        if outer.name.is_none() {
            self.add(self.view.properties(), PropertyOwner::DATABASE, None);
        }
    }

    fn schemas(&mut self, outer: &Level, middle: &Level, inner: &Level) {
        for schema in self.view.schemas() {
            if !self.is_named(outer, &schema.name) {
                continue;
            }
            match middle.kind.as_deref() {
                None if middle.name.is_some() => {}
                None if outer.kind.as_deref() == Some("SCHEMA") => {
                    let owner = PropertyOwner::of_schema(schema.id);
                    self.add(&schema.properties, owner, Some(("SCHEMA", &schema.name)));
                }
                None => {}
                Some(kind @ ("TYPE" | "TABLE_TYPE")) => {
                    self.types(schema.id, kind, middle, inner);
                }
                Some(kind) => self.objects(schema.id, kind, middle, inner),
            }
        }
    }

    fn types(&mut self, schema: SchemaId, kind: &str, level: &Level, inner: &Level) {
        for user_type in self.view.types().filter(|t| t.schema_id == schema) {
            let table = user_type.table();
            let listed = kind == "TYPE" || table.is_some();
            if !listed || !self.is_named(level, &user_type.name) {
                continue;
            }
            let owner = |class, minor| PropertyOwner { class, major: user_type.object_id, minor };
            match (inner.kind.as_deref(), table) {
                (None, _) if inner.name.is_none() => {
                    let owner = owner(PropertyClass::Type, 0);
                    self.add(&user_type.properties, owner, Some((kind, &user_type.name)));
                }
                (Some("COLUMN"), Some(table)) => {
                    for column in &table.columns {
                        let owner = owner(PropertyClass::TypeColumn, column.column_id);
                        self.part(&user_type.properties, owner, inner, &column.name);
                    }
                }
                _ => {}
            }
        }
    }

    fn objects(&mut self, schema: SchemaId, kind: &str, level: &Level, inner: &Level) {
        let mine = |o: &&Object| o.schema_id() == schema && o.level() == Some(kind);
        for object in self.view.objects().filter(mine) {
            if !self.is_named(level, object.name()) {
                continue;
            }
            let major = object.object_id();
            let owner = PropertyOwner { class: PropertyClass::ObjectOrColumn, major, minor: 0 };
            match (inner.kind.as_deref(), object) {
                (None, _) if inner.name.is_none() => {
                    self.add(object.properties(), owner, Some((kind, object.name())));
                }
                (Some("TRIGGER"), _) => {
                    for trigger in self.view.triggers_of(major) {
                        let owner = PropertyOwner { major: trigger.object_id, ..owner };
                        self.part(&trigger.properties, owner, inner, &trigger.name);
                    }
                }
                (Some(part), Object::Table(table)) => self.of_table(table, part, inner),
                (Some(part), Object::Module(module)) => self.of_module(module, part, inner),
                _ => {}
            }
        }
    }

    fn of_table(&mut self, table: &Table, part: &str, level: &Level) {
        let owner = |class, minor| PropertyOwner { class, major: table.object_id, minor };
        let all = &table.properties;
        match part {
            "COLUMN" => {
                for c in &table.columns {
                    let owner = owner(PropertyClass::ObjectOrColumn, c.column_id);
                    self.part(all, owner, level, &c.name);
                }
            }
            "INDEX" => {
                for i in table.indexes.iter().filter(|i| !i.name.is_empty()) {
                    let owner = owner(PropertyClass::Index, i.index_id.0);
                    self.part(all, owner, level, &i.name);
                }
            }
            "CONSTRAINT" => {
                for c in table.constraints() {
                    let owner = PropertyOwner {
                        major: c.object_id,
                        ..owner(PropertyClass::ObjectOrColumn, 0)
                    };
                    self.part(all, owner, level, c.name);
                }
            }
            _ => {}
        }
    }

    fn of_module(&mut self, module: &Module, part: &str, level: &Level) {
        let owner = |class, minor| PropertyOwner { class, major: module.object_id, minor };
        let all = &module.properties;
        match part {
            "COLUMN" => {
                for c in &module.columns {
                    let owner = owner(PropertyClass::ObjectOrColumn, c.column_id);
                    self.part(all, owner, level, &c.name);
                }
            }
            "PARAMETER" => {
                for p in module.arguments() {
                    self.part(all, owner(PropertyClass::Parameter, p.id), level, &p.name);
                }
            }
            _ => {}
        }
    }

    /// The properties of a part of an object, if the level names it.
    fn part(&mut self, all: &[ExtendedProperty], owner: PropertyOwner, level: &Level, name: &str) {
        if let Some(kind) = level.kind.as_deref()
            && self.is_named(level, name)
        {
            self.add(all, owner, Some((kind, name)));
        }
    }

    fn is_named(&self, level: &Level, name: &str) -> bool {
        level.name.as_deref().is_none_or(|n| self.view.same_name(n, name))
    }

    /// The properties of an owner, with its type and name.
    fn add(&mut self, all: &[ExtendedProperty], owner: PropertyOwner, shown: Option<(&str, &str)>) {
        let asked = |p: &&ExtendedProperty| {
            let named = self.property.as_deref();
            p.owner == owner && named.is_none_or(|n| self.view.same_name(n, &p.name))
        };
        let rows = all.iter().filter(asked).map(|p| {
            vec![
                shown.map_or(Value::Null, |(kind, _)| text(kind)),
                shown.map_or(Value::Null, |(_, name)| text(name)),
                text(&p.name),
                value_of(p),
            ]
        });
        let rows: Vec<_> = rows.collect();
        self.found.extend(rows);
    }
}

//! `sys.objects`: tables, modules and constraints of the current database.

use crate::view::{System, View, text};
use base::{ObjectId, SqlResult};
use catalog::view::{Object, SchemaId, Table};
use types::{SqlType, Value};

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "objects",
    parameters: None,
    columns: &[
        ("name", SqlType::SYSNAME, false),
        ("object_id", SqlType::Int, false),
        ("principal_id", SqlType::Int, true),
        ("schema_id", SqlType::Int, false),
        ("parent_object_id", SqlType::Int, false),
        ("type", SqlType::Char(2), true),
        ("type_desc", SqlType::nvarchar(60), true),
        ("is_ms_shipped", SqlType::Bit, false),
    ],
    rows,
};

struct Row<'a> {
    name: &'a str,
    id: ObjectId,
    schema: SchemaId,
    parent: i32,
    code: &'a str,
}

fn describe(code: &str) -> &'static str {
    match code {
        "U" => "USER_TABLE",
        "P" => "SQL_STORED_PROCEDURE",
        "V" => "VIEW",
        "FN" => "SQL_SCALAR_FUNCTION",
        "TF" => "SQL_TABLE_VALUED_FUNCTION",
        "TR" => "SQL_TRIGGER",
        "PK" => "PRIMARY_KEY_CONSTRAINT",
        "UQ" => "UNIQUE_CONSTRAINT",
        "D" => "DEFAULT_CONSTRAINT",
        "C" => "CHECK_CONSTRAINT",
        _ => "SYSTEM_TABLE",
    }
}

impl Row<'_> {
    fn values(&self) -> Vec<Value> {
        vec![
            text(self.name),
            Value::Int(self.id.0),
            Value::Null,
            Value::Int(self.schema.0),
            Value::Int(self.parent),
            Value::varchar(&format!("{:<2}", self.code)),
            text(describe(self.code)),
            Value::Bit(false),
        ]
    }
}

fn rows(system: &System<'_>, _: &[Value]) -> SqlResult<Vec<Vec<Value>>> {
    let mut rows = Vec::new();
    for object in system.view()?.objects() {
        match object {
            Object::Table(t) => table_rows(t, &mut rows),
            Object::Module(m) => {
                let code = m.kind.type_code();
                let (name, id, schema) = (&*m.name, m.object_id, m.schema_id);
                rows.push(Row { name, id, schema, parent: 0, code }.values());
            }
            Object::Virtual(_) => {}
        }
    }
    Ok(rows)
}

fn table_rows(t: &Table, rows: &mut Vec<Vec<Value>>) {
    let (schema, parent) = (t.schema_id, t.object_id.0);
    rows.push(Row { name: &t.name, id: t.object_id, schema, parent: 0, code: "U" }.values());
    for i in &t.indexes {
        if let Some(id) = i.constraint_id {
            let code = if i.primary_key { "PK" } else { "UQ" };
            rows.push(Row { name: &i.name, id, schema, parent, code }.values());
        }
    }
    for c in &t.checks {
        let (name, id) = (&*c.name, c.object_id);
        rows.push(Row { name, id, schema, parent, code: "C" }.values());
    }
    for d in t.columns.iter().filter_map(|c| c.default.as_ref()) {
        let (name, id) = (&*d.name, d.object_id);
        rows.push(Row { name, id, schema, parent, code: "D" }.values());
    }
}

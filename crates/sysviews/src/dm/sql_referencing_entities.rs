//! `sys.dm_sql_referencing_entities('schema.object', 'OBJECT')`: the definitions that name an
//! object.

use crate::cell::{bit, int, text};
use crate::column::{Column, col, number, word};
use crate::reason::OF_THIS_VIEW;
use crate::view::{Rows, System, View};
use catalog::view::{Object, SchemaId};
use std::collections::BTreeMap;
use types::{SqlType, Value};

const COLUMNS: [Column; 6] = [
    col("referencing_schema_name", SqlType::SYSNAME),
    col("referencing_entity_name", SqlType::SYSNAME),
    col("referencing_id", SqlType::Int),
    number("referencing_class", SqlType::TinyInt, 1, OF_THIS_VIEW),
    word("referencing_class_desc", SqlType::nvarchar(60), "OBJECT_OR_COLUMN", OF_THIS_VIEW),
    col("is_caller_dependent", SqlType::Bit),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_sql_referencing_entities",
    parameters: Some(&[("@name", SqlType::nvarchar(517)), ("@class", SqlType::nvarchar(60))]),
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, arguments: &[Value]) -> Rows {
    let view = system.view()?;
    let given = |n: usize| arguments.get(n).and_then(Value::as_text);
    let class = given(1).unwrap_or_default();
    let object = given(0).and_then(|name| session::object_of_name(&view, &name));
    let Some(object) = object.filter(|_| class.eq_ignore_ascii_case("OBJECT")) else {
        return Ok(Vec::new());
    };
    let mut users = BTreeMap::new();
    for d in session::dependencies(&view) {
        if d.id == Some(object) && d.referencing != object {
            users.entry(d.referencing).or_insert(d.caller_dependent);
        }
    }
    let mut rows = Vec::new();
    for (id, caller_dependent) in users {
        let constraint = view.objects().find_map(|o| match o {
            Object::Table(t) => {
                let own = t.constraints().find(|c| c.object_id == id);
                own.map(|c| (t.schema_id, c.name.to_owned()))
            }
            _ => None,
        });
        let named = view.by_id(id).map(|o| (o.schema_id(), o.name().to_owned()));
        let Some((schema, name)) = named.or(constraint) else { continue };
        let schema = view.schema_by_id(schema).map_or(Value::Null, |s| text(&s.name));
        rows.push(vec![schema, text(&name), int(id.0), bit(caller_dependent)]);
    }
    Ok(rows)
}

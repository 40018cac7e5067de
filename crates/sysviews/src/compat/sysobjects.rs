//! `sysobjects`: the objects of `sys.objects`, and the system objects.

use crate::cell::{code, int};
use crate::column::{Column, col, maybe, zero};
use crate::reason::*;
use crate::sys::{ListedObject, all_objects};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

use super::type_codes::small;

const INT: SqlType = SqlType::Int;
const SMALL: SqlType = SqlType::SmallInt;
const INTERNAL: &str = "Of the inside of SQL Server 2000.";
const NO_CATEGORY: &str = "Its bits are of replication and of what `OBJECTPROPERTY` tells.";

const COLUMNS: [Column; 25] = [
    col("name", SqlType::SYSNAME),
    col("id", INT),
    col("xtype", SqlType::Char(2)),
    maybe("uid", SMALL),
    zero("info", SMALL, INTERNAL),
    zero("status", INT, INTERNAL),
    zero("base_schema_ver", INT, INTERNAL),
    zero("replinfo", INT, NO_REPLICATION),
    col("parent_obj", INT),
    col("crdate", SqlType::DateTime),
    zero("ftcatid", SMALL, NO_FULL_TEXT),
    zero("schema_ver", INT, "As in SQL Server."),
    zero("stats_schema_ver", INT, INTERNAL),
    col("type", SqlType::Char(2)),
    zero("userstat", SMALL, INTERNAL),
    zero("sysstat", SMALL, INTERNAL),
    zero("indexdel", SMALL, INTERNAL),
    col("refdate", SqlType::DateTime),
    zero("version", INT, INTERNAL),
    zero("deltrig", INT, INTERNAL),
    zero("instrig", INT, INTERNAL),
    zero("updtrig", INT, INTERNAL),
    zero("seltrig", INT, INTERNAL),
    zero("category", INT, NO_CATEGORY),
    zero("cache", SMALL, INTERNAL),
];

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "sysobjects", parameters: None, columns: &COLUMNS, rows };

/// `type`: both kinds of key are K.
fn old_kind(kind: &'static str) -> &'static str {
    match kind {
        "PK" | "UQ" => "K",
        kind => kind,
    }
}

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let row = |l: &ListedObject| {
        vec![
            Value::nvarchar(&l.name),
            int(l.id.0),
            code(l.kind),
            small(l.schema.0),
            int(l.parent.0),
            l.created.clone(),
            code(old_kind(l.kind)),
            l.created.clone(),
        ]
    };
    Ok(all_objects(system)?.iter().map(row).collect())
}

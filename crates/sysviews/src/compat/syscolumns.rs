//! `syscolumns`: the columns of `sys.all_columns`, and the parameters of `sys.parameters`.

use super::type_codes::{collation, precision, scale, small, stored_as, user_type};
use crate::cell::{int, text};
use crate::column::{Column, col, maybe, null, zero};
use crate::reason::*;
use crate::sys::system_type_id;
use crate::tables;
use crate::view::{Rows, System, View};
use base::ObjectId;
use catalog::view::{Module, ModuleKind, Parameter, SchemaId, TABLE_TYPE};
use types::{SqlType, Value};

const INT: SqlType = SqlType::Int;
const SMALL: SqlType = SqlType::SmallInt;
const TINY: SqlType = SqlType::TinyInt;
const INTERNAL: &str = "Of the inside of SQL Server 2000.";
const NO_OFFSET: &str = "Where a column stands in its row is not shown yet.";

/// Bits of `status`.
const NULLABLE: u8 = 0x08;
const PADDED: u8 = 0x10;
const OUTPUT: u8 = 0x40;
const IDENTITY: u8 = 0x80;

const COLUMNS: [Column; 30] = [
    maybe("name", SqlType::SYSNAME),
    col("id", INT),
    col("xtype", TINY),
    zero("typestat", TINY, INTERNAL),
    maybe("xusertype", SMALL),
    col("length", SMALL),
    col("xprec", TINY),
    col("xscale", TINY),
    maybe("colid", SMALL),
    zero("xoffset", SMALL, INTERNAL),
    zero("bitpos", TINY, INTERNAL),
    zero("reserved", TINY, INTERNAL),
    zero("colstat", SMALL, INTERNAL),
    col("cdefault", INT),
    zero("domain", INT, NO_RULES),
    col("number", SMALL),
    maybe("colorder", SMALL),
    null("autoval", SqlType::varbinary(8000), INTERNAL),
    null("offset", SMALL, NO_OFFSET),
    maybe("collationid", INT),
    col("status", TINY),
    col("type", TINY),
    maybe("usertype", SMALL),
    null("printfmt", SqlType::varchar(255), INTERNAL),
    maybe("prec", SMALL),
    maybe("scale", INT),
    col("iscomputed", INT),
    col("isoutparam", INT),
    col("isnullable", INT),
    maybe("collation", SqlType::SYSNAME),
];

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "syscolumns", parameters: None, columns: &COLUMNS, rows };

/// The cells that columns and parameters have in common.
struct Cells<'a> {
    name: &'a str,
    object: ObjectId,
    sql_type: SqlType,
    system_type: u8,
    user_type: i32,
    id: i32,
    default: i32,
    number: i16,
    collation: types::Collation,
    status: u8,
    computed: bool,
}

fn cells(c: &Cells<'_>) -> Vec<Value> {
    let t = c.sql_type;
    let [collation_id, collation] = collation(t, c.collation);
    let flag = |bit: u8| int(i32::from(c.status & bit != 0));
    vec![
        text(c.name),
        int(c.object.0),
        Value::TinyInt(c.system_type),
        small(c.user_type),
        Value::SmallInt(t.max_length()),
        Value::TinyInt(t.precision()),
        Value::TinyInt(t.scale()),
        small(c.id),
        int(c.default),
        Value::SmallInt(c.number),
        small(c.id),
        collation_id,
        Value::TinyInt(c.status),
        stored_as(t, c.system_type == 108),
        user_type(t, c.user_type),
        precision(t),
        scale(t).map_or(Value::Null, int),
        int(i32::from(c.computed)),
        flag(OUTPUT),
        flag(NULLABLE),
        collation,
    ]
}

fn column(object: ObjectId, c: &catalog::view::Column) -> Vec<Value> {
    let varies = matches!(c.sql_type, SqlType::VarChar(_) | SqlType::VarBinary(_));
    let bits = [(c.nullable, NULLABLE), (varies, PADDED), (c.identity.is_some(), IDENTITY)];
    cells(&Cells {
        name: &c.name,
        object,
        sql_type: c.sql_type,
        system_type: system_type_id(c),
        user_type: c.user_type_id,
        id: c.column_id,
        default: c.default.as_ref().map_or(0, |d| d.object_id.0),
        number: 0,
        collation: c.collation,
        status: bits.into_iter().filter(|(on, _)| *on).map(|(_, bit)| bit).sum(),
        computed: c.computed.is_some(),
    })
}

fn parameter(module: &Module, p: &Parameter, collation: types::Collation) -> Vec<Value> {
    let system_type = match p.user_type_id {
        _ if p.read_only => TABLE_TYPE,
        108 => 108,
        _ => p.sql_type.system_type_id(),
    };
    let status = NULLABLE | if p.output { OUTPUT } else { 0 };
    cells(&Cells {
        name: &p.name,
        object: module.object_id,
        sql_type: p.sql_type,
        system_type,
        user_type: p.user_type_id,
        id: p.id,
        default: 0,
        // A procedure is the first of its group; functions have no group.
        number: i16::from(module.kind == ModuleKind::Procedure),
        collation,
        status,
        computed: false,
    })
}

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let view = system.view()?;
    let mut rows = Vec::new();
    for table in tables::all_and_types(system)? {
        rows.extend(table.columns.iter().map(|c| column(table.object_id, c)));
    }
    for module in tables::modules(system)? {
        rows.extend(module.columns.iter().map(|c| column(module.object_id, c)));
        rows.extend(module.parameters.iter().map(|p| parameter(&module, p, view.collation())));
    }
    for v in view.system().iter() {
        let columns = tables::columns_of(v, view.collation());
        rows.extend(columns.iter().map(|c| column(v.object_id, c)));
    }
    Ok(rows)
}

//! `systypes`: the types of `sys.types`.

use super::type_codes::{collation, precision, scale, small, stored_as, user_type};
use crate::cell::{bit, text};
use crate::column::{Column, col, maybe, null, zero};
use crate::reason::*;
use crate::sys::{NamedType, named_types};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const INT: SqlType = SqlType::Int;
const SMALL: SqlType = SqlType::SmallInt;
const TINY: SqlType = SqlType::TinyInt;
const INTERNAL: &str = "Of the inside of SQL Server 2000.";

const COLUMNS: [Column; 20] = [
    col("name", SqlType::SYSNAME),
    col("xtype", TINY),
    zero("status", TINY, INTERNAL),
    maybe("xusertype", SMALL),
    col("length", SMALL),
    col("xprec", TINY),
    col("xscale", TINY),
    zero("tdefault", INT, NO_RULES),
    zero("domain", INT, NO_RULES),
    maybe("uid", SMALL),
    zero("reserved", SMALL, INTERNAL),
    maybe("collationid", INT),
    maybe("usertype", SMALL),
    col("variable", SqlType::Bit),
    maybe("allownulls", SqlType::Bit),
    col("type", TINY),
    null("printfmt", SqlType::varchar(255), INTERNAL),
    maybe("prec", SMALL),
    maybe("scale", TINY),
    maybe("collation", SqlType::SYSNAME),
];

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "systypes", parameters: None, columns: &COLUMNS, rows };

/// Whether values of a type have variable length.
fn varies(t: SqlType) -> bool {
    matches!(t, SqlType::VarChar(_) | SqlType::NVarChar(_) | SqlType::VarBinary(_))
}

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let names = system.view()?.collation();
    let row = |n: &NamedType| {
        let t = n.sql_type;
        let [collation_id, collation] = collation(t, names);
        vec![
            text(&n.name),
            Value::TinyInt(n.system_type_id),
            small(n.user_type_id),
            Value::SmallInt(t.max_length()),
            Value::TinyInt(t.precision()),
            Value::TinyInt(t.scale()),
            small(n.schema.0),
            collation_id,
            user_type(t, n.user_type_id),
            bit(varies(t)),
            bit(n.nullable),
            stored_as(t, n.system_type_id == 108),
            precision(t),
            scale(t).map_or(Value::Null, Value::TinyInt),
            collation,
        ]
    };
    Ok(named_types(system)?.iter().map(row).collect())
}

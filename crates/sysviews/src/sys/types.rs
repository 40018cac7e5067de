//! `sys.types`: the types there are.

use crate::cell::{bit, int, text};
use crate::column::{Column, col, maybe, null, number, zero};
use crate::reason::NO_RULES;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{ALL_TYPES, SqlType, Value};

const NO_ALIASES: &str = "There are no types of users yet.";

const COLUMNS: [Column; 15] = [
    col("name", SqlType::SYSNAME),
    col("system_type_id", SqlType::TinyInt),
    col("user_type_id", SqlType::Int),
    number("schema_id", SqlType::Int, SchemaId::SYS.0 as i64, NO_ALIASES),
    null("principal_id", SqlType::Int, NO_ALIASES),
    col("max_length", SqlType::SmallInt),
    col("precision", SqlType::TinyInt),
    col("scale", SqlType::TinyInt),
    maybe("collation_name", SqlType::SYSNAME),
    maybe("is_nullable", SqlType::Bit),
    zero("is_user_defined", SqlType::Bit, NO_ALIASES),
    zero("is_assembly_type", SqlType::Bit, NO_ALIASES),
    zero("default_object_id", SqlType::Int, NO_RULES),
    zero("rule_object_id", SqlType::Int, NO_RULES),
    zero("is_table_type", SqlType::Bit, NO_ALIASES),
];

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "types", parameters: None, columns: &COLUMNS, rows };

/// Type, name, both ids.
type Named = (SqlType, &'static str, u8, i32);

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let collation = system.view()?.collation();
    let mut named: Vec<Named> =
        ALL_TYPES.iter().map(|t| (*t, t.name(), t.system_type_id(), t.user_type_id())).collect();
    named.push((SqlType::decimal(38, 38), "numeric", 108, 108));
    named.push((SqlType::SYSNAME, "sysname", 231, 256));
    named.sort_by_key(|t| t.3);
    let row = |&(t, name, system_type, user_type): &Named| {
        let collated = if t.is_character() { text(collation.name()) } else { Value::Null };
        vec![
            text(name),
            Value::TinyInt(system_type),
            int(user_type),
            Value::SmallInt(t.max_length()),
            Value::TinyInt(t.precision()),
            Value::TinyInt(t.scale()),
            collated,
            bit(user_type != 256),
        ]
    };
    Ok(named.iter().map(row).collect())
}

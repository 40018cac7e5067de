//! `sys.types`: the types there are, those of users too.

use crate::cell::{bit, int, text};
use crate::column::{Column, col, maybe, null, zero};
use crate::reason::{NO_CLR, NO_OWNERS, NO_RULES};
use crate::view::{Rows, System, View};
use catalog::view::{SchemaId, UserType, UserTypeKind};
use types::{ALL_TYPES, Collation, SqlType, Value};

pub(super) const COLUMNS: [Column; 15] = [
    col("name", SqlType::SYSNAME),
    col("system_type_id", SqlType::TinyInt),
    col("user_type_id", SqlType::Int),
    col("schema_id", SqlType::Int),
    null("principal_id", SqlType::Int, NO_OWNERS),
    col("max_length", SqlType::SmallInt),
    col("precision", SqlType::TinyInt),
    col("scale", SqlType::TinyInt),
    maybe("collation_name", SqlType::SYSNAME),
    maybe("is_nullable", SqlType::Bit),
    col("is_user_defined", SqlType::Bit),
    zero("is_assembly_type", SqlType::Bit, NO_CLR),
    zero("default_object_id", SqlType::Int, NO_RULES),
    zero("rule_object_id", SqlType::Int, NO_RULES),
    col("is_table_type", SqlType::Bit),
];

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "types", parameters: None, columns: &COLUMNS, rows };

/// Type, name, both ids.
type Named = (SqlType, &'static str, u8, i32);

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let view = system.view()?;
    let collation = view.collation();
    let mut named: Vec<Named> =
        ALL_TYPES.iter().map(|t| (*t, t.name(), t.system_type_id(), t.user_type_id())).collect();
    named.push((SqlType::decimal(38, 38), "numeric", 108, 108));
    named.push((SqlType::SYSNAME, "sysname", 231, 256));
    named.sort_by_key(|t| t.3);
    let row = |&(t, name, system_type, user_type): &Named| {
        let ids = [i32::from(system_type), user_type, SchemaId::SYS.0];
        cells(name, ids, t, collation, user_type != 256)
    };
    let mut rows: Vec<Vec<Value>> = named.iter().map(row).collect();
    let mut own: Vec<_> = view.types().collect();
    own.sort_by_key(|t| t.user_type_id);
    rows.extend(own.into_iter().map(|t| cells_of(t, collation)));
    Ok(rows)
}

/// The written cells of a type of a user.
pub(super) fn cells_of(t: &UserType, collation: Collation) -> Vec<Value> {
    let ids = [i32::from(t.system_type_id()), t.user_type_id, t.schema_id.0];
    let mut cells = match &t.kind {
        UserTypeKind::Alias { sql_type, nullable, .. } => {
            cells(&t.name, ids, *sql_type, collation, *nullable)
        }
        UserTypeKind::Table(_) => {
            let mut cells = cells(&t.name, ids, SqlType::VARBINARY_MAX, collation, false);
            let is_table = cells.len() - 1;
            cells[is_table] = bit(true);
            cells
        }
    };
    let defined = cells.len() - 2;
    cells[defined] = bit(true);
    cells
}

fn cells(
    name: &str,
    [system_type, user_type, schema]: [i32; 3],
    t: SqlType,
    collation: Collation,
    nullable: bool,
) -> Vec<Value> {
    let collated = if t.is_character() { text(collation.name()) } else { Value::Null };
    vec![
        text(name),
        Value::TinyInt(u8::try_from(system_type).unwrap_or_default()),
        int(user_type),
        int(schema),
        Value::SmallInt(t.max_length()),
        Value::TinyInt(t.precision()),
        Value::TinyInt(t.scale()),
        collated,
        bit(nullable),
        bit(false),
        bit(false),
    ]
}

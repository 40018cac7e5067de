//! `sys.types`: all types, user types included.

use crate::cell::{bit, int, text};
use crate::column::{Column, col, maybe, null, zero};
use crate::reason::{NO_CLR, NO_OWNERS, NO_RULES};
use crate::view::{Rows, System, View};
use base::SqlResult;
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

/// A type by its name.
pub(crate) struct NamedType {
    pub(crate) name: String,
    pub(crate) system_type_id: u8,
    pub(crate) user_type_id: i32,
    pub(crate) schema: SchemaId,
    pub(crate) sql_type: SqlType,
    pub(crate) nullable: bool,
    user_defined: bool,
    is_table: bool,
}

/// The types of the server by id, and then the database's user types.
pub(crate) fn named_types(system: &System<'_>) -> SqlResult<Vec<NamedType>> {
    let view = system.view()?;
    let of = |t: SqlType, name: &str, system_type_id, user_type_id| NamedType {
        name: name.to_owned(),
        system_type_id,
        user_type_id,
        schema: SchemaId::SYS,
        sql_type: t,
        nullable: user_type_id != 256,
        user_defined: false,
        is_table: false,
    };
    let plain = |t: &SqlType| of(*t, t.name(), t.system_type_id(), t.user_type_id());
    let mut named: Vec<NamedType> = ALL_TYPES.iter().map(plain).collect();
    named.push(of(SqlType::decimal(38, 38), "numeric", 108, 108));
    named.push(of(SqlType::SYSNAME, "sysname", 231, 256));
    named.sort_by_key(|t| t.user_type_id);
    let mut own: Vec<_> = view.types().collect();
    own.sort_by_key(|t| t.user_type_id);
    named.extend(own.into_iter().map(|t| NamedType::of_user(t)));
    Ok(named)
}

impl NamedType {
    fn of_user(t: &UserType) -> NamedType {
        let (sql_type, nullable, is_table) = match &t.kind {
            UserTypeKind::Alias { sql_type, nullable, .. } => (*sql_type, *nullable, false),
            UserTypeKind::Table(_) => (SqlType::VARBINARY_MAX, false, true),
        };
        NamedType {
            name: t.name.to_string(),
            system_type_id: t.system_type_id(),
            user_type_id: t.user_type_id,
            schema: t.schema_id,
            sql_type,
            nullable,
            user_defined: true,
            is_table,
        }
    }

    fn cells(&self, collation: Collation) -> Vec<Value> {
        let t = self.sql_type;
        let collated = if t.is_character() { text(collation.name()) } else { Value::Null };
        vec![
            text(&self.name),
            Value::TinyInt(self.system_type_id),
            int(self.user_type_id),
            int(self.schema.0),
            Value::SmallInt(t.max_length()),
            Value::TinyInt(t.precision()),
            Value::TinyInt(t.scale()),
            collated,
            bit(self.nullable),
            bit(self.user_defined),
            bit(self.is_table),
        ]
    }
}

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let collation = system.view()?.collation();
    Ok(named_types(system)?.iter().map(|t| t.cells(collation)).collect())
}

/// The written cells of a user type.
pub(super) fn cells_of(t: &UserType, collation: Collation) -> Vec<Value> {
    NamedType::of_user(t).cells(collation)
}

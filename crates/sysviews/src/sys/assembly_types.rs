//! `sys.assembly_types`: types of the CLR; there are none.

use crate::column::{Column, col, maybe, no_rows};
use crate::reason::NO_CLR;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 21] = no_rows(
    [
        col("name", SqlType::SYSNAME),
        col("system_type_id", SqlType::TinyInt),
        col("user_type_id", SqlType::Int),
        col("schema_id", SqlType::Int),
        maybe("principal_id", SqlType::Int),
        col("max_length", SqlType::SmallInt),
        col("precision", SqlType::TinyInt),
        col("scale", SqlType::TinyInt),
        maybe("collation_name", SqlType::SYSNAME),
        maybe("is_nullable", SqlType::Bit),
        col("is_user_defined", SqlType::Bit),
        col("is_assembly_type", SqlType::Bit),
        col("default_object_id", SqlType::Int),
        col("rule_object_id", SqlType::Int),
        col("assembly_id", SqlType::Int),
        maybe("assembly_class", SqlType::SYSNAME),
        maybe("is_binary_ordered", SqlType::Bit),
        maybe("is_fixed_length", SqlType::Bit),
        maybe("prog_id", SqlType::nvarchar(40)),
        maybe("assembly_qualified_name", SqlType::nvarchar(4000)),
        col("is_table_type", SqlType::Bit),
    ],
    NO_CLR,
);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "assembly_types",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}

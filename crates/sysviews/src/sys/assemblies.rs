//! `sys.assemblies`: assemblies of the CLR; there are none.

use crate::column::{Column, col, maybe, no_rows};
use crate::reason::NO_CLR;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 10] = no_rows(
    [
        col("name", SqlType::SYSNAME),
        maybe("principal_id", SqlType::Int),
        col("assembly_id", SqlType::Int),
        maybe("clr_name", SqlType::nvarchar(4000)),
        maybe("permission_set", SqlType::TinyInt),
        maybe("permission_set_desc", SqlType::nvarchar(60)),
        col("is_visible", SqlType::Bit),
        col("create_date", SqlType::DateTime),
        col("modify_date", SqlType::DateTime),
        maybe("is_user_defined", SqlType::Bit),
    ],
    NO_CLR,
);

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "assemblies", parameters: None, columns: &COLUMNS, rows };

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}

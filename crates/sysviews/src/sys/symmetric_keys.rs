//! `sys.symmetric_keys`: symmetric keys; there are none.

use crate::column::{Column, col, maybe, no_rows};
use crate::reason::NO_KEYS;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 13] = no_rows(
    [
        col("name", SqlType::SYSNAME),
        maybe("principal_id", SqlType::Int),
        col("symmetric_key_id", SqlType::Int),
        col("key_length", SqlType::Int),
        col("key_algorithm", SqlType::Char(2)),
        maybe("algorithm_desc", SqlType::nvarchar(60)),
        col("create_date", SqlType::DateTime),
        col("modify_date", SqlType::DateTime),
        maybe("key_guid", SqlType::UniqueIdentifier),
        maybe("key_thumbprint", SqlType::Variant),
        maybe("provider_type", SqlType::nvarchar(120)),
        maybe("cryptographic_provider_guid", SqlType::UniqueIdentifier),
        maybe("cryptographic_provider_algid", SqlType::Variant),
    ],
    NO_KEYS,
);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "symmetric_keys",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}

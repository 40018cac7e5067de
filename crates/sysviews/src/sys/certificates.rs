//! `sys.certificates`: certificates; there are none.

use crate::column::{Column, col, maybe, no_rows};
use crate::reason::NO_KEYS;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 17] = no_rows(
    [
        col("name", SqlType::SYSNAME),
        col("certificate_id", SqlType::Int),
        maybe("principal_id", SqlType::Int),
        col("pvt_key_encryption_type", SqlType::Char(2)),
        maybe("pvt_key_encryption_type_desc", SqlType::nvarchar(60)),
        maybe("is_active_for_begin_dialog", SqlType::Bit),
        maybe("issuer_name", SqlType::nvarchar(442)),
        maybe("cert_serial_number", SqlType::nvarchar(64)),
        maybe("sid", SqlType::varbinary(85)),
        maybe("string_sid", SqlType::nvarchar(128)),
        maybe("subject", SqlType::nvarchar(4000)),
        maybe("expiry_date", SqlType::DateTime),
        maybe("start_date", SqlType::DateTime),
        col("thumbprint", SqlType::varbinary(32)),
        maybe("attested_by", SqlType::nvarchar(260)),
        maybe("pvt_key_last_backup_date", SqlType::DateTime),
        maybe("key_length", SqlType::Int),
    ],
    NO_KEYS,
);

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "certificates", parameters: None, columns: &COLUMNS, rows };

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}

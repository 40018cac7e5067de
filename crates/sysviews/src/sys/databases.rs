//! `sys.databases`: every open database with its options.

use crate::view::{System, View, text};
use base::SqlResult;
use catalog::RecoveryModel;
use catalog::view::SchemaId;
use types::{Collation, SqlType, Value};

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "databases",
    parameters: None,
    columns: &[
        ("name", SqlType::SYSNAME, false),
        ("database_id", SqlType::Int, false),
        ("compatibility_level", SqlType::TinyInt, false),
        ("collation_name", SqlType::SYSNAME, true),
        ("user_access", SqlType::TinyInt, true),
        ("user_access_desc", SqlType::nvarchar(60), true),
        ("is_read_only", SqlType::Bit, true),
        ("state", SqlType::TinyInt, true),
        ("state_desc", SqlType::nvarchar(60), true),
        ("snapshot_isolation_state", SqlType::TinyInt, true),
        ("snapshot_isolation_state_desc", SqlType::nvarchar(60), true),
        ("is_read_committed_snapshot_on", SqlType::Bit, true),
        ("recovery_model", SqlType::TinyInt, true),
        ("recovery_model_desc", SqlType::nvarchar(60), true),
        ("page_verify_option_desc", SqlType::nvarchar(60), true),
        ("log_reuse_wait_desc", SqlType::nvarchar(60), true),
        ("delayed_durability_desc", SqlType::nvarchar(60), true),
        ("is_accelerated_database_recovery_on", SqlType::Bit, true),
    ],
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> SqlResult<Vec<Vec<Value>>> {
    let mut rows = Vec::new();
    for db in system.databases.all() {
        let view = db.view();
        let options = db.options();
        let model: RecoveryModel = options.recovery;
        rows.push(vec![
            text(view.name()),
            Value::Int(i32::from(db.id().0)),
            Value::TinyInt(160),
            text(Collation::name(view.collation())),
            Value::TinyInt(0),
            text("MULTI_USER"),
            Value::Bit(false),
            Value::TinyInt(0),
            text("ONLINE"),
            Value::TinyInt(0),
            text("OFF"),
            Value::Bit(false),
            Value::TinyInt(model as u8),
            text(model.name()),
            text(options.page_verify.name()),
            text(db.log().reuse_wait()),
            text(options.delayed_durability.name()),
            Value::Bit(false),
        ]);
    }
    Ok(rows)
}

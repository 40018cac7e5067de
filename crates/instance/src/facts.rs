//! SERVERPROPERTY and DATABASEPROPERTYEX.

use crate::instance::Instance;
use base::DatabaseId;
use catalog::DatabaseOptions;
use types::{Collation, Value};

/// The version that drivers and tools read to know what a server can do.
pub(crate) const PRODUCT_VERSION: &str = "16.0.1000.6";

pub(crate) fn server_property(instance: &Instance, name: &str) -> Value {
    let text = |s: &str| Value::nvarchar(s);
    match name {
        "VERSION" => text(&format!(
            "Microsoft SQL Server 2022 (RTM) - {PRODUCT_VERSION} (compatible)\n\tGhostlight {} on \
             Linux",
            env!("CARGO_PKG_VERSION")
        )),
        "PRODUCTVERSION" => text(PRODUCT_VERSION),
        "PRODUCTMAJORVERSION" => text("16"),
        "PRODUCTMINORVERSION" => text("0"),
        "PRODUCTBUILD" => text("1000"),
        "PRODUCTLEVEL" => text("RTM"),
        "EDITION" => text("Developer Edition (64-bit)"),
        "ENGINEEDITION" => Value::Int(3),
        "EDITIONID" => Value::BigInt(-2_117_995_310),
        "SERVERNAME" | "MACHINENAME" | "COMPUTERNAMEPHYSICALNETBIOS" => {
            text(instance.server_name())
        }
        "INSTANCENAME" => Value::Null,
        "COLLATION" => text(Collation::default().name()),
        "COLLATIONID" => Value::Int(COLLATION_ID),
        "COMPARISONSTYLE" => Value::Int(Collation::default().comparison_style()),
        "LCID" => Value::Int(Collation::default().lcid()),
        "SQLCHARSET" => Value::TinyInt(1),
        "SQLCHARSETNAME" => text("iso_1"),
        "SQLSORTORDER" => Value::TinyInt(52),
        "SQLSORTORDERNAME" => text("nocase_iso"),
        "ISINTEGRATEDSECURITYONLY" | "ISCLUSTERED" | "ISHADRENABLED" | "ISSINGLEUSER" => {
            Value::Int(0)
        }
        "ISFULLTEXTINSTALLED" | "ISXTPSUPPORTED" | "ISPOLYBASEINSTALLED" => Value::Int(0),
        "PROCESSID" => Value::Int(std::process::id() as i32),
        _ => Value::Null,
    }
}

/// What SQL Server says for its default collation.
const COLLATION_ID: i32 = 872_468_488;

pub(crate) fn database_property(instance: &Instance, id: DatabaseId, name: &str) -> Value {
    let text = |s: &str| Value::nvarchar(s);
    let Some(database) = instance.database(id) else {
        let closed = instance.closed.read();
        return match (closed.get(&id), name) {
            (Some(closed), "STATUS") => text(closed.state.name()),
            (Some(closed), "UPDATEABILITY") => text(updateability(closed.read_only)),
            _ => Value::Null,
        };
    };
    let options = database.options();
    match name {
        "COLLATION" => text(database.view().collation().name()),
        "RECOVERY" => text(options.recovery.name()),
        "STATUS" => text(database.state().name()),
        "UPDATEABILITY" => text(updateability(options.read_only)),
        "USERACCESS" => text(options.user_access.name()),
        "VERSION" => Value::Int(957),
        _ => switch(&options, name).map_or(Value::Null, |on| Value::Int(i32::from(on))),
    }
}

fn updateability(read_only: bool) -> &'static str {
    if read_only { "READ_ONLY" } else { "READ_WRITE" }
}

/// A property that holds or not.
fn switch(options: &DatabaseOptions, name: &str) -> Option<bool> {
    Some(match name {
        "ISANSINULLDEFAULT" => options.ansi_null_default,
        "ISANSINULLSENABLED" => options.ansi_nulls,
        "ISANSIPADDINGENABLED" => options.ansi_padding,
        "ISANSIWARNINGSENABLED" => options.ansi_warnings,
        "ISARITHMETICABORTENABLED" => options.arith_abort,
        "ISAUTOCLOSE" => options.auto_close,
        "ISAUTOCREATESTATISTICS" => options.auto_create_statistics,
        "ISAUTOSHRINK" => options.auto_shrink,
        "ISAUTOUPDATESTATISTICS" => options.auto_update_statistics,
        "ISCLOSECURSORSONCOMMITENABLED" => options.cursor_close_on_commit,
        "ISNULLCONCAT" => options.concat_null_yields_null,
        "ISNUMERICROUNDABORTENABLED" => options.numeric_round_abort,
        "ISOPTIMIZEDLOCKINGON" => options.optimized_locking,
        "ISPARAMETERIZATIONFORCED" => options.forced_parameterization,
        "ISQUOTEDIDENTIFIERSENABLED" => options.quoted_identifier,
        "ISRECURSIVETRIGGERSENABLED" => options.recursive_triggers,
        "ISAUTOCREATESTATISTICSINCREMENTAL"
        | "ISCLONE"
        | "ISFULLTEXTENABLED"
        | "ISINSTANDBY"
        | "ISLOCALCURSORSDEFAULT"
        | "ISMEMORYOPTIMIZEDELEVATETOSNAPSHOTENABLED"
        | "ISMERGEPUBLISHED"
        | "ISPUBLISHED"
        | "ISSUBSCRIBED"
        | "ISSYNCWITHBACKUP"
        | "ISTORNPAGEDETECTIONENABLED"
        | "ISVERIFIEDCLONE"
        | "ISXTPSUPPORTED" => false,
        _ => return None,
    })
}

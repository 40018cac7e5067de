//! `sys.configurations`: options of the server that mean something here, with what holds.
//!
//! `sp_configure` cannot change them yet: what holds is built in.

use crate::cell::{bit, int, text};
use crate::column::{Column, col};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 9] = [
    col("configuration_id", SqlType::Int),
    col("name", SqlType::nvarchar(35)),
    col("value", SqlType::Int),
    col("minimum", SqlType::Int),
    col("maximum", SqlType::Int),
    col("value_in_use", SqlType::Int),
    col("description", SqlType::nvarchar(255)),
    col("is_dynamic", SqlType::Bit),
    col("is_advanced", SqlType::Bit),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "configurations",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

struct Setting {
    id: i32,
    name: &'static str,
    holds: i32,
    range: (i32, i32),
    description: &'static str,
    dynamic: bool,
    advanced: bool,
}

const SETTINGS: [Setting; 9] = [
    Setting {
        id: 103,
        name: "user connections",
        holds: 0,
        range: (0, 32_767),
        description: "Number of user connections allowed",
        dynamic: false,
        advanced: true,
    },
    Setting {
        id: 115,
        name: "nested triggers",
        holds: 1,
        range: (0, 1),
        description: "Allow triggers to be invoked within triggers",
        dynamic: true,
        advanced: false,
    },
    Setting {
        id: 124,
        name: "default language",
        holds: 0,
        range: (0, 9999),
        description: "default language",
        dynamic: true,
        advanced: false,
    },
    Setting {
        id: 1534,
        name: "user options",
        holds: 0,
        range: (0, 32_767),
        description: "user options",
        dynamic: true,
        advanced: false,
    },
    Setting {
        id: 1538,
        name: "cost threshold for parallelism",
        holds: exec::COST_THRESHOLD as i32,
        range: (0, 32_767),
        description: "cost threshold for parallelism",
        dynamic: true,
        advanced: true,
    },
    Setting {
        id: 1539,
        name: "max degree of parallelism",
        holds: 0,
        range: (0, 32_767),
        description: "maximum degree of parallelism",
        dynamic: true,
        advanced: true,
    },
    Setting {
        id: 1541,
        name: "query wait (s)",
        holds: exec::QUERY_WAIT_S as i32,
        range: (-1, i32::MAX),
        description: "maximum time to wait for query memory (s)",
        dynamic: true,
        advanced: true,
    },
    Setting {
        id: 1544,
        name: "network packet size (B)",
        holds: 4096,
        range: (512, 32_767),
        description: "Network packet size",
        dynamic: true,
        advanced: true,
    },
    Setting {
        id: 16_390,
        name: "xp_cmdshell",
        holds: 0,
        range: (0, 1),
        description: "Enable or disable command shell",
        dynamic: true,
        advanced: true,
    },
];

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    let row = |s: &Setting| {
        vec![
            int(s.id),
            text(s.name),
            int(s.holds),
            int(s.range.0),
            int(s.range.1),
            int(s.holds),
            text(s.description),
            bit(s.dynamic),
            bit(s.advanced),
        ]
    };
    Ok(SETTINGS.iter().map(row).collect())
}

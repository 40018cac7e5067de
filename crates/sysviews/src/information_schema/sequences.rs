//! `INFORMATION_SCHEMA.SEQUENCES`: how sequences run.

use crate::cell::{int, text, whole};
use crate::column::{Column, col, maybe, null, number, zero};
use crate::view::{Rows, System, View};
use catalog::view::{Object, SchemaId};
use types::{SqlType, Value};

const NAME: SqlType = SqlType::nvarchar(128);
const INT: SqlType = SqlType::Int;
/// SQL Server's type is sql_variant with the sequence's own type in it.
const WHOLE: SqlType = SqlType::decimal(38, 0);
const NOT_DECLARED: &str = "As SQL Server shows them; the type stands in DATA_TYPE.";

const COLUMNS: [Column; 15] = [
    maybe("SEQUENCE_CATALOG", NAME),
    maybe("SEQUENCE_SCHEMA", NAME),
    col("SEQUENCE_NAME", SqlType::SYSNAME),
    maybe("DATA_TYPE", NAME),
    maybe("NUMERIC_PRECISION", SqlType::TinyInt),
    number("NUMERIC_PRECISION_RADIX", SqlType::SmallInt, 10, "Digits are decimal."),
    zero("NUMERIC_SCALE", INT, "Sequences have no fraction."),
    maybe("START_VALUE", WHOLE),
    maybe("MINIMUM_VALUE", WHOLE),
    maybe("MAXIMUM_VALUE", WHOLE),
    maybe("INCREMENT", WHOLE),
    maybe("CYCLE_OPTION", INT),
    null("DECLARED_DATA_TYPE", INT, NOT_DECLARED),
    null("DECLARED_NUMERIC_PRECISION", INT, NOT_DECLARED),
    null("DECLARED_NUMERIC_SCALE", INT, NOT_DECLARED),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::INFORMATION_SCHEMA,
    name: "SEQUENCES",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let view = system.view()?;
    let mut rows = Vec::new();
    for object in view.objects() {
        let Object::Sequence(s) = object else { continue };
        let numeric = s.user_type_id == 108;
        rows.push(vec![
            text(view.name()),
            text(&s.schema_name),
            text(&s.name),
            text(if numeric { "numeric" } else { s.sql_type.name() }),
            Value::TinyInt(s.sql_type.precision()),
            whole(s.start),
            whole(s.minimum),
            whole(s.maximum),
            whole(s.increment),
            int(s.cycles),
        ]);
    }
    Ok(rows)
}

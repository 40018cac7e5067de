//! `INFORMATION_SCHEMA.SEQUENCES`: sequences and their properties.

use crate::cell::{counted, int, text};
use crate::column::{Column, col, maybe, null, number, zero};
use crate::view::{Rows, System, View};
use catalog::view::{Object, SchemaId};
use types::{SqlType, Value};

const NAME: SqlType = SqlType::nvarchar(128);
const INT: SqlType = SqlType::Int;
/// The values have the sequence's own type.
const VARIANT: SqlType = SqlType::Variant;
const NOT_DECLARED: &str = "As SQL Server shows them; the type stands in DATA_TYPE.";

const COLUMNS: [Column; 15] = [
    maybe("SEQUENCE_CATALOG", NAME),
    maybe("SEQUENCE_SCHEMA", NAME),
    col("SEQUENCE_NAME", SqlType::SYSNAME),
    maybe("DATA_TYPE", NAME),
    maybe("NUMERIC_PRECISION", SqlType::TinyInt),
    number("NUMERIC_PRECISION_RADIX", SqlType::SmallInt, 10, "Digits are decimal."),
    zero("NUMERIC_SCALE", INT, "Sequences have no fraction."),
    maybe("START_VALUE", VARIANT),
    maybe("MINIMUM_VALUE", VARIANT),
    maybe("MAXIMUM_VALUE", VARIANT),
    maybe("INCREMENT", VARIANT),
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
        let own = |n: i128| counted(n, s.sql_type);
        rows.push(vec![
            text(view.name()),
            text(&s.schema_name),
            text(&s.name),
            text(if numeric { "numeric" } else { s.sql_type.name() }),
            Value::TinyInt(s.sql_type.precision()),
            own(s.start),
            own(s.minimum),
            own(s.maximum),
            own(s.increment),
            int(s.cycles),
        ]);
    }
    Ok(rows)
}

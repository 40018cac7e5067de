//! `INFORMATION_SCHEMA.COLUMNS`: the columns of tables and views.

use crate::cell::{code, int, text};
use crate::column::{Column, col, maybe, null};
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::{DatabaseView, ModuleKind, SchemaId};
use types::{Family, SqlType, Value};

const NAME: SqlType = SqlType::nvarchar(128);
const INT: SqlType = SqlType::Int;
const NO_PREFIX: &str = "Character sets and collations stand in no catalog and schema.";

pub(super) const COLUMNS: [Column; 23] = [
    maybe("TABLE_CATALOG", NAME),
    maybe("TABLE_SCHEMA", NAME),
    col("TABLE_NAME", SqlType::SYSNAME),
    maybe("COLUMN_NAME", SqlType::SYSNAME),
    maybe("ORDINAL_POSITION", INT),
    maybe("COLUMN_DEFAULT", SqlType::nvarchar(4000)),
    maybe("IS_NULLABLE", SqlType::varchar(3)),
    maybe("DATA_TYPE", NAME),
    maybe("CHARACTER_MAXIMUM_LENGTH", INT),
    maybe("CHARACTER_OCTET_LENGTH", INT),
    maybe("NUMERIC_PRECISION", SqlType::TinyInt),
    maybe("NUMERIC_PRECISION_RADIX", SqlType::SmallInt),
    maybe("NUMERIC_SCALE", INT),
    maybe("DATETIME_PRECISION", SqlType::SmallInt),
    null("CHARACTER_SET_CATALOG", SqlType::SYSNAME, NO_PREFIX),
    null("CHARACTER_SET_SCHEMA", SqlType::SYSNAME, NO_PREFIX),
    maybe("CHARACTER_SET_NAME", SqlType::SYSNAME),
    null("COLLATION_CATALOG", SqlType::SYSNAME, NO_PREFIX),
    null("COLLATION_SCHEMA", SqlType::SYSNAME, NO_PREFIX),
    maybe("COLLATION_NAME", SqlType::SYSNAME),
    maybe("DOMAIN_CATALOG", SqlType::SYSNAME),
    maybe("DOMAIN_SCHEMA", SqlType::SYSNAME),
    maybe("DOMAIN_NAME", SqlType::SYSNAME),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::INFORMATION_SCHEMA,
    name: "COLUMNS",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let view = system.view()?;
    let mut rows = Vec::new();
    for table in tables::own(system)? {
        for (at, column) in table.columns.iter().enumerate() {
            let mut cells = row([view.name(), &table.schema_name, &table.name], at, column);
            cells.extend(domain(&view, column.user_type_id));
            rows.push(cells);
        }
    }
    for module in tables::modules(system)?.iter().filter(|m| m.kind == ModuleKind::View) {
        for (at, column) in module.columns.iter().enumerate() {
            let mut cells = row([view.name(), &module.schema_name, &module.name], at, column);
            cells.extend(domain(&view, column.user_type_id));
            rows.push(cells);
        }
    }
    Ok(rows)
}

pub(super) fn row(name: [&str; 3], at: usize, c: &catalog::view::Column) -> Vec<Value> {
    let t = c.sql_type;
    let numeric = c.user_type_id == 108;
    let default = c.default.as_ref().map_or(Value::Null, |d| text(&d.text));
    let mut cells = vec![
        text(name[0]),
        text(name[1]),
        text(name[2]),
        text(&c.name),
        int(at + 1),
        default,
        code(if c.nullable { "YES" } else { "NO" }),
        text(if numeric { "numeric" } else { t.name() }),
    ];
    cells.extend(sizes(t));
    let set = match t.family() {
        Family::Char => character_set(c.collation),
        Family::NChar => text("UNICODE"),
        _ => Value::Null,
    };
    cells.push(set);
    cells.push(if t.is_character() { text(c.collation.name()) } else { Value::Null });
    cells
}

/// The user type of a column or parameter: catalog, schema, name.
pub(super) fn domain(view: &DatabaseView, user_type_id: i32) -> [Value; 3] {
    match view.user_type_by_id(user_type_id) {
        Some(t) => [text(view.name()), text(&t.schema_name), text(&t.name)],
        None => [Value::Null, Value::Null, Value::Null],
    }
}

/// From CHARACTER_MAXIMUM_LENGTH to DATETIME_PRECISION.
pub(super) fn sizes(t: SqlType) -> [Value; 6] {
    let null = Value::Null;
    let bytes = i32::from(t.max_length());
    let characters = if bytes < 0 { bytes } else { bytes / 2 };
    let (precision, scale) = (Value::TinyInt(t.precision()), int(t.scale()));
    let [n0, n1, n2, n3] = [null.clone(), null.clone(), null.clone(), null.clone()];
    match (t.family(), t) {
        (_, SqlType::Text | SqlType::Image) => [int(i32::MAX), int(i32::MAX), n0, n1, n2, n3],
        (_, SqlType::NText) => [int(i32::MAX / 2), int(i32::MAX - 1), n0, n1, n2, n3],
        (Family::Variant, _) => [int(0), int(0), n0, n1, n2, n3],
        (Family::Xml, _) => [int(bytes), int(bytes), n0, n1, n2, n3],
        (Family::Char | Family::Binary, _) => [int(bytes), int(bytes), n0, n1, n2, n3],
        (Family::NChar, _) => [int(characters), int(bytes), n0, n1, n2, n3],
        (_, SqlType::Bit) | (Family::Guid, _) => [null, n0, n1, n2, n3, Value::Null],
        (Family::Integer | Family::Decimal | Family::Money, _) => {
            [n0, n1, precision, Value::SmallInt(10), scale, null]
        }
        (Family::Float, _) => [n0, n1, precision, Value::SmallInt(2), n2, null],
        (Family::Temporal, SqlType::SmallDateTime | SqlType::Date) => {
            [n0, n1, n2, n3, null, Value::SmallInt(0)]
        }
        (Family::Temporal, _) => [n0, n1, n2, n3, null, Value::SmallInt(i16::from(t.scale()))],
    }
}

/// The name of the character set of a collation's varchar.
pub(super) fn character_set(collation: types::Collation) -> Value {
    match collation.code_page().number() {
        1252 => text("iso_1"),
        65001 => text("utf8"),
        page => text(&format!("cp{page}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_that_tools_expect() {
        let shown = |t: SqlType| sizes(t).map(|v| v.to_string()).join(" ");
        let cases = [
            (SqlType::Int, "NULL NULL 10 10 0 NULL"),
            (SqlType::decimal(9, 2), "NULL NULL 9 10 2 NULL"),
            (SqlType::Float, "NULL NULL 53 2 NULL NULL"),
            (SqlType::nvarchar(40), "40 80 NULL NULL NULL NULL"),
            (SqlType::VARCHAR_MAX, "-1 -1 NULL NULL NULL NULL"),
            (SqlType::NVARCHAR_MAX, "-1 -1 NULL NULL NULL NULL"),
            (SqlType::DateTime2(3), "NULL NULL NULL NULL NULL 3"),
            (SqlType::Bit, "NULL NULL NULL NULL NULL NULL"),
            (SqlType::NText, "1073741823 2147483646 NULL NULL NULL NULL"),
            (SqlType::Variant, "0 0 NULL NULL NULL NULL"),
        ];
        for (t, expected) in cases {
            assert_eq!(shown(t), expected, "{t}");
        }
    }
}

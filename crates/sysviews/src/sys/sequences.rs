//! `sys.sequences`: sequences, their properties and current values.

use super::object_list;
use crate::cell::{bit, counted, int};
use crate::column::{Column, col, join, maybe, zero};
use crate::view::{Rows, System, View};
use catalog::view::{Object, Origin, SchemaId, Sequence};
use types::{SqlType, Value};

const BIT: SqlType = SqlType::Bit;
/// The values have the sequence's own type.
const VARIANT: SqlType = SqlType::Variant;

const COLUMNS: [Column; 26] = join(
    object_list::of_kind("SO", "SEQUENCE_OBJECT"),
    [
        col("start_value", VARIANT),
        col("increment", VARIANT),
        col("minimum_value", VARIANT),
        col("maximum_value", VARIANT),
        col("is_cycling", BIT),
        col("is_cached", BIT),
        maybe("cache_size", SqlType::Int),
        col("system_type_id", SqlType::TinyInt),
        col("user_type_id", SqlType::Int),
        col("precision", SqlType::TinyInt),
        zero("scale", SqlType::TinyInt, "Sequences have no fraction."),
        col("current_value", VARIANT),
        col("is_exhausted", BIT),
        maybe("last_used_value", VARIANT),
    ],
);

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "sequences", parameters: None, columns: &COLUMNS, rows };

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let view = system.view()?;
    let database = system.here()?;
    let mut rows = Vec::new();
    for listed in object_list::own_of(system, "SO")? {
        let Some(Object::Sequence(s)) = view.by_id(listed.id) else { continue };
        let mut cells = listed.kind_cells();
        cells.extend(properties(&s, database.identities().last(s.counter)));
        rows.push(cells);
    }
    Ok(rows)
}

fn properties(s: &Sequence, last: Option<i128>) -> [Value; 13] {
    let (current, used) = match (last, s.origin) {
        (Some(last), _) | (None, Origin::After(last)) => (last, Some(last)),
        (None, Origin::First(first)) => (first, None),
    };
    let own = |n: i128| counted(n, s.sql_type);
    let ended = used.is_some_and(|last| s.following(last).is_none());
    [
        own(s.start),
        own(s.increment),
        own(s.minimum),
        own(s.maximum),
        bit(s.cycles),
        bit(s.cache.is_some()),
        s.cache.filter(|n| *n > 0).map_or(Value::Null, int),
        Value::TinyInt(s.sql_type.system_type_id()),
        int(s.user_type_id),
        Value::TinyInt(s.sql_type.precision()),
        own(current),
        bit(ended),
        used.map_or(Value::Null, own),
    ]
}

//! A sequence as rows of the system tables, and back.
//!
//! Its type is that of column 1; the rest is one text of words:
//! `start increment minimum maximum cycles cache counter first|after value`, where a cache of -1 is
//! NO CACHE.

use crate::definition::DefinitionRows;
use crate::error::CatalogError;
use crate::sysrows::{ColumnRow, split_text, text_class};
use crate::view::{Origin, SchemaId, Sequence};
use base::{HobtId, ObjectId};

/// `sys.objects.type` of a sequence.
pub(crate) const KIND: &str = "SO";

impl DefinitionRows {
    pub(crate) fn of_sequence(s: &Sequence) -> DefinitionRows {
        let mut rows = DefinitionRows::default();
        rows.object(s.object_id, s.schema_id, &s.name, KIND, 0, ObjectId(0));
        rows.columns.push(ColumnRow {
            object: s.object_id.0,
            column: 1,
            ordinal: 0,
            name: s.name.clone(),
            system_type: s.sql_type.system_type_id(),
            user_type: s.user_type_id,
            length: s.sql_type.max_length(),
            precision: s.sql_type.precision(),
            scale: s.sql_type.scale(),
            collation: 0,
            status: 0,
            physical: None,
            default: 0,
            seed: None,
            increment: None,
        });
        rows.texts = split_text(s.object_id.0, text_class::OBJECT, 0, &wording(s));
        rows.add_properties(&s.properties);
        rows
    }

    pub(crate) fn sequence(&self, schema_name: &str) -> Result<Sequence, CatalogError> {
        let row = self.own()?;
        let text = self.text(row.id, text_class::OBJECT, 0)?;
        let column = self.columns.first();
        let typed = column.and_then(|c| Some((c.sql_type()?, c.user_type)));
        let read = typed.and_then(|(sql_type, user_type_id)| {
            let blank = Sequence {
                object_id: ObjectId(row.id),
                schema_id: SchemaId(row.schema),
                schema_name: schema_name.into(),
                name: row.name.clone(),
                sql_type,
                user_type_id,
                start: 0,
                increment: 1,
                minimum: 0,
                maximum: 0,
                cycles: false,
                cache: None,
                counter: HobtId(0),
                origin: Origin::First(0),
                properties: Vec::new(),
            };
            of_wording(blank, &text)
        });
        let mut sequence = read.ok_or_else(|| {
            CatalogError::corrupt("sysobjvalues", format!("sequence {}: {text}", row.id))
        })?;
        sequence.properties = self.properties()?;
        Ok(sequence)
    }
}

fn wording(s: &Sequence) -> String {
    let (word, value) = match s.origin {
        Origin::First(value) => ("first", value),
        Origin::After(value) => ("after", value),
    };
    let cache = s.cache.map_or(-1, i64::from);
    format!(
        "{} {} {} {} {} {cache} {} {word} {value}",
        s.start,
        s.increment,
        s.minimum,
        s.maximum,
        u8::from(s.cycles),
        s.counter.0
    )
}

fn of_wording(blank: Sequence, text: &str) -> Option<Sequence> {
    let words: Vec<&str> = text.split(' ').collect();
    let &[start, increment, minimum, maximum, cycles, cache, counter, word, value] = &words[..]
    else {
        return None;
    };
    let value = value.parse().ok()?;
    let cache: i64 = cache.parse().ok()?;
    Some(Sequence {
        start: start.parse().ok()?,
        increment: increment.parse().ok().filter(|i| *i != 0)?,
        minimum: minimum.parse().ok()?,
        maximum: maximum.parse().ok()?,
        cycles: cycles == "1",
        cache: if cache < 0 { None } else { Some(u32::try_from(cache).ok()?) },
        counter: HobtId(counter.parse().ok()?),
        origin: match word {
            "first" => Origin::First(value),
            "after" => Origin::After(value),
            _ => return None,
        },
        ..blank
    })
}

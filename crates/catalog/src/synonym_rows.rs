//! A synonym as rows of the system tables, and back.
//!
//! The name that it stands for is one text: for each of four parts `characters`, a blank, the part;
//! `-` and a blank for one that is not there.

use crate::definition::DefinitionRows;
use crate::error::CatalogError;
use crate::property_rows::taken;
use crate::sysrows::{split_text, text_class};
use crate::view::{BaseName, SchemaId, Synonym};
use base::ObjectId;

/// `sys.objects.type` of a synonym.
pub(crate) const KIND: &str = "SN";

impl DefinitionRows {
    pub(crate) fn of_synonym(s: &Synonym) -> DefinitionRows {
        let mut rows = DefinitionRows::default();
        rows.object(s.object_id, s.schema_id, &s.name, KIND, 0, ObjectId(0));
        rows.texts = split_text(s.object_id.0, text_class::OBJECT, 0, &wording(&s.base));
        rows.add_properties(&s.properties);
        rows
    }

    pub(crate) fn synonym(&self, schema_name: &str) -> Result<Synonym, CatalogError> {
        let row = self.own()?;
        let text = self.text(row.id, text_class::OBJECT, 0)?;
        let base = of_wording(&text).ok_or_else(|| {
            CatalogError::corrupt("sysobjvalues", format!("synonym {}: {text}", row.id))
        })?;
        Ok(Synonym {
            object_id: ObjectId(row.id),
            schema_id: SchemaId(row.schema),
            schema_name: schema_name.into(),
            name: row.name.clone(),
            base,
            properties: self.properties()?,
        })
    }
}

fn wording(base: &BaseName) -> String {
    let parts = [&base.server, &base.database, &base.schema];
    let part = |p: Option<&str>| match p {
        None => "- ".to_owned(),
        Some(text) => format!("{} {text}", text.chars().count()),
    };
    let before: String = parts.into_iter().map(|p| part(p.as_deref())).collect();
    before + &part(Some(&base.object))
}

fn of_wording(text: &str) -> Option<BaseName> {
    let mut rest = text;
    let mut part = || -> Option<Option<Box<str>>> {
        let (length, behind) = rest.split_once(' ')?;
        let (found, behind) = match length {
            "-" => (None, behind),
            length => {
                let (part, behind) = taken(behind, length.parse().ok()?)?;
                (Some(part.into()), behind)
            }
        };
        rest = behind;
        Some(found)
    };
    let (server, database, schema, object) = (part()?, part()?, part()?, part()??);
    rest.is_empty().then_some(BaseName { server, database, schema, object })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_any_parts_comes_back() {
        let name = |s: Option<&str>, d: Option<&str>, c: Option<&str>, object: &str| BaseName {
            server: s.map(Into::into),
            database: d.map(Into::into),
            schema: c.map(Into::into),
            object: object.into(),
        };
        for (base, shown) in [
            (name(None, None, None, "t"), "[t]"),
            (name(None, Some("d e"), None, "3 a]"), "[d e]..[3 a]]]"),
            (name(Some("s"), Some(""), Some("\u{e9} 1 -"), "o"), "[s].[].[\u{e9} 1 -].[o]"),
        ] {
            assert_eq!((of_wording(&wording(&base)), base.quoted()), (Some(base), shown.into()));
        }
        assert_eq!(of_wording("- - - - "), None);
    }
}

//! Extended properties as rows of the system tables, and back.
//!
//! All properties of one owner are one text: for each `characters-of-name digits-of-value` (`-` for
//! NULL), a blank, the name, the value as sql_variant is stored, in hexadecimal digits.

use crate::definition::DefinitionRows;
use crate::error::CatalogError;
use crate::sysrows::{split_text, text_class};
use crate::view::{ExtendedProperty, PropertyClass, PropertyOwner};
use base::ObjectId;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

fn class_of(class: PropertyClass) -> u8 {
    match class {
        PropertyClass::ObjectOrColumn => text_class::PROPERTIES_OF_OBJECT,
        PropertyClass::Parameter => text_class::PROPERTIES_OF_PARAMETER,
        PropertyClass::Index => text_class::PROPERTIES_OF_INDEX,
        PropertyClass::Schema => text_class::PROPERTIES_OF_SCHEMA,
        PropertyClass::Database => text_class::PROPERTIES_OF_DATABASE,
        PropertyClass::Type => text_class::PROPERTIES_OF_TYPE,
        PropertyClass::TypeColumn => text_class::PROPERTIES_OF_TYPE_COLUMN,
    }
}

impl DefinitionRows {
    /// Properties alone: of a schema, of the database.
    pub(crate) fn of_properties(properties: &[ExtendedProperty]) -> DefinitionRows {
        let mut rows = DefinitionRows::default();
        rows.add_properties(properties);
        rows
    }

    pub(crate) fn add_properties(&mut self, properties: &[ExtendedProperty]) {
        let mut texts = BTreeMap::<PropertyOwner, String>::new();
        for p in properties {
            let text = texts.entry(p.owner).or_default();
            let value = p.value.as_deref();
            let length = value.map_or("-".to_owned(), |v| (2 * v.len()).to_string());
            let (name, value) = (&p.name, digits(value.unwrap_or_default()));
            write!(text, "{} {length} {name}{value}", name.chars().count())
                .expect("a string takes any text");
        }
        for (owner, text) in texts {
            let class = class_of(owner.class);
            self.texts.extend(split_text(owner.major.0, class, owner.minor, &text));
        }
    }

    pub(crate) fn properties(&self) -> Result<Vec<ExtendedProperty>, CatalogError> {
        let mut properties = Vec::new();
        for class in PropertyClass::ALL {
            let rows = self.texts.iter().filter(|t| t.class == class_of(class));
            let owners: BTreeSet<(i32, i32)> = rows.map(|t| (t.object, t.column)).collect();
            for (major, minor) in owners {
                let text = self.text(major, class_of(class), minor)?;
                let owner = PropertyOwner { class, major: ObjectId(major), minor };
                let read = parse(&text, owner).ok_or_else(|| {
                    let what = format!("properties of object {major}: {text}");
                    CatalogError::corrupt("sysobjvalues", what)
                })?;
                properties.extend(read);
            }
        }
        Ok(properties)
    }
}

fn parse(text: &str, owner: PropertyOwner) -> Option<Vec<ExtendedProperty>> {
    let mut properties = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (name_length, behind) = rest.split_once(' ')?;
        let (value_length, behind) = behind.split_once(' ')?;
        let (name, behind) = taken(behind, name_length.parse().ok()?)?;
        let (value, behind) = match value_length {
            "-" => (None, behind),
            length => {
                let (value, behind) = taken(behind, length.parse().ok()?)?;
                (Some(bytes(value)?), behind)
            }
        };
        properties.push(ExtendedProperty { owner, name: name.into(), value });
        rest = behind;
    }
    Some(properties)
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02X}")).collect()
}

fn bytes(digits: &str) -> Option<Box<[u8]>> {
    let pairs = digits.as_bytes().chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok().filter(|p| p.len() == 2)?;
        u8::from_str_radix(pair, 16).ok()
    });
    pairs.collect()
}

/// The first characters of a text, and the rest.
pub(crate) fn taken(text: &str, count: usize) -> Option<(&str, &str)> {
    let end = match text.char_indices().nth(count) {
        Some((at, _)) => at,
        None if text.chars().count() == count => text.len(),
        None => return None,
    };
    text.split_at_checked(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_come_back_whatever_is_in_them() {
        let owner = |class, major, minor| PropertyOwner { class, major: ObjectId(major), minor };
        let of = |owner, name: &str, value: Option<&str>| ExtendedProperty {
            owner,
            name: name.into(),
            value: value.map(|v| v.as_bytes().into()),
        };
        let column = owner(PropertyClass::ObjectOrColumn, 7, 2);
        let index = owner(PropertyClass::Index, 7, 1);
        let long = "é𝄞 12 3\n".repeat(900);
        let all = vec![
            of(column, "MS_Description", Some("5 - a 'text'")),
            of(column, "3 4", None),
            of(column, "empty", Some("")),
            of(index, "long", Some(&long)),
        ];
        let mut rows = DefinitionRows::default();
        rows.add_properties(&all);
        assert_eq!(rows.properties().expect("what was written"), all);
        rows.texts.last_mut().expect("the long one's last piece").text = "".into();
        assert!(rows.properties().is_err(), "a text cut short is noticed");
    }
}

//! Synonyms: names for objects that are looked up anew at each use.

use super::{ExtendedProperty, SchemaId};
use base::ObjectId;

/// A synonym.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Synonym {
    /// Its object id.
    pub object_id: ObjectId,
    /// Its schema.
    pub schema_id: SchemaId,
    /// The schema's name.
    pub schema_name: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// What it is a name for.
    pub base: BaseName,
    /// Its extended properties.
    pub properties: Vec<ExtendedProperty>,
}

/// A name of up to four parts. Whether it is of anything is not asked before it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseName {
    /// A linked server.
    pub server: Option<Box<str>>,
    /// Else the synonym's own database.
    pub database: Option<Box<str>>,
    /// Else dbo.
    pub schema: Option<Box<str>>,
    /// The object.
    pub object: Box<str>,
}

impl Synonym {
    /// `schema.synonym`
    pub fn two_part_name(&self) -> String {
        format!("{}.{}", self.schema_name, self.name)
    }
}

impl BaseName {
    /// `[database].[schema].[object]`, as `sys.synonyms` shows it.
    pub fn quoted(&self) -> String {
        let parts = [&self.server, &self.database, &self.schema];
        let first = parts.iter().position(|p| p.is_some()).unwrap_or(parts.len());
        let quoted = |part: &str| format!("[{}]", part.replace(']', "]]"));
        let before = parts.iter().skip(first);
        let mut all: Vec<String> =
            before.map(|p| p.as_deref().map_or_else(String::new, quoted)).collect();
        all.push(quoted(&self.object));
        all.join(".")
    }
}

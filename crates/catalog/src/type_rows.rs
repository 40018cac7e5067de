//! A type of a user as rows of the system tables, and back.
//!
//! An alias is an object with one column, of the type that it is a name of; a table type is written
//! as its table is, without hobts. Both have one text of words: `user_type_id nullable base`.

use crate::definition::{DefinitionRows, flag};
use crate::error::CatalogError;
use crate::sysrows::{ColumnRow, RowsetRow, split_text, text_class};
use crate::view::{PartitionNumber, SchemaId, Table, UserType, UserTypeKind};
use base::{DatabaseId, HobtId, ObjectId};
use std::sync::Arc;

/// `sys.objects.type` of a table type.
pub(crate) const TABLE_KIND: &str = "TT";
/// What an alias is in `sysschobjs`; no view shows it.
pub(crate) const ALIAS_KIND: &str = "UT";

impl DefinitionRows {
    pub(crate) fn of_type(t: &UserType) -> DefinitionRows {
        let (mut rows, nullable, base) = match &t.kind {
            UserTypeKind::Table(table) => {
                let named = Table {
                    schema_id: t.schema_id,
                    name: t.name.clone(),
                    is_temp: false,
                    ..Table::clone(table)
                };
                let mut rows = DefinitionRows::of_table(&named);
                rows.rowsets.clear();
                let own = rows.objects.iter_mut().filter(|o| o.id == t.object_id.0);
                own.for_each(|o| o.kind = TABLE_KIND.into());
                (rows, false, 0)
            }
            UserTypeKind::Alias { sql_type, base, nullable } => {
                let mut rows = DefinitionRows::default();
                let id = t.object_id;
                rows.object(id, t.schema_id, &t.name, ALIAS_KIND, 0, ObjectId(0));
                rows.columns.push(ColumnRow {
                    object: id.0,
                    column: 1,
                    ordinal: 0,
                    name: t.name.clone(),
                    system_type: sql_type.system_type_id(),
                    user_type: t.user_type_id,
                    length: sql_type.max_length(),
                    precision: sql_type.precision(),
                    scale: sql_type.scale(),
                    collation: 0,
                    status: 0,
                    physical: None,
                    default: 0,
                    seed: None,
                    increment: None,
                });
                (rows, *nullable, *base)
            }
        };
        let words = format!("{} {} {base}", t.user_type_id, flag(nullable, 1));
        rows.texts.extend(split_text(t.object_id.0, text_class::OBJECT, 0, &words));
        rows.add_properties(&t.properties);
        rows
    }

    /// Whether these are the rows of a type.
    pub(crate) fn is_type(&self, owner: i32) -> bool {
        let own = self.objects.iter().find(|o| o.id == owner);
        own.is_some_and(|o| [TABLE_KIND, ALIAS_KIND].contains(&o.kind.trim_end()))
    }

    /// The type of these rows, an alias or not.
    pub(crate) fn user_type(
        mut self,
        database: DatabaseId,
        schema_name: &str,
    ) -> Result<UserType, CatalogError> {
        let row = self.own()?.clone();
        let text = self.text(row.id, text_class::OBJECT, 0)?;
        let corrupt = || CatalogError::corrupt("sysobjvalues", format!("type {}: {text}", row.id));
        let words: Vec<i32> = text.split(' ').filter_map(|w| w.parse().ok()).collect();
        let &[user_type_id, nullable, base] = &words[..] else { return Err(corrupt()) };
        let properties = self.properties()?;
        let kind = match row.kind.trim_end() == ALIAS_KIND {
            true => {
                let column = self.columns.first();
                let sql_type = column.and_then(ColumnRow::sql_type).ok_or_else(corrupt)?;
                UserTypeKind::Alias { sql_type, base, nullable: nullable != 0 }
            }
            false => {
                self.number_hobts();
                let table = self.table(database, schema_name)?;
                UserTypeKind::Table(Arc::new(Table {
                    is_temp: true,
                    properties: Vec::new(),
                    ..table
                }))
            }
        };
        Ok(UserType {
            object_id: ObjectId(row.id),
            user_type_id,
            schema_id: SchemaId(row.schema),
            schema_name: schema_name.into(),
            name: row.name,
            kind,
            properties,
        })
    }

    /// Hobts as the first table variable of a text has them.
    fn number_hobts(&mut self) {
        let mut indexes: Vec<(i32, i32)> =
            self.indexes.iter().map(|i| (i.index, i.object)).collect();
        indexes.sort_unstable();
        let rowset = |(position, (index, object)): (usize, (i32, i32))| RowsetRow {
            hobt: HobtId::of_table_variable(0, position).0 as i32,
            object,
            index,
            partition: PartitionNumber::FIRST.0,
        };
        self.rowsets = indexes.into_iter().enumerate().map(rowset).collect();
    }
}

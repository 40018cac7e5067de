//! A table as rows of the system tables, and back.

use crate::error::CatalogError;
use crate::filter_text;
use crate::statistics::Distribution;
use crate::sysrows::{
    ColumnRow, IndexColumnRow, IndexRow, ObjectRow, RowsetRow, STATISTICS_ALONE, TextRow,
    column_status, index_column_status, index_status, join_texts, object_status, split_text,
    stored_collation, text_class,
};
use crate::view::{
    AutoFill, Check, Column, ComputedColumn, Default, ForeignKey, ForeignKeyColumn, Identity,
    Index, IndexColumn, IndexKind, Partition, PartitionNumber, Partitions, RowHistory, SchemaId,
    Statistics, StatisticsContent, Table, Wording,
};
use base::{DatabaseId, HobtId, IndexId, ObjectId};
use std::sync::Arc;
use types::Restriction;

/// All rows that one definition has, without places of pages.
#[derive(Clone, Debug, Default)]
pub(crate) struct DefinitionRows {
    pub(crate) objects: Vec<ObjectRow>,
    pub(crate) columns: Vec<ColumnRow>,
    pub(crate) indexes: Vec<IndexRow>,
    pub(crate) index_columns: Vec<IndexColumnRow>,
    pub(crate) rowsets: Vec<RowsetRow>,
    pub(crate) texts: Vec<TextRow>,
}

/// The version of the order of an index's entries: of its key, and of the clustered key behind it.
fn order_of(key: &[IndexColumn], table: &Table) -> u8 {
    let clustered = table.indexes.iter().find(|i| i.kind == IndexKind::Clustered);
    let behind = clustered.map_or(&[][..], |i| &i.key);
    let columns = key.iter().chain(behind).map(|k| &table.columns[k.column]);
    let texts = columns.filter(|c| c.sql_type.is_character());
    texts.map(|c| c.collation.order_version()).max().unwrap_or(0)
}

pub(crate) fn flag(on: bool, bit: i32) -> i32 {
    if on { bit } else { 0 }
}

impl DefinitionRows {
    /// The rows of a table, its indexes and constraints.
    pub(crate) fn of_table(table: &Table) -> DefinitionRows {
        let mut rows = DefinitionRows::default();
        let status = flag(table.is_temp, object_status::TEMPORARY);
        rows.object(table.object_id, table.schema_id, &table.name, "U", status, ObjectId(0));
        for (ordinal, column) in table.columns.iter().enumerate() {
            rows.column(table.object_id, table.schema_id, ordinal, column);
        }
        for index in &table.indexes {
            rows.index(table, index);
        }
        for statistics in &table.statistics {
            rows.statistics(table, statistics);
        }
        for check in &table.checks {
            let status = flag(check.system_named, object_status::SYSTEM_NAMED)
                | flag(check.disabled, object_status::DISABLED)
                | flag(check.not_trusted, object_status::NOT_TRUSTED)
                | flag(check.not_for_replication, object_status::NOT_FOR_REPLICATION);
            let id = check.object_id;
            rows.object(id, table.schema_id, &check.name, "C", status, table.object_id);
            if let (Some(row), Some(at)) = (rows.objects.last_mut(), check.column) {
                row.column = table.columns[at].column_id;
            }
            rows.texts.extend(split_text(id.0, text_class::OBJECT, 0, &check.text));
        }
        for foreign in &table.foreign_keys {
            rows.foreign_key(table, foreign);
        }
        if !table.history.is_empty() {
            let (id, text) = (table.object_id.0, table.history.to_text());
            rows.texts.extend(split_text(id, text_class::ROW_HISTORY, 0, &text));
        }
        rows.add_properties(&table.properties);
        rows
    }

    /// The rows of a module.
    pub(crate) fn object(
        &mut self,
        id: ObjectId,
        schema: SchemaId,
        name: &str,
        kind: &str,
        status: i32,
        parent: ObjectId,
    ) {
        self.objects.push(ObjectRow {
            id: id.0,
            schema: schema.0,
            name: name.into(),
            kind: kind.into(),
            parent: parent.0,
            status,
            column: 0,
            created: 0,
            modified: 0,
        });
    }

    pub(crate) fn column(
        &mut self,
        object: ObjectId,
        schema: SchemaId,
        ordinal: usize,
        column: &Column,
    ) {
        let t = column.sql_type;
        let persisted = column.computed.as_ref().is_some_and(|c| c.persisted);
        let apart = column.identity.is_some_and(|i| i.not_for_replication);
        let status = flag(column.nullable, column_status::NULLABLE)
            | flag(column.computed.is_some(), column_status::COMPUTED)
            | flag(persisted, column_status::PERSISTED)
            | flag(column.row_guid, column_status::ROW_GUID)
            | flag(apart, column_status::NOT_FOR_REPLICATION);
        let (collation, beyond) = stored_collation(column.collation);
        self.columns.push(ColumnRow {
            object: object.0,
            column: column.column_id,
            ordinal: ordinal as i32,
            name: column.name.clone(),
            system_type: t.system_type_id(),
            user_type: column.user_type_id,
            length: t.max_length(),
            precision: t.precision(),
            scale: t.scale(),
            collation,
            status: status | beyond,
            physical: column.physical.map(|p| p as i16),
            default: column.default.as_ref().map_or(0, |d| d.object_id.0),
            seed: column.identity.map(|i| i.seed),
            increment: column.identity.map(|i| i.increment),
        });
        if let Some(d) = &column.default {
            let status = flag(d.system_named, object_status::SYSTEM_NAMED);
            self.object(d.object_id, schema, &d.name, "D", status, object);
            self.texts.extend(split_text(d.object_id.0, text_class::OBJECT, 0, &d.text));
        }
        if let Some(c) = &column.computed {
            let column = column.column_id;
            self.texts.extend(split_text(object.0, text_class::COMPUTED, column, &c.text));
        }
    }

    fn index(&mut self, table: &Table, index: &Index) {
        let status = flag(index.unique, index_status::UNIQUE)
            | flag(index.primary_key, index_status::PRIMARY_KEY)
            | flag(index.unique_constraint, index_status::UNIQUE_CONSTRAINT)
            | flag(index.system_named, index_status::SYSTEM_NAMED)
            | flag(index.ignore_dup_key, index_status::IGNORE_DUP_KEY)
            | flag(index.disabled, index_status::DISABLED)
            | flag(index.padded, index_status::PADDED)
            | i32::from(order_of(&index.key, table)) << index_status::ORDER_SHIFT
            | flag(index.gathered.no_recompute, index_status::NO_RECOMPUTE);
        let (object, number) = (table.object_id.0, index.index_id.0);
        self.indexes.push(IndexRow {
            object,
            index: number,
            name: index.name.clone(),
            status,
            kind: match index.kind {
                IndexKind::Heap => 0,
                IndexKind::Clustered => 1,
                IndexKind::Nonclustered => 2,
            },
            fill_factor: index.fill_factor,
            constraint: index.constraint_id.map_or(0, |c| c.0),
        });
        self.rowsets.extend(index.partitions.iter().map(|p| RowsetRow {
            hobt: p.hobt.0 as i32,
            object,
            index: number,
            partition: p.number.0,
        }));
        let keys = index
            .key
            .iter()
            .map(|k| (k.column, flag(k.descending, index_column_status::DESCENDING)));
        let included = index.included.iter().map(|&c| (c, index_column_status::INCLUDED));
        for (n, (ordinal, status)) in keys.chain(included).enumerate() {
            let column = table.columns[ordinal].column_id;
            let position = n as i32 + 1;
            let row = IndexColumnRow { object, index: number, position, column, status };
            self.index_columns.push(row);
        }
        self.distribution(object, number, &index.gathered);
        if let Some(filter) = &index.filter {
            let text = filter_text::write(&table.columns, filter);
            self.texts.extend(split_text(object, text_class::FILTER, number, &text));
        }
        if let Some(auto) = &index.auto_fill {
            let pieces = split_text(object, text_class::AUTO_FILL, number, &auto.to_text());
            self.texts.extend(pieces);
        }
        if let Some(id) = index.constraint_id {
            let kind = if index.primary_key { "PK" } else { "UQ" };
            let status = flag(index.system_named, object_status::SYSTEM_NAMED);
            self.object(id, table.schema_id, &index.name, kind, status, table.object_id);
        }
    }

    fn foreign_key(&mut self, table: &Table, foreign: &ForeignKey) {
        let status = flag(foreign.system_named, object_status::SYSTEM_NAMED)
            | flag(foreign.disabled, object_status::DISABLED)
            | flag(foreign.not_trusted, object_status::NOT_TRUSTED)
            | flag(foreign.not_for_replication, object_status::NOT_FOR_REPLICATION);
        let id = foreign.object_id;
        self.object(id, table.schema_id, &foreign.name, "F", status, table.object_id);
        let pair = |c: &ForeignKeyColumn| (table.columns[c.column].column_id, c.referenced);
        let wording = Wording {
            referenced: foreign.referenced,
            key_index: foreign.key_index,
            on_delete: foreign.on_delete,
            on_update: foreign.on_update,
            columns: foreign.columns.iter().map(pair).collect(),
        };
        self.texts.extend(split_text(id.0, text_class::OBJECT, 0, &wording.to_text()));
    }

    fn statistics(&mut self, table: &Table, s: &Statistics) {
        let (object, index) = (table.object_id.0, s.stats_id.0);
        self.indexes.push(IndexRow {
            object,
            index,
            name: s.name.clone(),
            status: flag(s.gathered.no_recompute, index_status::NO_RECOMPUTE),
            kind: STATISTICS_ALONE,
            fill_factor: 0,
            constraint: 0,
        });
        for (n, &ordinal) in s.columns.iter().enumerate() {
            let column = table.columns[ordinal].column_id;
            let row = IndexColumnRow { object, index, position: n as i32 + 1, column, status: 0 };
            self.index_columns.push(row);
        }
        self.distribution(object, index, &s.gathered);
    }

    fn distribution(&mut self, object: i32, number: i32, gathered: &StatisticsContent) {
        if let Some(d) = &gathered.distribution {
            let pieces = split_text(object, text_class::DISTRIBUTION, number, &d.to_text());
            self.texts.extend(pieces);
        }
    }

    fn filter(
        &self,
        row: &IndexRow,
        columns: &[Column],
    ) -> Result<Option<Arc<Restriction>>, CatalogError> {
        let mine = |t: &&TextRow| {
            (t.object, t.class, t.column) == (row.object, text_class::FILTER, row.index)
        };
        if !self.texts.iter().any(|t| mine(&t)) {
            return Ok(None);
        }
        let text = join_texts(self.texts.iter().filter(mine));
        let read = text.and_then(|t| filter_text::read(columns, &t));
        read.map(|filter| Some(Arc::new(filter))).ok_or_else(|| {
            let what = format!("the filter of index {} of object {}", row.index, row.object);
            CatalogError::corrupt("sysobjvalues", what)
        })
    }

    fn auto_fill(&self, row: &IndexRow) -> Result<Option<AutoFill>, CatalogError> {
        let mine = |t: &&TextRow| {
            (t.object, t.class, t.column) == (row.object, text_class::AUTO_FILL, row.index)
        };
        if !self.texts.iter().any(|t| mine(&t)) {
            return Ok(None);
        }
        let text = join_texts(self.texts.iter().filter(mine));
        let read = text.and_then(|t| AutoFill::from_text(&t));
        read.map(Some).ok_or_else(|| {
            let what = format!("the fill of index {} of object {}", row.index, row.object);
            CatalogError::corrupt("sysobjvalues", what)
        })
    }

    fn gathered(&self, row: &IndexRow) -> Result<StatisticsContent, CatalogError> {
        let mine = |t: &&TextRow| {
            let of = (t.object, t.class, t.column);
            of == (row.object, text_class::DISTRIBUTION, row.index)
        };
        let mut distribution = None;
        if self.texts.iter().any(|t| mine(&t)) {
            let text = join_texts(self.texts.iter().filter(mine));
            let found = text.and_then(|t| Distribution::from_text(&t)).ok_or_else(|| {
                let what = format!("statistics {} of object {}", row.index, row.object);
                CatalogError::corrupt("sysobjvalues", what)
            })?;
            distribution = Some(Arc::new(found));
        }
        let no_recompute = row.status & index_status::NO_RECOMPUTE != 0;
        Ok(StatisticsContent { no_recompute, distribution })
    }

    fn statistics_of(
        &self,
        row: &IndexRow,
        columns: &[Column],
    ) -> Result<Statistics, CatalogError> {
        let mine = self.index_columns.iter();
        let mine = mine.filter(|c| (c.object, c.index) == (row.object, row.index));
        let ordinals =
            mine.map(|c| ordinal_of(columns, c.column)).collect::<Result<Vec<_>, _>>()?;
        if ordinals.is_empty() {
            let what = format!("statistics {} of object {}", row.index, row.object);
            return Err(CatalogError::corrupt("sysiscols", what));
        }
        Ok(Statistics {
            stats_id: IndexId(row.index),
            name: row.name.clone(),
            columns: ordinals,
            gathered: self.gathered(row)?,
        })
    }

    pub(crate) fn text(
        &self,
        object: i32,
        class: u8,
        column: i32,
    ) -> Result<Box<str>, CatalogError> {
        let pieces = self
            .texts
            .iter()
            .filter(|t| t.object == object && t.class == class && t.column == column);
        join_texts(pieces).ok_or_else(|| {
            CatalogError::corrupt("sysobjvalues", format!("no whole text of object {object}"))
        })
    }

    fn constraint(&self, id: i32) -> Result<&ObjectRow, CatalogError> {
        let found = self.objects.iter().find(|o| o.id == id);
        found.ok_or_else(|| CatalogError::corrupt("sysschobjs", format!("no constraint {id}")))
    }

    /// The module of these rows.
    /// The table of these rows.
    pub(crate) fn table(
        &self,
        database: DatabaseId,
        schema_name: &str,
    ) -> Result<Table, CatalogError> {
        let row = self.own()?;
        let mut ordered: Vec<&ColumnRow> = self.columns.iter().collect();
        ordered.sort_by_key(|c| c.ordinal);
        let columns =
            ordered.into_iter().map(|c| self.column_of(c)).collect::<Result<Vec<_>, _>>()?;
        let mut indexes = Vec::with_capacity(self.indexes.len());
        let mut statistics = Vec::new();
        for index in &self.indexes {
            match index.kind {
                STATISTICS_ALONE => statistics.push(self.statistics_of(index, &columns)?),
                _ => indexes.push(self.index_of(index, &columns)?),
            }
        }
        statistics.sort_by_key(|s: &Statistics| s.stats_id);
        indexes.sort_by_key(|i: &Index| i.index_id);
        let bases = indexes.iter().filter(|i| i.kind != IndexKind::Nonclustered).count();
        if bases != 1 || indexes[0].kind == IndexKind::Nonclustered {
            let what = format!("table {} has not one heap or clustered index", row.id);
            return Err(CatalogError::corrupt("sysidxstats", what));
        }
        let checks = self.objects.iter().filter(|o| o.kind.trim_end() == "C");
        let checks = checks.map(|o| self.check_of(o, &columns)).collect::<Result<Vec<_>, _>>()?;
        let foreign = self.objects.iter().filter(|o| o.kind.trim_end() == "F");
        let foreign_keys =
            foreign.map(|o| self.foreign_key_of(o, &columns)).collect::<Result<Vec<_>, _>>()?;
        let table = Table {
            database,
            object_id: ObjectId(row.id),
            schema_id: SchemaId(row.schema),
            schema_name: schema_name.into(),
            name: row.name.clone(),
            columns,
            indexes,
            statistics,
            checks,
            foreign_keys,
            history: self.history(row.id)?,
            properties: self.properties()?,
            is_temp: row.status & object_status::TEMPORARY != 0,
        };
        self.check_orders(&table)?;
        Ok(table)
    }

    /// Every index is in the order that its collations have in this build.
    fn check_orders(&self, table: &Table) -> Result<(), CatalogError> {
        let other = |row: &&IndexRow| {
            let index = table.indexes.iter().find(|i| i.index_id.0 == row.index);
            let built = (row.status >> index_status::ORDER_SHIFT) as u8;
            index.is_some_and(|i| order_of(&i.key, table) != built)
        };
        let indexes: Vec<&str> = self.indexes.iter().filter(other).map(|i| &*i.name).collect();
        match indexes.is_empty() {
            true => Ok(()),
            false => Err(CatalogError::OtherOrder {
                table: table.two_part_name(),
                indexes: indexes.join(", "),
            }),
        }
    }

    fn history(&self, object: i32) -> Result<RowHistory, CatalogError> {
        let class = text_class::ROW_HISTORY;
        if !self.texts.iter().any(|t| (t.object, t.class) == (object, class)) {
            return Ok(RowHistory::default());
        }
        let text = self.text(object, class, 0)?;
        RowHistory::from_text(&text).ok_or_else(|| {
            CatalogError::corrupt("sysobjvalues", format!("rows of table {object}: {text}"))
        })
    }

    pub(crate) fn own(&self) -> Result<&ObjectRow, CatalogError> {
        let own = self.objects.iter().find(|o| o.is_whole());
        own.ok_or_else(|| {
            CatalogError::corrupt("sysschobjs", "rows of an object that is not there")
        })
    }

    pub(crate) fn column_of(&self, row: &ColumnRow) -> Result<Column, CatalogError> {
        let corrupt = |what: &str| {
            let what = format!("column {} of object {}: {what}", row.column, row.object);
            CatalogError::corrupt("syscolpars", what)
        };
        let default = match row.default {
            0 => None,
            id => {
                let d = self.constraint(id)?;
                Some(Default {
                    object_id: ObjectId(id),
                    name: d.name.clone(),
                    system_named: d.status & object_status::SYSTEM_NAMED != 0,
                    text: self.text(id, text_class::OBJECT, 0)?,
                })
            }
        };
        let computed = match row.status & column_status::COMPUTED {
            0 => None,
            _ => Some(ComputedColumn {
                text: self.text(row.object, text_class::COMPUTED, row.column)?,
                persisted: row.status & column_status::PERSISTED != 0,
            }),
        };
        Ok(Column {
            column_id: row.column,
            name: row.name.clone(),
            sql_type: row.sql_type().ok_or_else(|| corrupt("no such type"))?,
            user_type_id: row.user_type,
            nullable: row.status & column_status::NULLABLE != 0,
            collation: row.collation().ok_or_else(|| corrupt("no such collation"))?,
            row_guid: row.status & column_status::ROW_GUID != 0,
            identity: row.seed.zip(row.increment).map(|(seed, increment)| Identity {
                seed,
                increment,
                not_for_replication: row.status & column_status::NOT_FOR_REPLICATION != 0,
            }),
            default,
            computed,
            physical: row.physical.map(|p| p as u16),
        })
    }

    /// Where the rows of an index are, by the numbers of its partitions.
    fn partitions(&self, row: &IndexRow) -> Result<Partitions, CatalogError> {
        let mine = self.rowsets.iter().filter(|r| (r.object, r.index) == (row.object, row.index));
        let partition = |r: &RowsetRow| Partition {
            number: PartitionNumber(r.partition),
            hobt: HobtId(r.hobt as u32),
        };
        let all: Vec<Partition> = mine.map(partition).collect();
        let has = match all.is_empty() {
            true => "no hobt".to_owned(),
            false => format!("partitions {:?}", all.iter().map(|p| p.number.0).collect::<Vec<_>>()),
        };
        Partitions::stored(all).ok_or_else(|| {
            let what = format!("index {} of object {} has {has}", row.index, row.object);
            CatalogError::corrupt("sysrowsets", what)
        })
    }

    fn index_of(&self, row: &IndexRow, columns: &[Column]) -> Result<Index, CatalogError> {
        let mine = |object, index| object == row.object && index == row.index;
        let (mut key, mut included) = (Vec::new(), Vec::new());
        for part in self.index_columns.iter().filter(|c| mine(c.object, c.index)) {
            let column = ordinal_of(columns, part.column)?;
            if part.status & index_column_status::INCLUDED != 0 {
                included.push(column);
            } else {
                let descending = part.status & index_column_status::DESCENDING != 0;
                key.push(IndexColumn { column, descending });
            }
        }
        let has = |bit| row.status & bit != 0;
        let kind = match row.kind {
            0 => IndexKind::Heap,
            1 => IndexKind::Clustered,
            _ => IndexKind::Nonclustered,
        };
        if key.is_empty() != (kind == IndexKind::Heap) {
            let what = format!("index {} of object {} has a wrong key", row.index, row.object);
            return Err(CatalogError::corrupt("sysiscols", what));
        }
        Ok(Index {
            index_id: IndexId(row.index),
            name: row.name.clone(),
            kind,
            unique: has(index_status::UNIQUE),
            primary_key: has(index_status::PRIMARY_KEY),
            unique_constraint: has(index_status::UNIQUE_CONSTRAINT),
            constraint_id: (row.constraint != 0).then_some(ObjectId(row.constraint)),
            system_named: has(index_status::SYSTEM_NAMED),
            key,
            included,
            partitions: self.partitions(row)?,
            fill_factor: row.fill_factor,
            auto_fill: self.auto_fill(row)?,
            padded: has(index_status::PADDED),
            ignore_dup_key: has(index_status::IGNORE_DUP_KEY),
            disabled: has(index_status::DISABLED),
            filter: self.filter(row, columns)?,
            gathered: self.gathered(row)?,
        })
    }

    fn check_of(&self, row: &ObjectRow, columns: &[Column]) -> Result<Check, CatalogError> {
        let column = match row.column {
            0 => None,
            id => Some(ordinal_of(columns, id)?),
        };
        Ok(Check {
            object_id: ObjectId(row.id),
            name: row.name.clone(),
            system_named: row.status & object_status::SYSTEM_NAMED != 0,
            text: self.text(row.id, text_class::OBJECT, 0)?,
            column,
            disabled: row.status & object_status::DISABLED != 0,
            not_trusted: row.status & object_status::NOT_TRUSTED != 0,
            not_for_replication: row.status & object_status::NOT_FOR_REPLICATION != 0,
        })
    }

    fn foreign_key_of(
        &self,
        row: &ObjectRow,
        columns: &[Column],
    ) -> Result<ForeignKey, CatalogError> {
        let text = self.text(row.id, text_class::OBJECT, 0)?;
        let wording = Wording::from_text(&text).ok_or_else(|| {
            CatalogError::corrupt("sysobjvalues", format!("foreign key {}: {text}", row.id))
        })?;
        let mut pairs = Vec::with_capacity(wording.columns.len());
        for (column, referenced) in wording.columns {
            pairs.push(ForeignKeyColumn { column: ordinal_of(columns, column)?, referenced });
        }
        Ok(ForeignKey {
            object_id: ObjectId(row.id),
            name: row.name.clone(),
            system_named: row.status & object_status::SYSTEM_NAMED != 0,
            referenced: wording.referenced,
            key_index: wording.key_index,
            columns: pairs,
            on_delete: wording.on_delete,
            on_update: wording.on_update,
            disabled: row.status & object_status::DISABLED != 0,
            not_trusted: row.status & object_status::NOT_TRUSTED != 0,
            not_for_replication: row.status & object_status::NOT_FOR_REPLICATION != 0,
        })
    }
}

fn ordinal_of(columns: &[Column], id: i32) -> Result<usize, CatalogError> {
    let found = columns.iter().position(|c| c.column_id == id);
    found.ok_or_else(|| CatalogError::corrupt("syscolpars", format!("no column {id}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::{Collation, Length, SqlType};

    fn column(id: i32, sql_type: SqlType, collation: &str) -> Column {
        Column {
            column_id: id,
            name: format!("c{id}").into(),
            sql_type,
            user_type_id: sql_type.user_type_id(),
            nullable: false,
            collation: Collation::by_name(collation).expect("a collation"),
            row_guid: false,
            identity: None,
            default: None,
            computed: None,
            physical: Some(id as u16 - 1),
        }
    }

    fn index(id: i32, name: &str, kind: IndexKind, key: &[usize]) -> Index {
        Index {
            index_id: IndexId(id),
            name: name.into(),
            kind,
            partitions: Partitions::one(HobtId(100 + id as u32)),
            key: key.iter().map(|&column| IndexColumn { column, descending: false }).collect(),
            unique: false,
            primary_key: false,
            unique_constraint: false,
            constraint_id: None,
            system_named: false,
            included: Vec::new(),
            fill_factor: 0,
            auto_fill: None,
            padded: false,
            ignore_dup_key: false,
            disabled: false,
            filter: None,
            gathered: StatisticsContent::default(),
        }
    }

    fn table() -> Table {
        let text = SqlType::NVarChar(Length::N(20));
        Table {
            database: DatabaseId(5),
            object_id: ObjectId(1000),
            schema_id: SchemaId::DBO,
            schema_name: "dbo".into(),
            name: "t".into(),
            columns: vec![
                column(1, text, "Czech_CI_AS"),
                column(2, text, "Latin1_General_CI_AS"),
                column(3, SqlType::Int, "Czech_CI_AS"),
            ],
            indexes: vec![
                index(0, "", IndexKind::Heap, &[]),
                index(2, "czech", IndexKind::Nonclustered, &[2, 0]),
                index(3, "latin", IndexKind::Nonclustered, &[1]),
                index(4, "number", IndexKind::Nonclustered, &[2]),
            ],
            statistics: Vec::new(),
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            history: RowHistory::default(),
            properties: Vec::new(),
            is_temp: false,
        }
    }

    /// Rowset rows come in the order of their hobts: partitions are told by their numbers, and a
    /// number that is missing is damage.
    #[test]
    fn partitions_come_by_number_and_without_gaps() {
        let mut table = table();
        let hobts = [402, 401, 403].map(HobtId);
        table.indexes[0].partitions = Partitions::numbered(hobts).expect("three");
        let mut rows = DefinitionRows::of_table(&table);
        rows.rowsets.sort_by_key(|r| r.hobt);
        let numbers: Vec<i32> =
            rows.rowsets.iter().filter(|r| r.index == 0).map(|r| r.partition).collect();
        assert_eq!(numbers, [2, 1, 3]);
        assert_eq!(rows.table(DatabaseId(5), "dbo"), Ok(table));
        rows.rowsets.retain(|r| r.hobt != 401);
        let refused = rows.table(DatabaseId(5), "dbo").expect_err("a gap");
        let told = "index 0 of object 1000 has partitions [1, 3]";
        assert!(refused.to_string().contains(told), "{refused}");
        rows.rowsets.retain(|r| r.index != 0);
        let refused = rows.table(DatabaseId(5), "dbo").expect_err("nothing");
        assert!(refused.to_string().contains("index 0 of object 1000 has no hobt"), "{refused}");
    }

    /// Indexes say in which order of text they are, and one of another version is refused by name.
    #[test]
    fn an_index_in_another_order_is_refused_by_name() {
        let table = table();
        let rows = DefinitionRows::of_table(&table);
        let orders: Vec<i32> =
            rows.indexes.iter().map(|i| i.status >> index_status::ORDER_SHIFT).collect();
        assert_eq!(orders, [0, 1, 0, 0]);
        assert_eq!(rows.table(DatabaseId(5), "dbo"), Ok(table));
        let mut later = rows.clone();
        later.indexes[1].status += 1 << index_status::ORDER_SHIFT;
        let refused = later.table(DatabaseId(5), "dbo").expect_err("another order");
        assert!(refused.to_string().ends_with("open the database: czech"), "{refused}");
        // An order of our own has no version: one that claims to is none of ours.
        let mut strange = rows;
        strange.indexes[2].status |= 7 << index_status::ORDER_SHIFT;
        let refused = strange.table(DatabaseId(5), "dbo").expect_err("another order");
        assert!(refused.to_string().ends_with("open the database: latin"), "{refused}");
    }
}

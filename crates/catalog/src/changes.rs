//! Changes of definitions, as rows of the system tables, in the changer's transaction.
//!
//! A change is the difference between the rows of a definition before and after: whoever changes
//! a table hands over both. So what is written can be neither more nor less than what differs.
//!
//! The caller holds the locks: Sch-M on the object, X on the name when one appears or goes.

use crate::definition::DefinitionRows;
use crate::files::{FileOwner, FileSetting};
use crate::modifications::{Modifications, fact_of};
use crate::options::DatabaseOption;
use crate::rows::{delete, find, insert, update};
use crate::spec::{DroppedUnit, HobtPlaces, SystemHobts, UnitPlaces};
use crate::sysrows::{AllocUnitRow, Cell, ClassRow, FactRow, IdentityRow, ObjectRow, SystemRow};
use crate::view::{ExtendedProperty, Module, Schema, Sequence, Synonym, Table, UserType};
use base::{AllocUnitId, FileId, HobtId, ObjectId, SqlResult};
use std::collections::BTreeMap;
use types::{SqlType, Value};
use work::Work;

/// Writes definitions of one database.
#[derive(Clone, Copy)]
pub struct Changes<'a> {
    system: &'a dyn SystemHobts,
}

impl<'a> Changes<'a> {
    /// Into these system tables.
    pub fn new(system: &'a dyn SystemHobts) -> Changes<'a> {
        Changes { system }
    }

    /// Writes a table: a new one, or what differs from `before`.
    ///
    /// # Errors
    /// Locks, space, log.
    pub fn put_table(
        &self,
        work: &mut Work,
        before: Option<&Table>,
        after: &Table,
    ) -> SqlResult<()> {
        let old = before.map(DefinitionRows::of_table).unwrap_or_default();
        assert!(
            before.is_none_or(|b| b.object_id == after.object_id),
            "a table is compared with itself"
        );
        self.differ(work, &old, &DefinitionRows::of_table(after))
    }

    /// Writes what differs between the statistics of a table before and after: its object is not
    /// touched, so it has not been modified.
    ///
    /// # Errors
    /// Locks, space, log.
    pub fn put_statistics(&self, work: &mut Work, before: &Table, after: &Table) -> SqlResult<()> {
        assert_eq!(before.object_id, after.object_id, "a table is compared with itself");
        let (old, new) = (DefinitionRows::of_table(before), DefinitionRows::of_table(after));
        self.differ_in(work, &old.texts, &new.texts)?;
        self.differ_in(work, &old.index_columns, &new.index_columns)?;
        self.differ_in(work, &old.indexes, &new.indexes)
    }

    /// Removes a table's rows. Its hobts are dropped by [`Changes::drop_hobt`].
    ///
    /// # Errors
    /// Locks, log.
    pub fn remove_table(&self, work: &mut Work, table: &Table) -> SqlResult<()> {
        self.differ(work, &DefinitionRows::of_table(table), &DefinitionRows::default())
    }

    /// Writes a module: a new one, or what differs from `before`.
    ///
    /// # Errors
    /// Locks, space, log.
    pub fn put_module(
        &self,
        work: &mut Work,
        before: Option<&Module>,
        after: &Module,
    ) -> SqlResult<()> {
        let old = before.map(DefinitionRows::of_module).unwrap_or_default();
        assert!(
            before.is_none_or(|b| b.object_id == after.object_id),
            "a module is compared with itself"
        );
        self.differ(work, &old, &DefinitionRows::of_module(after))
    }

    /// Removes a module.
    ///
    /// # Errors
    /// Locks, log.
    pub fn remove_module(&self, work: &mut Work, module: &Module) -> SqlResult<()> {
        self.differ(work, &DefinitionRows::of_module(module), &DefinitionRows::default())
    }

    /// Writes a sequence: a new one, or what differs from `before`, whose count is given up
    /// where `after` has another.
    ///
    /// # Errors
    /// Locks, space, log.
    pub fn put_sequence(
        &self,
        work: &mut Work,
        before: Option<&Sequence>,
        after: &Sequence,
    ) -> SqlResult<()> {
        let old = before.map(DefinitionRows::of_sequence).unwrap_or_default();
        if let Some(before) = before {
            assert_eq!(before.object_id, after.object_id, "a sequence is compared with itself");
            if before.counter != after.counter {
                self.remove_identity(work, before.counter)?;
            }
        }
        self.differ(work, &old, &DefinitionRows::of_sequence(after))
    }

    /// Removes a sequence and its count.
    ///
    /// # Errors
    /// Locks, log.
    pub fn remove_sequence(&self, work: &mut Work, sequence: &Sequence) -> SqlResult<()> {
        self.remove_identity(work, sequence.counter)?;
        self.differ(work, &DefinitionRows::of_sequence(sequence), &DefinitionRows::default())
    }

    /// Writes a synonym: a new one, or what differs from `before`.
    ///
    /// # Errors
    /// Locks, space, log.
    pub fn put_synonym(
        &self,
        work: &mut Work,
        before: Option<&Synonym>,
        after: &Synonym,
    ) -> SqlResult<()> {
        let old = before.map(DefinitionRows::of_synonym).unwrap_or_default();
        self.differ(work, &old, &DefinitionRows::of_synonym(after))
    }

    /// Removes a synonym.
    ///
    /// # Errors
    /// Locks, log.
    pub fn remove_synonym(&self, work: &mut Work, synonym: &Synonym) -> SqlResult<()> {
        self.differ(work, &DefinitionRows::of_synonym(synonym), &DefinitionRows::default())
    }

    /// Writes a type of a user: a new one, or what differs from `before`.
    ///
    /// # Errors
    /// Locks, space, log.
    pub fn put_type(
        &self,
        work: &mut Work,
        before: Option<&UserType>,
        after: &UserType,
    ) -> SqlResult<()> {
        let old = before.map(DefinitionRows::of_type).unwrap_or_default();
        self.differ(work, &old, &DefinitionRows::of_type(after))
    }

    /// Removes a type of a user.
    ///
    /// # Errors
    /// Locks, log.
    pub fn remove_type(&self, work: &mut Work, user_type: &UserType) -> SqlResult<()> {
        self.differ(work, &DefinitionRows::of_type(user_type), &DefinitionRows::default())
    }

    /// Writes a new schema.
    ///
    /// # Errors
    /// Locks, space, log.
    pub fn put_schema(&self, work: &mut Work, schema: &Schema) -> SqlResult<()> {
        insert(self.system, work, &ClassRow { id: schema.id.0, name: schema.name.clone() })
    }

    /// Removes a schema.
    ///
    /// # Errors
    /// Locks, log.
    pub fn remove_schema(&self, work: &mut Work, schema: &Schema) -> SqlResult<()> {
        self.put_properties(work, &schema.properties, &[])?;
        delete(self.system, work, &ClassRow { id: schema.id.0, name: schema.name.clone() })
    }

    /// Writes what differs between properties of a schema, or of the database, before and after.
    ///
    /// # Errors
    /// Locks, space, log.
    pub fn put_properties(
        &self,
        work: &mut Work,
        before: &[ExtendedProperty],
        after: &[ExtendedProperty],
    ) -> SqlResult<()> {
        let (old, new) =
            (DefinitionRows::of_properties(before), DefinitionRows::of_properties(after));
        self.differ_in(work, &old.texts, &new.texts)
    }

    /// Writes where a new hobt is.
    ///
    /// # Errors
    /// Locks, space, log.
    pub fn put_places(&self, work: &mut Work, hobt: HobtId, places: &HobtPlaces) -> SqlResult<()> {
        assert!(places.rows().is_some(), "a hobt has a unit for its rows");
        places.units.iter().try_for_each(|unit| self.put_unit(work, hobt, unit))
    }

    /// Writes where a new unit of a hobt is.
    ///
    /// # Errors
    /// Locks, space, log.
    pub fn put_unit(&self, work: &mut Work, hobt: HobtId, unit: &UnitPlaces) -> SqlResult<()> {
        insert(self.system, work, &unit.row(hobt))
    }

    /// Moves a hobt's units to the list of what is freed after commit, and gives them.
    ///
    /// # Errors
    /// Locks, space, log.
    pub fn drop_hobt(&self, work: &mut Work, hobt: HobtId) -> SqlResult<Vec<DroppedUnit>> {
        let units = find::<AllocUnitRow>(self.system, work, &[Value::Int(hobt.0 as i32)])?;
        let mut dropped = Vec::with_capacity(units.len());
        for row in &units {
            let places = UnitPlaces::of_row(row).ok_or_else(|| {
                let what = format!("unit {} makes no sense", row.unit);
                crate::CatalogError::corrupt(AllocUnitRow::DEFINITION.name, what)
            })?;
            delete(self.system, work, row)?;
            let unit = DroppedUnit { hobt, places };
            insert(self.system, work, &unit.row())?;
            dropped.push(unit);
        }
        self.remove_identity(work, hobt)?;
        Ok(dropped)
    }

    /// Strikes a unit from that list: its pages are free.
    ///
    /// # Errors
    /// Locks, log.
    pub fn finish_drop(&self, work: &mut Work, unit: AllocUnitId) -> SqlResult<()> {
        let rows =
            find::<crate::sysrows::DropRow>(self.system, work, &[Value::Int(unit.0 as i32)])?;
        rows.iter().try_for_each(|row| delete(self.system, work, row))
    }

    /// Writes an option of the database.
    ///
    /// # Errors
    /// Locks, space, log.
    pub fn put_option(&self, work: &mut Work, option: DatabaseOption) -> SqlResult<()> {
        let (name, value) = option.fact();
        self.put_fact(work, name, &value)
    }

    /// Writes what is set of a file.
    ///
    /// # Errors
    /// Locks, space, log.
    pub fn put_file(
        &self,
        work: &mut Work,
        owner: FileOwner,
        file: FileId,
        setting: &FileSetting,
    ) -> SqlResult<()> {
        let (name, value) = setting.fact(owner, file);
        self.put_fact(work, &name, &value)
    }

    fn put_fact(&self, work: &mut Work, name: &str, value: &str) -> SqlResult<()> {
        let row = FactRow { name: name.into(), value: value.into() };
        let key = [row.name.to_value(SqlType::varchar(128))];
        match find::<FactRow>(self.system, work, &key)?.is_empty() {
            true => insert(self.system, work, &row),
            false => update(self.system, work, &row),
        }
    }

    /// Writes counters of modifications that changed, and forgets those of tables that are gone.
    ///
    /// # Errors
    /// Locks, space, log.
    pub fn put_modifications(
        &self,
        work: &mut Work,
        counters: &Modifications,
        lives: impl Fn(ObjectId) -> bool,
    ) -> SqlResult<()> {
        for table in counters.tables() {
            if !lives(table) {
                counters.forget(table);
                let name: Box<str> = fact_of(table).into();
                let key = [Value::varchar(&name)];
                for row in find::<FactRow>(self.system, work, &key)? {
                    delete(self.system, work, &row)?;
                }
            }
        }
        for (name, value) in counters.unsaved() {
            self.put_fact(work, &name, &value)?;
        }
        Ok(())
    }

    /// Writes how far a table's identity values may be given out.
    ///
    /// # Errors
    /// Locks, space, log.
    pub fn put_identity(&self, work: &mut Work, hobt: HobtId, reserved: i128) -> SqlResult<()> {
        let row = IdentityRow { hobt: hobt.0 as i32, reserved };
        match find::<IdentityRow>(self.system, work, &[Value::Int(row.hobt)])?.is_empty() {
            true => insert(self.system, work, &row),
            false => update(self.system, work, &row),
        }
    }

    fn remove_identity(&self, work: &mut Work, hobt: HobtId) -> SqlResult<()> {
        let rows = find::<IdentityRow>(self.system, work, &[Value::Int(hobt.0 as i32)])?;
        rows.iter().try_for_each(|row| delete(self.system, work, row))
    }

    fn differ(&self, work: &mut Work, old: &DefinitionRows, new: &DefinitionRows) -> SqlResult<()> {
        self.differ_in(work, &old.texts, &new.texts)?;
        self.differ_in(work, &old.index_columns, &new.index_columns)?;
        self.differ_in(work, &old.rowsets, &new.rowsets)?;
        self.differ_in(work, &old.indexes, &new.indexes)?;
        self.differ_in(work, &old.columns, &new.columns)?;
        self.differ_in_objects(work, &old.objects, &new.objects)
    }

    fn differ_in<R: SystemRow + PartialEq>(
        &self,
        work: &mut Work,
        old: &[R],
        new: &[R],
    ) -> SqlResult<()> {
        let (old, new) = (by_key(old), by_key(new));
        for (key, row) in &old {
            if !new.contains_key(key) {
                delete(self.system, work, *row)?;
            }
        }
        for (key, row) in &new {
            match old.get(key) {
                None => insert(self.system, work, *row)?,
                Some(same) if same == row => {}
                Some(_) => update(self.system, work, *row)?,
            }
        }
        Ok(())
    }

    /// The same for objects, which keep the time of their creation. The definition's own object
    /// is touched by any change.
    fn differ_in_objects(
        &self,
        work: &mut Work,
        old: &[ObjectRow],
        new: &[ObjectRow],
    ) -> SqlResult<()> {
        let now = os::clock::now().0;
        let (old_by_id, new_by_id) = (by_key(old), by_key(new));
        for (id, row) in &old_by_id {
            if !new_by_id.contains_key(id) {
                delete(self.system, work, *row)?;
            }
        }
        for (id, row) in &new_by_id {
            let mut row = (*row).clone();
            row.modified = now;
            match old_by_id.get(id) {
                None => {
                    row.created = now;
                    insert(self.system, work, &row)?;
                }
                Some(same)
                    if !row.is_whole()
                        && same.name == row.name
                        && same.status == row.status
                        && same.schema == row.schema => {}
                Some(_) => {
                    let stored = find::<ObjectRow>(self.system, work, &[Value::Int(row.id)])?;
                    row.created = stored.first().map_or(now, |s| s.created);
                    update(self.system, work, &row)?;
                }
            }
        }
        Ok(())
    }
}

/// Rows in order of the stored bytes of their keys: any order does, as long as it is the same.
fn by_key<R: SystemRow>(rows: &[R]) -> BTreeMap<Vec<Vec<u8>>, &R> {
    let key = |row: &R| {
        let stored = crate::rows::StoredValues::of(row);
        let fields = stored.first(R::DEFINITION.key);
        fields.iter().map(|f| f.inline().unwrap_or_default().to_vec()).collect::<Vec<_>>()
    };
    let map: BTreeMap<_, _> = rows.iter().map(|row| (key(row), row)).collect();
    assert_eq!(map.len(), rows.len(), "rows of a definition have different keys");
    map
}

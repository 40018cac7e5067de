//! What sessions do: changes of base and index in one transaction, tables that come and go.

use super::Random;
use super::oracle::Oracle;
use super::tables::{HOBTS, Row, passing};
use access::{Field, Isolation, LockPlan, RowKey, ScanRange, StoredHobt, WriteError};
use base::{HobtId, SqlError};
use catalog::view::{Object, Table};
use catalog::{Changes, Delta, HobtSpec};
use database::Database;
use std::sync::Arc;
use work::{CommitMode, Work};

const KEYS: u64 = 60;
pub(crate) const PASSING_ROWS: u64 = 30;
const PLAN: LockPlan = LockPlan::change(Isolation::ReadCommitted);

pub(crate) struct Session<'a> {
    pub(crate) db: &'a Arc<Database>,
    pub(crate) work: Work,
    pub(crate) r: Random,
    pub(crate) p: &'a Oracle,
    /// Keys that the open transaction wrote.
    pub(crate) undo: Vec<u64>,
    /// The table that this session made last.
    pub(crate) passing: Option<Table>,
}

/// A statement's end when it could not be done; `true` when the transaction goes on.
struct Failure(bool);

impl From<WriteError> for Failure {
    fn from(e: WriteError) -> Self {
        match e {
            WriteError::Sql(e) => e.into(),
            e => Failure(matches!(e, WriteError::Duplicate | WriteError::Vanished)),
        }
    }
}

impl From<SqlError> for Failure {
    fn from(_: SqlError) -> Self {
        Failure(false)
    }
}

/// Two columns of a row, if it is there.
type FoundRow = Option<(Vec<u8>, Vec<u8>)>;

impl Session<'_> {
    fn hobt(&self, at: usize) -> Arc<dyn StoredHobt> {
        self.db.hobts().get(HOBTS[at]).unwrap()
    }

    /// Two columns of the one row of a key.
    fn find(&mut self, hobt: &dyn StoredHobt, key: &[u8]) -> Result<FoundRow, Failure> {
        let fields = [Field::Inline(key)];
        let mut cursor = hobt.scan(&mut self.work, &ScanRange::equal(&fields), &PLAN)?;
        if !cursor.next(&mut self.work)? {
            return Ok(None);
        }
        let column = |c: usize| cursor.field(c).unwrap().inline().unwrap().to_vec();
        let found = (column(0), column(1));
        Ok(Some(found))
    }

    /// One change of the tree and its index; whether anything was changed.
    fn change_tree(&mut self, key: u64, what: u64, value: u64) -> Result<bool, Failure> {
        let (base, index) = (self.hobt(0), self.hobt(1));
        let row = Row::new(key, value, &mut self.r);
        let fields = row.fields();
        let entry = [fields[1], fields[0]];
        let work = &mut self.work;
        if what < 5 {
            base.insert(work, &fields, &PLAN)?;
            index.insert(work, &entry, &PLAN)?;
            return Ok(true);
        }
        let Some((_, old)) = self.find(&*base, &row.key)? else { return Ok(false) };
        let work = &mut self.work;
        let old = [Field::Inline(&old), fields[0]];
        let (k, i) =
            (RowKey { fields: &fields[..1], hint: None }, RowKey { fields: &old, hint: None });
        if what < 8 {
            base.update(work, k, &fields, &PLAN)?;
            index.update(work, i, &entry, &PLAN)?;
        } else {
            base.delete(work, k, &PLAN)?;
            index.delete(work, i, &PLAN)?;
        }
        Ok(true)
    }

    /// One change of the heap and its unique index.
    fn change_heap(&mut self, key: u64, what: u64, value: u64) -> Result<bool, Failure> {
        let (base, index) = (self.hobt(2), self.hobt(3));
        let row = Row::new(key, value, &mut self.r);
        let fields = row.fields();
        if what < 5 {
            let work = &mut self.work;
            let rid = base.insert(work, &fields, &PLAN)?.rid.unwrap();
            index.insert(work, &[fields[0], Field::Inline(&rid)], &PLAN)?;
            return Ok(true);
        }
        let Some((_, rid)) = self.find(&*index, &row.key)? else { return Ok(false) };
        // The entry may be stale by now; the row says.
        let Some((is, _)) = self.find(&*base, &rid)? else { return Ok(false) };
        if is != row.key {
            return Ok(false);
        }
        let work = &mut self.work;
        let rid = [Field::Inline(&rid)];
        let (b, i) =
            (RowKey { fields: &rid, hint: None }, RowKey { fields: &fields[..1], hint: None });
        if what < 8 {
            let moved = base.update(work, b, &fields, &PLAN)?.rid.unwrap();
            index.update(work, i, &[fields[0], Field::Inline(&moved)], &PLAN)?;
        } else {
            base.delete(work, b, &PLAN)?;
            index.delete(work, i, &PLAN)?;
        }
        Ok(true)
    }

    fn statement(&mut self, id: u64) -> Result<(), Failure> {
        let (key, what, heap) = (self.r.below(KEYS), self.r.below(10), self.r.below(2));
        let value = id * 1000 + self.undo.len() as u64;
        let changed = match heap {
            0 => self.change_tree(key, what, value)?,
            _ => self.change_heap(key, what, value)?,
        };
        if changed {
            let key = heap * 1000 + key;
            self.p.note(key, id, (what < 8).then_some(value));
            self.undo.push(key);
        }
        Ok(())
    }

    /// Makes a table with rows, or drops the one that was made.
    fn define(&mut self, id: u64, object: i32) -> Result<Vec<Delta>, Failure> {
        let system = Arc::clone(self.db.hobts());
        let changes = Changes::new(&*system);
        if let Some(table) = self.passing.take() {
            let dropped = changes.drop_hobt(&mut self.work, table.base().partitions.sole())?;
            changes.remove_table(&mut self.work, &table)?;
            self.db.builder().drop_hobt_after_commit(&mut self.work, &dropped)?;
            self.p.note(table.object_id.0 as u64, id, None);
            self.undo.push(table.object_id.0 as u64);
            return Ok(vec![Delta::RemoveObject(table.object_id)]);
        }
        let table = passing(object, self.db.ids().hobt());
        let hobt: HobtId = table.base().partitions.sole();
        let spec = HobtSpec::of(&table, table.base());
        let places = self.db.builder().create_hobt(&mut self.work, &spec)?;
        changes.put_table(&mut self.work, None, &table)?;
        changes.put_places(&mut self.work, hobt, &places)?;
        let open = self.db.hobts().get(hobt).unwrap();
        for key in 0..PASSING_ROWS {
            let row = Row::new(key, id * 1000, &mut self.r);
            open.insert(&mut self.work, &row.fields(), &PLAN)?;
        }
        self.p.note(object as u64, id, Some(id * 1000));
        self.undo.push(object as u64);
        self.passing = Some(table.clone());
        Ok(vec![Delta::PutObject(Object::Table(Arc::new(table)))])
    }

    fn give_up(&mut self, id: u64, passing: Option<Table>) {
        self.p.forget(id, &self.undo);
        self.passing = passing;
        self.work.roll_back().unwrap();
    }

    /// A transaction that changes a few rows, and makes and drops tables while checkpoints are
    /// taken; then it does nothing beside others, and is rolled back.
    pub(crate) fn idle(&mut self, id: u64, object: i32) {
        self.undo.clear();
        let passing = self.passing.clone();
        self.work.begin(true, "");
        for n in 0..3 {
            if self.define(id, object + n).is_err() {
                return self.give_up(id, passing);
            }
            let _ = self.db.checkpoint(false);
        }
        for _ in 0..8 {
            let failed = self.statement(id).err();
            self.work.locks().release_short(self.work.owner());
            if let Some(Failure(false)) = failed {
                return self.give_up(id, passing);
            }
        }
        for _ in 0..4 {
            let _ = self.db.checkpoint(false);
            os::task::sleep_ns(1_000_000);
        }
        self.give_up(id, passing);
    }

    pub(crate) fn transaction(&mut self, id: u64, object: i32) {
        self.undo.clear();
        let passing = self.passing.clone();
        self.work.begin(true, "");
        let mut deltas = Vec::new();
        if self.r.below(5) == 0 {
            match self.define(id, object) {
                Ok(made) => deltas = made,
                Err(_) => return self.give_up(id, passing),
            }
        }
        for _ in 0..1 + self.r.below(6) {
            let (mark, before) = (self.work.mark(), self.undo.len());
            let failed = self.statement(id).err();
            self.work.locks().release_short(self.work.owner());
            if let Some(Failure(false)) = failed {
                return self.give_up(id, passing);
            }
            if failed.is_some() || self.r.below(5) == 0 {
                self.p.forget(id, &self.undo[before..]);
                self.undo.truncate(before);
                self.work.roll_back_to(&mark).unwrap();
            }
        }
        if self.r.below(5) == 0 {
            return self.give_up(id, passing);
        }
        let delayed = self.r.below(3) == 0;
        let mode = if delayed { CommitMode::Delayed } else { CommitMode::Full };
        // One that wrote nothing waits for no disk.
        let durable = !delayed && !self.undo.is_empty();
        let work = &mut self.work;
        self.p.commit(id, durable, || work.commit(mode).unwrap());
        self.db.publisher().publish(&deltas);
    }
}

//! `Vector`: one column of a batch, in one of four forms.
//!
//! ```text
//! flat         lane n is row n
//! constant     lane 0 is every row
//! dictionary   codes[n] says which of the entries is row n; batches share entries
//! runs         lane r is the rows from ends[r - 1] to below ends[r]
//! ```
//!
//! Invariants
//!  1. `valid` is by row in every form, and has no row at or behind `rows`.
//!  2. A NULL has a lane all the same, whose value has no meaning: kernels do not ask.
//!  3. Codes are below the number of entries; ends ascend strictly and the last one is `rows`.
//!  4. Only a flat vector takes more rows.

use crate::lanes::{Lanes, keep};
use crate::{ROWS_MAX, RowSet};
use std::sync::Arc;
use types::{CorruptValue, SqlType, Value, encode_storage};

/// One column of a batch.
#[derive(Clone, Debug)]
pub struct Vector {
    sql_type: SqlType,
    form: Form,
    rows: usize,
    valid: RowSet,
}

#[derive(Clone, Debug)]
pub(crate) enum Form {
    Flat(Lanes),
    Constant(Lanes),
    Dictionary { codes: Vec<u32>, entries: Arc<Lanes> },
    Runs { ends: Vec<u16>, lanes: Lanes },
}

/// The values that the codes of a dictionary name.
#[derive(Clone, Debug)]
pub struct Entries {
    sql_type: SqlType,
    lanes: Arc<Lanes>,
}

impl Entries {
    /// Entries 0, 1 and so on, none of them NULL, converted to the type.
    ///
    /// # Panics
    /// When a value is NULL or of another kind than the type.
    pub fn new(sql_type: SqlType, values: &[Value]) -> Entries {
        let mut lanes = Lanes::new(sql_type);
        values.iter().for_each(|value| lanes.push(value, sql_type));
        Entries { sql_type, lanes: Arc::new(lanes) }
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.lanes.heap_bytes()
    }
}

impl Vector {
    /// A flat vector without rows. It allocates with its first row.
    pub fn new(sql_type: SqlType) -> Vector {
        let form = Form::Flat(Lanes::new(sql_type));
        Vector { sql_type, form, rows: 0, valid: RowSet::EMPTY }
    }

    /// So many rows of one value, which has been converted to the type.
    ///
    /// # Panics
    /// Above [`ROWS_MAX`] rows; when the value is of another kind than the type.
    pub fn constant(sql_type: SqlType, value: &Value, rows: usize) -> Vector {
        let mut lanes = Lanes::new(sql_type);
        push(&mut lanes, value, sql_type);
        let valid = if value.is_null() { RowSet::EMPTY } else { RowSet::first(rows) };
        Vector { sql_type, form: Form::Constant(lanes), rows, valid }
    }

    /// A row for each code; `None` is NULL.
    ///
    /// # Panics
    /// Above [`ROWS_MAX`] rows; when a code names no entry.
    pub fn dictionary(entries: &Entries, codes: &[Option<u32>]) -> Vector {
        let (rows, sql_type) = (codes.len(), entries.sql_type);
        assert!(rows <= ROWS_MAX, "a batch has no {rows} rows");
        let named = |code: &u32| (*code as usize) < entries.lanes.len();
        assert!(codes.iter().flatten().all(named), "a code names an entry");
        let valid: RowSet = (0..rows).filter(|&row| codes[row].is_some()).collect();
        if valid.is_empty() {
            return Vector::constant(sql_type, &Value::Null, rows);
        }
        let codes = codes.iter().map(|code| code.unwrap_or(0)).collect();
        let form = Form::Dictionary { codes, entries: Arc::clone(&entries.lanes) };
        Vector { sql_type, form, rows, valid }
    }

    /// Values, each with the number of rows that have it, converted to the type.
    ///
    /// # Panics
    /// Above [`ROWS_MAX`] rows; when a value is of another kind than the type.
    pub fn runs(sql_type: SqlType, runs: &[(Value, usize)]) -> Vector {
        let (mut rows, mut valid) = (0, RowSet::EMPTY);
        let (mut ends, mut lanes) = (Vec::new(), Lanes::new(sql_type));
        for (value, count) in runs.iter().filter(|run| run.1 > 0) {
            let before = rows;
            rows += count;
            assert!(rows <= ROWS_MAX, "a batch has no {rows} rows");
            push(&mut lanes, value, sql_type);
            ends.push(rows as u16);
            if !value.is_null() {
                valid = valid.or(&RowSet::first(rows).without(&RowSet::first(before)));
            }
        }
        Vector { sql_type, form: Form::Runs { ends, lanes }, rows, valid }
    }

    /// The type of its values.
    pub fn sql_type(&self) -> SqlType {
        self.sql_type
    }

    /// How many rows it has.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The rows that are not NULL.
    pub fn valid(&self) -> &RowSet {
        &self.valid
    }

    pub(crate) fn form(&self) -> &Form {
        &self.form
    }

    /// Where the lane of a row is among the lanes of its form.
    #[inline]
    pub(crate) fn position(&self, row: usize) -> usize {
        match &self.form {
            Form::Flat(_) => row,
            Form::Constant(_) => 0,
            Form::Dictionary { codes, .. } => codes[row] as usize,
            Form::Runs { ends, .. } => ends.partition_point(|&end| usize::from(end) <= row),
        }
    }

    pub(crate) fn lanes(&self) -> &Lanes {
        match &self.form {
            Form::Flat(lanes) | Form::Constant(lanes) | Form::Runs { lanes, .. } => lanes,
            Form::Dictionary { entries, .. } => entries,
        }
    }

    /// The value of a row. It allocates for strings of more than 22 bytes.
    ///
    /// # Panics
    /// A row that it has not.
    pub fn value(&self, row: usize) -> Value {
        assert!(row < self.rows, "the vector has no row {row}");
        match self.valid.contains(row) {
            true => self.lanes().value(self.position(row), self.sql_type),
            false => Value::Null,
        }
    }

    /// Appends the stored form of a row's value; false for NULL.
    ///
    /// # Panics
    /// A row that it has not.
    pub fn append_stored(&self, row: usize, out: &mut Vec<u8>) -> bool {
        assert!(row < self.rows, "the vector has no row {row}");
        if !self.valid.contains(row) {
            return false;
        }
        let position = self.position(row);
        match self.lanes() {
            Lanes::Bytes(texts) => out.extend_from_slice(texts.at(position)),
            lanes => encode_storage(&lanes.value(position, self.sql_type), self.sql_type, out),
        }
        true
    }

    /// Another row with a value that has been converted to the type, or NULL.
    ///
    /// # Panics
    /// When it is not flat or full, or the value is of another kind than the type.
    pub fn push(&mut self, value: &Value) {
        let sql_type = self.sql_type;
        push(self.growing(), value, sql_type);
        self.pushed(!value.is_null());
    }

    /// Another row with a value in its stored form; `None` is NULL.
    ///
    /// # Errors
    /// The bytes are no value of the type; the vector is as before.
    ///
    /// # Panics
    /// When it is not flat, or full.
    #[inline]
    pub fn push_stored(&mut self, bytes: Option<&[u8]>) -> Result<(), CorruptValue> {
        let sql_type = self.sql_type;
        match bytes {
            Some(bytes) => self.growing().push_stored(bytes, sql_type)?,
            None => self.growing().push_nothing(),
        }
        self.pushed(bytes.is_some());
        Ok(())
    }

    fn growing(&mut self) -> &mut Lanes {
        assert!(self.rows < ROWS_MAX, "the vector is full");
        match &mut self.form {
            Form::Flat(lanes) => lanes,
            _ => panic!("invariant 4: only a flat vector takes more rows"),
        }
    }

    #[inline]
    fn pushed(&mut self, is_valid: bool) {
        if is_valid {
            self.valid.insert(self.rows);
        }
        self.rows += 1;
    }

    /// Drops all rows: it is flat again. A flat one keeps its buffers.
    pub fn clear(&mut self) {
        match &mut self.form {
            Form::Flat(lanes) => lanes.clear(),
            form => *form = Form::Flat(Lanes::new(self.sql_type)),
        }
        (self.rows, self.valid) = (0, RowSet::EMPTY);
    }

    /// Drops the last rows of a flat vector.
    pub(crate) fn truncate(&mut self, rows: usize) {
        if rows < self.rows
            && let Form::Flat(lanes) = &mut self.form
        {
            lanes.truncate(rows);
            (self.rows, self.valid) = (rows, self.valid.and(&RowSet::first(rows)));
        }
    }

    /// Makes it flat: a copy of a lane for each row.
    pub fn flatten(&mut self) {
        if matches!(self.form, Form::Flat(_)) {
            return;
        }
        let mut flat = Lanes::new(self.sql_type);
        for row in 0..self.rows {
            match self.valid.contains(row) {
                true => flat.push_from(self.lanes(), self.position(row)),
                false => flat.push_nothing(),
            }
        }
        self.form = Form::Flat(flat);
    }

    /// Keeps the selected rows only, in their order. The form stays; entries of a dictionary too.
    pub fn compact(&mut self, selection: &RowSet) {
        let kept = selection.and(&RowSet::first(self.rows));
        let valid = kept.iter().enumerate().filter(|(_, row)| self.valid.contains(*row));
        let valid = valid.map(|(to, _)| to).collect();
        match &mut self.form {
            Form::Flat(lanes) => lanes.keep(kept.iter()),
            Form::Constant(_) => {}
            Form::Dictionary { codes, .. } => keep(codes, kept.iter()),
            Form::Runs { ends, lanes } => compact_runs(ends, lanes, &kept),
        }
        (self.rows, self.valid) = (kept.count(), valid);
    }

    /// Bytes of long strings that it holds: what a row adds that has no fixed width.
    pub(crate) fn text_bytes(&self) -> usize {
        match self.lanes() {
            Lanes::Bytes(texts) => texts.buffer_bytes(),
            _ => 0,
        }
    }

    /// Bytes on the heap. The entries of a dictionary are not counted: batches share them, and
    /// whoever made them counts them once ([`Entries::heap_bytes`]).
    pub fn heap_bytes(&self) -> usize {
        match &self.form {
            Form::Flat(lanes) | Form::Constant(lanes) => lanes.heap_bytes(),
            Form::Dictionary { codes, .. } => codes.capacity() * size_of::<u32>(),
            Form::Runs { ends, lanes } => ends.capacity() * size_of::<u16>() + lanes.heap_bytes(),
        }
    }
}

fn push(lanes: &mut Lanes, value: &Value, sql_type: SqlType) {
    match value {
        Value::Null => lanes.push_nothing(),
        value => lanes.push(value, sql_type),
    }
}

/// Runs shrink to their selected rows; those without any go.
fn compact_runs(ends: &mut Vec<u16>, lanes: &mut Lanes, selection: &RowSet) {
    let (mut from, mut rows) = (0, 0);
    let (mut positions, mut kept) = (Vec::with_capacity(ends.len()), 0);
    for run in 0..ends.len() {
        let to = usize::from(ends[run]);
        let within = RowSet::first(to).without(&RowSet::first(from));
        let count = selection.and(&within).count();
        from = to;
        if count > 0 {
            rows += count;
            ends[kept] = rows as u16;
            kept += 1;
            positions.push(run);
        }
    }
    ends.truncate(kept);
    lanes.keep(positions.into_iter());
}

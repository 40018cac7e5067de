//! The table that a statement changes: composes the row of each of its hobts and writes them in
//! order; names the error when one cannot be written.
//!
//! The first failure ends the statement; its caller undoes what it did.

use super::assertion::Assertion;
use super::foreign_keys::{ForeignKeys, Referrer};
use crate::expr::Expr;
use crate::run::Run;
use crate::scan::StoredValues;
use access::{EntryGroup, InsertOutcome, LockPlan, PageHint, RowKey, TOGETHER_MAX, WriteError};
use base::{SqlError, SqlResult, limits, messages};
use plan::{EntryField, IndexTarget, Slot};
use types::datetime::Dialect;
use types::{Collation, Fit, SqlType, Value, coerce_for_column, is_dated};

/// After this many failures in a row to insert a row's entries at once, the next [`ROWS_PASSED`]
/// rows are inserted index by index.
const REFUSALS_MAX: u8 = 3;
const ROWS_PASSED: u8 = 32;

/// A target ready to be written.
pub(crate) struct Target {
    pub(crate) table: plan::Target,
    /// The number of each index's hobt, in the order of `table.indexes`.
    hobts: Vec<usize>,
    /// The target is a table variable.
    private: bool,
    /// The most bytes of a key by index, where the declared columns could be longer.
    key_limits: Vec<Option<usize>>,
    checks: Vec<Assertion>,
    foreign_keys: ForeignKeys,
    /// What is done to its rows: INSERT, UPDATE or DELETE.
    verb: &'static str,
    /// INSERT with IGNORE_DUP_KEY; UPDATE and MERGE ignore the option.
    skips: bool,
    /// INSERT, UPDATE or DELETE: what the statement is, also where this is a follow-up of it.
    statement: &'static str,
    row: StoredValues,
    key: StoredValues,
    /// A new row's entries, when they are inserted into all indexes at once.
    together: Option<EntryGroup>,
    /// Failures in a row to insert at once, and the rows left for which it is not tried.
    refusals: (u8, u8),
}

/// A text that a column takes without a change.
#[inline]
fn fits_as_it_is(value: &Value, column: SqlType) -> bool {
    match (value, column) {
        (Value::Char(text), SqlType::VarChar(length)) => text.len() <= length.limit(),
        _ => false,
    }
}

/// How other indexes identify a base row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Locator {
    uniquifier: Value,
    rid: Value,
}

impl Locator {
    /// The locator of a row that is not written yet.
    pub(crate) const NONE: Locator = Locator { uniquifier: Value::Null, rid: Value::Null };

    /// The locator of an old row, from its slots.
    pub(crate) fn of(run: &Run<'_>, old: &plan::OldRow) -> Locator {
        let at = |slot: Option<Slot>| slot.map_or(Value::Null, |s| run.slot(s).clone());
        Locator { uniquifier: at(old.uniquifier), rid: at(old.rid) }
    }

    /// The locator of a row that was inserted just now.
    fn inserted(inserted: &InsertOutcome) -> Locator {
        Locator {
            uniquifier: inserted
                .uniquifier
                .map_or(Value::Null, |n| Value::varbinary(&n.to_le_bytes())),
            rid: inserted.rid.map_or(Value::Null, |rid| Value::varbinary(&rid)),
        }
    }
}

/// What became of a row that was to be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WriteOutcome {
    Written,
    /// The row was deleted after it was found.
    Vanished,
    /// Another row has its key, and the index has IGNORE_DUP_KEY.
    Duplicate,
}

impl Target {
    pub(crate) fn new(
        table: &plan::Target,
        hobts: Vec<usize>,
        verb: &'static str,
        statement: &'static str,
    ) -> SqlResult<Target> {
        assert_eq!(hobts.len(), table.indexes.len(), "every index has its hobt");
        Ok(Target {
            table: table.clone(),
            hobts,
            private: table.is_private(),
            key_limits: table.indexes.iter().map(|i| key_limit(table, i)).collect(),
            checks: table
                .checks
                .iter()
                .map(|c| Assertion::new(&c.predicate, c.of_view))
                .collect::<SqlResult<_>>()?,
            foreign_keys: ForeignKeys::new(table)?,
            verb,
            skips: verb == "INSERT"
                && statement != "MERGE"
                && table.indexes.iter().any(|i| i.ignore_duplicates),
            statement,
            row: StoredValues::default(),
            key: StoredValues::default(),
            together: goes_together(table).then(EntryGroup::default),
            refusals: (0, 0),
        })
    }

    fn referrer(&self) -> Referrer<'_> {
        Referrer { table: &self.table, statement: self.statement }
    }

    /// Before the first row.
    pub(crate) fn begin(&self, run: &mut Run<'_>) -> SqlResult<()> {
        self.foreign_keys.begin(run)
    }

    /// A row was written.
    #[inline]
    pub(crate) fn written(&self, run: &mut Run<'_>) -> SqlResult<()> {
        self.foreign_keys.written(run, self.referrer())
    }

    /// All rows are written: runs what they lead to.
    pub(crate) fn finish(&self, run: &mut Run<'_>) -> SqlResult<()> {
        self.foreign_keys.finish(run, self.referrer())
    }

    /// Checks that each row can be composed: old values for keys, new ones for rows.
    ///
    /// # Errors
    /// A plan that lacks one would write NULL in its place.
    pub(crate) fn check_slots(
        &self,
        old: Option<&plan::OldRow>,
        new: Option<&[Option<Slot>]>,
    ) -> SqlResult<()> {
        let lacks = |slots: &[Option<Slot>], field: EntryField| match field {
            EntryField::Column(c) => slots.get(c).copied().flatten().is_none(),
            EntryField::Dropped => false,
            EntryField::Uniquifier => old.is_some_and(|o| o.uniquifier.is_none()),
            EntryField::Rid => old.is_some_and(|o| o.rid.is_none()),
        };
        for (n, index) in self.table.indexes.iter().enumerate() {
            let row = new.is_some_and(|new| index.fields.iter().any(|&f| lacks(new, f)));
            let key = old.is_some_and(|old| {
                let heap = index.key.is_empty() && old.rid.is_none();
                heap || index.key.iter().any(|k| lacks(&old.columns, index.fields[k.field]))
            });
            if (n == 0 || index.affected) && (row || key) {
                let what = "a change lacks a slot of its row";
                return Err(SqlError::new(messages::INTERNAL, &[&what]));
            }
        }
        Ok(())
    }

    /// A value on its way into a column: converted, 2628 and 515 judged.
    pub(crate) fn fit(
        &self,
        run: &Run<'_>,
        value: Value,
        from: SqlType,
        column: usize,
    ) -> SqlResult<Value> {
        let c = &self.table.columns[column];
        if value.is_null() {
            return if c.nullable || !c.stored { Ok(value) } else { Err(self.null(column)) };
        }
        if from == c.sql_type || fits_as_it_is(&value, c.sql_type) {
            return Ok(value);
        }
        let dated = is_dated(from, c.sql_type);
        let dialect = if dated { run.facts.dialect() } else { Dialect::default() };
        match coerce_for_column(&value, from, c.sql_type, dialect, (c.collation, c.collation))? {
            Fit::Fits(value) => Ok(value),
            Fit::Truncated(text) => {
                let table = self.table.three_part_name();
                let text = shown(&text, c.collation);
                Err(SqlError::new(messages::STRING_TRUNCATED, &[&table, &c.name, &text]))
            }
        }
    }

    /// 515.
    pub(crate) fn null(&self, column: usize) -> SqlError {
        let name = &self.table.columns[column].name;
        if self.table.object.table_variable().is_some_and(|n| n >= plan::CAPTURES) {
            let args: [&dyn std::fmt::Display; 2] = [name, &self.table.table_name];
            return SqlError::new(messages::COLUMN_CANNOT_BE_NULL, &args);
        }
        let table = self.table.three_part_name();
        SqlError::new(messages::NULL_NOT_ALLOWED, &[name, &table, &self.verb]).with_state(2)
    }

    /// CHECK constraints over the new row: false is 547, unknown passes.
    pub(crate) fn check(&self, run: &mut Run<'_>) -> SqlResult<()> {
        for (i, check) in self.checks.iter().enumerate() {
            if !check.passes(run)? {
                return Err(self.check_failed(i));
            }
        }
        Ok(())
    }

    fn check_failed(&self, check: usize) -> SqlError {
        let t = &self.table;
        let check = &t.checks[check];
        if check.of_view {
            return SqlError::new(messages::VIEW_CHECK_OPTION, &[]);
        }
        let column = check.column.as_ref().map_or(String::new(), |c| format!(", column '{c}'"));
        let table = if self.private { t.table_name.to_string() } else { t.two_part_name() };
        SqlError::new(
            messages::CONSTRAINT_CONFLICT,
            &[&self.statement, &"CHECK", &check.name, &t.database_name, &table, &column],
        )
    }

    /// How the target is locked.
    pub(crate) fn locks(&self, run: &Run<'_>) -> LockPlan {
        run.lock_plan(&self.table.locks)
    }

    /// How many hobts it has.
    pub(crate) fn index_count(&self) -> usize {
        self.hobts.len()
    }

    /// Whether an index is changed together with the base row, in which others follow.
    #[inline]
    pub(crate) fn is_narrow(&self, index: usize) -> bool {
        !self.table.indexes[index].wide
    }

    /// Whether it is the heap or clustered index.
    fn is_base(&self, index: usize) -> bool {
        index == 0 && !self.table.indexes[0].wide
    }

    /// Leaves the place of a base row for the indexes that are changed later.
    #[inline]
    pub(crate) fn set_place(&self, run: &mut Run<'_>, locator: &Locator) {
        let Some(wide) = &self.table.wide else { return };
        let parts = [(wide.place.uniquifier, &locator.uniquifier), (wide.place.rid, &locator.rid)];
        for (slot, value) in parts {
            if let Some(slot) = slot {
                run.set(slot, value.clone());
            }
        }
    }

    /// Whether a duplicate of an INSERT may be passed over.
    pub(crate) fn ignores_duplicates(&self) -> bool {
        self.skips
    }

    /// Inserts the row of `columns` into an index; the base's answer is the new locator.
    pub(crate) fn insert(
        &mut self,
        run: &mut Run<'_>,
        index: usize,
        columns: &[Option<Slot>],
        locator: &Locator,
        locks: &LockPlan,
    ) -> SqlResult<Result<Locator, WriteOutcome>> {
        if !self.admits(run, index, columns) {
            return Ok(Ok(Locator::NONE));
        }
        self.compose_row(run, index, columns, locator);
        let hobts = run.hobts;
        let sink = &hobts[self.hobts[index]];
        let fits = self.check_key(index);
        let work = run.writer(self.private);
        match fits.and_then(|()| self.row.with_fields(|row| sink.insert(work, row, locks))) {
            Ok(inserted) => Ok(Ok(Locator::inserted(&inserted))),
            Err(WriteError::Duplicate)
                if self.skips && self.table.indexes[index].ignore_duplicates =>
            {
                Ok(Err(WriteOutcome::Duplicate))
            }
            Err(e) => Err(self.refused(run, index, columns, e)),
        }
    }

    /// Inserts the row of `columns` into all indexes at once. False when that was not possible and
    /// no index has it: then the indexes are written one by one.
    pub(crate) fn insert_together(
        &mut self,
        run: &mut Run<'_>,
        columns: &[Option<Slot>],
        locks: &LockPlan,
    ) -> SqlResult<bool> {
        if self.together.is_none() {
            return Ok(false);
        }
        if self.refusals.1 > 0 {
            self.refusals.1 -= 1;
            return Ok(false);
        }
        let hobts = run.hobts;
        if !self.hobts.iter().all(|hobt| hobts[*hobt].goes_together(locks)) {
            return Ok(false);
        }
        let Some(mut together) = self.together.take() else { return Ok(false) };
        let done = self.put_together(run, columns, locks, &mut together);
        self.together = Some(together);
        match done {
            Ok(false) if self.refusals.0 == REFUSALS_MAX => self.refusals.1 = ROWS_PASSED,
            Ok(false) => self.refusals.0 += 1,
            Ok(true) | Err(_) => self.refusals.0 = 0,
        }
        done
    }

    fn put_together(
        &mut self,
        run: &mut Run<'_>,
        columns: &[Option<Slot>],
        locks: &LockPlan,
        together: &mut EntryGroup,
    ) -> SqlResult<bool> {
        let hobts = run.hobts;
        together.clear();
        for index in 0..self.hobts.len() {
            if !self.admits(run, index, columns) {
                continue;
            }
            self.compose_row(run, index, columns, &Locator::NONE);
            let fits = self.check_key(index).is_ok();
            let Some(entry) = together.next(self.hobts[index]).filter(|_| fits) else {
                return Ok(false);
            };
            let (sink, work) = (&hobts[self.hobts[index]], run.writer(self.private));
            match self.row.with_fields(|row| sink.prepare(work, row, locks, entry)) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(e) => return Err(self.refused(run, index, columns, e)),
            }
        }
        let Some(base) = together.entries().first() else { return Ok(false) };
        let (sink, work) = (&hobts[base.hobt], run.writer(self.private));
        let hobt = |n: usize| &*hobts[n] as &dyn access::TableSink;
        let put = sink.put_together(work, &hobt, together, locks);
        put.map_err(|e| self.refused(run, 0, columns, e))
    }

    /// Replaces the row of an index. `new` is `None` where the uniquifier stays.
    pub(crate) fn update(
        &mut self,
        run: &mut Run<'_>,
        index: usize,
        change: &RowChange<'_>,
        locks: &LockPlan,
    ) -> SqlResult<Result<Locator, WriteOutcome>> {
        match (self.admits(run, index, change.old), self.admits(run, index, change.new)) {
            (true, true) => {}
            (false, true) => return self.insert(run, index, change.new, change.new_locator, locks),
            (true, false) => {
                self.delete(run, index, change, locks)?;
                return Ok(Ok(Locator::NONE));
            }
            (false, false) => return Ok(Ok(Locator::NONE)),
        }
        self.compose_key(run, index, change.old, change.old_locator);
        self.compose_row(run, index, change.new, change.new_locator);
        let hobts = run.hobts;
        let sink = &hobts[self.hobts[index]];
        let work = run.writer(self.private);
        let update = |key: &[access::Field<'_>]| {
            let key = RowKey { fields: key, hint: change.hint.filter(|_| index == 0) };
            self.row.with_fields(|row| sink.update(work, key, row, locks))
        };
        let answer = self.check_key(index).and_then(|()| self.key.with_fields(update));
        match answer {
            Ok(inserted) => Ok(Ok(Locator::inserted(&inserted))),
            Err(WriteError::Vanished) if self.is_base(index) => Ok(Err(WriteOutcome::Vanished)),
            Err(e) => Err(self.refused(run, index, change.new, e)),
        }
    }

    /// Deletes the row of an index.
    pub(crate) fn delete(
        &mut self,
        run: &mut Run<'_>,
        index: usize,
        change: &RowChange<'_>,
        locks: &LockPlan,
    ) -> SqlResult<WriteOutcome> {
        if !self.admits(run, index, change.old) {
            return Ok(WriteOutcome::Written);
        }
        self.compose_key(run, index, change.old, change.old_locator);
        let hobts = run.hobts;
        let sink = &hobts[self.hobts[index]];
        let work = run.writer(self.private);
        let answer = self.key.with_fields(|key| {
            let key = RowKey { fields: key, hint: change.hint.filter(|_| index == 0) };
            sink.delete(work, key, locks)
        });
        match answer {
            Ok(()) => Ok(WriteOutcome::Written),
            Err(WriteError::Vanished) if self.is_base(index) => Ok(WriteOutcome::Vanished),
            Err(e) => Err(self.refused(run, index, change.old, e)),
        }
    }

    /// Whether an index has the row whose columns are in these slots.
    #[inline]
    fn admits(&self, run: &Run<'_>, index: usize, columns: &[Option<Slot>]) -> bool {
        let Some(filter) = &self.table.indexes[index].filter else { return true };
        let value = |column: usize| match columns.get(column).copied().flatten() {
            Some(slot) => run.slot(slot),
            None => &Value::Null,
        };
        filter.admits(&value)
    }

    /// The key of a base row, by which it is told from others.
    pub(crate) fn base_key(
        &mut self,
        run: &Run<'_>,
        old: &[Option<Slot>],
        locator: &Locator,
        out: &mut Vec<u8>,
    ) {
        self.compose_key(run, 0, old, locator);
        self.key.fingerprint(out);
    }

    fn compose_row(
        &mut self,
        run: &Run<'_>,
        index: usize,
        columns: &[Option<Slot>],
        locator: &Locator,
    ) {
        self.row.clear();
        for &field in &self.table.indexes[index].fields {
            push_field(&self.table, run, field, columns, locator, &mut self.row);
        }
    }

    /// Whether the composed row's key is as long as an index takes: 1946.
    #[inline]
    fn check_key(&self, index: usize) -> Result<(), WriteError> {
        let Some(limit) = self.key_limits[index] else { return Ok(()) };
        let target = &self.table.indexes[index];
        let bytes: usize = self.row.with_fields(|row| {
            let declared = target.key.iter().take(target.declared_key);
            declared.map(|k| row[k.field].inline().map_or(0, <[u8]>::len)).sum()
        });
        if bytes > limit { Err(WriteError::KeyTooLong { bytes }) } else { Ok(()) }
    }

    fn compose_key(
        &mut self,
        run: &Run<'_>,
        index: usize,
        columns: &[Option<Slot>],
        locator: &Locator,
    ) {
        self.key.clear();
        let target = &self.table.indexes[index];
        if target.key.is_empty() {
            self.key.push_raw(&locator.rid);
        }
        for part in &target.key {
            let field = target.fields[part.field];
            push_field(&self.table, run, field, columns, locator, &mut self.key);
        }
    }

    /// The error of a failed write.
    #[cold]
    fn refused(
        &self,
        run: &Run<'_>,
        index: usize,
        columns: &[Option<Slot>],
        why: WriteError,
    ) -> SqlError {
        let target = &self.table.indexes[index];
        match why {
            WriteError::Sql(e) => e,
            WriteError::Duplicate => self.duplicate(run, target, columns),
            WriteError::RowTooLong { bytes } => {
                SqlError::new(messages::ROW_TOO_LONG, &[&bytes, &limits::RECORD_BYTES_MAX])
            }
            WriteError::KeyTooLong { bytes } => {
                let (limit, kind) = match target.index.0 {
                    1 => (limits::CLUSTERED_KEY_BYTES_MAX, "clustered"),
                    _ => (limits::NONCLUSTERED_KEY_BYTES_MAX, "nonclustered"),
                };
                SqlError::new(messages::KEY_TOO_LONG, &[&bytes, &target.name, &limit, &kind])
            }
            WriteError::Conflict => {
                let names: [&dyn std::fmt::Display; 2] =
                    [&self.table.two_part_name(), &self.table.database_name];
                SqlError::new(messages::UPDATE_CONFLICT, &names).with_state(2)
            }
            WriteError::Vanished => SqlError::new(
                messages::INDEX_ENTRY_MISSING,
                &[&target.index, &self.table.object, &self.table.database_name],
            ),
        }
    }

    fn duplicate(&self, run: &Run<'_>, at: &IndexTarget, columns: &[Option<Slot>]) -> SqlError {
        let shown = at.key.iter().take(at.declared_key).map(|part| match at.fields[part.field] {
            EntryField::Column(c) => match columns.get(c).copied().flatten().map(|s| run.slot(s)) {
                None | Some(Value::Null) => "<NULL>".to_owned(),
                Some(v) => shown(v, self.table.columns[c].collation),
            },
            EntryField::Dropped | EntryField::Uniquifier | EntryField::Rid => String::new(),
        });
        let key = shown.collect::<Vec<_>>().join(", ");
        let table = self.table.two_part_name();
        match at.unique.constraint_kind() {
            Some(kind) => {
                SqlError::new(messages::DUPLICATE_KEY_CONSTRAINT, &[&kind, &at.name, &table, &key])
            }
            None => SqlError::new(messages::DUPLICATE_KEY_INDEX, &[&table, &at.name, &key]),
        }
    }

    /// The slots of an old row that tell it from others.
    pub(crate) fn key_slots(&self, old: &plan::OldRow) -> Vec<Slot> {
        let base = &self.table.indexes[0];
        let columns = base.key.iter().filter_map(|part| match base.fields[part.field] {
            EntryField::Column(c) => old.columns.get(c).copied().flatten(),
            EntryField::Dropped | EntryField::Uniquifier | EntryField::Rid => None,
        });
        columns.chain(old.uniquifier).chain(old.rid).collect()
    }
}

/// Whether a new row's entries may be inserted at once: there are several, and none needs to know
/// where the base row went (the first row of a key has no uniquifier).
fn goes_together(table: &plan::Target) -> bool {
    let known = |f: &EntryField| !matches!(f, EntryField::Rid);
    let plain = |i: &IndexTarget| !i.wide && !i.key.is_empty() && i.fields.iter().all(known);
    (2..=TOGETHER_MAX).contains(&table.indexes.len()) && table.indexes.iter().all(plain)
}

/// How long a declared key may be, where its columns could make it longer.
fn key_limit(table: &plan::Target, index: &IndexTarget) -> Option<usize> {
    let limit = match index.index.0 {
        1 => limits::CLUSTERED_KEY_BYTES_MAX,
        _ => limits::NONCLUSTERED_KEY_BYTES_MAX,
    };
    let bytes = |part: &plan::KeyPart| match index.fields[part.field] {
        EntryField::Column(c) => usize::try_from(table.columns[c].sql_type.max_length()).ok(),
        EntryField::Dropped | EntryField::Uniquifier | EntryField::Rid => Some(0),
    };
    let declared = index.key.iter().take(index.declared_key).map(bytes);
    let most = declared.fold(0, |sum: usize, b| sum.saturating_add(b.unwrap_or(usize::MAX)));
    (most > limit).then_some(limit)
}

/// One row of an UPDATE or DELETE.
pub(crate) struct RowChange<'a> {
    /// Slots of the old values by column.
    pub(crate) old: &'a [Option<Slot>],
    /// Slots of the new values by column.
    pub(crate) new: &'a [Option<Slot>],
    pub(crate) old_locator: &'a Locator,
    pub(crate) new_locator: &'a Locator,
    /// Where the base row was seen.
    pub(crate) hint: Option<PageHint>,
}

fn push_field(
    table: &plan::Target,
    run: &Run<'_>,
    field: EntryField,
    columns: &[Option<Slot>],
    locator: &Locator,
    out: &mut StoredValues,
) {
    match field {
        EntryField::Column(c) => match columns.get(c).copied().flatten() {
            Some(slot) => out.push(run.slot(slot), table.columns[c].sql_type),
            None => out.push_null(),
        },
        EntryField::Dropped => out.push_null(),
        EntryField::Uniquifier => out.push_raw(&locator.uniquifier),
        EntryField::Rid => out.push_raw(&locator.rid),
    }
}

/// An expression with the type of its values.
pub(crate) struct TypedExpr {
    pub(crate) expr: Expr,
    pub(crate) sql_type: SqlType,
}

impl TypedExpr {
    pub(crate) fn new(scalar: &plan::Scalar) -> SqlResult<TypedExpr> {
        Ok(TypedExpr { expr: Expr::new(scalar)?, sql_type: scalar.ty.sql_type })
    }
}

/// A value of a column as errors show it.
fn shown(value: &Value, collation: Collation) -> String {
    match value {
        Value::Char(bytes) => collation.code_page().decode(bytes),
        other => other.to_string(),
    }
}

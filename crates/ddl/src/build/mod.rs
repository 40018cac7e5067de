//! Fills an empty hobt with the rows of another one: index builds, and copies of a table.

pub(crate) mod parallel;
pub(crate) mod rebuild;
pub(crate) mod sort;

use crate::build::rebuild::key_columns;
use crate::build::sort::{
    BUFFER_BYTES_MAX, BUFFER_BYTES_MIN, ROWS_PER_CHECK, RowOrder, SortedRows, Sorter,
};
use crate::context::DdlContext;
use access::{Field, Fill, Hobt, Isolation, Loader, LockPlan, RowCursor, ScanRange, WriteError};
use base::{SqlError, SqlResult, messages};
use catalog::HobtSpec;
use catalog::view::{Identity, Index, KeyField, PhysicalColumn, Table};
use std::sync::Arc;
use types::datetime::Dialect;
use types::{
    Collation, Decimal, Fit, Restriction, SqlType, StorageOrder, Value, coerce_for_column,
    compare_storage, convert, decode_storage, encode_storage,
};
use work::Work;

/// No row locks. Offline, Sch-M keeps all other sessions away. An online build reads rows as they
/// are, also uncommitted ones.
pub(crate) const READ: LockPlan = LockPlan::read(Isolation::ReadUncommitted);

/// The origin of a physical column of the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A physical column of the source.
    Column(usize),
    /// The RID of the source's row.
    Rid,
    /// The same bytes in every row; `None` is NULL. A uniquifier is NULL until the load sets it.
    Constant(Option<Box<[u8]>>),
    /// A physical column of the source, converted to another type.
    Converted(Box<Conversion>),
    /// A value that counts the rows: of an identity or a rowversion.
    Counted(Identity, SqlType),
}

/// The conversion of a column's values to another type, with the names for errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conversion {
    pub(crate) at: usize,
    pub(crate) from: SqlType,
    pub(crate) to: SqlType,
    pub(crate) nullable: bool,
    /// The old one and the new one.
    pub(crate) collations: (Collation, Collation),
    /// The session's dialect.
    pub(crate) dialect: Dialect,
    /// `database.schema.table`
    pub(crate) table: Box<str>,
    pub(crate) column: Box<str>,
}

impl Conversion {
    /// Converts a value and returns its stored bytes. Fails with 515, 2628, 8115 and the other
    /// errors of conversion.
    fn of(&self, field: Field<'_>) -> SqlResult<Option<Vec<u8>>> {
        let Some(bytes) = field.inline() else {
            if self.nullable {
                return Ok(None);
            }
            let args: [&dyn std::fmt::Display; 3] = [&self.column, &self.table, &"UPDATE"];
            return Err(SqlError::new(messages::NULL_NOT_ALLOWED, &args).with_state(2));
        };
        let corrupt = || SqlError::new(messages::INTERNAL, &[&"a stored value has no meaning"]);
        let value = decode_storage(bytes, self.from).map_err(|_| corrupt())?;
        match coerce_for_column(&value, self.from, self.to, self.dialect, self.collations)? {
            Fit::Fits(value) => {
                let mut out = Vec::new();
                encode_storage(&value, self.to, &mut out);
                Ok(Some(out))
            }
            Fit::Truncated(text) => {
                let args: [&dyn std::fmt::Display; 3] = [&self.table, &self.column, &text];
                Err(SqlError::new(messages::STRING_TRUNCATED, &args))
            }
        }
    }
}

/// The stored bytes of the identity or rowversion of the `row`th row. Fails with 8115 if the value
/// does not fit the type.
fn counted(identity: Identity, sql_type: SqlType, row: u64) -> SqlResult<Option<Vec<u8>>> {
    let n = identity.seed + identity.increment * i128::from(row);
    if sql_type == SqlType::RowVersion {
        return Ok(Some((n as u64).to_be_bytes().to_vec()));
    }
    let overflow = || {
        let to = sql_type.error_name();
        SqlError::new(messages::ARITHMETIC_OVERFLOW_CONVERT, &[&"IDENTITY", &to]).with_state(1)
    };
    let wide = Decimal::new(n, 0).ok_or_else(overflow)?;
    let value = convert(&Value::Decimal(wide), SqlType::decimal(38, 0), sql_type, 0);
    let mut out = Vec::new();
    encode_storage(&value.map_err(|_| overflow())?, sql_type, &mut out);
    Ok(Some(out))
}

/// A function that gets each row whose key the target already has.
pub(crate) type DuplicateSink<'a> = &'a (dyn Fn(&[Field<'_>]) + Sync);

/// A build: its source, its target, and the rows and columns that it moves.
pub(crate) struct Build<'a> {
    pub(crate) source: &'a dyn Hobt,
    pub(crate) target: &'a dyn Hobt,
    pub(crate) spec: &'a HobtSpec,
    pub(crate) origins: &'a [Origin],
    /// The source is not in the target's order.
    pub(crate) sort: bool,
    /// The rows that a filtered index has.
    pub(crate) filter: Option<&'a RowFilter<'a>>,
    /// Gets the rows whose key the target already has. Without it such a row is an error.
    pub(crate) twice: Option<DuplicateSink<'a>>,
}

/// Decides which rows of a table a filtered index has.
pub(crate) struct RowFilter<'a> {
    filter: &'a Restriction,
    /// By ordinal: the position of a column in the table's rows.
    positions: Vec<Option<usize>>,
}

impl<'a> RowFilter<'a> {
    /// The filter of an index, if it has one.
    pub(crate) fn of(table: &Table, index: &'a Index) -> Option<RowFilter<'a>> {
        let filter = index.filter.as_deref()?;
        let base = table.hobt_layout(table.base());
        let position = |n| base.position(PhysicalColumn::Column(n));
        Some(RowFilter { filter, positions: (0..table.columns.len()).map(position).collect() })
    }

    pub(crate) fn admits(&self, row: &dyn RowCursor) -> SqlResult<bool> {
        for test in &self.filter.tests {
            let at = self.positions.get(test.column).copied().flatten();
            let field = match at.map(|at| row.field(at)).transpose()? {
                None | Some(Field::Null) => None,
                Some(Field::Inline(bytes)) => Some(bytes),
                // A filter can only ask whether a value off the row is NULL.
                Some(Field::OffRow(_)) => Some(&[][..]),
            };
            if !test.holds_stored(field) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Build<'_> {
    pub(crate) fn admits(&self, row: &dyn RowCursor) -> SqlResult<bool> {
        self.filter.map_or(Ok(true), |f| f.admits(row))
    }
}

/// The origins of a nonclustered index's columns in the rows of its table.
pub(crate) fn entry_origins(table: &Table, index: &Index) -> Vec<Origin> {
    let base = table.hobt_layout(table.base());
    let origin = |&column: &PhysicalColumn| match column {
        PhysicalColumn::Rid => Origin::Rid,
        PhysicalColumn::Column(_) | PhysicalColumn::Dropped(_) | PhysicalColumn::Uniquifier => {
            let at = base.position(column);
            Origin::Column(at.expect("what an entry has, its row has"))
        }
    };
    table.hobt_layout(index).columns.iter().map(origin).collect()
}

/// Why a build failed.
pub(crate) enum BuildError {
    /// Two rows have the same key: its values, as messages show them.
    Duplicate(String),
    /// A key is too long for its index: its bytes.
    KeyTooLong(usize),
    Sql(SqlError),
}

impl From<SqlError> for BuildError {
    fn from(e: SqlError) -> Self {
        BuildError::Sql(e)
    }
}

/// How full to make the pages. With PAD_INDEX the pages above the leaves are as full as the leaves.
pub(crate) fn fill(spec: &HobtSpec) -> Fill {
    let leaf = match spec.fill_factor {
        0 => 100,
        n => n.min(100),
    };
    Fill { leaf, interior: if spec.padded { leaf } else { 100 } }
}

/// Runs a build. Returns the number of rows.
pub(crate) fn build(cx: &mut DdlContext<'_>, build: &Build<'_>) -> Result<u64, BuildError> {
    if !build.sort {
        return copied(cx.work, build);
    }
    match parallel::divided(cx, build)? {
        Some(divided) => parallel::sorted(cx, build, &divided),
        None => sorted(cx, build),
    }
}

/// Gives uniquifiers to rows with equal keys. In an online build rows keep those that they have.
fn twins_of(build: &Build<'_>) -> Option<Twins> {
    Twins::of(build.spec).filter(|_| build.twice.is_none())
}

/// A build whose source is already in the target's order.
fn copied(work: &mut Work, build: &Build<'_>) -> Result<u64, BuildError> {
    let mut cursor = build.source.scan(work, &ScanRange::default(), &READ)?;
    let mut twins = twins_of(build);
    let mut loader = build.target.load(work, fill(build.spec))?;
    let mut count = 0_u64;
    while cursor.next(work)? {
        if !build.admits(&*cursor)? {
            continue;
        }
        let row = row_of(&*cursor, build.origins, count)?;
        count += 1;
        push(work, &mut *loader, build, &mut twins, &row.fields())?;
    }
    Ok(loader.finish(work)?)
}

/// A build whose rows this thread sorts.
fn sorted(cx: &mut DdlContext<'_>, build: &Build<'_>) -> Result<u64, BuildError> {
    let waiter = Arc::clone(cx.work.owner().waiter());
    let grant = cx.semaphores.ask_for_build(cx.work, BUFFER_BYTES_MAX, 1)?;
    let mut cursor = build.source.scan(cx.work, &ScanRange::default(), &READ)?;
    let mut sorter = Sorter::new(RowOrder::of(build.spec), cx.spill, &waiter);
    sorter.buffer_max = grant.bytes().max(BUFFER_BYTES_MIN);
    let mut count = 0_u64;
    while cursor.next(cx.work)? {
        if !build.admits(&*cursor)? {
            continue;
        }
        let row = row_of(&*cursor, build.origins, count)?;
        count += 1;
        sorter.push(&row.fields())?;
        grant.note_used(sorter.held_bytes());
    }
    drop(cursor);
    load(cx.work, build, sorter.finish()?)
}

/// Loads sorted rows into the target.
pub(crate) fn load(
    work: &mut Work,
    build: &Build<'_>,
    mut sorted: SortedRows<'_>,
) -> Result<u64, BuildError> {
    let waiter = Arc::clone(work.owner().waiter());
    let mut twins = twins_of(build);
    let mut loader = build.target.load(work, fill(build.spec))?;
    let mut rows = 0_u64;
    while let Some((order, packed)) = sorted.next()? {
        rows += 1;
        if rows.is_multiple_of(ROWS_PER_CHECK) {
            waiter.check().map_err(SqlError::from)?;
        }
        let mut row = Vec::with_capacity(build.origins.len());
        order.unpack(packed, &mut row);
        push(work, &mut *loader, build, &mut twins, &row)?;
    }
    Ok(loader.finish(work)?)
}

/// A row for the target. Its fields are borrowed from the source's row.
pub(crate) struct Row<'a> {
    fields: Vec<Field<'a>>,
    /// Fields that were computed for it: position and bytes.
    made: Vec<(usize, Vec<u8>)>,
    /// The position of the field with the RID, and the RID.
    rid: Option<(usize, [u8; 8])>,
}

impl Row<'_> {
    pub(crate) fn fields(&self) -> Vec<Field<'_>> {
        let mut fields = self.fields.clone();
        if let Some((at, rid)) = &self.rid {
            fields[*at] = Field::Inline(rid);
        }
        for (at, bytes) in &self.made {
            fields[*at] = Field::Inline(bytes);
        }
        fields
    }
}

/// Numbers the rows with equal keys in a clustered index that is not unique. The first row of a key
/// gets no uniquifier, the next ones 1, 2, …
pub(crate) struct Twins {
    orders: Vec<StorageOrder>,
    key: Vec<Option<Vec<u8>>>,
    count: u32,
}

impl Twins {
    /// `None` for an index without uniquifiers.
    pub(crate) fn of(spec: &HobtSpec) -> Option<Twins> {
        let declared = spec.key.iter().take(spec.declared_key);
        let order = |k: &KeyField| {
            let column = spec.columns[k.field];
            compare_storage(column.sql_type, column.collation)
        };
        let orders = declared.map(order).collect();
        let has = spec.kind.is_clustered() && !spec.unique;
        has.then(|| Twins { orders, key: Vec::new(), count: 0 })
    }

    /// The uniquifier of the next row in key order.
    pub(crate) fn next(&mut self, spec: &HobtSpec, row: &[Field<'_>]) -> Option<[u8; 4]> {
        let declared = || spec.key.iter().take(spec.declared_key).map(|k| row[k.field].inline());
        let same = self.key.len() == spec.declared_key
            && declared().zip(&self.key).zip(&self.orders).all(|((new, last), order)| {
                match (new, last) {
                    (None, None) => true,
                    (Some(new), Some(last)) => order.of(new, last).is_eq(),
                    (None, Some(_)) | (Some(_), None) => false,
                }
            });
        if same {
            self.count += 1;
            return Some(self.count.to_le_bytes());
        }
        self.key.clear();
        self.key.extend(declared().map(|f| f.map(<[u8]>::to_vec)));
        self.count = 0;
        None
    }
}

/// Makes the target's row from the row at which a cursor stands. It is the `number`th one.
pub(crate) fn row_of<'a>(
    cursor: &'a dyn RowCursor,
    origins: &'a [Origin],
    number: u64,
) -> SqlResult<Row<'a>> {
    let mut row = Row { fields: Vec::with_capacity(origins.len()), made: Vec::new(), rid: None };
    for origin in origins {
        let field = match origin {
            Origin::Column(at) => cursor.field(*at)?,
            Origin::Converted(c) => cursor.field(c.at)?,
            Origin::Counted(..) => Field::Null,
            Origin::Constant(bytes) => bytes.as_deref().map_or(Field::Null, Field::Inline),
            Origin::Rid => {
                let rid = cursor.rid();
                let none = || SqlError::new(messages::INTERNAL, &[&"a heap row has no address"]);
                row.rid = Some((row.fields.len(), rid.ok_or_else(none)?));
                Field::Null
            }
        };
        let made = match origin {
            Origin::Converted(c) if !matches!(field, Field::OffRow(_)) => c.of(field)?,
            Origin::Counted(identity, sql_type) => counted(*identity, *sql_type, number)?,
            _ => None,
        };
        let field = match (origin, field) {
            (Origin::Converted(_), Field::Inline(_)) => Field::Null,
            (_, field) => field,
        };
        if let Some(bytes) = made {
            row.made.push((row.fields.len(), bytes));
        }
        if let Field::OffRow(_) = field {
            let what = "copying values that are stored off their row";
            return Err(SqlError::new(messages::FEATURE_NOT_SUPPORTED, &[&what]));
        }
        row.fields.push(field);
    }
    Ok(row)
}

fn push(
    work: &mut Work,
    loader: &mut dyn Loader,
    build: &Build<'_>,
    twins: &mut Option<Twins>,
    row: &[Field<'_>],
) -> Result<(), BuildError> {
    let spec = build.spec;
    let pushed = match twins.as_mut().and_then(|t| t.next(spec, row)) {
        None => loader.push(work, row),
        Some(uniquifier) => {
            let mut row = row.to_vec();
            let at = spec.key.last().map_or(row.len() - 1, |k| k.field);
            row[at] = Field::Inline(&uniquifier);
            loader.push(work, &row)
        }
    };
    match (pushed, build.twice) {
        (Ok(()), _) => Ok(()),
        (Err(WriteError::Duplicate), Some(twice)) => {
            twice(row);
            Ok(())
        }
        (Err(e), _) => Err(refused(spec, row, e)),
    }
}

/// Turns an error of writing a row into one of the build.
pub(crate) fn refused(spec: &HobtSpec, row: &[Field<'_>], e: WriteError) -> BuildError {
    match e {
        WriteError::Duplicate => BuildError::Duplicate(key_text(spec, row)),
        WriteError::KeyTooLong { bytes } => BuildError::KeyTooLong(bytes),
        WriteError::RowTooLong { bytes } => {
            let args: [&dyn std::fmt::Display; 2] = [&bytes, &base::limits::RECORD_BYTES_MAX];
            SqlError::new(messages::ROW_TOO_LONG, &args).into()
        }
        WriteError::Vanished | WriteError::Conflict => {
            let what = "a loader found its row gone";
            SqlError::new(messages::INTERNAL, &[&what]).into()
        }
        WriteError::Sql(e) => e.into(),
    }
}

/// The declared key of a row as messages show it: `1, abc, <NULL>`.
fn key_text(spec: &HobtSpec, row: &[Field<'_>]) -> String {
    let one = |k: &KeyField| {
        let sql_type = spec.columns[k.field].sql_type;
        let Some(bytes) = row[k.field].inline() else { return "<NULL>".to_owned() };
        let value = decode_storage(bytes, sql_type).unwrap_or(Value::Null);
        let text = convert(&value, sql_type, SqlType::NVARCHAR_MAX, 0).ok();
        text.and_then(|t| t.as_text()).unwrap_or_default()
    };
    let parts: Vec<String> = spec.key.iter().take(spec.declared_key).map(one).collect();
    parts.join(", ")
}

/// Whether rows read in the order of the old base are in the order of the new base, too.
pub(crate) fn same_order(before: &Table, after: &Table) -> bool {
    let key = |table: &Table| key_columns(table, table.base());
    let same = || before.base().kind.is_clustered() && key(before) == key(after);
    after.base().kind.is_heap() || same()
}

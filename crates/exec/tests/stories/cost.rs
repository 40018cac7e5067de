//! What a statement costs in `exec` itself; `--release -- --nocapture` prints it.

use crate::build::*;
use crate::fake::Bench;
use access::{
    BulkLoad, Field, Hobt, Hobts, InsertOutcome, Isolation, Loader, LockPlan, PageHint, RowCursor,
    RowKey, ScanRange, SourceSize, TableSink, TableSource, WriteError,
};
use base::{DatabaseId, HobtId, ObjectId, SqlError, SqlResult, messages};
use exec::{ExecContext, Executor, GrantTerms, NoRows};
use plan::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use types::{BinaryOp, Value};
use work::Work;

/// A table of one row of one int.
#[derive(Default)]
struct OneRow {
    id: AtomicI32,
}

struct OneCursor<'a> {
    table: &'a OneRow,
    bytes: [u8; 4],
    done: bool,
}

impl RowCursor for OneCursor<'_> {
    fn next(&mut self, _: &mut Work) -> SqlResult<bool> {
        self.bytes = self.table.id.load(Relaxed).to_le_bytes();
        Ok(!std::mem::replace(&mut self.done, true))
    }

    fn field(&self, _: usize) -> SqlResult<Field<'_>> {
        Ok(Field::Inline(&self.bytes))
    }

    fn hint(&self) -> Option<PageHint> {
        None
    }

    fn rid(&self) -> Option<[u8; 8]> {
        None
    }

    fn release_row(&mut self, _: &mut Work) {}

    fn rewind(&mut self, _: &mut Work, _: &ScanRange<'_>) -> SqlResult<()> {
        self.done = false;
        Ok(())
    }
}

impl TableSource for OneRow {
    fn scan(
        &self,
        _: &mut Work,
        _: &ScanRange<'_>,
        _: &LockPlan,
    ) -> SqlResult<Box<dyn RowCursor + '_>> {
        Ok(Box::new(OneCursor { table: self, bytes: [0; 4], done: false }))
    }

    fn size(&self) -> SourceSize {
        SourceSize::default()
    }
}

impl TableSink for OneRow {
    fn insert(
        &self,
        _: &mut Work,
        _: &[Field<'_>],
        _: &LockPlan,
    ) -> Result<InsertOutcome, WriteError> {
        Err(WriteError::Duplicate)
    }

    fn update(
        &self,
        _: &mut Work,
        key: RowKey<'_>,
        row: &[Field<'_>],
        _: &LockPlan,
    ) -> Result<InsertOutcome, WriteError> {
        let read = |f: Field<'_>| f.inline().map(|b| i32::from_le_bytes(b.try_into().unwrap()));
        assert_eq!(read(key.fields[0]), Some(self.id.load(Relaxed)));
        self.id.store(read(row[0]).unwrap(), Relaxed);
        Ok(InsertOutcome::default())
    }

    fn delete(&self, _: &mut Work, _: RowKey<'_>, _: &LockPlan) -> Result<(), WriteError> {
        Err(WriteError::Vanished)
    }
}

impl BulkLoad for OneRow {
    fn load(&self, _: &mut Work, _: access::Fill) -> SqlResult<Box<dyn Loader + '_>> {
        Err(SqlError::new(messages::NOT_SUPPORTED, &[&"bulk load"]))
    }
}

struct OneHobt(Arc<OneRow>);

impl Hobts for OneHobt {
    fn hobt(&self, _: DatabaseId, _: HobtId) -> SqlResult<Arc<dyn Hobt>> {
        Ok(Arc::clone(&self.0) as Arc<dyn Hobt>)
    }

    fn system_view(
        &self,
        _: DatabaseId,
        _: ObjectId,
        _: &[Value],
        _: &work::Work,
    ) -> SqlResult<Arc<dyn TableSource>> {
        Ok(Arc::clone(&self.0) as Arc<dyn TableSource>)
    }
}

/// `UPDATE TOP (1) dbo.Test WITH (TABLOCKX) SET @i = id = @i + 1`
#[test]
fn the_hot_row() {
    const RUNS: u32 = if cfg!(debug_assertions) { 20_000 } else { 2_000_000 };
    let mut base = index(1, 1, "PK", &[EntryField::Column(0)], &[0]);
    (base.unique, base.key_changes) = (Uniqueness::PrimaryKey, true);
    let mut a = scan(1, 0, 1);
    a.hint = Some(Slot(2));
    let update = Update {
        target: target(vec![column("id", INT, false)], vec![base]),
        source: Physical::Top(TopRows { input: Box::new(access(a)), top: top(big(1)) }),
        old: OldRow { columns: vec![Some(Slot(0))], hint: Some(Slot(2)), ..OldRow::default() },
        new: vec![Some(Slot(1))],
        assignments: vec![Assignment {
            column: Some(0),
            variable: Some((VariableId(0), ty(INT))),
            value: binary(BinaryOp::Add, var(0), int(1)),
        }],
        distinct_rows: false,
        output: None,
    };
    let mut executor = Executor::new(&plan(Statement::Update(Box::new(update)), 3)).unwrap();
    let mut bench = Bench { variables: vec![Value::Int(0)], ..Bench::default() };
    bench.work.begin(false, "");
    let only = OneHobt(Arc::default());
    let semaphores = bench.semaphores();
    let from = os::clock::monotonic_ns();
    for _ in 0..RUNS {
        let mut context = ExecContext {
            work: &mut bench.work,
            private: None,
            hobts: &only,
            spill: &bench.spills,
            variables: &mut bench.variables,
            facts: &crate::fake::Facts,
            identity: &bench.identities,
            callout: &exec::NoCallout,
            grant: GrantTerms { semaphores: &semaphores, workers: None },
            isolation: Isolation::ReadCommitted,
            as_of: None,
            qualifies_first: false,
            row_limit: None,
        };
        executor.run(&mut context, &mut NoRows).unwrap();
    }
    let each = (os::clock::monotonic_ns() - from) / u64::from(RUNS);
    println!("{each} ns a statement");
    // Some 0.3 µs where it is optimized; the limit leaves room for a busy machine.
    assert!(each < 20_000, "{each} ns a statement");
    assert_eq!(only.0.id.load(Relaxed), RUNS as i32);
}

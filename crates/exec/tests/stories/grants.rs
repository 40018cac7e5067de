//! Memory grants of statements: who asks, what the views show meanwhile, who gets his back.

use crate::build::*;
use crate::fake::{Bench, Fake};
use base::{SessionId, SqlResult};
use exec::{Executor, GrantRow, NoRows, ResourceSemaphores, RowSink, Workspace};
use os::memory::Memory;
use os::wait::{CancelReason, Waiter};
use plan::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use types::{SqlType, Value};
use work::Work;

const KB: usize = 1024;
const WORKSPACE: Workspace = Workspace {
    regular_bytes: 8192 * KB,
    small_bytes: 1024 * KB,
    query_bytes_max: 6144 * KB,
    small_query_bytes_max: 512 * KB,
    timeout_ms: 50,
};

/// Does something at each row.
struct RowAction<F>(F);

impl<F: FnMut() -> SqlResult<()>> RowSink for RowAction<F> {
    fn row(&mut self, _: &[Value]) -> SqlResult<()> {
        (self.0)()
    }
}

fn memory() -> (Arc<Memory>, ResourceSemaphores) {
    let memory = Memory::new(1 << 30);
    let clerk = memory.clerk("MEMORYCLERK_SQLQERESERVATIONS");
    let semaphores = ResourceSemaphores::new(&memory, &clerk, WORKSPACE);
    (memory, semaphores)
}

/// A bench of a session with a table of numbers from 0.
fn bench(session: i16, rows: i32) -> Bench {
    let mut bench = Bench::default();
    let waiter = Arc::new(Waiter::new());
    let engine = Arc::clone(bench.work.engine());
    bench.work = Work::new(&engine, SessionId(session), Arc::clone(&waiter));
    bench.waiter = waiter;
    let fake = Fake::heap();
    (0..rows).for_each(|n| fake.load(&[(Value::Int(n), SqlType::Int)]));
    bench.tables.insert(1, fake);
    bench
}

fn sort(hints: GrantHints) -> PhysicalPlan {
    let sort = Physical::Sort(Sort {
        input: Box::new(access(scan(1, 0, 1))),
        keys: vec![key(0, true)],
        carried: slots(&[0]),
        distinct: false,
    });
    let mut plan = query(sort, &[0], 1);
    plan.header.grant = hints;
    plan
}

fn least(percent: f64) -> GrantHints {
    GrantHints { min_percent: Some(percent), max_percent: None }
}

/// What a statement holds while it gives its rows.
fn held(plan: &PhysicalPlan, rows: i32) -> Vec<GrantRow> {
    let (memory, semaphores) = memory();
    let mut bench = bench(51, rows);
    let mut grants = Vec::new();
    let mut executor = Executor::new(plan).unwrap();
    let mut look = RowAction(|| {
        grants = semaphores.grants();
        Ok(())
    });
    bench.within(&semaphores, |cx| executor.run(cx, &mut look)).unwrap();
    assert!(semaphores.grants().is_empty(), "a statement that ended holds nothing");
    assert_eq!(memory.reserved_bytes(), 0);
    grants
}

/// Whoever keeps no rows has no grant; nor has who keeps one row, or may keep none.
#[test]
fn only_statements_that_keep_rows_ask() {
    let scan = || Box::new(access(scan(1, 0, 1)));
    assert!(held(&query(*scan(), &[0], 1), 10).is_empty());
    let first = Physical::Top(TopRows { input: scan(), top: top(big(1)) });
    let keys = vec![key(0, false)];
    let one = Physical::Sort(Sort {
        input: Box::new(first),
        keys,
        carried: slots(&[0]),
        distinct: false,
    });
    assert!(held(&query(one, &[0], 1), 10).is_empty());
    let nothing = GrantHints { min_percent: None, max_percent: Some(0.0) };
    assert!(held(&sort(nothing), 10).is_empty());

    let grants = held(&sort(GrantHints::default()), 10);
    assert_eq!(grants.len(), 1);
    assert_eq!((grants[0].required_bytes, grants[0].granted_bytes), (512 * KB, Some(512 * KB)));
    assert_eq!((grants[0].requested_bytes, grants[0].is_small), (6144 * KB, false));
    assert!(grants[0].used_bytes > 0 && grants[0].used_bytes <= grants[0].max_used_bytes);

    let spool = Physical::Spool(Spool { input: scan(), carried: slots(&[0]) });
    assert_eq!(held(&query(spool, &[0], 1), 10).len(), 1);
}

/// A grant grows beyond what was required, and hints move both ends.
#[test]
fn a_grant_grows_between_its_hints() {
    let grown = held(&sort(GrantHints::default()), 60_000);
    assert!(grown[0].granted_bytes.unwrap() > 512 * KB, "{grown:?}");
    assert!(grown[0].granted_bytes.unwrap() >= grown[0].used_bytes, "{grown:?}");
    let least = held(&sort(least(50.0)), 10);
    assert_eq!((least[0].required_bytes, least[0].granted_bytes), (3072 * KB, Some(3072 * KB)));
    let most = GrantHints { min_percent: None, max_percent: Some(10.0) };
    let most = held(&sort(most), 60_000);
    assert_eq!(most[0].requested_bytes, 6144 * KB / 10);
    assert!(most[0].max_used_bytes <= most[0].requested_bytes, "it spilled: {most:?}");
}

/// The rows of a view are kept by a small grant, which begins with nothing and waits for nobody.
#[test]
fn views_are_read_with_small_grants() {
    let mut read = VirtualScan {
        database: base::DatabaseId(1),
        object: base::ObjectId(-1),
        name: "v".into(),
        arguments: Vec::new(),
        columns: Vec::new(),
        residual: None,
    };
    let Physical::Access(a) = access(scan(1, 0, 1)) else { panic!("a scan") };
    read.columns = a.columns.clone();
    let view = || Physical::Virtual(Box::new(read.clone()));
    assert!(held(&query(view(), &[0], 1), 10).is_empty(), "a few rows need none");
    let grants = held(&query(view(), &[0], 1), 2_000);
    assert_eq!((grants.len(), grants[0].required_bytes, grants[0].is_small), (1, 0, true));
    let sorted = Physical::Sort(Sort {
        input: Box::new(view()),
        keys: vec![key(0, true)],
        carried: slots(&[0]),
        distinct: false,
    });
    let grants = held(&query(sorted, &[0], 1), 10);
    assert_eq!((grants[0].required_bytes, grants[0].is_small), (512 * KB, true));
}

/// Who waits too long for what another holds gets error 8645, and the next time what he asks for.
#[test]
fn a_wait_for_memory_ends_with_8645() {
    let (memory, semaphores) = memory();
    let (mut outer, mut inner) = (bench(51, 1), bench(52, 3));
    let mut holder = Executor::new(&sort(least(100.0))).unwrap();
    let mut asker = Executor::new(&sort(least(100.0))).unwrap();
    let before = os::wait::totals();
    let mut look = RowAction(|| {
        let e = inner.within(&semaphores, |cx| asker.run(cx, &mut NoRows)).unwrap_err();
        assert_eq!((e.number(), e.severity()), (8645, 17));
        let text = "A timeout occurred while waiting for memory resources to execute the query \
                    in resource pool 'default' (2). Rerun the query.";
        assert_eq!(e.text(), text);
        inner.waiter.cancel(CancelReason::Attention);
        let e = inner.within(&semaphores, |cx| asker.run(cx, &mut NoRows)).unwrap_err();
        assert_eq!(e.number(), base::messages::ATTENTION.number);
        inner.waiter.reset();
        let row = semaphores.semaphores()[0];
        assert_eq!((row.timeout_error_count, row.waiter_count, row.grantee_count), (1, 0, 1));
        Ok(())
    });
    outer.within(&semaphores, |cx| holder.run(cx, &mut look)).unwrap();
    let kind = os::wait::WaitKind::ResourceSemaphore as usize;
    assert!(os::wait::totals()[kind].count >= before[kind].count + 2, "both waits are counted");
    assert!(os::wait::totals()[kind].time_ns >= before[kind].time_ns + 50_000_000);
    let outcome = inner.within(&semaphores, |cx| asker.run(cx, &mut NoRows)).unwrap();
    assert_eq!((outcome.rows_affected, memory.reserved_bytes()), (3, 0));
}

/// A statement within a statement of the same session does not wait for the grant around it.
#[test]
fn a_session_does_not_wait_for_itself() {
    let (_, semaphores) = memory();
    let (mut outer, mut inner) = (bench(51, 1), bench(51, 60_000));
    let mut holder = Executor::new(&sort(least(100.0))).unwrap();
    let mut asker = Executor::new(&sort(least(100.0))).unwrap();
    let mut rows = 0;
    let mut call = RowAction(|| {
        let run = inner.within(&semaphores, |cx| asker.run(cx, &mut NoRows))?;
        rows = run.rows_affected;
        Ok(())
    });
    outer.within(&semaphores, |cx| holder.run(cx, &mut call)).unwrap();
    assert_eq!(rows, 60_000);
    assert_eq!(semaphores.semaphores()[0].forced_grant_count, 1);
    assert_eq!(semaphores.semaphores()[0].granted_bytes, 0);
}

/// A statement that panics gives its grant back.
#[test]
fn a_panic_gives_the_grant_back() {
    let (memory, semaphores) = memory();
    let mut bench = bench(51, 10);
    let mut executor = Executor::new(&sort(least(100.0))).unwrap();
    let mut bad = RowAction(|| panic!("a bug"));
    let run = || bench.within(&semaphores, |cx| executor.run(cx, &mut bad).map(drop));
    assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    assert_eq!((semaphores.grants().len(), memory.reserved_bytes()), (0, 0));
}

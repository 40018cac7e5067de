//! A sweep of the database's own store leaves what a transaction in the aborted map has superseded:
//! nothing else has the former rows.

use super::*;
use database::SweepRequest;
use toy_store::ToyStore;
use txn::AbortedTransaction;

const STORE: SweepRequest = SweepRequest { rows: false, ..SweepRequest::ALL };

/// A row is put, and changed by a transaction that enters the map; the map alone says that it was
/// aborted.
#[test]
fn a_sweep_keeps_what_an_aborted_transaction_has_superseded() {
    let mut world = World::new(IndexKind::Clustered, 7);
    let (toy, waiter) = (ToyStore::new(), Waiter::new());
    let home = Arc::clone(world.db.home());
    home.set_versioning(STATEMENT_VERSIONS);
    home.version_stores().set_own(toy.clone());
    home.version_stores().keep_own(true);
    let plan = LockPlan::change(Isolation::ReadCommitted);
    let key = 1_i32.to_le_bytes();
    let work = &mut world.sessions[0].work;
    work.begin(true, "");
    world.hobt.insert(work, &[Field::Inline(&key), Field::Inline(&[1; 10])], &plan).unwrap();
    work.commit(CommitMode::Delayed).unwrap();
    work.begin(true, "");
    let row = [Field::Inline(&key), Field::Inline(&[2; 10])];
    let found = RowKey { fields: &row[..1], hint: None };
    let _ = world.hobt.update(work, found, &row, &plan).unwrap();
    let aborted = AbortedTransaction {
        xsn: base::Xsn(work.xsn().unwrap().0),
        id: work.transaction_id().unwrap(),
        began_at: 0,
        begin: base::Lsn(1),
        end: base::Lsn(2),
        nested: false,
        units: Vec::new(),
    };
    let xsn = aborted.xsn;
    home.aborted().enter(aborted);
    work.commit(CommitMode::Delayed).unwrap();
    assert_eq!(toy.len(), 1, "the former row");
    assert_eq!(world.db.sweep_versions(STORE, &waiter).unwrap().versions, 0);
    assert_eq!(toy.len(), 1, "it is needed while the map has its superseder");
    home.aborted().forget(xsn);
    assert_eq!(world.db.sweep_versions(STORE, &waiter).unwrap().versions, 1);
    assert_eq!(toy.len(), 0);
}

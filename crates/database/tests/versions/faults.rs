//! Faults that writers, deleters and readers of versions are told to commit: each is seen by the
//! tests that are to see it.

use super::{IndexKind, histories, hot_row, tight_histories};
use txn::Mutation;

/// Commits a fault, which what is run must see; tells what saw it, and in how long: versions.5
/// reads these lines.
pub(super) fn caught(
    fault: Mutation,
    by: &str,
    run: impl FnOnce() + std::panic::UnwindSafe,
) -> String {
    let began = os::clock::monotonic_ns();
    let seen = std::panic::catch_unwind(run).expect_err(&format!("{fault:?} is not caught: {by}"));
    let seconds = (os::clock::monotonic_ns() - began) as f64 / 1e9;
    let text = seen.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| seen.downcast_ref::<&str>().copied()).unwrap_or_default();
    let said = text.lines().next().unwrap_or_default();
    println!("\nmutation {fault:?}: {seconds:.1} s, {by}: {said}");
    text.to_owned()
}

/// What a writer or a deleter does wrong is seen.
#[test]
fn each_mutation_of_versions_is_caught() {
    for kind in [IndexKind::Clustered, IndexKind::Nonclustered, IndexKind::Heap] {
        for fault in [Mutation::NeededSettled, Mutation::WriterPassed] {
            caught(fault, &format!("histories, {kind:?}"), || histories(kind, Some(fault)));
        }
        let fault = Mutation::LostIsNone;
        caught(fault, &format!("without room, {kind:?}"), || tight_histories(kind, Some(fault)));
    }
    for kind in [IndexKind::Clustered, IndexKind::Nonclustered] {
        for fault in [Mutation::GhostsLost, Mutation::HintTrusted] {
            caught(fault, &format!("histories, {kind:?}"), || histories(kind, Some(fault)));
        }
    }
    for kind in [IndexKind::Clustered, IndexKind::Heap] {
        let fault = Mutation::LoggedPlace;
        caught(fault, &format!("histories, {kind:?}"), || histories(kind, Some(fault)));
    }
    let (fault, kind) = (Mutation::RidReused, IndexKind::Heap);
    caught(fault, &format!("histories, {kind:?}"), || histories(kind, Some(fault)));
    caught(Mutation::LastPruned, "a hot row", || hot_row(Some(Mutation::LastPruned)));
}

/// A snapshot that is not registered is found out by who reads by it, though others read as of the
/// same moment; and where nobody asks, rows that it needs are gone.
#[test]
fn a_snapshot_that_is_not_registered_is_caught() {
    for kind in [IndexKind::Clustered, IndexKind::Nonclustered, IndexKind::Heap] {
        let said =
            |fault| caught(fault, &format!("histories, {kind:?}"), || histories(kind, Some(fault)));
        let asked = "who reads versions registers";
        assert!(!cfg!(debug_assertions) || said(Mutation::SnapshotForgotten).contains(asked));
        assert!(!said(Mutation::ForgottenUnasked).contains(asked), "rows are missing");
    }
}

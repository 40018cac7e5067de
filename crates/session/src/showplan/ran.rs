//! The figures of an executor's last run.

use crate::request::activation::ReadyPlace;
use crate::showplan::describe::counts;
use showplan::{Memory, RunFigures};

/// The figures of an executor's last run.
pub(crate) fn ran(ready: &ReadyPlace, rows_affected: u64) -> RunFigures {
    let executor = &ready.executor;
    let timed = executor.is_timed();
    let counts = counts(&executor.counts(), executor.operator_reads(), timed);
    let threads = executor.by_thread();
    let by_thread = threads.map(|t| self::counts(t.counts(), t.operator_reads(), timed)).collect();
    let memory = executor.memory().map(|m| Memory {
        required: m.required_bytes,
        desired: m.ideal_bytes,
        requested: m.requested_bytes,
        granted: m.granted_bytes.unwrap_or(0),
        used_max: m.max_used_bytes,
    });
    RunFigures {
        counts,
        by_thread,
        degree: executor.degree(),
        memory,
        rows_affected,
        ..RunFigures::default()
    }
}

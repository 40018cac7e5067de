//! `sys.dm_tran_kept_versions`, our own view: each stored version that somebody needs, where it is,
//! for whom it is kept, and what would let it go.
//!
//! `dm_tran_version_blockers` has the sums. A version that several snapshots need is told once, for
//! the oldest of them. Versions that nobody needs are not told: they go with the cleaner's next
//! pass, or with the next change of their row.

use super::tran_version_blockers::{Blocker, Blockers};
use crate::cell::{big, int, text};
use crate::column::{Column, col, maybe};
use crate::view::{Rows, System, View};
use base::{SqlError, SqlResult, messages};
use catalog::view::SchemaId;
use page::StoreKind;
use rowstore::{KeepReason, KeptVersion};
use std::collections::BTreeMap;
use types::{SqlType, Value};
use work::Home;

const INT: SqlType = SqlType::Int;
const BIG: SqlType = SqlType::BigInt;

const COLUMNS: [Column; 12] = [
    col("database_id", INT),
    col("version_store", SqlType::nvarchar(60)),
    col("file_id", INT),
    col("page_id", BIG),
    col("slot_id", INT),
    col("rowset_id", BIG),
    col("record_length_in_bytes", INT),
    col("transaction_sequence_num", BIG),
    col("reason", SqlType::nvarchar(60)),
    maybe("session_id", INT),
    maybe("transaction_id", BIG),
    col("freed_by", SqlType::nvarchar(200)),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_tran_kept_versions",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

/// More are refused: all are in memory while they are shown.
const ROWS_MAX: usize = 500_000;

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let blockers = Blockers::of(system);
    let mut rows = Vec::new();
    let homes: BTreeMap<_, _> =
        system.databases.all().into_iter().map(|d| (d.id(), d.home().clone())).collect();
    let mut tell = |versions: &[KeptVersion<'_>]| {
        for version in versions {
            let Some(home) = homes.get(&version.database) else { continue };
            rows.extend(told(system, &blockers, home, version));
        }
        match rows.len() > ROWS_MAX {
            true => Err(SqlError::new(messages::OUT_OF_MEMORY, &[&"default"])),
            false => SqlResult::Ok(()),
        }
    };
    rowstore::kept_versions(system.engine, system.waiter, &mut tell)?;
    for id in homes.keys() {
        if let Some(held) = system.databases.hold(*id)? {
            held.own_versions(system.waiter, &mut |_, versions| tell(versions))?;
        }
    }
    Ok(rows)
}

/// The row of a version; none if nobody needs it.
fn told(
    system: &System<'_>,
    blockers: &Blockers,
    home: &Home,
    version: &KeptVersion<'_>,
) -> Option<Vec<Value>> {
    let by: Blocker = match version.kept_for(home, system.engine) {
        KeepReason::Nobody => return None,
        KeepReason::Writer(xsn) => blockers.writer(version.database, xsn)?,
        KeepReason::Snapshots(lifetime) => blockers.oldest_snapshot(lifetime)?,
    };
    let (at, store) = (version.place, version.place.store);
    Some(vec![
        int(version.database.0),
        text(if store == StoreKind::Own { "PERSISTENT" } else { "TEMPDB" }),
        int(at.page.file.0),
        big(u64::from(at.page.page)),
        int(at.slot.0),
        Value::BigInt(version.hobt.as_bigint()),
        int(version.record.len()),
        big(version.superseder.0),
        text(by.reason()),
        by.session().map_or(Value::Null, |session| int(session.0)),
        by.transaction().map_or(Value::Null, |t| big(t.0)),
        text(by.freed_by()),
    ])
}

//! `sys.dm_tran_version_store_space_usage`: pages of tempdb with versions, by database.
//!
//! A page of the store may have versions of several databases, if one transaction changes them. It
//! is counted once, for the database with the most bytes on it, so that the sum is the real number
//! of pages. Pages without versions, of which the store keeps some, belong to no database.

use crate::cell::{big, int};
use crate::column::{Column, col};
use crate::view::{Rows, System, View};
use base::DatabaseId;
use base::limits::PAGE_BYTES;
use catalog::view::SchemaId;
use rowstore::KeptVersion;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use types::{SqlType, Value};

const BIG: SqlType = SqlType::BigInt;

const COLUMNS: [Column; 3] = [
    col("database_id", SqlType::Int),
    col("reserved_page_count", BIG),
    col("reserved_space_kb", BIG),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_tran_version_store_space_usage",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let open = system.databases.all().into_iter().map(|d| (d.id(), 0_u64));
    let mut pages: BTreeMap<DatabaseId, u64> = open.collect();
    rowstore::kept_versions(system.engine, system.waiter, &mut |versions| {
        if let Some(database) = whose(versions) {
            *pages.entry(database).or_default() += 1;
        }
        Ok(())
    })?;
    let kb = |n: u64| n * PAGE_BYTES as u64 / 1024;
    Ok(pages.into_iter().map(|(id, n)| vec![int(id.0), big(n), big(kb(n))]).collect())
}

/// The database with the most bytes on a page; of two with the same number of bytes, the lower id.
fn whose(versions: &[KeptVersion<'_>]) -> Option<DatabaseId> {
    let mut bytes: BTreeMap<DatabaseId, usize> = BTreeMap::new();
    for version in versions {
        *bytes.entry(version.database).or_default() += version.record.len();
    }
    bytes.into_iter().max_by_key(|(id, n)| (*n, Reverse(*id))).map(|(id, _)| id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{HobtId, PageId, SlotNo, Xsn};
    use page::VersionPtr;

    #[test]
    fn a_page_is_of_who_has_most_bytes_on_it() {
        let version = |database, record| KeptVersion {
            place: VersionPtr::shared(PageId::new(1, 9), SlotNo(0)),
            superseder: Xsn(1),
            database: DatabaseId(database),
            hobt: HobtId(70),
            record,
        };
        assert_eq!(whose(&[]), None);
        let two: [KeptVersion<'_>; 3] =
            [version(5, &[0; 30]), version(6, &[0; 20]), version(6, &[0; 20])];
        assert_eq!(whose(&two), Some(DatabaseId(6)));
        assert_eq!(whose(&[version(6, &[0; 30]), version(5, &[0; 30])]), Some(DatabaseId(5)));
    }
}

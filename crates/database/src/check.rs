//! CHECKDB: every structure's own verifier, and then what only the whole can tell.

use crate::database::Database;
use base::{HobtId, ObjectId, PageId};
use catalog::view::{Object, Table};
use rowstore::{RowFinding, RowHobt};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckFinding {
    /// The object, 0 for the maps.
    pub object: ObjectId,
    /// The hobt.
    pub hobt: HobtId,
    /// The page, if it is about one.
    pub page: PageId,
    /// In words.
    pub text: String,
}

/// What CHECKDB found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// About maps: who owns which extent and page.
    pub allocation: Vec<CheckFinding>,
    /// About contents.
    pub consistency: Vec<CheckFinding>,
    /// Rows and pages looked at by object: (rows of the base, pages).
    pub objects: BTreeMap<i32, (u64, u64)>,
}

impl CheckReport {
    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.allocation.is_empty() && self.consistency.is_empty()
    }
}

impl Database {
    /// Checks the whole database. The caller keeps changes away.
    pub fn check(&self) -> CheckReport {
        let mut report = CheckReport::default();
        let hobts = self.hobts.all();
        let mut rows_of = BTreeMap::new();
        for hobt in &hobts {
            let rows = self.check_hobt(hobt, &mut report);
            rows_of.insert(hobt.spec().hobt, rows);
        }
        for object in self.view().objects() {
            if let Object::Table(table) = object {
                self.check_indexes(table, &rows_of, &mut report);
            }
        }
        let both = |h: &'_ Arc<RowHobt>| [Some(Arc::clone(h)), h.large().cloned()];
        let trees: Vec<_> = hobts.iter().flat_map(both).flatten().collect();
        let units: Vec<_> = trees.iter().map(|h| &**h.unit()).collect();
        for finding in self.space.check(&units) {
            report.allocation.push(CheckFinding {
                object: ObjectId(0),
                hobt: HobtId(0),
                page: PageId::NONE,
                text: format!("{finding:?}"),
            });
        }
        report
    }

    fn check_hobt(&self, hobt: &Arc<RowHobt>, report: &mut CheckReport) -> u64 {
        let mut rows = 0;
        let mut last = PageId::NONE;
        let mut pages = 0;
        let findings = hobt.verify(&mut |page, _| {
            rows += 1;
            pages += u64::from(page != last);
            last = page;
        });
        for f in findings {
            let (page, text) = match &f {
                RowFinding::Tree(f) => (f.page, f.text.clone()),
                RowFinding::Heap(page, what) => (*page, (*what).to_owned()),
                RowFinding::Unreachable(page) => (*page, "nothing leads to the page".to_owned()),
                RowFinding::NotAllocated(page) => (*page, "the page is not allocated".to_owned()),
                RowFinding::ValueMissing(page) => {
                    (*page, "a value off the row is not there or not whole".to_owned())
                }
                RowFinding::ValueUnreferenced(page) => {
                    (*page, "no row points at a value off the rows".to_owned())
                }
                RowFinding::Maps(text) => (PageId::NONE, text.clone()),
            };
            let spec = hobt.spec();
            report.consistency.push(CheckFinding {
                object: spec.object,
                hobt: spec.hobt,
                page,
                text,
            });
        }
        let entry = report.objects.entry(hobt.spec().object.0).or_default();
        *entry = (entry.0.max(rows), entry.1 + pages);
        rows
    }

    /// Every index has as many rows as its table.
    fn check_indexes(
        &self,
        table: &Table,
        rows_of: &BTreeMap<HobtId, u64>,
        report: &mut CheckReport,
    ) {
        let base = rows_of.get(&table.base().hobt).copied().unwrap_or(0);
        for index in table.indexes.iter().skip(1).filter(|i| !i.disabled) {
            let rows = rows_of.get(&index.hobt).copied().unwrap_or(0);
            if rows != base {
                report.consistency.push(CheckFinding {
                    object: table.object_id,
                    hobt: index.hobt,
                    page: PageId::NONE,
                    text: format!("index '{}' has {rows} rows, the table {base}", index.name),
                });
            }
        }
    }
}

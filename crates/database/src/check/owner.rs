//! The owner of a page, as messages of CHECKDB name it.

use access::{HobtKind, StoredHobt};
use base::{AllocUnitId, HobtId, IndexId, ObjectId};
use catalog::view::Table;

/// The owner of pages: object, index, partition, allocation unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) object: ObjectId,
    pub(crate) index: IndexId,
    pub(crate) hobt: HobtId,
    pub(crate) unit: AllocUnitId,
    pub(crate) kind: &'static str,
}

impl Owner {
    /// The owner of a hobt's rows. A system table, which no view contains, has index number 1.
    pub(crate) fn of(hobt: &dyn StoredHobt, table: Option<&Table>) -> Owner {
        let spec = hobt.spec();
        let known = table.and_then(|t| t.partition(spec.hobt));
        let index = match (known, spec.kind) {
            (Some((index, _)), _) => index.index_id,
            (None, HobtKind::Heap) => IndexId(0),
            (None, _) => IndexId(1),
        };
        let kind = "In-row data";
        Owner { object: spec.object, index, hobt: spec.hobt, unit: spec.unit, kind }
    }

    /// The owner of the large values of the rows.
    pub(crate) fn large(&self, unit: AllocUnitId) -> Owner {
        Owner { unit, kind: "LOB data", ..self.clone() }
    }

    /// The owner of the pages of the database's own version store: no object of a catalog.
    pub(crate) fn of_versions() -> Owner {
        let (object, unit, kind) = (ObjectId(0), version::VERSION_UNIT, "In-row data");
        Owner { object, index: IndexId(0), hobt: HobtId(0), unit, kind }
    }

    /// An unknown owner.
    pub(crate) fn unknown(unit: AllocUnitId) -> Owner {
        let kind = "Unknown";
        Owner { object: ObjectId(0), index: IndexId(-1), hobt: HobtId(0), unit, kind }
    }
}

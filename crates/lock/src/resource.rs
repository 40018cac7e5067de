//! What can be locked: 24 bytes that this crate compares and never understands.
//!
//! ```text
//! offset size field
//!      0    8 entity: object id, hobt, allocation unit, principal
//!      8    8 identity, first part: key hash, page, file, extent, XSN, name hash
//!     16    4 identity, second part: slot, name hash
//!     20    2 database
//!     22    1 kind
//!     23    1 subkind of metadata
//! ```
//! Two different keys with one hash only cause a false conflict.

use base::{AllocUnitId, DatabaseId, ExtentId, FileId, HobtId, ObjectId, PageId, SlotNo, Xsn};

macro_rules! kinds {
    ($($kind:ident = $name:literal,)*) => {
        /// The kinds of lockable things, coarse to fine.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum Kind {
            $(#[doc = $name] $kind,)*
        }

        impl Kind {
            /// Every kind, in the order of the discriminants.
            pub const ALL: &[Kind] = &[$(Kind::$kind),*];

            /// The name that sys.dm_tran_locks shows.
            pub const fn name(self) -> &'static str {
                match self { $(Kind::$kind => $name),* }
            }
        }
    };
}

kinds! {
    Database = "DATABASE",
    File = "FILE",
    Object = "OBJECT",
    Hobt = "HOBT",
    AllocationUnit = "ALLOCATION_UNIT",
    Extent = "EXTENT",
    Page = "PAGE",
    Key = "KEY",
    Rid = "RID",
    Application = "APPLICATION",
    Metadata = "METADATA",
    Xact = "XACT",
}

impl Kind {
    /// The name that the counters of locks have for it.
    pub const fn counter_name(self) -> &'static str {
        match self {
            Kind::Database => "Database",
            Kind::File => "File",
            Kind::Object => "Object",
            Kind::Hobt => "HoBT",
            Kind::AllocationUnit => "AllocUnit",
            Kind::Extent => "Extent",
            Kind::Page => "Page",
            Kind::Key => "Key",
            Kind::Rid => "RID",
            Kind::Application => "Application",
            Kind::Metadata => "Metadata",
            Kind::Xact => "Xact",
        }
    }
}

/// The hash of the key after all keys; shown as `(ffffffffffff)`.
pub const INFINITY: u64 = u64::MAX;

/// A lockable thing. Equal bytes, same thing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Resource {
    entity: u64,
    low: u64,
    high: u32,
    database: u16,
    kind: Kind,
    sub: u8,
}

const _: () = assert!(size_of::<Resource>() == 24);

impl Resource {
    const fn new(kind: Kind, database: DatabaseId, entity: u64, low: u64, high: u32) -> Self {
        Resource { entity, low, high, database: database.0, kind, sub: 0 }
    }

    /// A whole database; every session in it holds S.
    pub const fn database(database: DatabaseId) -> Self {
        Resource::new(Kind::Database, database, 0, 0, 0)
    }

    /// A file, while it grows or shrinks.
    pub const fn file(database: DatabaseId, file: FileId) -> Self {
        assert!(file.0 != 0, "file 0 is no file");
        Resource::new(Kind::File, database, 0, file.0 as u64, 0)
    }

    /// A table, view, procedure: anything with an object id.
    pub const fn object(database: DatabaseId, object: ObjectId) -> Self {
        assert!(object.0 != 0, "an object has an id");
        Resource::new(Kind::Object, database, object.0 as u32 as u64, 0, 0)
    }

    /// One partition of one index.
    pub const fn hobt(database: DatabaseId, hobt: HobtId) -> Self {
        assert!(hobt.0 != 0, "a hobt has a number");
        Resource::new(Kind::Hobt, database, hobt.0 as u64, 0, 0)
    }

    /// The pages of one purpose of a hobt.
    pub const fn allocation_unit(database: DatabaseId, unit: AllocUnitId) -> Self {
        assert!(unit.0 != 0, "a unit has a number");
        Resource::new(Kind::AllocationUnit, database, unit.0 as u64, 0, 0)
    }

    /// Eight pages.
    pub const fn extent(database: DatabaseId, extent: ExtentId) -> Self {
        assert!(extent.file.0 != 0, "file 0 is no file");
        Resource::new(Kind::Extent, database, 0, pack(extent.file, extent.extent), 0)
    }

    /// A page of a hobt.
    pub const fn page(database: DatabaseId, hobt: HobtId, page: PageId) -> Self {
        assert!(!page.is_none(), "no page is no resource");
        assert!(hobt.0 != 0, "a page that is locked is a hobt's");
        Resource::new(Kind::Page, database, hobt.0 as u64, pack(page.file, page.page), 0)
    }

    /// A row of an index, by a hash of its key columns; [`INFINITY`] is after the last row.
    pub const fn key(database: DatabaseId, hobt: HobtId, hash: u64) -> Self {
        assert!(hobt.0 != 0, "a key is of a hobt");
        Resource::new(Kind::Key, database, hobt.0 as u64, hash, 0)
    }

    /// A row of a heap.
    pub const fn rid(database: DatabaseId, hobt: HobtId, page: PageId, slot: SlotNo) -> Self {
        assert!(!page.is_none(), "no page is no resource");
        assert!(hobt.0 != 0, "a row that is locked is a hobt's");
        let low = pack(page.file, page.page);
        Resource::new(Kind::Rid, database, hobt.0 as u64, low, slot.0 as u32)
    }

    /// What `sp_getapplock` names: a principal and 12 bytes of hash of the name.
    pub const fn application(
        database: DatabaseId,
        principal: i32,
        hash_low: u64,
        hash_high: u32,
    ) -> Self {
        Resource::new(Kind::Application, database, principal as u32 as u64, hash_low, hash_high)
    }

    /// A piece of metadata; the caller numbers its subkinds and what identifies one.
    pub const fn metadata(database: DatabaseId, sub: u8, entity: u64, identity: u64) -> Self {
        let mut r = Resource::new(Kind::Metadata, database, entity, identity, 0);
        r.sub = sub;
        r
    }

    /// A transaction that others wait for by its XSN.
    pub const fn xact(database: DatabaseId, xsn: Xsn) -> Self {
        assert!(xsn.0 != 0 && xsn.0 <= Xsn::MAX.0, "a transaction has an XSN");
        Resource::new(Kind::Xact, database, 0, xsn.0, 0)
    }

    /// What kind of thing this is.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// The database it is in.
    pub const fn database_id(&self) -> DatabaseId {
        DatabaseId(self.database)
    }

    /// The hobt of a hobt, page, key or row.
    pub const fn hobt_id(&self) -> Option<HobtId> {
        assert!(!self.counts_toward_escalation() || self.entity as u32 != 0, "rows are of hobts");
        match self.kind {
            Kind::Hobt | Kind::Page | Kind::Key | Kind::Rid => Some(HobtId(self.entity as u32)),
            _ => None,
        }
    }

    /// The object of an object lock.
    pub const fn object_id(&self) -> Option<ObjectId> {
        debug_assert!(!matches!(self.kind, Kind::Object) || self.entity >> 32 == 0, "32 bits");
        match self.kind {
            Kind::Object => Some(ObjectId(self.entity as u32 as i32)),
            _ => None,
        }
    }

    /// The file of a file lock.
    pub const fn file_id(&self) -> Option<FileId> {
        let is_file = self.low != 0 && self.low >> 16 == 0;
        debug_assert!(!matches!(self.kind, Kind::File) || is_file, "it was made of a file");
        match self.kind {
            Kind::File => Some(FileId(self.low as u16)),
            _ => None,
        }
    }

    /// The page of a page or row lock; the first page of an extent.
    pub const fn page_id(&self) -> Option<PageId> {
        let file = (self.low >> 32) as u16;
        let page = self.low as u32;
        let has_file = self.low >> 32 != 0 && self.low >> 48 == 0;
        let has_page = matches!(self.kind, Kind::Page | Kind::Rid | Kind::Extent);
        debug_assert!(!has_page || has_file, "a page is on a file");
        match self.kind {
            Kind::Page | Kind::Rid => Some(PageId::new(file, page)),
            Kind::Extent => Some(ExtentId { file: FileId(file), extent: page }.first_page()),
            _ => None,
        }
    }

    /// The slot of a row lock.
    pub const fn slot(&self) -> Option<SlotNo> {
        debug_assert!(!matches!(self.kind, Kind::Rid) || self.high >> 16 == 0, "16 bits");
        match self.kind {
            Kind::Rid => Some(SlotNo(self.high as u16)),
            _ => None,
        }
    }

    /// The six bytes that stand in `(1a39e6095155)`: low 48 bits of a key's hash.
    pub const fn key_hash(&self) -> Option<u64> {
        match self.kind {
            Kind::Key => Some(self.low & 0xFFFF_FFFF_FFFF),
            _ => None,
        }
    }

    /// The transaction of an XACT lock.
    pub const fn xsn(&self) -> Option<Xsn> {
        let is_xsn = self.low != 0 && self.low <= Xsn::MAX.0;
        debug_assert!(!matches!(self.kind, Kind::Xact) || is_xsn, "it was made of an XSN");
        match self.kind {
            Kind::Xact => Some(Xsn(self.low)),
            _ => None,
        }
    }

    /// Subkind, entity and identity of metadata, as the caller gave them.
    pub const fn metadata_parts(&self) -> Option<(u8, u64, u64)> {
        debug_assert!(self.sub == 0 || matches!(self.kind, Kind::Metadata), "only these have one");
        match self.kind {
            Kind::Metadata => Some((self.sub, self.entity, self.low)),
            _ => None,
        }
    }

    /// Principal and name hash of an application lock.
    pub const fn application_parts(&self) -> Option<(i32, u64, u32)> {
        match self.kind {
            Kind::Application => Some((self.entity as u32 as i32, self.low, self.high)),
            _ => None,
        }
    }

    /// resource_associated_entity_id of sys.dm_tran_locks.
    pub const fn associated_entity_id(&self) -> i64 {
        match self.kind {
            Kind::Object => self.entity as u32 as i32 as i64,
            Kind::Hobt | Kind::Page | Kind::Key | Kind::Rid => {
                HobtId(self.entity as u32).as_bigint()
            }
            Kind::AllocationUnit => AllocUnitId(self.entity as u32).as_bigint(),
            Kind::Database
            | Kind::File
            | Kind::Extent
            | Kind::Application
            | Kind::Metadata
            | Kind::Xact => 0,
        }
    }

    /// Whether escalation to the table makes this lock superfluous.
    pub const fn is_within_hobt(&self, hobt: HobtId) -> bool {
        assert!(hobt.0 != 0, "a hobt has a number");
        self.counts_toward_escalation() && self.entity as u32 == hobt.0
    }

    /// Whether this lock is one of the many that escalation is against.
    pub(crate) const fn counts_toward_escalation(&self) -> bool {
        matches!(self.kind, Kind::Page | Kind::Key | Kind::Rid)
    }

    /// A hash of all 24 bytes, good in every bit.
    #[inline]
    pub(crate) fn hash(&self, seed: u64) -> u64 {
        let rest = u64::from(self.high) << 32
            | u64::from(self.database) << 16
            | u64::from(self.kind as u8) << 8
            | u64::from(self.sub);
        let first = fold(self.entity ^ seed, self.low ^ 0x9E37_79B9_7F4A_7C15);
        fold(first ^ rest, 0xD6E8_FEB8_6659_FD93)
    }
}

const fn pack(file: FileId, page: u32) -> u64 {
    assert!(file.0 != 0, "file 0 is no file");
    (file.0 as u64) << 32 | page as u64
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let wide = u128::from(a) * u128::from(b);
    (wide as u64) ^ (wide >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const DB: DatabaseId = DatabaseId(6);
    const HOBT: HobtId = HobtId(42);

    #[test]
    fn what_goes_in_comes_out() {
        let page = PageId::new(1, 20_789);
        let rid = Resource::rid(DB, HOBT, page, SlotNo(7));
        assert_eq!((rid.kind(), rid.database_id()), (Kind::Rid, DB));
        assert_eq!(
            (rid.page_id(), rid.slot(), rid.hobt_id()),
            (Some(page), Some(SlotNo(7)), Some(HOBT))
        );
        assert_eq!(rid.associated_entity_id(), HOBT.as_bigint());
        let object = Resource::object(DB, ObjectId(-105));
        assert_eq!(
            (object.object_id(), object.associated_entity_id()),
            (Some(ObjectId(-105)), -105)
        );
        let last = Resource::key(DB, HOBT, INFINITY);
        assert_eq!(last.key_hash(), Some(0xFFFF_FFFF_FFFF));
        let extent = Resource::extent(DB, page.extent());
        assert_eq!(extent.page_id(), Some(PageId::new(1, 20_784)));
        let md = Resource::metadata(DB, 3, 9, 10);
        assert_eq!(md.metadata_parts(), Some((3, 9, 10)));
        let app = Resource::application(DB, -1, 5, 6);
        assert_eq!(app.application_parts(), Some((-1, 5, 6)));
        assert_eq!(Resource::file(DB, FileId(2)).file_id(), Some(FileId(2)));
        assert_eq!(Resource::xact(DB, Xsn(77)).xsn(), Some(Xsn(77)));
    }

    #[test]
    fn things_of_different_kinds_differ_and_their_hashes_spread() {
        let mut all = vec![Resource::database(DB), Resource::hobt(DB, HOBT)];
        all.push(Resource::allocation_unit(DB, AllocUnitId(42)));
        all.push(Resource::object(DB, ObjectId(42)));
        for n in 0..10_000 {
            all.push(Resource::key(DB, HOBT, n));
            all.push(Resource::page(DB, HOBT, PageId::new(1, n as u32)));
            all.push(Resource::rid(DB, HOBT, PageId::new(1, 5), SlotNo(n as u16)));
        }
        let count = all.len();
        let mut hashes: Vec<u64> = all.iter().map(|r| r.hash(1)).collect();
        let mut shards = [0_usize; 64];
        for h in &hashes {
            shards[(h >> 40) as usize & 63] += 1;
        }
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), count);
        assert!(shards.iter().all(|&n| n > count / 64 / 2 && n < count / 64 * 2), "{shards:?}");
    }
}

//! Numbers given out once: objects, hobts, allocation units, schemas.
//!
//! Hobts, units and schemas count up from the highest found at load. Object ids walk in the
//! strides that SQL Server's do, so that neighbours do not look like a sequence; an id that was
//! in use at load, or was given out since, is skipped.
//!
//! Invariants
//!  1. No number is given out twice while a database is open.
//!  2. Numbers that a rolled-back transaction took are not used again before the next start.

use crate::sysrows::FIRST_USER_HOBT;
use crate::view::SchemaId;
use base::{AllocUnitId, HobtId, ObjectId};
use os::sync::Mutex;
use std::collections::BTreeSet;

const FIRST_OBJECT: i64 = 245_575_913;
const STRIDE: i64 = 16_000_057;
/// A prime, so that the walk meets every number before it comes back.
const CIRCLE: i64 = i32::MAX as i64;

/// The next numbers of a database.
#[derive(Debug)]
pub struct Ids(Mutex<NextIds>);

#[derive(Debug)]
struct NextIds {
    object: i64,
    objects_used: BTreeSet<i32>,
    hobt: u32,
    unit: u32,
    schema: i32,
    user_type: i32,
}

impl Default for Ids {
    fn default() -> Ids {
        Ids(Mutex::new(NextIds {
            object: FIRST_OBJECT,
            objects_used: BTreeSet::new(),
            hobt: FIRST_USER_HOBT,
            unit: FIRST_USER_HOBT,
            schema: 5,
            user_type: 257,
        }))
    }
}

impl Ids {
    /// A new object's id.
    pub fn object(&self) -> ObjectId {
        let mut next = self.0.lock();
        loop {
            let id = next.object as i32;
            next.object = (next.object + STRIDE) % CIRCLE;
            // Small ids are system objects'.
            if id >= 65_536 && next.objects_used.insert(id) {
                return ObjectId(id);
            }
        }
    }

    /// A new hobt's id.
    pub fn hobt(&self) -> HobtId {
        let mut next = self.0.lock();
        next.hobt += 1;
        HobtId(next.hobt - 1)
    }

    /// A new allocation unit's id.
    pub fn unit(&self) -> AllocUnitId {
        let mut next = self.0.lock();
        next.unit += 1;
        AllocUnitId(next.unit - 1)
    }

    /// A new schema's id.
    pub fn schema(&self) -> SchemaId {
        let mut next = self.0.lock();
        next.schema += 1;
        SchemaId(next.schema - 1)
    }

    /// A new type's `user_type_id`.
    pub fn user_type(&self) -> i32 {
        let mut next = self.0.lock();
        next.user_type += 1;
        next.user_type - 1
    }

    /// An object's id is in use.
    pub fn used_object(&self, id: ObjectId) {
        self.0.lock().objects_used.insert(id.0);
    }

    /// A hobt's id is in use.
    pub fn used_hobt(&self, id: HobtId) {
        let mut next = self.0.lock();
        next.hobt = next.hobt.max(id.0.saturating_add(1));
    }

    /// A unit's id is in use.
    pub fn used_unit(&self, id: AllocUnitId) {
        let mut next = self.0.lock();
        next.unit = next.unit.max(id.0.saturating_add(1));
    }

    /// A type's `user_type_id` is in use.
    pub fn used_user_type(&self, id: i32) {
        let mut next = self.0.lock();
        next.user_type = next.user_type.max(id.saturating_add(1));
    }

    /// A schema's id is in use.
    pub fn used_schema(&self, id: SchemaId) {
        let mut next = self.0.lock();
        next.schema = next.schema.max(id.0.saturating_add(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_is_given_twice() {
        let ids = Ids::default();
        assert_eq!(ids.object(), ObjectId(245_575_913));
        assert_eq!(ids.object(), ObjectId(261_575_970));
        ids.used_object(ObjectId(277_576_027));
        let mut seen = BTreeSet::from([277_576_027]);
        for _ in 0..5000 {
            let id = ids.object();
            assert!(id.0 > 0 && seen.insert(id.0), "{id}");
        }
        ids.used_hobt(HobtId(300));
        ids.used_hobt(HobtId(12));
        assert_eq!((ids.hobt(), ids.hobt()), (HobtId(301), HobtId(302)));
        assert_eq!(ids.unit(), AllocUnitId(256));
        ids.used_schema(SchemaId(4));
        assert_eq!(ids.schema(), SchemaId(5));
    }
}

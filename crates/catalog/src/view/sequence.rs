//! A sequence: how its numbers run. How far they are is counted by [`crate::Identities`].

use super::{ExtendedProperty, SchemaId};
use base::{HobtId, ObjectId};
use types::SqlType;

/// Where a count begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// With this value: CREATE, RESTART.
    First(i128),
    /// With the value after this one: ALTER of a sequence that has given values.
    After(i128),
}

/// A sequence object.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    /// Its object id.
    pub object_id: ObjectId,
    /// Its schema.
    pub schema_id: SchemaId,
    /// The schema's name.
    pub schema_name: Box<str>,
    /// Its name.
    pub name: Box<str>,
    /// The type of its values: whole numbers.
    pub sql_type: SqlType,
    /// `sys.sequences.user_type_id`.
    pub user_type_id: i32,
    /// START WITH
    pub start: i128,
    /// INCREMENT BY; not 0.
    pub increment: i128,
    /// MINVALUE
    pub minimum: i128,
    /// MAXVALUE; more than `minimum`.
    pub maximum: i128,
    /// CYCLE
    pub cycles: bool,
    /// CACHE: how many values a crash may lose. `Some(0)`: the engine chooses; none: NO CACHE.
    pub cache: Option<u32>,
    /// What its values are counted under. ALTER gives it a new one, so that a rollback comes back
    /// to the old count.
    pub counter: HobtId,
    /// Where that count begins.
    pub origin: Origin,
    /// Its extended properties.
    pub properties: Vec<ExtendedProperty>,
}

impl Sequence {
    /// The value after another one, and whether it begins anew; none at the end.
    pub fn following(&self, last: i128) -> Option<(i128, bool)> {
        let next = last.saturating_add(self.increment);
        let within = if self.increment > 0 { next <= self.maximum } else { next >= self.minimum };
        match (within, self.increment > 0) {
            (true, _) => Some((next, false)),
            (false, _) if !self.cycles => None,
            (false, true) => Some((self.minimum, true)),
            (false, false) => Some((self.maximum, true)),
        }
    }

    /// `schema.sequence`
    pub fn two_part_name(&self) -> String {
        format!("{}.{}", self.schema_name, self.name)
    }
}

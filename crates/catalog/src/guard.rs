//! Locks on definitions: held to the end of the transaction, so that a definition that somebody
//! changes is seen by others before or after, never between.
//!
//! Whoever looks a definition up in order to change it takes the lock first, then looks again.

use crate::view::SchemaId;
use base::{DatabaseId, ObjectId, SqlResult};
use lock::{Duration, Mode, Resource};
use work::Work;

/// Subkinds of metadata resources.
mod sub {
    pub(super) const OBJECT_NAME: u8 = 1;
    pub(super) const SCHEMA_NAME: u8 = 2;
    pub(super) const ONLINE_BUILD: u8 = 3;
}

/// Sch-M on an object: nobody else reads or writes it, its rows included.
///
/// # Errors
/// 1205, 1222, cancellation.
pub fn lock_object(work: &mut Work, database: DatabaseId, object: ObjectId) -> SqlResult<()> {
    take(work, Resource::object(database, object), Mode::SchM)
}

/// IX on an object: its definition stays, others read and write its rows.
///
/// # Errors
/// 1205, 1222, cancellation.
pub fn lock_object_to_write(
    work: &mut Work,
    database: DatabaseId,
    object: ObjectId,
) -> SqlResult<()> {
    take(work, Resource::object(database, object), Mode::IX)
}

/// IS on an object whose indexes are to be built beside its readers and writers: its definition
/// stays, and nobody locks all of it exclusively. Before it, X on the right to do that: of two that
/// end in Sch-M neither would give way.
///
/// # Errors
/// 1205, 1222, cancellation.
pub fn lock_object_to_build(
    work: &mut Work,
    database: DatabaseId,
    object: ObjectId,
) -> SqlResult<()> {
    let entity = u64::from(object.0.unsigned_abs());
    take(work, Resource::metadata(database, sub::ONLINE_BUILD, entity, 0), Mode::X)?;
    take(work, Resource::object(database, object), Mode::IS)
}

/// Does something while no other transaction has changes of an object's rows that are not ended:
/// under S, which is given back.
///
/// # Errors
/// 1205, 1222, cancellation.
pub fn while_unchanged(
    work: &mut Work,
    database: DatabaseId,
    object: ObjectId,
    what: impl FnOnce(),
) -> SqlResult<()> {
    let resource = Resource::object(database, object);
    let (locks, owner, timeout) = (work.locks(), work.owner(), work.timeout());
    let before = locks.held_mode(owner, resource);
    assert!(before.covers(Mode::IS), "the object's definition stays");
    locks.lock(owner, resource, Mode::S, Duration::Short, timeout, None)?;
    what();
    locks.release_to(owner, resource, before);
    Ok(())
}

/// Sch-S on an object where nobody has to be waited for; false else.
///
/// # Errors
/// No memory for a lock.
pub fn try_share_object(work: &Work, database: DatabaseId, object: ObjectId) -> SqlResult<bool> {
    let resource = Resource::object(database, object);
    let (locks, owner) = (work.locks(), work.owner());
    let held = locks.try_lock_now(owner, resource, Mode::SchS, Duration::Long, None)?;
    Ok(held.is_some())
}

/// X on the name of an object that appears or goes.
///
/// # Errors
/// 1205, 1222, cancellation.
pub fn lock_name(
    work: &mut Work,
    database: DatabaseId,
    schema: SchemaId,
    name: &str,
) -> SqlResult<()> {
    let entity = u64::from(schema.0.unsigned_abs());
    let resource = Resource::metadata(database, sub::OBJECT_NAME, entity, hash(name));
    take(work, resource, Mode::X)
}

/// X on a schema's name.
///
/// # Errors
/// 1205, 1222, cancellation.
pub fn lock_schema_name(work: &mut Work, database: DatabaseId, name: &str) -> SqlResult<()> {
    let resource = Resource::metadata(database, sub::SCHEMA_NAME, 0, hash(name));
    take(work, resource, Mode::X)
}

/// S on a schema into which something is put: it is not dropped meanwhile. X to drop it.
///
/// # Errors
/// 1205, 1222, cancellation.
pub fn lock_schema(
    work: &mut Work,
    database: DatabaseId,
    schema: SchemaId,
    to_drop: bool,
) -> SqlResult<()> {
    let entity = u64::from(schema.0.unsigned_abs());
    let resource = Resource::metadata(database, sub::SCHEMA_NAME, entity, 0);
    take(work, resource, if to_drop { Mode::X } else { Mode::S })
}

fn take(work: &mut Work, resource: Resource, mode: Mode) -> SqlResult<()> {
    let (owner, timeout) = (work.owner(), work.timeout());
    work.locks().lock(owner, resource, mode, Duration::Long, timeout, None)?;
    Ok(())
}

/// FNV-1a of a name without regard to case: names that a collation holds equal are only ever
/// falsely in conflict, or differ here in more than case, which a unique name check then finds.
fn hash(name: &str) -> u64 {
    let bytes = name.trim_end().chars().flat_map(char::to_lowercase);
    bytes.fold(0xcbf2_9ce4_8422_2325, |h, c| (h ^ u64::from(c)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_in_any_case() {
        assert_eq!(hash("Orders"), hash("ORDERS  "));
        assert_ne!(hash("Orders"), hash("Order"));
    }
}

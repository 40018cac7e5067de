//! `keylock`, `ridlock` and the other resources: what a wait of the circle is for.
//!
//! As in SQL Server a resource that several members wait for is listed for each of them, with the
//! same `id`. Its owners are only processes of the deadlock: those that hold it, and those that
//! wait for it further ahead in the queue.

use super::report::{Report, process_id};
use crate::dm::locks;
use base::SessionId;
use lock::{DeadlockMember, Kind, Mode, Place, Resource};

/// Appends the resource that a member waits for.
pub(super) fn write(r: &mut Report<'_>, member: &DeadlockMember) {
    let resource = &member.resource;
    r.out.begin(element(resource.kind()));
    identity(r, (resource, member.session));
    r.out.attribute("id", format!("lock{:x}", member.resource_hash));
    r.out.attribute("mode", member.granted.name());
    let entity = resource.associated_entity_id();
    r.out.known("associatedObjectId", (entity != 0).then_some(entity));
    if let Some(row) = &member.behind {
        r.out.begin("UnderlyingResource");
        r.out.begin(element(row.kind()));
        identity(r, (row, member.session));
        r.out.attribute("associatedObjectId", row.associated_entity_id());
        r.out.end();
        r.out.end();
    }
    r.out.begin("owner-list");
    for blocker in &member.blockers {
        // A holder that waits for no member is not part of the circle.
        let Some(owner) = r.deadlock.member_of(blocker) else { continue };
        r.out.begin("owner");
        r.out.attribute("id", process_id(owner));
        r.out.attribute("mode", blocker.asked.name());
        r.out.known("requestType", request_type(blocker.place));
        r.out.end();
    }
    r.out.end();
    r.out.begin("waiter-list");
    r.out.begin("waiter");
    r.out.attribute("id", process_id(member));
    r.out.attribute("mode", member.mode.name());
    let place = if member.held == Mode::NL { Place::Waits } else { Place::Converts };
    r.out.known("requestType", request_type(place));
    r.out.end();
    r.out.end();
    r.out.end();
}

fn request_type(place: Place) -> Option<&'static str> {
    match place {
        Place::Holds => None,
        Place::Converts => Some("convert"),
        Place::Waits => Some("wait"),
    }
}

fn element(kind: Kind) -> &'static str {
    match kind {
        Kind::Database => "databaselock",
        Kind::File => "filelock",
        Kind::Object => "objectlock",
        Kind::Hobt => "hobtlock",
        Kind::AllocationUnit => "allocunitlock",
        Kind::Extent => "extentlock",
        Kind::Page => "pagelock",
        Kind::Key => "keylock",
        Kind::Rid => "ridlock",
        Kind::Application => "applicationlock",
        Kind::Metadata => "metadatalock",
        Kind::Xact => "xactlock",
    }
}

/// The lock covers the whole resource, which could have parts.
const WHOLE: &str = "FULL";

/// The attributes that identify a resource of its kind, and its names.
fn identity(r: &mut Report<'_>, (resource, session): (&Resource, SessionId)) {
    let database = resource.database_id();
    let out = &mut r.out;
    match resource.kind() {
        Kind::Key | Kind::Hobt => out.known("hobtid", resource.hobt_id()),
        Kind::Rid | Kind::Page | Kind::Extent => {
            out.known("fileid", resource.page_id().map(|p| p.file));
            out.known("pageid", resource.page_id().map(|p| p.page));
        }
        Kind::File => out.known("fileid", resource.file_id()),
        Kind::Object => {
            // Locks are not partitioned.
            out.attribute("lockPartition", 0);
            out.known("objid", resource.object_id());
        }
        Kind::Application => {
            let name = locks::shown_name(resource, session, r.sessions);
            let parts = resource.application_parts();
            let hash = parts.map(|p| format!("{name}{:08x}", locks::name_hash(p)));
            out.known("hash", hash);
            out.known("databasePrincipalId", parts.map(|p| p.0));
        }
        Kind::Metadata => {
            out.attribute("subresource", locks::subtype(resource));
            out.attribute("classid", locks::description(resource));
        }
        Kind::Xact => {
            out.known("xdesIdLow", resource.xsn().map(|xsn| xsn.0 & 0xFFFF_FFFF));
            out.known("xdesIdHigh", resource.xsn().map(|xsn| xsn.0 >> 32));
        }
        Kind::Database | Kind::AllocationUnit => {}
    }
    let page = resource.kind() == Kind::Page;
    out.known("subresource", (is_of_parts(resource.kind()) && !page).then_some(WHOLE));
    out.attribute("dbid", database);
    out.known("subresource", page.then_some(WHOLE));
    names(r, resource);
}

/// Whether SQL Server can lock a part of it.
fn is_of_parts(kind: Kind) -> bool {
    match kind {
        Kind::Database | Kind::File | Kind::Object | Kind::Page => true,
        Kind::Hobt | Kind::AllocationUnit => true,
        Kind::Key | Kind::Rid | Kind::Extent => false,
        Kind::Application | Kind::Metadata | Kind::Xact => false,
    }
}

fn names(r: &mut Report<'_>, resource: &Resource) {
    let database = resource.database_id();
    if let Some(object) = resource.object_id() {
        r.out.known("objectname", r.names.object(database, object));
    }
    let Some(hobt) = resource.hobt_id() else { return };
    if let Some((table, index)) = r.names.hobt(database, hobt) {
        r.out.attribute("objectname", table);
        if matches!(resource.kind(), Kind::Key | Kind::Hobt) && !index.is_empty() {
            r.out.attribute("indexname", index);
        }
    }
}

//! Locks as text: `resource_description` and `wait_resource`.

use base::SessionId;
use lock::{Kind, Resource};
use session::Registry;

/// The letters of an application lock's name that are shown.
const NAME_SHOWN: usize = 32;

/// `resource_description` of a lock that a session holds or waits for. The session knows the name
/// of an application lock. A wait for a transaction has a row behind it.
pub(crate) fn description_in(
    (r, behind): (&Resource, Option<Resource>),
    session: SessionId,
    sessions: &Registry,
) -> String {
    let described = match r.application_parts() {
        None => description(r),
        Some(parts) => application(parts, &shown_name(r, session, sessions)),
    };
    with_row(described, behind)
}

/// The same with the row behind it.
fn with_row(described: String, behind: Option<Resource>) -> String {
    match behind {
        None => described,
        Some(row) => format!("{described} {}", words(&row, description(&row))),
    }
}

/// The shown part of an application lock's name: its first letters.
pub(crate) fn shown_name(r: &Resource, session: SessionId, sessions: &Registry) -> String {
    let name = sessions.find(session).and_then(|s| s.lock_name(r)).unwrap_or_default();
    name.chars().take(NAME_SHOWN).collect()
}

/// The hash of an application lock's name, by which names are compared.
pub(crate) fn name_hash((_, low, high): (i32, u64, u32)) -> u32 {
    low as u32 ^ high
}

/// The first letters of a name, and its hash.
fn application(parts: (i32, u64, u32), name: &str) -> String {
    format!("{}:[{name}]:({:08x})", parts.0, name_hash(parts))
}

/// `resource_description` of `sys.dm_tran_locks`, without the names that only sessions know.
pub(crate) fn description(r: &Resource) -> String {
    let page = r.page_id().map(|p| format!("{}:{}", p.file, p.page)).unwrap_or_default();
    match r.kind() {
        Kind::Database | Kind::Object | Kind::Hobt | Kind::AllocationUnit => String::new(),
        Kind::File => r.file_id().map(|f| f.to_string()).unwrap_or_default(),
        Kind::Extent | Kind::Page => page,
        Kind::Key => format!("({:012x})", r.key_hash().unwrap_or(0)),
        Kind::Rid => format!("{page}:{}", r.slot().unwrap_or_default()),
        // The number under which a transaction is logged, in two halves of 48 bits.
        Kind::Xact => {
            let xsn = r.xsn().unwrap_or_default().0;
            format!("{}:{}:{}", r.database_id(), xsn & 0xFFFF_FFFF, xsn >> 32)
        }
        Kind::Application => match r.application_parts() {
            Some(parts) => application(parts, ""),
            None => String::new(),
        },
        Kind::Metadata => match r.metadata_parts() {
            Some((1, schema, name)) => format!("schema_id = {schema}, name_hash = {name:016x}"),
            Some((3, object, _)) => format!("object_id = {object}"),
            Some((_, 0, name)) => format!("name_hash = {name:016x}"),
            Some((_, schema, _)) => format!("schema_id = {schema}"),
            None => String::new(),
        },
    }
}

/// `resource_subtype`.
pub(crate) fn subtype(r: &Resource) -> &'static str {
    match r.metadata_parts() {
        Some((1, ..)) => "OBJECT_NAME",
        Some((3, ..)) => "INDEX_OPERATION",
        Some(_) => "SCHEMA",
        None => "",
    }
}

/// `wait_resource` of `sys.dm_exec_requests`: the resource that a session waits for.
pub(crate) fn wait_resource(
    (r, behind): (&Resource, Option<Resource>),
    session: SessionId,
    sessions: &Registry,
) -> String {
    with_row(words(r, description_in((r, None), session, sessions)), behind)
}

fn words(r: &Resource, description: String) -> String {
    let (kind, database) = (r.kind(), r.database_id());
    let name = kind.name();
    match kind {
        Kind::Database => format!("{name}: {database}:0"),
        Kind::Object => format!("{name}: {database}:{}:0", r.associated_entity_id()),
        Kind::Key | Kind::Hobt | Kind::AllocationUnit => {
            let text = format!("{name}: {database}:{} {description}", r.associated_entity_id());
            text.trim_end().to_owned()
        }
        Kind::Xact => format!("{name}: {description}"),
        Kind::File | Kind::Extent | Kind::Page | Kind::Rid | Kind::Application | Kind::Metadata => {
            format!("{name}: {database}:{description}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{DatabaseId, HobtId, ObjectId, PageId, SlotNo};

    const DB: DatabaseId = DatabaseId(6);

    #[test]
    fn resources_are_spelled_as_a_dba_knows_them() {
        let (hobt, page) = (HobtId(3), PageId::new(1, 20_789));
        let id = hobt.as_bigint();
        let key = Resource::key(DB, hobt, 0xAB_1A39_E609_5155);
        let rid = Resource::rid(DB, hobt, page, SlotNo(7));
        let cases = [
            (Resource::database(DB), "", "DATABASE: 6:0".to_owned()),
            (Resource::object(DB, ObjectId(245)), "", "OBJECT: 6:245:0".to_owned()),
            (Resource::page(DB, hobt, page), "1:20789", "PAGE: 6:1:20789".to_owned()),
            (rid, "1:20789:7", "RID: 6:1:20789:7".to_owned()),
            (key, "(1a39e6095155)", format!("KEY: 6:{id} (1a39e6095155)")),
            (Resource::key(DB, hobt, lock::INFINITY), "(ffffffffffff)", String::new()),
        ];
        for (resource, described, waited) in cases {
            assert_eq!(description(&resource), described);
            if !waited.is_empty() {
                let sessions = Registry::new();
                assert_eq!(wait_resource((&resource, None), SessionId(51), &sessions), waited);
            }
        }
        let xact = Resource::xact(DB, base::Xsn(14_660));
        let waited = wait_resource((&xact, Some(key)), SessionId(51), &Registry::new());
        assert_eq!(waited, format!("XACT: 6:14660:0 KEY: 6:{id} (1a39e6095155)"));
    }
}

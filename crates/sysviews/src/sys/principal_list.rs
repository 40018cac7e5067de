//! The principals of every database and of the server. There are no others yet.

/// A principal of a database.
pub(crate) struct Principal {
    pub(crate) id: i32,
    pub(crate) name: &'static str,
    /// Whether it is a role; else a user.
    pub(crate) is_role: bool,
    pub(crate) sid: Option<Vec<u8>>,
}

const USERS: [(i32, &str, Option<&[u8]>); 4] = [
    (1, "dbo", Some(&[1])),
    (2, "guest", Some(&[0])),
    (3, "INFORMATION_SCHEMA", None),
    (4, "sys", None),
];

/// The fixed roles with SQL Server's numbers.
const ROLES: [(i32, &str); 9] = [
    (16384, "db_owner"),
    (16385, "db_accessadmin"),
    (16386, "db_securityadmin"),
    (16387, "db_ddladmin"),
    (16389, "db_backupoperator"),
    (16390, "db_datareader"),
    (16391, "db_datawriter"),
    (16392, "db_denydatareader"),
    (16393, "db_denydatawriter"),
];

/// The beginning of a role's SID: revision, parts, authority 9, and the kind of a database role.
const ROLE_SID: [u8; 12] = [1, 5, 0, 0, 0, 0, 0, 9, 4, 0, 0, 0];
/// The end of the SID of public, in every database of SQL Server.
const PUBLIC: [u8; 16] =
    [0x83, 0x74, 0x1b, 0, 0x67, 0x49, 0xc0, 0x4b, 0xa9, 0x43, 0xc0, 0x27, 0x02, 0xf2, 0xa7, 0x62];

fn role_sid(end: [u8; 16]) -> Option<Vec<u8>> {
    Some([&ROLE_SID[..], &end].concat())
}

/// The SID of a fixed role ends with its number.
fn numbered(id: i32) -> [u8; 16] {
    let mut end = [0; 16];
    // Uses shifts, because byte order belongs to formats.
    (0..4).for_each(|i| end[12 + i] = (id >> (8 * i)) as u8);
    end
}

/// All principals by id.
pub(crate) fn principals() -> Vec<Principal> {
    let role = |id, name, end| Principal { id, name, is_role: true, sid: role_sid(end) };
    let user = |(id, name, sid): (i32, &'static str, Option<&[u8]>)| Principal {
        id,
        name,
        is_role: false,
        sid: sid.map(<[u8]>::to_vec),
    };
    let mut all = vec![role(0, "public", PUBLIC)];
    all.extend(USERS.map(user));
    all.extend(ROLES.map(|(id, name)| role(id, name, numbered(id))));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_have_the_sids_of_sql_server() {
        let hex = |p: &Principal| {
            let sid = p.sid.iter().flatten();
            sid.map(|b| format!("{b:02X}")).collect::<String>()
        };
        let all = principals();
        let of = |name| all.iter().find(|p| p.name == name).map(hex).unwrap_or_default();
        assert_eq!(of("dbo"), "01");
        assert_eq!(of("sys"), "");
        assert_eq!(of("public"), "01050000000000090400000083741B006749C04BA943C02702F2A762");
        assert_eq!(of("db_owner"), "01050000000000090400000000000000000000000000000000400000");
        assert_eq!(of("db_datareader"), "01050000000000090400000000000000000000000000000006400000");
    }
}

//! Names that the system gives to constraints, in the form of SQL Server's names.
//!
//! ```text
//! PK__Orders__3213E83F0E2A9F5C    key: table (8 characters), columns, object
//! DF__Orders__state__0E2A9F5C     default: table (9 characters), column (5), object
//! CK__Orders__state__0E2A9F5C     check behind a column
//! CK__Orders__0E2A9F5C            check of a table
//! FK__Orders__Customer__0E2A9F5C  foreign key: table (9), column (14 with the table), object
//! ```

use base::ObjectId;

fn front(text: &str, characters: usize) -> String {
    text.chars().take(characters).collect()
}

/// FNV-1a: the same columns give the same digits.
fn columns_hash(columns: &[&str]) -> u32 {
    let bytes = columns.iter().flat_map(|c| c.bytes().chain([0]));
    bytes.fold(0x811c_9dc5, |h, b| (h ^ u32::from(b)).wrapping_mul(0x0100_0193))
}

/// The name of a PRIMARY KEY (`PK`) or UNIQUE (`UQ`) constraint.
pub(crate) fn of_key(prefix: &str, table: &str, columns: &[&str], id: ObjectId) -> Box<str> {
    let (table, hash) = (front(table, 8), columns_hash(columns));
    format!("{prefix}__{table}__{hash:08X}{:08X}", id.0).into()
}

/// The name of a DEFAULT (`DF`) or CHECK (`CK`) constraint.
pub(crate) fn of_column(prefix: &str, table: &str, column: Option<&str>, id: ObjectId) -> Box<str> {
    let table = front(table, 9);
    match column {
        Some(column) => format!("{prefix}__{table}__{}__{:08X}", front(column, 5), id.0),
        None => format!("{prefix}__{table}__{:08X}", id.0),
    }
    .into()
}

/// The name of a FOREIGN KEY constraint, with its first column.
pub(crate) fn of_foreign_key(table: &str, column: &str, id: ObjectId) -> Box<str> {
    let table = front(table, 9);
    let column = front(column, 14 - table.chars().count());
    format!("FK__{table}__{column}__{:08X}", id.0).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_look_as_people_know_them() {
        let id = ObjectId(245_575_913);
        let key = of_key("PK", "OrderLines", &["id"], id);
        assert!(key.starts_with("PK__OrderLin__") && key.ends_with("0EA330E9"), "{key}");
        assert_eq!(key.len(), "PK__OrderLin__3213E83F0EA330E9".len());
        assert_eq!(&*of_column("DF", "Test", Some("created"), id), "DF__Test__creat__0EA330E9");
        assert_eq!(&*of_foreign_key("Orders", "CustomerNo", id), "FK__Orders__Customer__0EA330E9");
        assert_eq!(&*of_foreign_key("titleauthor", "au_id", id), "FK__titleauth__au_id__0EA330E9");
        assert_eq!(&*of_column("CK", "Test", None, id), "CK__Test__0EA330E9");
    }
}

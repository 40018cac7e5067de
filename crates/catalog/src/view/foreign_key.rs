//! FOREIGN KEY constraints: rows of one table that refer to a key of another, or of their own.
//!
//! The table that refers has the constraint. Of the one referred to it knows ids alone: columns
//! by their column id, which outlives changes of other columns, the key by its index id.

use base::{IndexId, ObjectId};

/// What becomes of rows that refer, when what they refer to goes or changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum ReferentialAction {
    /// The change is refused.
    #[default]
    NoAction = 0,
    /// They go, or change too.
    Cascade = 1,
    /// They refer to nothing.
    SetNull = 2,
    /// They refer to what their defaults say.
    SetDefault = 3,
}

impl ReferentialAction {
    /// `sys.foreign_keys.delete_referential_action_desc`
    pub const fn name(self) -> &'static str {
        match self {
            ReferentialAction::NoAction => "NO_ACTION",
            ReferentialAction::Cascade => "CASCADE",
            ReferentialAction::SetNull => "SET_NULL",
            ReferentialAction::SetDefault => "SET_DEFAULT",
        }
    }

    fn of_number(n: &str) -> Option<ReferentialAction> {
        Some(match n {
            "0" => ReferentialAction::NoAction,
            "1" => ReferentialAction::Cascade,
            "2" => ReferentialAction::SetNull,
            "3" => ReferentialAction::SetDefault,
            _ => return None,
        })
    }
}

/// A column that refers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignKeyColumn {
    /// Ordinal of the table's column.
    pub column: usize,
    /// Column id of what it refers to.
    pub referenced: i32,
}

/// A FOREIGN KEY constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKey {
    /// The constraint's object.
    pub object_id: ObjectId,
    /// Its name.
    pub name: Box<str>,
    /// Whether the system chose the name.
    pub system_named: bool,
    /// The table that it refers to: of the same database.
    pub referenced: ObjectId,
    /// The index that keeps the key referred to unique.
    pub key_index: IndexId,
    /// Its columns in the order of the text.
    pub columns: Vec<ForeignKeyColumn>,
    /// ON DELETE
    pub on_delete: ReferentialAction,
    /// ON UPDATE
    pub on_update: ReferentialAction,
    /// NOCHECK CONSTRAINT: not enforced.
    pub disabled: bool,
    /// Rows may be there that were never checked.
    pub not_trusted: bool,
    /// NOT FOR REPLICATION: it is never trusted.
    pub not_for_replication: bool,
}

/// What is stored of a constraint beside its name and its flags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wording {
    pub(crate) referenced: ObjectId,
    pub(crate) key_index: IndexId,
    pub(crate) on_delete: ReferentialAction,
    pub(crate) on_update: ReferentialAction,
    /// Column ids: of the table, and referred to.
    pub(crate) columns: Vec<(i32, i32)>,
}

impl Wording {
    /// `table index delete update column:referenced …`, all of them numbers.
    pub(crate) fn to_text(&self) -> String {
        let (delete, update) = (self.on_delete as u8, self.on_update as u8);
        let mut text = format!("{} {} {delete} {update}", self.referenced.0, self.key_index.0);
        for (column, referenced) in &self.columns {
            text.push_str(&format!(" {column}:{referenced}"));
        }
        text
    }

    /// `None` when the text is not of this form.
    pub(crate) fn from_text(text: &str) -> Option<Wording> {
        let mut words = text.split(' ');
        let referenced = ObjectId(words.next()?.parse().ok()?);
        let key_index = IndexId(words.next()?.parse().ok()?);
        let on_delete = ReferentialAction::of_number(words.next()?)?;
        let on_update = ReferentialAction::of_number(words.next()?)?;
        let column = |word: &str| {
            let (column, referenced) = word.split_once(':')?;
            Some((column.parse().ok()?, referenced.parse().ok()?))
        };
        let columns: Vec<(i32, i32)> = words.map(column).collect::<Option<_>>()?;
        let whole = !columns.is_empty();
        whole.then_some(Wording { referenced, key_index, on_delete, on_update, columns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_wording_is_read_as_it_was_written_and_nothing_else_is() {
        let wording = Wording {
            referenced: ObjectId(245_575_913),
            key_index: IndexId(2),
            on_delete: ReferentialAction::SetNull,
            on_update: ReferentialAction::Cascade,
            columns: vec![(1, 4), (7, 2)],
        };
        assert_eq!(wording.to_text(), "245575913 2 2 1 1:4 7:2");
        assert_eq!(Wording::from_text(&wording.to_text()), Some(wording));
        for damaged in ["", "1 1 0 0", "1 1 0 4 1:1", "1 1 0 0 1", "x 1 0 0 1:1", "1 1 0 0 1:1 "] {
            assert_eq!(Wording::from_text(damaged), None, "{damaged}");
        }
    }
}

//! `sysobjvalues`: texts of modules, defaults, checks and computed columns, what foreign keys refer
//! to, filters of indexes, what their fill factors were chosen by, distributions of statistics, and
//! extended properties, in pieces that fit a row.

use super::row::system_row;
use types::SqlType;

/// UTF-16 units of a piece: with its key well below a page.
const PIECE_UNITS: usize = 3800;

system_row! {
    /// A piece of a text.
    TextRow of Texts, "sysobjvalues", key 4 {
        object: i32 => "objid" SqlType::Int,
        /// See [`text_class`].
        class: u8 => "valclass" SqlType::TinyInt,
        /// The column, parameter or index that it is of, the number of statistics; 0 else.
        column: i32 => "subobjid" SqlType::Int,
        /// From 0.
        piece: i32 => "valnum" SqlType::Int,
        text: Box<str> => "value" SqlType::nvarchar(PIECE_UNITS as u16),
    }
}

/// Values of [`TextRow::class`].
pub(crate) mod text_class {
    /// A module, a default, a check, a foreign key.
    pub(crate) const OBJECT: u8 = 1;
    /// A computed column.
    pub(crate) const COMPUTED: u8 = 2;
    /// A distribution of statistics.
    pub(crate) const DISTRIBUTION: u8 = 3;
    /// Extended properties of an object, a constraint, or a column by its id.
    pub(crate) const PROPERTIES_OF_OBJECT: u8 = 4;
    /// Extended properties of a parameter by its id.
    pub(crate) const PROPERTIES_OF_PARAMETER: u8 = 5;
    /// Extended properties of an index by its id.
    pub(crate) const PROPERTIES_OF_INDEX: u8 = 6;
    /// Which rows a filtered index has, by its number.
    pub(crate) const FILTER: u8 = 7;
    /// Extended properties of a schema; the object is its id.
    pub(crate) const PROPERTIES_OF_SCHEMA: u8 = 8;
    /// Extended properties of the database; the object is 0.
    pub(crate) const PROPERTIES_OF_DATABASE: u8 = 9;
    /// Extended properties of a type, by its object.
    pub(crate) const PROPERTIES_OF_TYPE: u8 = 10;
    /// Extended properties of a column of a table type, by its id.
    pub(crate) const PROPERTIES_OF_TYPE_COLUMN: u8 = 11;
    /// What became of the columns of a table's rows.
    pub(crate) const ROW_HISTORY: u8 = 12;
    /// What a schema-bound module is bound to.
    pub(crate) const BOUND_TO: u8 = 13;
    /// By what the fill factor of an index was chosen that chooses it itself, by its number.
    pub(crate) const AUTO_FILL: u8 = 14;

    /// Whether texts of a class belong to no object.
    pub(crate) const fn stands_alone(class: u8) -> bool {
        matches!(class, PROPERTIES_OF_SCHEMA | PROPERTIES_OF_DATABASE)
    }
}

/// The rows of a text; one row also for an empty one.
pub(crate) fn split_text(object: i32, class: u8, column: i32, text: &str) -> Vec<TextRow> {
    let mut rows = Vec::new();
    let mut rest = text;
    loop {
        let mut units = 0;
        let end = rest
            .char_indices()
            .find(|&(_, c)| {
                units += c.len_utf16();
                units > PIECE_UNITS
            })
            .map_or(rest.len(), |(at, _)| at);
        let (head, tail) = rest.split_at(end);
        rows.push(TextRow { object, class, column, piece: rows.len() as i32, text: head.into() });
        if tail.is_empty() {
            return rows;
        }
        rest = tail;
    }
}

/// The text of rows in order of their pieces; `None` when a piece is missing.
pub(crate) fn join_texts<'a>(rows: impl Iterator<Item = &'a TextRow>) -> Option<Box<str>> {
    let mut text = String::new();
    let mut count = 0;
    for row in rows {
        if row.piece != count {
            return None;
        }
        text.push_str(&row.text);
        count += 1;
    }
    (count > 0).then(|| text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_any_length_comes_back_and_every_piece_fits_its_column() {
        for text in
            [String::new(), "x".repeat(3800), "x".repeat(3801), "𝄞é".repeat(5000), "\r\n".into()]
        {
            let rows = split_text(7, text_class::OBJECT, 0, &text);
            assert!(rows.iter().all(|r| r.text.encode_utf16().count() <= PIECE_UNITS));
            assert_eq!(join_texts(rows.iter()).as_deref(), Some(text.as_str()));
        }
        let rows = split_text(7, text_class::OBJECT, 0, &"x".repeat(9000));
        assert_eq!(join_texts(rows.iter().skip(1)), None, "a missing piece is noticed");
    }
}

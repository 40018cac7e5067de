//! What became of the columns of rows since their heap or clustered index was made.
//!
//! ```text
//! ADD      a place behind all others; rows from before are without it and read as its default
//! DROP     the place stays, and what rows have there; rows from then on have NULL
//! rebuild  places in definition order again, no history
//! ```
//!
//! Invariants
//!  1. Places are never given twice between two rebuilds.
//!  2. `added` ascends, and all its places are behind those of the other columns.

use super::Table;
use types::SqlType;

/// See the file's essay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowHistory {
    /// Columns that were dropped.
    pub dropped: Vec<DroppedColumn>,
    /// Columns that were added, whether or not they were dropped since.
    pub added: Vec<AddedColumn>,
}

/// A column whose place is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DroppedColumn {
    /// Its place among the physical columns.
    pub physical: u16,
    /// Its width: none is variable, 0 a bit.
    pub width: Option<u16>,
}

/// A column that older rows are without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedColumn {
    /// Its place among the physical columns.
    pub physical: u16,
    /// What it is in those rows, as stored bytes; none is NULL.
    pub default: Option<Box<[u8]>>,
}

/// The width of a type's stored bytes: none is variable, 0 a bit.
pub fn stored_width(sql_type: SqlType) -> Option<u16> {
    match sql_type {
        SqlType::Bit => Some(0),
        other => types::fixed_width(other),
    }
}

impl DroppedColumn {
    /// A type of that width.
    pub fn stand_in(&self) -> SqlType {
        match self.width {
            None => SqlType::varbinary(1),
            Some(0) => SqlType::Bit,
            Some(bytes) => SqlType::Binary(bytes),
        }
    }
}

impl RowHistory {
    /// Whether nothing happened.
    pub fn is_empty(&self) -> bool {
        self.dropped.is_empty() && self.added.is_empty()
    }

    pub(crate) fn to_text(&self) -> String {
        let width = |w: Option<u16>| w.map_or("-".to_owned(), |w| w.to_string());
        let dropped = self.dropped.iter().map(|d| format!("d {} {}", d.physical, width(d.width)));
        let bytes = |b: &[u8]| b.iter().map(|b| format!("{b:02X}")).collect::<String>();
        let default = |a: &AddedColumn| a.default.as_deref().map_or("-".to_owned(), bytes);
        let added = self.added.iter().map(|a| format!("a {} {}", a.physical, default(a)));
        dropped.chain(added).collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn from_text(text: &str) -> Option<RowHistory> {
        let mut history = RowHistory::default();
        let words: Vec<&str> = text.split(' ').collect();
        for part in words.chunks(3) {
            let &[kind, physical, rest] = part else { return None };
            let physical = physical.parse().ok()?;
            let none = rest == "-";
            match kind {
                "d" => {
                    let width = if none { None } else { Some(rest.parse().ok()?) };
                    history.dropped.push(DroppedColumn { physical, width });
                }
                "a" => {
                    let default = if none { None } else { Some(bytes_of(rest)?) };
                    history.added.push(AddedColumn { physical, default });
                }
                _ => return None,
            }
        }
        let ascends = history.added.windows(2).all(|w| w[0].physical < w[1].physical);
        ascends.then_some(history)
    }
}

fn bytes_of(hex: &str) -> Option<Box<[u8]>> {
    let (pairs, rest) = hex.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    rest.is_empty().then(|| pairs.iter().map(byte).collect())?
}

impl Table {
    /// The place of the next column that is added.
    pub fn next_place(&self) -> u16 {
        let live = self.columns.iter().filter_map(|c| c.physical);
        let gone = self.history.dropped.iter().map(|d| d.physical);
        live.chain(gone).max().map_or(0, |last| last + 1)
    }

    /// Its rows are made anew: places in definition order.
    pub fn forget_history(&mut self) {
        self.history = RowHistory::default();
        for (n, column) in self.columns.iter_mut().enumerate() {
            if let Some(place) = &mut column.physical {
                *place = n as u16;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_comes_back_and_one_that_makes_no_sense_does_not() {
        let dropped = [(2, None), (3, Some(0)), (5, Some(8))];
        let dropped = dropped.map(|(physical, width)| DroppedColumn { physical, width });
        let added = [(4, None), (5, Some([0xA0, 7].into())), (6, Some([].into()))];
        let added = added.map(|(physical, default)| AddedColumn { physical, default });
        let history = RowHistory { dropped: dropped.into(), added: added.into() };
        assert_eq!(RowHistory::from_text(&history.to_text()), Some(history));
        for text in ["", "d 1", "x 1 -", "a 5 - a 4 -", "a 5 A", "a 5 GG"] {
            assert_eq!(RowHistory::from_text(text), None, "{text}");
        }
    }
}

//! The string summary: some of a text column's values, by which the part of rows that LIKE keeps
//! is estimated wherever in the text its pattern stands.
//!
//! Every n-th row in the order of keys, n doubling whenever there are too many: so all parts of
//! the order have their share, and what is taken does not depend on chance. Of a long value its
//! first and its last 40 characters are kept, as SQL Server does.

use types::{Family, SqlType};

/// Values that are kept at most; at least half of them where there are as many rows.
pub(super) const STRINGS_MAX: usize = 512;
/// Characters of either end of a long one.
const END_CHARS: usize = 40;

/// A summary in the making.
#[derive(Debug)]
pub(super) struct Strings {
    /// Of a character; none for columns that hold no text.
    bytes_per_char: Option<usize>,
    every: u64,
    seen: u64,
    kept: Vec<Box<[u8]>>,
}

impl Strings {
    pub(super) fn of(sql_type: SqlType) -> Strings {
        let bytes_per_char = match sql_type.family() {
            Family::Char => Some(1),
            Family::NChar => Some(2),
            _ => None,
        };
        Strings { bytes_per_char, every: 1, seen: 0, kept: Vec::new() }
    }

    /// The next row's value, NULL left out.
    pub(super) fn push(&mut self, value: &[u8]) {
        let Some(width) = self.bytes_per_char else { return };
        self.seen += 1;
        if !self.seen.is_multiple_of(self.every) {
            return;
        }
        if self.kept.len() == STRINGS_MAX {
            let mut n = 0_usize;
            self.kept.retain(|_| {
                n += 1;
                n.is_multiple_of(2)
            });
            self.every *= 2;
            if !self.seen.is_multiple_of(self.every) {
                return;
            }
        }
        let end = END_CHARS * width;
        self.kept.push(match (value.get(..end), value.len().checked_sub(2 * end)) {
            (Some(first), Some(between)) if between > 0 => {
                [first, &value[end + between..]].concat().into()
            }
            _ => value.into(),
        });
    }

    pub(super) fn finish(self) -> Vec<Box<[u8]>> {
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_the_order_has_its_share() {
        let mut strings = Strings::of(SqlType::varchar(20));
        for n in 0..10_000_u32 {
            strings.push(format!("{n:05}").as_bytes());
        }
        let kept = strings.finish();
        assert!((STRINGS_MAX / 2..=STRINGS_MAX).contains(&kept.len()), "{}", kept.len());
        let low = kept.iter().filter(|v| &***v < b"05000".as_slice()).count();
        assert!(low.abs_diff(kept.len() / 2) <= 1);
        assert!(kept.is_sorted());
    }

    #[test]
    fn of_long_values_both_ends_are_kept_and_numbers_are_no_text() {
        let mut strings = Strings::of(SqlType::nvarchar(200));
        let long: Vec<u8> = (0..200_u8).flat_map(|n| [n, 0]).collect();
        strings.push(&long);
        strings.push(&long[..160]);
        let kept = strings.finish();
        assert_eq!([&long[..80], &long[320..]].concat(), *kept[0]);
        assert_eq!(long[..160], *kept[1]);
        let mut numbers = Strings::of(SqlType::Int);
        numbers.push(&[1, 0, 0, 0]);
        assert!(numbers.finish().is_empty());
    }
}

//! Interpolation search: a guess at where a key is on a page, when its first column is a number.
//!
//! A binary search on a page of 400 rows looks at nine of them, each on its own cache line. Numbers
//! as keys are often evenly spread. Then the first and the last key tell roughly where a key is,
//! and a look or two beside the guess end the search. A wrong guess costs those looks. The whole
//! comparison always decides, so the result does not depend on the guess.

use crate::order::Part;
use crate::target_key::TargetKey;
use page::{PageView, fits};

/// Pages with fewer slots to search use binary search: it takes no more looks.
const SLOTS_MIN: u16 = 16;
/// With fewer slots than this nothing is prefetched: the records are near each other.
pub(crate) const PREFETCH_SLOTS_MIN: u16 = 4;
/// Looks whose records are prefetched together: seven records for three looks.
pub(crate) const LOOKS_AHEAD: u32 = 3;
/// Most keys end within so many bytes of a record.
const KEY_BYTES: usize = 24;
/// The greatest distance between two looks.
const STRIDE_MAX: u16 = 16;

/// Where to look next: at a slot, then at growing distances from it, until they are too long.
pub(crate) struct Guess {
    slot: u16,
    stride: u16,
}

/// The records that three looks of a halving may be at: seven. They lie apart, and without this
/// each look waits for memory.
#[inline]
pub(crate) fn bring_near(page: PageView<'_>, (low, high): (u16, u16)) {
    let middle = |low: u16, high: u16| low + high.saturating_sub(low) / 2;
    // The slots are not checked: prefetching a wrong address does nothing.
    let near = |slot: u16| {
        let record = page.0.as_ptr().wrapping_add(usize::from(fits::slot_word(page, slot)));
        os::vm::prefetch(record);
        // Its key may lie behind the end of its first cache line.
        os::vm::prefetch(record.wrapping_add(KEY_BYTES));
    };
    let first = middle(low, high);
    let (left, right) = (middle(low, first), middle(first + 1, high));
    for slot in [first, left, right] {
        near(slot);
    }
    for (low, high) in [(low, left), (left + 1, first), (first + 1, right), (right + 1, high)] {
        near(middle(low, high));
    }
}

impl Guess {
    /// Nothing to guess by.
    const NONE: Guess = Guess { slot: 0, stride: STRIDE_MAX + 1 };

    /// For a search of `low..high` on a page, where the key's first column is a number.
    #[inline]
    pub(crate) fn of(
        page: PageView<'_>,
        part: Part,
        key: &TargetKey<'_, '_>,
        (low, high): (u16, u16),
    ) -> Guess {
        match key.number().filter(|_| high - low >= SLOTS_MIN) {
            Some(sought) => {
                Guess::by(page, part, (key, sought), (low, high)).unwrap_or(Guess::NONE)
            }
            None => Guess::NONE,
        }
    }

    fn by(
        page: PageView<'_>,
        part: Part,
        (key, sought): (&TargetKey<'_, '_>, i64),
        (low, high): (u16, u16),
    ) -> Option<Guess> {
        let place = key.shape.places.first()?;
        let column = if part == Part::Leaf { &place.leaf } else { &place.interior };
        let at = |slot: u16| {
            let record = fits::bytes_from(page, slot)?;
            place.column.number?.of(record.get(column.range(record)?)?)
        };
        let slot = guess(sought, (at(low)?, at(high - 1)?), (low, high - 1));
        debug_assert!(low <= slot && slot < high, "a slot in question");
        Some(Guess { slot, stride: 1 })
    }

    /// The slot to look at; `None` when binary search is as good.
    #[inline]
    pub(crate) fn next(&self, (low, high): (u16, u16)) -> Option<u16> {
        (low < high && self.stride <= STRIDE_MAX).then(|| self.slot.clamp(low, high - 1))
    }

    /// The slot was looked at: the key stands behind it, or not.
    #[inline]
    pub(crate) fn learn(&mut self, slot: u16, behind: bool) {
        self.slot = match behind {
            true => slot.saturating_add(self.stride),
            false => slot.saturating_sub(self.stride),
        };
        self.stride *= 4;
    }
}

/// The slot of a number on the line between two.
fn guess(sought: i64, (from, to): (i64, i64), (low, high): (u16, u16)) -> u16 {
    let way = |a: i64, b: i64| b.abs_diff(a) as f64;
    // In descending order both ways are measured from above.
    let outside = if from <= to { sought <= from } else { sought >= from };
    if outside || from == to {
        return low;
    }
    let share = (way(from, sought) / way(from, to)).min(1.0);
    low + (share * f64::from(high - low)) as u16
}

#[cfg(test)]
mod tests {
    use super::guess;

    /// Ends, what lies beyond them, and the line between, in both directions.
    #[test]
    fn a_guess_is_on_the_line() {
        assert_eq!(guess(50, (0, 100), (10, 20)), 15);
        assert_eq!(guess(50, (100, 0), (10, 20)), 15);
        assert_eq!(guess(-7, (0, 100), (10, 20)), 10);
        assert_eq!(guess(700, (0, 100), (10, 20)), 20);
        assert_eq!(guess(700, (100, 0), (10, 20)), 10);
        assert_eq!(guess(3, (3, 3), (10, 20)), 10);
        assert_eq!(guess(0, (i64::MIN, i64::MAX), (0, 400)), 200);
    }
}

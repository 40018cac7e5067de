//! A guess at where a key stands on a page, for searches by a number.
//!
//! Halving a page of 400 rows looks at nine of them, each on a cache line of its own. Keys that
//! are numbers are often spread evenly: the first and the last tell about where one stands, and a
//! look or two beside it end the search. A wrong guess costs those looks; the order in which rows
//! are found to stand is always that of the whole comparison.

use crate::sought::Sought;
use page::{PageView, fits};

/// Pages with fewer slots in question are halved: that takes no more looks.
const SLOTS_MIN: u16 = 16;
/// Fewer slots than this are looked at without prefetching: they are near each other.
const PREFETCH_SLOTS_MIN: u16 = 4;
/// Looks whose records are brought near together: seven records for three.
const LOOKS_AHEAD: u32 = 3;
/// How far from the last look the next one is, at most.
const STRIDE_MAX: u16 = 16;

/// Where to look next.
pub(crate) enum Search {
    /// In the middle.
    Halving,
    /// At a slot, then so far beside it.
    Near { slot: u16, stride: u16 },
}

/// The records that three looks of a halving may be at: seven.
#[inline]
fn bring_near(page: PageView<'_>, (low, high): (u16, u16)) {
    let middle = |low: u16, high: u16| low + high.saturating_sub(low) / 2;
    let near = |slot: u16| {
        if let Some(at) = page.slot_offset(slot) {
            os::vm::prefetch(page.0.as_ptr().wrapping_add(usize::from(at)));
        }
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

impl Search {
    /// For a search of `low..high` on a page: by a guess where the key's first column is a number.
    #[inline]
    pub(crate) fn start(
        page: PageView<'_>,
        key: &Sought<'_, '_>,
        (low, high): (u16, u16),
    ) -> Search {
        let (shape, part) = (key.shape, key.part);
        let Some(number) = shape.order.columns()[0].number.filter(|_| high - low >= SLOTS_MIN)
        else {
            return Search::Halving;
        };
        let at = |slot: u16| {
            let record = fits::bytes_from(page, slot)?;
            let field = shape.layout(part).field(record, shape.order.column_of(part, 0))?;
            number.of(field.inline()?)
        };
        let sought = key.key.first().and_then(|field| number.of(field.inline()?));
        let (Some(sought), Some(from), Some(to)) = (sought, at(low), at(high - 1)) else {
            return Search::Halving;
        };
        let slot = guess(sought, (from, to), (low, high - 1));
        debug_assert!(low <= slot && slot < high, "a slot in question");
        Search::Near { slot, stride: 1 }
    }

    /// The slot to look at.
    #[inline]
    pub(crate) fn next(&self, low: u16, high: u16) -> u16 {
        match *self {
            Search::Halving => low + (high - low) / 2,
            Search::Near { slot, .. } => slot.clamp(low, high - 1),
        }
    }

    /// Before a look, at every third: the records come near that this look and the next two may
    /// be at. They lie apart, and without this each look waits for memory.
    #[inline]
    pub(crate) fn prefetch(&self, page: PageView<'_>, look: u32, (low, high): (u16, u16)) {
        let halving = matches!(self, Search::Halving);
        if halving && look.is_multiple_of(LOOKS_AHEAD) && high - low >= PREFETCH_SLOTS_MIN {
            bring_near(page, (low, high));
        }
    }

    /// The slot was looked at: the key stands behind it, or not.
    #[inline]
    pub(crate) fn learn(&mut self, slot: u16, behind: bool) {
        if let Search::Near { stride, .. } = *self {
            *self = match (stride < STRIDE_MAX, behind) {
                (false, _) => Search::Halving,
                (true, true) => {
                    Search::Near { slot: slot.saturating_add(stride), stride: stride * 4 }
                }
                (true, false) => {
                    Search::Near { slot: slot.saturating_sub(stride), stride: stride * 4 }
                }
            };
        }
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

//! The byte form of a row in a sort.

use crate::memory::{Decoder, codec};
use crate::run::Run;
use base::SqlResult;
use plan::{Slot, SortKey};
use std::cmp::Ordering;
use types::{Collation, append_sort_key};

/// Longest key that a row keeps: what comes after decides rarely, and long strings would double
/// the row.
const KEY_BYTES_MAX: usize = 128;
/// In the length of a key: it was cut.
const CUT: u16 = 1 << 15;

/// A row's bytes; `store.rs` shows them.
#[derive(Clone, Copy)]
pub(super) struct Row<'a>(pub(super) &'a [u8]);

/// What the rows of a sort consist of.
pub(super) struct Shape {
    /// Slots whose values a row carries.
    carried: Vec<Slot>,
    keys: Vec<Key>,
}

struct Key {
    slot: Slot,
    collation: Collation,
    descending: bool,
    /// Its place among the values of a row whose key was cut.
    column: usize,
}

impl<'a> Row<'a> {
    fn head(self) -> (usize, bool) {
        let (len, _) = self.0.split_first_chunk::<2>().expect("a row begins with its key's length");
        let len = u16::from_le_bytes(*len);
        ((len & !CUT) as usize, len & CUT != 0)
    }

    fn key(self) -> &'a [u8] {
        &self.0[2..2 + self.head().0]
    }

    fn values(self) -> &'a [u8] {
        &self.0[2 + self.head().0..]
    }

    /// Whether the values of the keys may have to be looked at.
    pub(super) fn is_cut(self) -> bool {
        self.head().1
    }

    /// Rows that a look at this one counts for, where it is watched how long things take.
    pub(super) fn weight(self) -> u32 {
        if self.is_cut() { 1 + (self.0.len() / 32).min(1 << 20) as u32 } else { 1 }
    }

    /// Whether rows of an equal prefix have equal keys.
    pub(super) fn fits_prefix(self) -> bool {
        let (len, cut) = self.head();
        len <= size_of::<u64>() && !cut
    }

    /// The first bytes of the key as a number that orders like them.
    pub(super) fn prefix(self) -> u64 {
        let key = self.key();
        let mut first = [0; 8];
        let len = key.len().min(8);
        first[..len].copy_from_slice(&key[..len]);
        u64::from_be_bytes(first)
    }
}

impl Shape {
    pub(super) fn new(keys: &[SortKey], carried: &[Slot]) -> Shape {
        let mut beyond = carried.len();
        let keys = keys.iter().map(|k| Key {
            slot: k.slot,
            collation: k.collation,
            descending: k.descending,
            column: carried.iter().position(|&s| s == k.slot).unwrap_or_else(|| {
                beyond += 1;
                beyond - 1
            }),
        });
        Shape { keys: keys.collect(), carried: carried.to_vec() }
    }

    /// Puts the row in the frame into `out`.
    pub(super) fn encode(&self, run: &Run<'_>, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(&[0; 2]);
        let limit = 2 + KEY_BYTES_MAX;
        let mut whole = true;
        for key in &self.keys {
            let from = out.len();
            whole = append_sort_key(run.slot(key.slot), key.collation, limit, out);
            if key.descending {
                out[from..].iter_mut().for_each(|b| *b = !*b);
            }
            if !whole {
                break;
            }
        }
        let len = (out.len() - 2) as u16 | if whole { 0 } else { CUT };
        out[..2].copy_from_slice(&len.to_le_bytes());
        self.carried.iter().for_each(|&s| codec::encode(run.slot(s), out));
        if !whole {
            let beyond = self.keys.iter().filter(|k| k.column >= self.carried.len());
            beyond.for_each(|k| codec::encode(run.slot(k.slot), out));
        }
    }

    /// Puts a row back into the frame.
    pub(super) fn load(&self, run: &mut Run<'_>, row: Row<'_>) -> SqlResult<()> {
        let mut decoder = Decoder(row.values());
        for &slot in &self.carried {
            let value = decoder.value()?;
            run.set(slot, value);
        }
        Ok(())
    }

    /// How two rows of an equal prefix order.
    pub(super) fn compare(&self, a: Row<'_>, b: Row<'_>) -> Ordering {
        let order = a.key().cmp(b.key());
        // A whole key is not the beginning of another: equal keys are both whole or both cut.
        if order.is_eq() && a.head().1 { self.compare_values(a, b) } else { order }
    }

    #[cold]
    fn compare_values(&self, a: Row<'_>, b: Row<'_>) -> Ordering {
        for key in &self.keys {
            let (x, y) = (codec::nth(a.values(), key.column), codec::nth(b.values(), key.column));
            let order = codec::compare(x, y, key.collation);
            if order.is_ne() {
                return if key.descending { order.reverse() } else { order };
            }
        }
        Ordering::Equal
    }
}

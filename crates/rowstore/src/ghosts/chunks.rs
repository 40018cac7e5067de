//! `Chunks`: an ordered list in pieces, so that an insertion moves few elements.
//!
//! Invariants
//!  1. No piece is empty, and none has more than [`CHUNK_MAX`] elements.

/// The most elements of a piece.
const CHUNK_MAX: usize = 256;

/// Elements in an order that the caller knows.
pub(crate) struct Chunks<T>(Vec<Vec<T>>);

/// A place between elements: a piece, and how many of its elements come before.
pub(crate) type Place = (usize, usize);

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Chunks(Vec::new())
    }
}

impl<T> Chunks<T> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of pieces.
    pub(crate) fn pieces(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flatten()
    }

    /// The place behind all elements that are `before`. These must be the first ones.
    pub(crate) fn place(&self, before: impl Fn(&T) -> bool) -> Place {
        let whole = |piece: &Vec<T>| piece.last().is_some_and(&before);
        let piece = self.0.partition_point(whole);
        (piece, self.0.get(piece).map_or(0, |p| p.partition_point(&before)))
    }

    /// The element behind a place.
    pub(crate) fn get(&self, (piece, within): Place) -> Option<&T> {
        self.0.get(piece)?.get(within)
    }

    /// The elements between two places.
    pub(crate) fn between(&self, from: Place, to: Place) -> impl DoubleEndedIterator<Item = &T> {
        let end = if from < to { (to.0 + 1).min(self.0.len()) } else { from.0 };
        (from.0..end).flat_map(move |n| {
            let piece = &self.0[n];
            let first = if n == from.0 { from.1 } else { 0 };
            let last = if n == to.0 { to.1 } else { piece.len() };
            &piece[first..last]
        })
    }

    /// Inserts an element at a place.
    pub(crate) fn insert(&mut self, (piece, within): Place, thing: T) {
        let Some(at) = self.0.get_mut(piece) else {
            // Behind everything.
            match self.0.last_mut().filter(|last| last.len() < CHUNK_MAX) {
                Some(last) => last.push(thing),
                None => self.0.push(vec![thing]),
            }
            return;
        };
        at.insert(within, thing);
        if at.len() > CHUNK_MAX {
            let behind = at.split_off(CHUNK_MAX / 2);
            self.0.insert(piece + 1, behind);
        }
    }

    /// Keeps those elements of a piece that should stay. Returns whether any are left. If not, the
    /// next piece gets its number.
    pub(crate) fn retain(&mut self, piece: usize, stays: impl FnMut(&mut T) -> bool) -> bool {
        self.0[piece].retain_mut(stays);
        let empty = self.0[piece].is_empty();
        if empty {
            self.0.remove(piece);
        }
        !empty
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_stay_in_order_whatever_comes_and_goes() {
        let (mut chunks, mut model) = (Chunks::default(), Vec::new());
        let mut n = 7_u64;
        for round in 0..20_000_u64 {
            n = n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let thing = (n >> 33) % 1_000;
            chunks.insert(chunks.place(|t| *t <= thing), thing);
            model.insert(model.partition_point(|t| *t <= thing), thing);
            if round % 5_000 == 4_999 {
                let mut piece = 0;
                while piece < chunks.pieces() {
                    piece += usize::from(chunks.retain(piece, |t| *t % 3 == 0 || *t > 900));
                }
                model.retain(|t| *t % 3 == 0 || *t > 900);
                assert!(chunks.iter().eq(&model));
            }
        }
        assert!(chunks.0.iter().all(|p| !p.is_empty() && p.len() <= CHUNK_MAX), "invariant 1");
        for (from, to) in [(0, 1_000), (10, 11), (500, 400), (999, 999), (300, 700)] {
            let (a, b) = (chunks.place(|t| *t < from), chunks.place(|t| *t < to));
            let wanted: Vec<_> = model.iter().filter(|t| (from..to).contains(t)).collect();
            assert_eq!(chunks.between(a, b).collect::<Vec<_>>(), wanted);
            assert!(chunks.between(a, b).rev().eq(wanted.into_iter().rev()));
        }
        assert_eq!(chunks.get(chunks.place(|_| true)), None);
    }
}

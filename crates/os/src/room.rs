//! Asks for memory before a vector or text grows.
//!
//! A vector that grows by itself asks the allocator, and the process ends when the allocator has no
//! more. So whatever a client can make long grows by [`Room::make_room`]. It asks the thread's
//! account and the system first, and fails with 701.
//!
//! Cost: two comparisons when the capacity suffices.

use crate::values::{exhausted, look, room};
use base::SqlResult;

/// Growing by more than this looks whether the request is to end.
const LOOK_BYTES: usize = 64 << 10;
/// The fewest elements that a vector grows by.
const FEWEST: usize = 4;

/// Something that grows only where there is room.
pub trait Room {
    /// Makes room for so many elements more: bytes, of a text.
    ///
    /// # Errors
    /// 701, and what ends the request.
    fn make_room(&mut self, more: usize) -> SqlResult<()>;
}

impl<T> Room for Vec<T> {
    #[inline]
    fn make_room(&mut self, more: usize) -> SqlResult<()> {
        if self.capacity() - self.len() >= more {
            return Ok(());
        }
        let wanted = grown::<T>(self.len(), more)?;
        self.try_reserve_exact(wanted).map_err(|_| exhausted())
    }
}

impl Room for String {
    #[inline]
    fn make_room(&mut self, more: usize) -> SqlResult<()> {
        if self.capacity() - self.len() >= more {
            return Ok(());
        }
        let wanted = grown::<u8>(self.len(), more)?;
        self.try_reserve_exact(wanted).map_err(|_| exhausted())
    }
}

/// By how many elements something of so many grows: to twice as many, if there is room.
fn grown<T>(len: usize, more: usize) -> SqlResult<usize> {
    let wanted = more.max(len).max(FEWEST);
    // While it is moved it is there twice.
    room(len.saturating_add(wanted).saturating_mul(size_of::<T>()))?;
    if wanted.saturating_mul(size_of::<T>()) > LOOK_BYTES {
        look()?;
    }
    Ok(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;
    use crate::values::{ValueMemory, lend};
    use std::sync::Arc;

    #[test]
    fn a_vector_grows_as_long_as_there_is_room() {
        let memory = Memory::new(16 << 20);
        let _lent = lend(Some(Arc::new(ValueMemory::new(&memory))));
        let mut numbers: Vec<u64> = Vec::new();
        let refused = loop {
            if let Err(why) = numbers.make_room(1) {
                break why;
            }
            numbers.push(7);
            assert!(numbers.len() < 16 << 20, "there is no room for so many");
        };
        assert_eq!(refused.number(), 701);
        assert!(numbers.len() >= 1 << 19, "and room for these: {}", numbers.len());
        let mut text = String::new();
        assert_eq!(text.make_room(1 << 30).map_err(|e| e.number()), Err(701));
        assert!(text.make_room(usize::MAX).is_err() && text.capacity() == 0);
    }
}

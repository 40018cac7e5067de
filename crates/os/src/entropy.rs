//! Randomness: the kernel's, or the simulator's seed.

use crate::sched;
use std::cell::RefCell;

/// Fills a buffer with random bytes fit for keys and salts.
pub fn fill(out: &mut [u8]) {
    if let Some(s) = sched::current() {
        for chunk in out.chunks_mut(8) {
            let bytes = s.random().to_le_bytes();
            chunk.copy_from_slice(&bytes[..chunk.len()]);
        }
        return;
    }
    let mut rest = out;
    while !rest.is_empty() {
        match rustix::rand::getrandom(&mut *rest, rustix::rand::GetRandomFlags::empty()) {
            Ok(n) => rest = &mut rest[n..],
            Err(rustix::io::Errno::INTR) => {}
            Err(e) => crate::stop::process(&format!("the kernel gives no random bytes: {e}")),
        }
    }
}

/// Numbers that a thread takes from the kernel at a time: RAND() and NEWID() are called by the row.
const NUMBERS: usize = 32;

thread_local! {
    static LEFT: RefCell<Vec<[u8; 8]>> = const { RefCell::new(Vec::new()) };
}

/// A random number. A call of the kernel for every 32.
pub fn random_u64() -> u64 {
    let mut one = [0; 8];
    if sched::current().is_some() {
        fill(&mut one);
        return u64::from_le_bytes(one);
    }
    LEFT.with_borrow_mut(|left| {
        if left.is_empty() {
            left.resize(NUMBERS, [0; 8]);
            fill(left.as_flattened_mut());
        }
        u64::from_le_bytes(left.pop().expect("it was just filled"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_number_is_given_twice() {
        let draw = || (0..5 * NUMBERS).map(|_| random_u64()).collect::<Vec<_>>();
        let other = std::thread::scope(|s| s.spawn(draw).join().expect("numbers"));
        let all: BTreeSet<u64> = draw().into_iter().chain(other).collect();
        assert_eq!(all.len(), 10 * NUMBERS);
    }
}

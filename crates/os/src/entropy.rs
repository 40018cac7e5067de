//! Randomness: the kernel's, or the simulator's seed.

use crate::sched;

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

/// A random number.
pub fn random_u64() -> u64 {
    let mut b = [0; 8];
    fill(&mut b);
    u64::from_le_bytes(b)
}

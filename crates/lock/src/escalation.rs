//! Escalation: when many small locks should become one big one. This is advice; `rowstore` acts on
//! it.
//!
//! Each use of a table or index by a statement has a counter of long locks on pages and rows. At
//! 5,000, and then at every further 1,250, the answer to a request says `escalate`. While the lock
//! table is nearly full, it says so at every 1,250.

/// The count at which escalation is first advised.
pub const ESCALATION_COUNT: u32 = 5_000;
/// After how many further locks it is advised again.
pub const ESCALATION_STEP: u32 = 1_250;

/// When escalation is advised; trace flags choose.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum EscalationPolicy {
    /// By count and by memory.
    #[default]
    CountAndMemory = 0,
    /// Trace flag 1224: by memory only.
    MemoryOnly = 1,
    /// Trace flag 1211: never.
    Never = 2,
}

impl EscalationPolicy {
    pub(crate) const fn from_u8(n: u8) -> Self {
        assert!(n <= EscalationPolicy::Never as u8, "a policy that there is");
        match n {
            0 => EscalationPolicy::CountAndMemory,
            1 => EscalationPolicy::MemoryOnly,
            _ => EscalationPolicy::Never,
        }
    }
}

/// The locks that one statement took by one reference to a table or index.
#[derive(Clone, Copy, Debug, Default)]
pub struct EscalationCounter {
    taken: u32,
}

impl EscalationCounter {
    /// A counter of a new reference.
    pub const fn new() -> Self {
        EscalationCounter { taken: 0 }
    }

    /// How many locks it has counted.
    pub const fn taken(&self) -> u32 {
        self.taken
    }

    /// Counts a lock. Whether it is time to escalate.
    #[inline]
    pub(crate) fn count(&mut self, policy: EscalationPolicy, is_tight: impl Fn() -> bool) -> bool {
        self.taken = self.taken.saturating_add(1);
        self.taken.is_multiple_of(ESCALATION_STEP)
            && match policy {
                EscalationPolicy::CountAndMemory => self.taken >= ESCALATION_COUNT || is_tight(),
                EscalationPolicy::MemoryOnly => is_tight(),
                EscalationPolicy::Never => false,
            }
    }
}

const _: () = assert!(ESCALATION_COUNT.is_multiple_of(ESCALATION_STEP));

#[cfg(test)]
mod tests {
    use super::*;

    fn advised(policy: EscalationPolicy, tight: bool) -> Vec<u32> {
        let mut c = EscalationCounter::new();
        (1..=8_000).filter(|_| c.count(policy, || tight)).collect()
    }

    #[test]
    fn advice_comes_at_5000_and_every_1250_after_and_flags_silence_it() {
        assert_eq!(advised(EscalationPolicy::CountAndMemory, false), [5_000, 6_250, 7_500]);
        assert_eq!(advised(EscalationPolicy::CountAndMemory, true)[..2], [1_250, 2_500]);
        assert_eq!(advised(EscalationPolicy::MemoryOnly, false), [0_u32; 0]);
        assert_eq!(advised(EscalationPolicy::MemoryOnly, true)[..1], [1_250]);
        assert_eq!(advised(EscalationPolicy::Never, true), [0_u32; 0]);
    }
}

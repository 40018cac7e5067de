//! TABLESAMPLE: the rows of some pages of a table.
//!
//! A hash of the page and a seed decides whether a page is taken. So the same seed takes the same
//! pages as long as rows stay where they are. All pages are read.

use crate::run::Run;
use base::PageId;
use plan::PageSample;
use types::Value;

/// Which pages are taken.
pub(crate) struct Pages {
    sample: PageSample,
    seed: u64,
}

impl Pages {
    pub(crate) fn new(sample: PageSample) -> Pages {
        Pages { sample, seed: 0 }
    }

    /// A run has one seed, however often it reads the table.
    pub(crate) fn open(&mut self, run: &mut Run<'_>) {
        if let Some(seed) = self.sample.seed {
            self.seed = seed as u64;
            return;
        }
        let place = std::ptr::from_ref(self) as usize;
        if let Some((_, Value::BigInt(seed))) = run.once.iter().find(|(p, _)| *p == place) {
            self.seed = *seed as u64;
            return;
        }
        self.seed = run.facts.random();
        run.once.push((place, Value::BigInt(self.seed as i64)));
    }

    pub(crate) fn takes(&self, page: PageId) -> bool {
        let place = (u64::from(page.file.0) << 32) | u64::from(page.page);
        let drawn = mixed(place ^ mixed(self.seed)) >> 11;
        (drawn as f64) < self.sample.fraction * (1u64 << 53) as f64
    }
}

/// Any number of 64 bits from any other: the finalizer of splitmix64.
fn mixed(n: u64) -> u64 {
    let mut n = n.wrapping_add(0x9E37_79B9_7F4A_7C15);
    n = (n ^ (n >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    n = (n ^ (n >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    n ^ (n >> 31)
}

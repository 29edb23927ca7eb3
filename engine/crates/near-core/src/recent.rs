//! The texts whose results were stored recently. A table of fixed size contains their hashes, and a later text may replace an
//! earlier one.

use std::array;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of hashes that the table has room for.
const SLOTS: usize = 4096;

/// The hashes of texts whose results were stored recently. Each hash has one slot, and another hash may replace it there.
pub struct RecentTexts(Box<[AtomicU64; SLOTS]>);

impl Default for RecentTexts {
    fn default() -> RecentTexts {
        RecentTexts(Box::new(array::from_fn(|_| AtomicU64::new(0))))
    }
}

impl RecentTexts {
    fn slot(&self, hash: u64) -> &AtomicU64 {
        &self.0[hash as usize % SLOTS]
    }

    /// Notes that a result of the text with this hash was stored. The order is relaxed: a thread that sees the text too late only
    /// misses a hint.
    pub fn note(&self, hash: u64) {
        self.slot(hash).store(hash, Ordering::Relaxed);
    }

    /// Returns true if a result of the text with this hash was noted, and not replaced since. False does not mean that there is
    /// none.
    pub fn has(&self, hash: u64) -> bool {
        self.slot(hash).load(Ordering::Relaxed) == hash
    }
}

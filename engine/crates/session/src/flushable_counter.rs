//! The counters behind the status variables.

use cache::Counter;
use std::sync::atomic::{AtomicU64, Ordering};

/// A counter that FLUSH STATUS resets to zero. Any thread may add to it.
#[derive(Default)]
pub struct FlushableCounter {
    counter: Counter,
    flushed: AtomicU64,
}

impl FlushableCounter {
    pub fn add(&self, n: u64) {
        self.counter.add(n);
    }

    /// The count since the engine was loaded, whatever was reset since.
    pub fn total_since_load(&self) -> u64 {
        self.counter.sum()
    }

    /// The count since the last `flush`, or since the engine was loaded.
    pub fn sum(&self) -> u64 {
        self.counter.sum().saturating_sub(self.flushed.load(Ordering::Relaxed))
    }

    /// Resets the count that `sum` returns to zero.
    pub fn flush(&self) {
        self.flushed.store(self.counter.sum(), Ordering::Relaxed);
    }
}

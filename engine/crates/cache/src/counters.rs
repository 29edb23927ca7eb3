//! Counters that many threads increment at once without sharing a cache line.
//!
//! Each thread adds to its assigned share; a sum reads all shares. A sum is exact once the additions have ended, and never decreases for
//! one observer. There is no reset: subtract a remembered sum instead.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

const SHARES: usize = 16;

/// The part of a count that one group of threads adds to. Padded to two cache lines, because processors prefetch them in pairs.
#[repr(align(128))]
struct Share(AtomicU64);

/// A count that only grows, until it wraps after `u64::MAX`. Many threads can add to it at once without slowing each other down.
pub struct Counter {
    shares: [Share; SHARES],
}

impl Counter {
    pub const fn new() -> Self {
        Counter { shares: [const { Share(AtomicU64::new(0)) }; SHARES] }
    }

    /// Adds to the count. Takes no lock and orders no other memory accesses.
    #[inline]
    pub fn add(&self, n: u64) {
        // Relaxed: a count orders nothing.
        self.shares[own_share()].0.fetch_add(n, Ordering::Relaxed);
    }

    /// Returns the sum of all additions. Those that are made at the same time may be missing.
    pub fn sum(&self) -> u64 {
        // Relaxed: see `add`.
        let values = self.shares.iter().map(|share| share.0.load(Ordering::Relaxed));
        values.fold(0, u64::wrapping_add)
    }
}

impl Default for Counter {
    fn default() -> Self {
        Self::new()
    }
}

#[inline]
fn own_share() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        // Relaxed: any assignment of shares is correct.
        static OWN: usize = NEXT.fetch_add(1, Ordering::Relaxed) % SHARES;
    }
    // A thread that is ending may have lost its share; any share will do.
    OWN.try_with(|&own| own).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn additions_of_all_threads_are_summed() {
        static COUNTER: Counter = Counter::new();
        std::thread::scope(|scope| {
            for n in 1..=20 {
                scope.spawn(move || (0..50).for_each(|_| COUNTER.add(n)));
            }
        });
        assert_eq!(COUNTER.sum(), 50 * 210);
    }
}

//! Counters that many threads raise at once without sharing a cache line.
//!
//! Each thread adds to the slot it was dealt; a sum reads all slots. A sum is exact once the additions have ended, and never
//! goes back for one observer. Deliberately absent: resetting (subtract a remembered sum instead).

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

const SLOTS: usize = 16;

/// Two lines, because processors prefetch them in pairs.
#[repr(align(128))]
struct Slot(AtomicU64);

/// A monotonic count.
pub struct Counter {
    slots: [Slot; SLOTS],
}

impl Counter {
    pub const fn new() -> Self {
        Counter { slots: [const { Slot(AtomicU64::new(0)) }; SLOTS] }
    }

    #[inline]
    pub fn add(&self, n: u64) {
        // Relaxed: a count orders nothing.
        self.slots[own_slot()].0.fetch_add(n, Ordering::Relaxed);
    }

    pub fn sum(&self) -> u64 {
        // Relaxed: see `add`.
        let values = self.slots.iter().map(|slot| slot.0.load(Ordering::Relaxed));
        values.fold(0, u64::wrapping_add)
    }
}

impl Default for Counter {
    fn default() -> Self {
        Self::new()
    }
}

#[inline]
fn own_slot() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        // Relaxed: any dealing of slots is correct.
        static OWN: usize = NEXT.fetch_add(1, Ordering::Relaxed) % SLOTS;
    }
    // A thread that is ending may have lost its slot; any will do.
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

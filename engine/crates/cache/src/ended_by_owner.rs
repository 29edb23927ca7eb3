//! Counts how the entries of each owner ended (evicted, swept or replaced), and whether they were ever hit.
//!
//! This module does not know what an owner is. Entries that disappear when the whole cache is cleared are not counted.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::slot::IndexSlot;

/// The number of owners ([`Meta::owner`](crate::Meta::owner)) for which the ends of entries are counted, numbered from 0.
pub const OWNERS: usize = 2048;

#[derive(Default)]
struct EndedCounters {
    used: AtomicU32,
    unused: AtomicU32,
}

/// How many entries of an owner ([`Meta::owner`](crate::Meta::owner)) were evicted, swept, removed or replaced since the cache was created.
/// Entries that were dropped with the whole cache are not counted. Both counts wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndedEntries {
    /// Entries that had been hit, or were in the main queue because they had been requested again soon after an eviction.
    pub used: u32,
    /// Entries that were never hit.
    pub unused: u32,
}

/// Counts, for each owner, how its entries ended: used or unused.
pub(crate) struct EndedByOwner(Box<[EndedCounters]>);

impl EndedByOwner {
    pub fn new() -> Self {
        EndedByOwner((0..OWNERS).map(|_| EndedCounters::default()).collect())
    }

    /// Counts the end of an entry of this owner. `slot` is the one that pointed to the entry. Does nothing for an owner from [`OWNERS`] on.
    pub fn note(&self, owner: u16, slot: IndexSlot) {
        let Some(ended) = self.0.get(usize::from(owner)) else { return };
        // An entry reaches the main queue by a hit, or because it was requested again soon after its eviction.
        let is_used = slot.uses() > 0 || slot.is_main();
        // Relaxed, here and below: a count orders nothing.
        if is_used { &ended.used } else { &ended.unused }.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the counts of this owner; zeroes for an owner from [`OWNERS`] on.
    pub fn of(&self, owner: u16) -> EndedEntries {
        let Some(ended) = self.0.get(usize::from(owner)) else { return EndedEntries::default() };
        EndedEntries { used: ended.used.load(Ordering::Relaxed), unused: ended.unused.load(Ordering::Relaxed) }
    }
}

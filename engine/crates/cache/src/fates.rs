//! Counts how the entries of each owner ended (evicted, swept or replaced), and whether they were ever hit.
//!
//! This module does not know what an owner is. Entries that disappear when the whole cache is cleared are not counted.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::slot::IndexSlot;

/// Owners are numbered from 0 to below this.
pub const OWNERS: usize = 2048;

#[derive(Default)]
struct Ended {
    used: AtomicU32,
    unused: AtomicU32,
}

/// How many entries of an owner have ended, split by whether they were hit. Both counts wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    pub used: u32,
    pub unused: u32,
}

pub(crate) struct Fates(Box<[Ended]>);

impl Fates {
    pub fn new() -> Self {
        Fates((0..OWNERS).map(|_| Ended::default()).collect())
    }

    pub fn note(&self, owner: u16, slot: IndexSlot) {
        let Some(ended) = self.0.get(usize::from(owner)) else { return };
        // An entry reaches the main queue by a hit, or because it was requested again soon after its eviction.
        let is_used = slot.uses() > 0 || slot.is_main();
        // Relaxed, here and below: a count orders nothing.
        if is_used { &ended.used } else { &ended.unused }.fetch_add(1, Ordering::Relaxed);
    }

    pub fn of(&self, owner: u16) -> Fate {
        let Some(ended) = self.0.get(usize::from(owner)) else { return Fate::default() };
        Fate { used: ended.used.load(Ordering::Relaxed), unused: ended.unused.load(Ordering::Relaxed) }
    }
}
